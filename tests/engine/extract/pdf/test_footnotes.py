"""Footnotes apart from the text, running headers as text by choice, words divided by the end of a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from engine.document import walk
from engine.extract.pdf.footnotes import note_mark
from tests.engine.extract.pdf_files import LOREM, outline, pdf, read, text_at, wrapped

FAST = {"profile": "fast"}


def test_notes_stand_behind_the_text_of_all_columns(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        left = "The first column tells what happened before the war.1 " + LOREM * 5
        right = "The second column goes on. " + LOREM * 5
        wrapped(canvas, 50, 80, 230, left)
        wrapped(canvas, 320, 80, 230, right)
        wrapped(canvas, 50, 700, 230, "1 See the archive of the society, box 12, and the letters to the editor.", 8)
        text_at(canvas, 290, 810, "17")

    document = read(pdf(tmp_path / "a.pdf", page), tmp_path, extraction=FAST)
    found = outline(document)
    assert [kind for kind, _ in found if kind == "note"] == ["note"]
    assert found[-2] == ("note", "1 See the archive of the society, box 12, and the letters to the editor.")
    assert found[-1][1] == "17" and found[-3][1].endswith("end of the month.")
    note = next(e for e in walk(document.structure) if e.type == "note")
    assert note.attributes == {"kind": "footnote", "label": "1"} and note.page_number == 1


@pytest.mark.parametrize("text", ["Sizes are in metres and were measured twice", "7 Steps lead to the upper floor"])
def test_small_print_without_a_reference_is_no_note(tmp_path: Path, text: str) -> None:
    def page(canvas: Canvas) -> None:
        wrapped(canvas, 50, 80, 400, LOREM * 5)
        text_at(canvas, 50, 700, text, 8)

    assert "note" not in {k for k, _ in outline(read(pdf(tmp_path / "a.pdf", page), tmp_path, extraction=FAST))}


def test_marks_of_notes() -> None:
    assert [note_mark(t) for t in ("34 Richard", "[3] Foo", "2. Bar", "* I thank", "†Equal work", "4The end")] == [
        "34", "3", "2", "*", "†", "4"
    ]  # fmt: skip
    assert not any(map(note_mark, ["Richard", "2024", "12 345", "a note"]))


def test_running_headers_are_kept_in_the_text_by_choice(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        text_at(canvas, 72, 40, "Proceedings of the Society")
        wrapped(canvas, 72, 100, 400, LOREM)

    path = pdf(tmp_path / "a.pdf", page, page, page)
    dropped = read(path, tmp_path, extraction=FAST)
    kept = read(path, tmp_path, extraction={"profile": "fast", "furniture": "keep"})
    assert dropped.content.count("Proceedings") == 0 and kept.content.count("Proceedings") == 3
    assert {e.attributes.get("origin") for e in walk(kept.structure) if "Proceedings" in e.content} == {"page_header"}


def test_a_word_divided_by_the_end_of_a_page_is_whole_on_the_first(tmp_path: Path) -> None:
    def page(canvas: Canvas, text: str) -> None:
        wrapped(canvas, 72, 100, 400, text)

    path = pdf(
        tmp_path / "a.pdf",
        lambda c: page(c, LOREM + "They met at the old rail-"),
        lambda c: page(c, "way station. " + LOREM),
    )
    first, second = read(path, tmp_path, extraction=FAST).pages
    assert first.content.endswith("the old railway") and second.content.startswith("station.")
