"""Tables in PDFs: drawn cells with spans, cells told by alignment, and what only looks like a table."""

from __future__ import annotations

from pathlib import Path

from reportlab.pdfgen.canvas import Canvas

from tests.engine.extract.pdf_files import LOREM, pdf, read, text_at, wrapped


def grid(c: Canvas, x: float, top: float, rows: list[list[str]], width: float = 100, height: float = 22) -> None:
    for r, row in enumerate(rows):
        for n, text in enumerate(row):
            c.rect(x + width * n, c._pagesize[1] - top - height * (r + 1), width, height)
            if text:
                text_at(c, x + width * n + 5, top + height * r + 15, text)


def test_drawn_cells_with_empty_ones(tmp_path: Path) -> None:
    rows = [["Code", "Place", "Count"], ["A-1", "", "450"], ["", "B-7", ""], ["A-3", "C-9", "17"]]

    def page(c: Canvas) -> None:
        wrapped(c, 72, 80, 400, LOREM)
        grid(c, 72, 160, rows)
        wrapped(c, 72, 300, 400, LOREM)

    document = read(pdf(tmp_path / "a.pdf", page), tmp_path)
    table = document.tables[0]
    assert [table.headers, *table.rows] == rows
    assert document.content.count("450") == 1
    assert table.box is not None and (round(table.box.x0), round(table.box.x1)) == (72, 372)
    assert table.page_number == 1


def test_spans_of_drawn_cells(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        top, bottom = 842 - 100, 842 - 166
        c.rect(72, bottom, 300, 66)
        for y in (842 - 122, 842 - 144):
            c.line(72 if y < 842 - 130 else 172, y, 372, y)
        c.line(172, top, 172, bottom)
        c.line(272, 842 - 122, 272, bottom)
        text_at(c, 80, 125, "Kind")
        text_at(c, 200, 115, "Both years")
        text_at(c, 180, 137, "2023")
        text_at(c, 280, 137, "2024")
        text_at(c, 80, 159, "Plain")
        text_at(c, 180, 159, "5")
        text_at(c, 280, 159, "7")

    table = read(pdf(tmp_path / "a.pdf", page), tmp_path).tables[0]
    spans = {c.text: (c.row, c.col, c.rowspan, c.colspan) for c in table.cells}
    assert spans["Kind"] == (0, 0, 2, 1)
    assert spans["Both years"] == (0, 1, 1, 2)
    assert spans["2024"] == (1, 2, 1, 1)
    assert table.rows == [["Plain", "5", "7"]]


def test_columns_without_any_line(tmp_path: Path) -> None:
    rows = [
        ["Product", "Expected", "Actual", "Status"],
        ["SKU-8847", "450", "", ""],
        ["SKU-9201", "", "778", "OK"],
        ["SKU-4563", "180", "156", "LOW"],
        ["SKU-7728", "920", "935", ""],
    ]

    def page(c: Canvas) -> None:
        wrapped(c, 72, 80, 400, LOREM)
        for r, row in enumerate(rows):
            for n, text in enumerate(row):
                if text:
                    text_at(c, 72 + 100 * n, 180 + 18 * r, text)
        wrapped(c, 72, 320, 400, LOREM)

    document = read(pdf(tmp_path / "a.pdf", page), tmp_path)
    table = document.tables[0]
    assert [table.headers, *table.rows] == rows
    assert document.content.count("SKU-9201") == 1


def test_rules_above_and_below_only(tmp_path: Path) -> None:
    rows = [["Model", "Score", "Size"], ["small one", "0.71", "12"], ["large one", "0.83", "96"]]

    def page(c: Canvas) -> None:
        wrapped(c, 72, 80, 400, LOREM)
        text_at(c, 72, 170, "Table 3: Scores of both models")
        for height in (180, 200, 240):
            c.line(72, 842 - height, 372, 842 - height)
        for r, row in enumerate(rows):
            for n, text in enumerate(row):
                text_at(c, 76 + 100 * n, 194 + 20 * r, text)

    table = read(pdf(tmp_path / "a.pdf", page), tmp_path).tables[0]
    assert [table.headers, *table.rows] == rows
    assert table.caption == "Table 3: Scores of both models"


def test_rows_that_no_line_parts(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        grid(c, 72, 100, [["Year", "Sum"], ["", ""]], height=20)
        c.rect(72, 842 - 240, 200, 120)
        c.line(172, 842 - 240, 172, 842 - 120)
        for n in range(5):
            text_at(c, 80, 138 + 20 * n, str(2000 + n))
            text_at(c, 180, 138 + 20 * n, str(17 * n))

    table = read(pdf(tmp_path / "a.pdf", page), tmp_path).tables[0]
    assert table.rows[-5:] == [[str(2000 + n), str(17 * n)] for n in range(5)]


def test_prose_in_columns_and_boxes_is_no_table(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        wrapped(c, 60, 100, 220, LOREM * 2)
        wrapped(c, 320, 100, 220, LOREM * 2)
        c.rect(55, 842 - 400, 480, 60)
        wrapped(c, 60, 360, 460, LOREM)

    assert read(pdf(tmp_path / "a.pdf", page), tmp_path).tables == []


def test_a_table_of_contents_is_no_table(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        for n in range(8):
            text_at(c, 72, 100 + 16 * n, f"Chapter number {n} " + "." * 40)
            text_at(c, 400, 100 + 16 * n, str(3 + 7 * n))

    assert read(pdf(tmp_path / "a.pdf", page), tmp_path).tables == []
