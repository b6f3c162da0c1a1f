"""Kinds of tables by geometry alone, drawn with known cells; and pages that only look like tables."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from engine.extract.pdf.model import Rule, Run, Word
from engine.extract.pdf.region import region_table
from engine.records import ExtractedDocument, ExtractedTable
from tests.engine.extract.pdf_files import LOREM, pdf, read, text_at, wrapped
from tests.engine.extract.table_files import STYLES, Look, draw, figures, prose

FAST = {"profile": "fast"}


def matrix(table: ExtractedTable) -> list[list[str]]:
    height = max(c.row + c.rowspan for c in table.cells)
    width = max(c.col + c.colspan for c in table.cells)
    cells = {(c.row, c.col): c.text for c in table.cells}
    return [[cells.get((r, c), "") for c in range(width)] for r in range(height)]


def only(document: ExtractedDocument) -> ExtractedTable:
    assert len(document.tables) == 1
    return document.tables[0]


@pytest.mark.parametrize("content", [figures, prose])
@pytest.mark.parametrize("style", STYLES)
def test_cells_of_every_style(tmp_path: Path, style: str, content: Callable[[Look], list[list[str]]]) -> None:
    for valign, columns in itertools.product(("TOP", "MIDDLE"), (1, 2)):
        look = Look(style, valign, size=9 if columns == 1 else 7, align="RIGHT" if content is figures else "LEFT")
        rows = content(look)
        path = draw(tmp_path / f"{valign}{columns}.pdf", rows, look, columns)
        assert matrix(only(read(path, tmp_path, extraction=FAST))) == rows, (valign, columns)


@pytest.mark.parametrize("style", ["booktabs", "frame", "stripes"])
def test_names_over_several_columns(tmp_path: Path, style: str) -> None:
    rows = [
        ["Group", "All women", "", "All men", "", ""],
        ["", "No.", "Rate", "No.", "Rate", "Change"],
        *[[f"{n}5-{n}9", f"{n}104", f"{n}.5", f"{n}21", f"{n}.75", f"{n + 1}%"] for n in range(2, 7)],
    ]
    look = Look(style, heads=2, padding=4, spans=(((1, 0), (2, 0)), ((3, 0), (5, 0)), ((0, 0), (0, 1))))
    found = only(read(draw(tmp_path / "a.pdf", rows, look), tmp_path, extraction=FAST))
    spans = {c.text: (c.row, c.col, c.rowspan, c.colspan) for c in found.cells if c.row < 2}
    assert (spans["All women"], spans["All men"]) == ((0, 1, 1, 2), (0, 3, 1, 3))
    assert spans["Group"] == (0, 0, 2, 1)
    assert matrix(found)[2:] == rows[2:]


def test_names_over_empty_columns_to_be_filled_in(tmp_path: Path) -> None:
    rows = [["", "First trial", "Second trial"], ["Potassium", "", ""], ["Sodium", "", ""], ["Calcium", "", ""]]
    path = draw(tmp_path / "a.pdf", rows, Look("booktabs", padding=6))
    assert matrix(only(read(path, tmp_path, extraction=FAST))) == rows


def test_three_tables_in_rules_of_one_width_stay_apart(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        for t, top in enumerate((100, 300, 500)):
            text_at(c, 72, top - 14, f"Table {t + 1}. Clauses by kind.")
            for y in (top, top + 20, top + 80):
                c.line(72, 842 - y, 500, 842 - y)
            for n, row in enumerate([["Kind", "Union", "States"], ["Labour", "534", "17285"], ["Other", "41", "888"]]):
                for x, text in zip((76, 250, 400), row, strict=True):
                    text_at(c, x, top + 14 + 22 * n, text)

    document = read(pdf(tmp_path / "a.pdf", page), tmp_path, extraction=FAST)
    assert [t.rows[-1] for t in document.tables] == [["Other", "41", "888"]] * 3


def test_captions_and_sources_inside_the_frame_are_no_rows(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        for y in (100, 125, 150, 175, 200, 225):
            c.line(72, 842 - y, 372, 842 - y)
        for x, top, bottom in ((72, 100, 225), (372, 100, 225), (172, 125, 200), (272, 125, 200)):
            c.line(x, 842 - top, x, 842 - bottom)
        text_at(c, 80, 117, "Exhibit 9: Types of assessment")
        for n, row in enumerate([["Kind", "Level", "Share"], ["General", "grade", "9"], ["Other", "mixed", "4"]]):
            for x, text in zip((80, 180, 280), row, strict=True):
                text_at(c, x, 142 + 25 * n, text)
        text_at(c, 80, 217, "Source: the survey of 2006")

    document = read(pdf(tmp_path / "a.pdf", page), tmp_path, extraction=FAST)
    found = only(document)
    assert matrix(found) == [["Kind", "Level", "Share"], ["General", "grade", "9"], ["Other", "mixed", "4"]]
    assert found.caption == "Exhibit 9: Types of assessment" or "Exhibit 9" in document.content
    assert "Source: the survey" in document.content


def test_a_table_on_its_side_and_one_on_each_page(tmp_path: Path) -> None:
    rows = [["Code", "Place", "Count"], ["A-1", "Leeds", "450"], ["B-2", "York", "17"], ["C-3", "Hull", "8"]]

    def turned(c: Canvas) -> None:
        c.translate(595, 0)
        c.rotate(90)
        upright(c, 595)

    def upright(c: Canvas, height: float = 842) -> None:
        c.setFont("Helvetica", 10)
        for y in (100, 122, 190):
            c.line(72, height - y, 400, height - y)
        for n, row in enumerate(rows):
            for x, text in zip((76, 200, 330), row, strict=True):
                c.drawString(x, height - 115 - 22 * n, text)

    document = read(pdf(tmp_path / "a.pdf", turned, upright, upright), tmp_path, extraction=FAST)
    assert [matrix(t) for t in document.tables] == [rows] * 3
    assert [t.page_number for t in document.tables] == [1, 2, 3]


# ---------------------------------------------------------------- what is no table
def bars(c: Canvas) -> None:
    """A bar chart whose labels lie over its bars."""
    c.line(100, 500, 100, 700)
    c.line(100, 500, 400, 500)
    for n in range(5):
        c.rect(130 + 50 * n, 500, 30, 30 + 25 * n)
    for n, text in enumerate(["100", "80", "60", "40", "20 Indonesia Malaysia Viet Nam Philippines Thailand"]):
        text_at(c, 102, 160 + 36 * n, text)


def text_columns(c: Canvas) -> None:
    """Three columns of text under a running header and its rule."""
    c.line(60, 780, 540, 780)
    c.line(60, 50, 540, 50)
    text_at(c, 60, 58, "Journal of Things")
    text_at(c, 490, 58, "Vol. 12")
    for x in (60, 225, 390):
        wrapped(c, x, 80, 150, LOREM * 5, 9)


def contents(c: Canvas) -> None:
    """Titles and page numbers without dots between them."""
    for n in range(14):
        text_at(c, 72, 100 + 16 * n, f"{n + 1} The matter of chapter {n}")
        text_at(c, 500, 100 + 16 * n, str(3 + 4 * n))


def formulas(c: Canvas) -> None:
    for n in range(5):
        text_at(c, 150, 100 + 30 * n, f"x = a + {n} b - c / d")
        text_at(c, 500, 100 + 30 * n, f"({n + 1})")


def lawsuit(c: Canvas) -> None:
    for n, (left, right) in enumerate([("A. KNOWLES,", ""), ("Petitioner", ""), ("v.", "No. 07-1315"), ("B. FOX", "")]):
        text_at(c, 72, 100 + 16 * n, left)
        text_at(c, 280, 100 + 16 * n, ":")
        text_at(c, 320, 100 + 16 * n, right)


def dump(c: Canvas) -> None:
    """A listing in a fixed pitch, on a page of prose."""
    wrapped(c, 72, 60, 400, LOREM * 4)
    for n in range(5):
        text_at(c, 72, 300 + 12 * n, f"0000{n}0  00  05  64  69  66  66  09  0a", 9, "Courier")


def boxes(c: Canvas) -> None:
    """Form fields above one another, and one cut into a letter's width each."""
    for n in range(4):
        c.rect(150, 700 - 40 * n, 300, 20)
        text_at(c, 155, 842 - 706 + 40 * n, f"Lorem ipsum {n}")
    for n in range(10):
        c.rect(150 + 18 * n, 500, 18, 20)
        text_at(c, 155 + 18 * n, 842 - 506, "abcdefghij"[n])


@pytest.mark.parametrize("page", [bars, text_columns, contents, formulas, lawsuit, dump, boxes])
def test_what_is_no_table(tmp_path: Path, page: Callable[[Canvas], None]) -> None:
    assert read(pdf(tmp_path / "a.pdf", page), tmp_path, extraction=FAST).tables == []


# ---------------------------------------------------------------- a region known to be a table
def run(text: str, x: float, y: float, sequence: int = 0, rtl: bool = False) -> Run:
    """A run of words 5 points a letter; `x` is its left end. Right-to-left words follow from the right."""
    words: list[Word] = []
    at = x
    for word in reversed(text.split()) if rtl else text.split():
        words.append(Word(word, at, y, at + 5 * len(word), y + 12))
        at += 5 * len(word) + 3
    ordered = words[::-1] if rtl else words
    return Run(ordered, x, y, words[-1].x1, y + 12, text, 10.0, rtl=rtl, sequence=sequence)


def test_a_region_needs_no_proof() -> None:
    runs = [run("Name", 10, 10), run("Duty", 200, 10), run("Ada Byron", 10, 30), run("counts the boats", 200, 30)]
    found = region_table(runs, [], (0, 0, 400, 50))
    assert found is not None
    assert [c.text for c in found.cells] == ["Name", "Duty", "Ada Byron", "counts the boats"]


def test_a_region_takes_lines_as_rows() -> None:
    lines = ["when the tide is out", "boats are counted", "at the quay"]
    runs = [run("Work", 10, 10), run("How", 200, 10), run("Count", 10, 30), run("Visit", 10, 80)]
    runs += [run(text, 200, 30 + 14 * n) for n, text in enumerate(lines)] + [run("officers call", 200, 80)]
    rules = [Rule(0, y, 400, y) for y in (5, 25, 75, 95)]
    found = region_table([*runs, run("text below", 10, 200)], rules, (0, 0, 400, 100))
    assert found is not None and found.shape == (3, 2)
    assert found.cells[3].text == " ".join(lines)


def test_a_list_is_no_region_table() -> None:
    runs = [r for n in range(4) for r in (run(f"{n + 1}.", 10, 20 * n), run("do what is said here", 60, 20 * n))]
    assert region_table(runs, [], (0, 0, 400, 100)) is None


def test_right_to_left_columns_are_counted_from_the_right() -> None:
    words = [("שם פרטי", 300, 10), ("עיר", 100, 10), ("דוד לוי", 300, 30), ("חיפה", 100, 30)]
    runs = [run(text, x, y, n, rtl=True) for n, (text, x, y) in enumerate(words)]
    found = region_table([*runs, run("123", 100, 50), run("רחל", 300, 50, 5, rtl=True)], [], (0, 0, 400, 70))
    assert found is not None
    assert [c.text for c in found.cells] == ["שם פרטי", "עיר", "דוד לוי", "חיפה", "רחל", "123"]
