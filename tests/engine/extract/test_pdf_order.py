"""Reading order of PDF pages: columns, titles across, boxes side by side, right-to-left and vertical text."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from engine.extract.pdf.mupdf import pymupdf
from tests.engine.extract.pdf_files import LOREM, outline, pdf, read, text_at, wrapped


def test_lines_drawn_across_two_columns_are_read_down(tmp_path: Path) -> None:
    """P16: four strings drawn row by row at two columns; the sentence goes on down its own column."""

    def page(c: Canvas) -> None:
        text_at(c, 60, 130, "The left column begins with these")
        text_at(c, 330, 130, "The right column starts here and")
        text_at(c, 60, 144, "words and ends with those.")
        text_at(c, 330, 144, "stops at this place.")

    text = read(pdf(tmp_path / "a.pdf", page), tmp_path).content
    assert "begins with these words and ends with those." in text
    assert "starts here and stops at this place." in text
    assert text.index("left column") < text.index("right column")


def test_title_columns_table_columns(tmp_path: Path) -> None:
    """P16: with a title across both columns and a table between them."""

    def page(c: Canvas) -> None:
        text_at(c, 150, 70, "A title that lies across both of the columns", 14)
        left = wrapped(c, 60, 110, 220, "Alpha begins. " + LOREM)
        wrapped(c, 320, 110, 220, "Beta begins. " + LOREM)
        top = left + 20
        for row in range(3):
            for col in range(3):
                c.rect(60 + 160 * col, 842 - top - 20 * (row + 1), 160, 20)
                text_at(c, 66 + 160 * col, top + 20 * row + 14, f"cell {row} {col}")
        wrapped(c, 60, top + 100, 220, "Gamma begins. " + LOREM)
        wrapped(c, 320, top + 100, 220, "Delta begins. " + LOREM)

    document = read(pdf(tmp_path / "a.pdf", page), tmp_path)
    order = ["title that", "Alpha", "Beta", "cell 0 0", "Gamma", "Delta"]
    places = [document.content.index(word) for word in order]
    assert places == sorted(places)
    assert len(document.tables) == 1 and document.content.count("cell 1 1") == 1


def test_a_paragraph_goes_on_in_the_next_column(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        for n in range(12):
            text_at(c, 60, 100 + 14 * n, f"left line number {n} is about this long")
            text_at(c, 320, 100 + 14 * n, f"right line number {n} is about this long")

    document = read(pdf(tmp_path / "a.pdf", page), tmp_path)
    assert len(outline(document)) == 1
    assert "number 11 is about this long right line number 0" in document.content


def test_numbers_beside_their_text_are_one_row(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        for n in range(4):
            text_at(c, 60, 100 + 40 * n, f".{n + 1}")
            text_at(c, 110, 100 + 40 * n, f"Requirement number {n + 1} says that the work be done in time.")

    text = read(pdf(tmp_path / "a.pdf", page), tmp_path).content
    assert ".2 Requirement number 2 says" in text


def test_labels_stay_with_their_values(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        for n, (label, value) in enumerate([("Name:", "Ada"), ("Born:", "London"), ("Field:", "Mathematics")]):
            text_at(c, 60, 100 + 16 * n, label)
            text_at(c, 140, 100 + 16 * n, value)

    text = read(pdf(tmp_path / "a.pdf", page), tmp_path).content
    assert text.index("Ada") < text.index("Born:") < text.index("London") < text.index("Mathematics")


def test_vertical_japanese_reads_from_the_right(tmp_path: Path) -> None:
    made = pymupdf.open()
    page = made.new_page(width=300, height=300)
    for column, text in enumerate(["最初の列です", "次の列です"]):
        for row, letter in enumerate(text):
            page.insert_text((240 - 24 * column, 50 + 14 * row), letter, fontname="japan", fontsize=14)
    made.save(tmp_path / "a.pdf")
    text = "".join(read(tmp_path / "a.pdf", tmp_path).content.split())
    assert sorted(text) == sorted("最初の列です次の列です")


HEBREW = "שלום עולם 2024 ABC"
DEJAVU = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")


def test_right_to_left_text_comes_out_in_logical_order(tmp_path: Path) -> None:
    """P21: set by a layout engine; digits and Latin letters stay as they are."""
    document = pymupdf.open()
    document.new_page().insert_htmlbox(pymupdf.Rect(50, 50, 500, 200), f'<p dir="rtl">{HEBREW}</p>')
    document.save(tmp_path / "a.pdf")
    assert read(tmp_path / "a.pdf", tmp_path).content == HEBREW


@pytest.mark.skipif(not DEJAVU.exists(), reason="needs the DejaVu fonts of the system")
@pytest.mark.parametrize("visual", [True, False])
def test_hebrew_in_either_order_of_drawing(tmp_path: Path, visual: bool) -> None:
    """P21: letters in the order they are seen, or each placed to the left of the one before, read the same."""
    words, document = "שלום עולם", pymupdf.open()
    page = document.new_page()
    page.insert_font(fontname="F0", fontfile=str(DEJAVU))
    font, x = pymupdf.Font(fontfile=str(DEJAVU)), 300.0
    if visual:
        page.insert_text((72, 100), words[::-1], fontname="F0", fontsize=14)
    for letter in "" if visual else words:
        x -= font.text_length(letter, 14)
        page.insert_text((x, 100), letter, fontname="F0", fontsize=14)
    page.insert_text((72, 160), "Latin 123 stays", fontname="F0", fontsize=14)
    document.save(tmp_path / "a.pdf")
    assert read(tmp_path / "a.pdf", tmp_path).content.split("\n\n") == [words, "Latin 123 stays"]
