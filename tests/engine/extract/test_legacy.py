"""Binary Word and PowerPoint files, made by LibreOffice itself from modern ones."""

from __future__ import annotations

import shutil
from pathlib import Path

import docx as python_docx
import openpyxl
import pytest
from openpyxl.chart import BarChart, Reference

from engine.errors import Code, CorpusError, InputError
from engine.extract.libreoffice import convert, program
from engine.tools import run
from tests.engine.extract.office_files import context, read

needs_libreoffice = pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed")


def make_doc(tmp_path: Path) -> Path:
    """A .doc with a heading, words and a table."""
    made = python_docx.Document()
    made.add_heading("Old heading", 1)
    made.add_paragraph("Words of old.")
    table = made.add_table(2, 2)
    for index, text in enumerate(("a", "b", "c", "d")):
        table.cell(index // 2, index % 2).text = text
    made.add_paragraph("The end.")  # Word documents do not end with a table
    made.save(str(tmp_path / "old.docx"))
    return converted(tmp_path, "old.docx", "doc:MS Word 97")


def converted(tmp_path: Path, name: str, kind: str) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    profile = f"-env:UserInstallation={(home / 'profile').as_uri()}"
    command = [program(), profile, "--headless", "--convert-to", kind, "--outdir", str(tmp_path)]
    result = (tmp_path / name).with_suffix(f".{kind.partition(':')[0]}")
    for _ in range(2):  # the first start may only set up the profile
        if not result.exists():
            run([*command, str(tmp_path / name)], 120, home)
    return result


@needs_libreoffice
def test_word_97(tmp_path: Path) -> None:
    document = read(make_doc(tmp_path), "doc", tmp_path)
    assert document.metadata.headings == ["Old heading"]
    assert "Words of old." in document.content
    assert [c.text for c in document.tables[0].cells] == ["a", "b", "c", "d"]
    assert document.metadata.source_format == "doc"


@pytest.mark.slow
@needs_libreoffice
def test_charts_of_excel_97_are_read_through_libreoffice(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["year", "tons"], [2021, 3], [2022, 4]):
        sheet.append(row)
    chart = BarChart()
    chart.title = "Catch"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "E2")
    book.save(tmp_path / "old.xlsx")
    cells, drawn = read(converted(tmp_path, "old.xlsx", "xls"), "xls", tmp_path).tables
    assert cells.rows == [["2021", "3"], ["2022", "4"]]
    assert [row[-1] for row in drawn.rows] == ["3", "4"]
    assert drawn.headers[-1] == "tons"


@needs_libreoffice
def test_a_conversion_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    path = make_doc(tmp_path)
    with pytest.raises(InputError) as caught:
        convert(path, "doc", "docx", context(tmp_path, "doc", tool_seconds=0.05))
    assert caught.value.code is Code.EXTRACTION_TIMEOUT


def test_without_libreoffice_the_install_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("engine.tools._SEARCH_PATH", str(tmp_path))
    (tmp_path / "a.doc").write_bytes(b"")
    with pytest.raises(CorpusError, match="apt-get install libreoffice-writer-nogui") as caught:
        convert(tmp_path / "a.doc", "doc", "docx", context(tmp_path, "doc"))
    assert caught.value.code is Code.MISSING_DEPENDENCY


@pytest.mark.parametrize("data", [b"<html>not word</html>", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600])
def test_what_is_no_word_file_never_reaches_libreoffice(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.doc").write_bytes(data)
    with pytest.raises(InputError) as caught:
        read(tmp_path / "a.doc", "doc", tmp_path)
    assert caught.value.code is Code.EXTRACTION_FAILED
