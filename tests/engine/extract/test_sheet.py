"""Workbooks: displayed values, regions, spans, hiding, limits."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from datetime import date
from pathlib import Path

import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.worksheet.table import Table

from engine.errors import Code, InputError
from tests.engine.extract.office_files import codes, outline, package, read, relationships

S = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'


def save(tmp_path: Path, book: openpyxl.Workbook):
    book.save(tmp_path / "a.xlsx")
    return read(tmp_path / "a.xlsx", "xlsx", tmp_path)


def raw(tmp_path: Path, rows: str, strings: str = "", after: str = "") -> Path:
    """A workbook with one sheet of this sheetData."""
    parts: dict[str, str | bytes] = {
        "xl/workbook.xml": f'<workbook {S}><sheets><sheet name="One" sheetId="1" r:id="s"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relationships(
            ("s", "worksheet", "worksheets/sheet1.xml"), ("t", "sharedStrings", "sharedStrings.xml")
        ),
        "xl/worksheets/sheet1.xml": f"<worksheet {S}><sheetData>{rows}</sheetData>{after}</worksheet>",
        "xl/sharedStrings.xml": strings or f"<sst {S}/>",
    }
    return package(tmp_path / "a.xlsx", "xl/workbook.xml", parts)


def test_displayed_values(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Prices"
    sheet.append(["when", "price", "share", "count", "ok"])
    sheet.append([date(2024, 3, 1), 1234.5, 0.125, 7.0, True])
    sheet["B2"].number_format = '"€"#,##0.00'
    sheet["C2"].number_format = "0.0%"
    document = save(tmp_path, book)
    assert document.metadata.headings == ["Prices"]
    assert document.tables[0].headers == ["when", "price", "share", "count", "ok"]
    assert document.tables[0].rows == [["2024-03-01", "€1,234.50", "12.5%", "7", "TRUE"]]


def test_hidden_sheets_rows_and_columns_are_kept_and_reported(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    first = book.active
    assert first is not None
    first.append(["a", "b"])
    first.append([1, 2])
    first.row_dimensions[2].hidden = True
    first.column_dimensions["B"].hidden = True
    other = book.create_sheet("Secret")
    other["A1"] = "hidden words"
    other.sheet_state = "hidden"
    document = save(tmp_path, book)
    assert document.metadata.headings == ["Sheet", "Secret (hidden)"]
    assert "hidden words" in document.content
    assert {"hidden_sheet", "hidden_rows", "hidden_columns"} <= codes(document)


def test_regions_titles_and_merged_cells(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"] = "Ducks per year"
    sheet.merge_cells("A1:B1")
    for row in (["Year", "Ducks"], [2023, 160], [2024, 180]):
        sheet.append(row)
    sheet["A8"], sheet["B8"], sheet["A9"], sheet["B9"] = "city", "size", "Ulm", 3
    sheet["A12"] = "A remark below."
    document = save(tmp_path, book)
    assert [(t.caption, t.headers, t.rows) for t in document.tables] == [
        ("Ducks per year", ["Year", "Ducks"], [["2023", "160"], ["2024", "180"]]),
        (None, ["city", "size"], [["Ulm", "3"]]),
    ]
    assert outline(document)[-1] == ("paragraph", "A remark below.")


def test_spans_and_two_header_rows(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["", "First half", None, "Second half", None])
    sheet.append(["Zone", "sales", "profit", "sales", "profit"])
    sheet.append(["North", 1, 2, 3, 4])
    sheet.merge_cells("B1:C1")
    sheet.merge_cells("D1:E1")
    table = save(tmp_path, book).tables[0]
    assert table.headers == ["Zone", "sales", "profit", "sales", "profit"]
    assert [(c.text, c.col, c.colspan) for c in table.cells if c.row == 0] == [
        ("", 0, 1),
        ("First half", 1, 2),
        ("Second half", 3, 2),
    ]


def test_tables_side_by_side_part_but_spacer_columns_do_not(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["name", "n", None, "town", "n"], ["Ann", 1, None, "Rome", 5], ["Bob", 2, None, "Oslo", 6]):
        sheet.append(row)
    other = book.create_sheet("Spacer")
    for row in (["zone", "2022", None, "2023", "2024"], ["North", 1, None, 5, 7], ["South", 2, None, 6, 8]):
        other.append(row)
    assert [t.headers for t in save(tmp_path, book).tables] == [
        ["name", "n"],
        ["town", "n"],
        ["zone", "2022", "", "2023", "2024"],
    ]


def test_comments_and_charts(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["year", "ducks"], ["2023", 10], ["2024", 20]):
        sheet.append(row)
    sheet["B2"].comment = Comment("a low year", "Ann")
    chart = BarChart()
    chart.title = "Ducks"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E2")
    document = save(tmp_path, book)
    assert ("comment", "B2: Ann: a low year") in outline(document)
    assert ("caption", "Chart: Ducks") in outline(document)


def test_cells_without_references_inline_and_rich_strings(tmp_path: Path) -> None:
    strings = (
        f"<sst {S}><si><r><t>rich </t></r><r><t>text</t></r><rPh sb='0' eb='1'><t>reading</t></rPh></si>"
        "<si><t>line_x000D_</t></si></sst>"
    )
    rows = (
        '<row><c t="s"><v>0</v></c><c t="inlineStr"><is><t>inline</t></is></c><c t="e"><v>#REF!</v></c></row>'
        '<row><c t="str"><f>A1</f><v>formula</v></c><c t="b"><v>0</v></c><c t="s"><v>99</v></c></row>'
    )
    document = read(raw(tmp_path, rows, strings), "xlsx", tmp_path)
    assert document.tables[0].headers == ["rich text", "inline", "#REF!"]
    assert document.tables[0].rows == [["formula", "FALSE", ""]]
    assert "string_missing" in codes(document)


def test_formulas_show_their_results_or_themselves(tmp_path: Path) -> None:
    rows = "<row><c><f>1+1</f><v>2</v></c></row><row/><row><c><f>SUM(A1:A2)</f></c></row>"
    document = read(raw(tmp_path, rows), "xlsx", tmp_path)
    assert [text for _, text in outline(document)] == ["One", "2", "=SUM(A1:A2)"]
    assert codes(document) == {"formula_without_value"}


def test_many_merges_and_a_far_away_cell_end_soon(tmp_path: Path) -> None:
    merges = "".join(f'<mergeCell ref="A{n}:B{n}"/>' for n in range(1, 50_001))
    rows = (
        '<row r="1"><c r="A1" t="str"><v>here</v></c></row>'
        '<row r="1048576"><c r="XFD1048576" t="str"><v>there</v></c></row>'
    )
    document = read(raw(tmp_path, rows, after=f"<mergeCells>{merges}</mergeCells>"), "xlsx", tmp_path)
    assert document.content == "# One\n\nhere\n\nthere"


def test_scattered_cells_are_no_table(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="str"><v>k{n}</v></c><c r="ZZ{n}" t="str"><v>v{n}</v></c></row>'
        for n in range(1, 41)
    )
    document = read(raw(tmp_path, rows), "xlsx", tmp_path)
    assert (document.tables, "k7 | v7" in document.content) == ([], True)
    assert "sparse_table" in codes(document)


def test_shared_strings_repeated_by_reference_hit_the_limit(tmp_path: Path) -> None:
    strings = f"<sst {S}><si><t>{'x' * 100_000}</t></si></sst>"
    rows = "<row>" + '<c t="s"><v>0</v></c>' * 300 + "</row>"
    with pytest.raises(InputError) as caught:
        read(raw(tmp_path, rows, strings), "xlsx", tmp_path)
    assert caught.value.code is Code.LIMIT_EXCEEDED
    with pytest.raises(InputError) as caught:
        read(raw(tmp_path, "<row>" + "<c><v>1</v></c>" * 200 + "</row>"), "xlsx", tmp_path, table_cells=100)
    assert caught.value.code is Code.LIMIT_EXCEEDED


def test_entity_bombs_are_refused(tmp_path: Path) -> None:
    strings = f'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><sst {S}><si><t>&b;</t></si></sst>'
    with pytest.raises(InputError, match="entity bomb"):
        read(raw(tmp_path, "", strings), "xlsx", tmp_path)


def test_tables_that_the_workbook_names_are_tables_of_their_own(tmp_path: Path) -> None:
    """One right beside other cells, with a title over it, years for headers and one that has no header row."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"] = "Catches by year"
    for row, values in enumerate([["2023", "2024"], [1, 2], [3, 4]], 2):
        for column, value in enumerate(values, 1):
            sheet.cell(row, column, value)
    for row in range(2, 5):
        sheet.cell(row, 3, f"remark {row}")
    sheet["E8"], sheet["F8"], sheet["E9"], sheet["F9"] = "x", "y", "z", "w"
    sheet.add_table(Table(displayName="Catches", ref="A2:B4"))
    plain = Table(displayName="Plain", ref="E8:F9", headerRowCount=0)
    sheet.add_table(plain)
    first, second = save(tmp_path, book).tables
    assert (first.caption, first.headers, first.rows) == ("Catches by year", ["2023", "2024"], [["1", "2"], ["3", "4"]])
    assert (second.headers, second.rows) == ([], [["x", "y"], ["z", "w"]])


def test_printed_headers_and_embedded_files_and_threads(tmp_path: Path) -> None:
    names = {
        "xl/worksheets/_rels/sheet1.xml.rels": relationships(
            ("e", "package", "../embeddings/inside.docx"), ("t", "threadedComment", "../threadedComments/t.xml")
        ),
        "xl/embeddings/inside.docx": b"PK\x03\x04rest",
        "xl/threadedComments/t.xml": f'<T {S}><c ref="B2" personId="p"><text>Why?</text></c></T>',
        "xl/persons/person.xml": f'<L {S}><person displayName="Ann" id="p"/></L>',
    }
    path = raw(tmp_path, '<row r="1"><c r="A1"><v>1</v></c></row>', after=(
        '<headerFooter><oddHeader>&amp;C&amp;"Arial,Bold"&amp;12Budget &amp;K00-020draft</oddHeader>'
        "<oddFooter>&amp;LPage &amp;P of &amp;N</oddFooter></headerFooter>"
    ))  # fmt: skip
    workbook = relationships(("s", "worksheet", "worksheets/sheet1.xml"), ("p", "person", "persons/person.xml"))
    with zipfile.ZipFile(path) as made:
        parts = {name: made.read(name) for name in made.namelist() if name.startswith("xl/")}
    parts |= {"xl/_rels/workbook.xml.rels": workbook, **names}
    document = read(package(tmp_path / "b.xlsx", "xl/workbook.xml", parts), "xlsx", tmp_path)
    assert [(t, c) for t, c in outline(document) if t != "heading"] == [
        ("paragraph", "1"),
        ("comment", "B2: Ann: Why?"),
        ("page_header", "Budget draft"),
        ("page_footer", "Page of"),
    ]
    assert [(c.inner_path, c.filename) for c in document.attached] == [("xl/embeddings/inside.docx", "inside.docx")]


@pytest.mark.slow
def test_two_million_cells_are_read_in_bounded_memory(tmp_path: Path) -> None:
    """200,000 rows of ten: the bound on cells is just met. Below 900 MB, and below 90 CPU seconds on any machine."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("big")
    sheet.append([f"column {n}" for n in range(10)])
    for row in range(199_999):
        sheet.append([row, f"item {row % 5000}", row / 7, "north", row % 100, True, 1.5, "a", "b", row * 3])
    book.save(tmp_path / "big.xlsx")
    program = (
        "import resource, sys, time; from pathlib import Path\n"
        "from engine.extract import Context, extract; from engine.settings import Settings\n"
        "path = Path(sys.argv[1]); document = extract(path, Context('xlsx', 'big', Settings(), path.parent))\n"
        "usage = resource.getrusage(resource.RUSAGE_SELF)\n"
        "print(len(document.tables[0].rows), usage.ru_maxrss // 1024, int(usage.ru_utime))"
    )
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", program, str(tmp_path / "big.xlsx")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    rows, megabytes, seconds = map(int, done.stdout.split())
    assert rows == 199_999
    assert megabytes < 900
    assert seconds < 90
