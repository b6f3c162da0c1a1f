"""Plain text: paragraphs as written, bounded where a line never ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.extract.text_files import elements, headings, losses, read


def test_paragraphs_and_line_breaks(tmp_path: Path) -> None:
    document = read(tmp_path, "a.txt", "one\r\ntwo\r\n \t\r\nthree\f four\n\n\n")
    assert [p.content for p in elements(document, "paragraph")] == ["one\ntwo", "three", "four"]


def test_underlined_lines_are_headings(tmp_path: Path) -> None:
    document = read(tmp_path, "a.txt", "Main title\n==========\n\nbody\n\nPart\n----\nmore\n\nnot a title\n--\n")
    assert headings(document) == [(1, "Main title"), (2, "Part")]
    assert "not a title\n--" in document.content and "more" in document.content


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n| 3 | 4 |\n+---+---+", [["a", "b"], ["1", "2"], ["3", "4"]]),
        ("+---+---+\n| a | b |\n+---+---+\n| 1 | 2 |\n| x |   |\n+---+---+\n| 3 | 4 |\n+---+---+",
         [["a", "b"], ["1 x", "2"], ["3", "4"]]),
        ("┌───┬───┐\n│ a │ b │\n├───┼───┤\n│ 1 │ 2 │\n└───┴───┘", [["a", "b"], ["1", "2"]]),
        ("Name    Qty\n------- ---\nBolt      3\nBig nut  10", [["Name", "Qty"], ["Bolt", "3"], ["Big nut", "10"]]),
        ("a | b\n--|--\n1 | 2", [["a", "b"], ["1", "2"]]),
    ],
)  # fmt: skip
def test_drawn_tables(text: str, rows: list[list[str]], tmp_path: Path) -> None:
    document = read(tmp_path, "a.txt", f"Before\n\n{text}\n\nafter")
    assert [[t.headers, *t.rows] for t in document.tables] == [rows]


@pytest.mark.parametrize(
    "text", ["Title here\n---- ----\nrunning text on", "a\n---\nb\n---", "+-----+\n| box\n+-----+", "x | y\nz | w\nq"]
)
def test_what_is_no_drawn_table(text: str, tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", text).tables == []


def test_encodings_are_found_and_named(tmp_path: Path) -> None:
    text = "Однажды, в студеную зимнюю пору,\nЯ из лесу вышел; был сильный мороз."
    document = read(tmp_path, "a.txt", text.encode("cp866"))
    assert (document.content, document.metadata.extra["encoding"]) == (text, "cp866")
    assert read(tmp_path, "b.txt", "fuzzy blankets".encode("utf-32-be")).content == "fuzzy blankets"


def test_a_line_without_end_is_cut_without_loss(tmp_path: Path) -> None:
    words = "alpha beta " * 10_000
    document = read(tmp_path, "a.txt", words)
    assert losses(document) == {"long_paragraph_split": 1}
    assert max(len(p.content) for p in elements(document, "paragraph")) <= 20_000
    assert document.content.split() == words.split()
    run = read(tmp_path, "b.txt", "a" * 200_000)
    assert run.content.replace("\n", "") == "a" * 200_000


def test_white_space_is_an_empty_document(tmp_path: Path) -> None:
    assert read(tmp_path, "a.txt", " \n\t\n").content == ""
