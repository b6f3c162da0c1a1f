"""Real workbooks: what their rows in the manifest ask for beyond strings.

Each check was worked out from the file itself and its printed sheets.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime

import pytest

from engine.errors import Code
from engine.extract.number_format import display
from tests.formats.office_checks import encrypted, grid, losses, reaches_nothing
from tests.formats.reading import FORMATS, document, elements, failure_code, read

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FORMATS.exists(), reason="the shared documents are not there"),
]


def whole_numbers(name: str) -> None:
    (table,) = document(name).tables
    assert [row[0] for row in table.rows] == [str(y) for y in range(2019, 2025)]
    assert all(cell.isdigit() for row in table.rows for cell in row)


def epoch_1904(name: str) -> None:
    found = document(name)
    assert "2000-01-01" in found.content
    assert "1995-12-31" not in found.content


def tika_dates(name: str) -> None:
    assert "2018-09-20" in document(name).content
    assert "1996-08-10" in document(name).content


def three_sheets(name: str) -> None:
    assert document(name).metadata.headings == ["Example Test", "Format Abbr.", "Readme"]


def binary_sheet(name: str) -> None:
    assert "This is an example spreadsheet created with Microsoft Excel" in document(name).content


def chart_sheet(name: str) -> None:
    found = document(name)
    assert found.metadata.headings == ["Duck Observations", "Duck Chart"]
    assert found.tables[1].headers == ["", "Freshwater Ducks", "Saltwater Ducks"]


def inflated(name: str) -> None:
    start = time.process_time()
    found = read.__wrapped__(name)[0].document
    assert time.process_time() - start < 5
    assert found is not None
    assert [len(grid(t)) for t in found.tables[:1]] == [7]
    assert [len(row) for row in grid(found.tables[0])] == [3] * 7


def edge_cases(name: str) -> None:
    found = document(name)
    assert found.metadata.headings == ["missing_header_head", "Attached_left", "Diagonal"]
    first, second, third, fourth = found.tables
    assert first.headers == ["", "Sub-category", "ID", "Question", "Answer", "Extra"]
    assert second.rows[1][0] == "Attached left"
    assert third.headers[0] == "Product/Integration"
    assert grid(fourth) == [
        ["G1", "H1", "I3"], ["Overview 1", "Purpose 1", "Extra 1"], ["Overview 2", "Purpose 2", "Extra 2"],
    ]  # fmt: skip


def two_sheets(name: str) -> None:
    assert document(name).metadata.headings == ["Sheet1", "09060124-b5e7-4717-9d07-3c046eb"]
    assert [len(grid(t)) for t in document(name).tables] == [24, 5]


def many_merges(name: str) -> None:
    start = time.process_time()
    assert document(name).metadata.headings == ["Sheet1"]  # not one cell holds anything
    assert time.process_time() - start < 12


def date_formats(name: str) -> None:
    """Column A is what Excel shows for C under the format in B. Where that has day, month and year, the date is
    shown in ISO form instead, which column C is."""
    for shown, code, value, _ in document(name).tables[1].rows:
        moment = datetime.fromisoformat(value)
        serial = (moment - datetime(1899, 12, 30)).total_seconds() / 86_400
        got = display(serial, code)
        if re.match(r"\d+-\d+-\d+", shown):
            assert got.startswith(moment.date().isoformat()), code
        elif "." not in shown:  # C is shown to the second; the fraction is lost to this test
            assert got == shown, code


def strict_sheet(name: str) -> None:
    assert document(name).metadata.headings == ["First Sheet", "Sheet Number 2", "Sheet3"]
    assert document(name).tables[1].headers == ["cb=1", "cb=10", "cb=2", "cb=sum"]


def hidden_sheet(name: str) -> None:
    found = document(name)
    assert found.metadata.headings == ["Sheet1 (hidden)", "Sheet2"]
    assert "hidden_sheet" in losses(found)


def capped(name: str) -> None:
    start = time.process_time()
    assert failure_code(name) == Code.LIMIT_EXCEEDED
    assert time.process_time() - start < 10


def bomb(name: str) -> None:
    start = time.process_time()
    assert failure_code(name) == Code.EXTRACTION_FAILED
    assert time.process_time() - start < 2
    assert "entity bomb" in (read(name)[0].failure or pytest.fail()).message


def dde(name: str) -> None:
    assert losses(document(name)) & {"dde_link_removed", "external_reference"}
    reaches_nothing(name)


def number_formats(name: str) -> None:
    cells = [c for t in document(name).tables for row in grid(t) for c in row]
    for shown in ("1,599.99", "-1,599.99", "$1,599.99", "($1,599.99)", "1.98E+08", "-1.98E+08", "2.50%", "2 1/2"):
        assert shown in cells
    assert "19 dollars and .99 cents" in cells


def password_tika(name: str) -> None:
    encrypted(name)
    assert "This is an Encrypted Excel spreadsheet." in document(name).content


def half_year(name: str) -> None:
    found = document(name)
    assert len(found.metadata.headings) == 5
    first = found.tables[0]
    heads = [" ".join(c.text.split()) for c in first.cells if c.header and c.text]
    assert heads[:2] == ["In millions of CHF", "January–June 2023"]
    assert heads[2] == "Sales (a)"
    assert {c.row for c in first.cells if c.header} == {0, 1}
    assert first.rows[0][:4] == ["Zone NA", "12,553", "2,713", "2,632"]
    footers = [e.content for e in elements(found, "page_footer")]
    assert set(footers) == {f"Extract from Half-Year Report of the Nestlé Group {year}" for year in (2022, 2023)}


CHECKS: dict[str, Callable[[str], None]] = {
    "dl__legacy_sample.xls": whole_numbers,
    "po__1904DateWindowing.xls": epoch_1904,
    "tk__testEXCEL_dateFormats.xls": tika_dates,
    "un__tests-example.xls": three_sheets,
    "tk__testEXCEL.xlsb": binary_sheet,
    "dl__xlsx_03_chartsheet.xlsx": chart_sheet,
    "dl__xlsx_04_inflated.xlsx": inflated,
    "dl__xlsx_06_edge_cases_.xlsx": edge_cases,
    "mk__test.xlsx": two_sheets,
    "po__57893-many-merges.xlsx": many_merges,
    "po__DateFormatTests.xlsx": date_formats,
    "po__SampleSS.strict.xlsx": strict_sheet,
    "po__TwoSheetsOneHidden.xlsx": hidden_sheet,
    "po__poc-shared-strings.xlsx": capped,
    "po__poc-xmlbomb.xlsx": bomb,
    "tk__testDdeLink.xlsx": dde,
    "tk__testEXCEL-formats.xlsx": number_formats,
    "tk__testEXCEL_dateFormats.xlsx": tika_dates,
    "tk__testEXCEL_protected_passtika.xlsx": password_tika,
    "un__2023-half-year-analyses-by-segment.xlsx": half_year,
    "un__password_protected.xlsx": encrypted,
}


@pytest.mark.parametrize("name", CHECKS)
def test_what_the_manifest_asks_for(name: str) -> None:
    CHECKS[name](name)
