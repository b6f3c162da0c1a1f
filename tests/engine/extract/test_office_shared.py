"""Real office files: every expected string is there, no forbidden one, within time."""

from __future__ import annotations

import csv
import json
import re
import time
import unicodedata
from pathlib import Path

import pytest

from engine.document import to_markdown
from engine.errors import Code, CorpusError
from engine.extract import extract
from tests.engine.extract.office_files import context, read

FORMATS = Path(__file__).resolve().parents[3] / "../shared/corpora/formats"
OFFICE = {"docx", "docm", "doc", "pptx", "ppt", "xlsx", "xls", "xlsb", "ods", "csv", "tsv", "odt", "odp", "rtf"}
# Strings that contradict the rule "displayed values", or that cannot be told apart once white space is dropped.
DISPUTED = {
    ("un__2023-half-year-analyses-by-segment.xlsx", "12553"),  # the sheet shows 12,553
    ("dl__powerpoint_bad_text.pptx", "copyright-freestandard"),  # a line break is white space
}

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FORMATS.exists(), reason="the shared documents are not there"),
]


def rows() -> list[dict[str, str]]:
    if not FORMATS.exists():
        return []
    with (FORMATS / "manifest.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["format"] in OFFICE]


def squeezed(text: str) -> str:
    return re.sub(r"[\s\u00ad\-]", "", unicodedata.normalize("NFKC", text))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["path"])
def test_expected_strings(row: dict[str, str], tmp_path: Path) -> None:
    expected, absent = json.loads(row["expect_contains"]), json.loads(row["expect_absent"])
    source_format = {"docm": "docx"}.get(row["format"], row["format"])
    start = time.monotonic()
    try:
        text = to_markdown(extract(FORMATS / row["path"], context(tmp_path, source_format)))
    except CorpusError as error:
        assert error.code in {Code.EXTRACTION_FAILED, Code.LIMIT_EXCEEDED, Code.ENCRYPTED_DOCUMENT}
        assert not expected
        return
    assert time.monotonic() - start < 30
    allowed = {text for path, text in DISPUTED if path == row["path"]}
    assert [e for e in expected if squeezed(e) not in squeezed(text) and e not in allowed] == []
    assert [
        a for a in absent if (squeezed(a) or a) in (squeezed(text) if squeezed(a) else text) and a not in allowed
    ] == []


def test_numbered_lists_as_word_shows_them(tmp_path: Path) -> None:
    text = read(FORMATS / "po__ComplexNumberedLists.docx", "docx", tmp_path).content
    assert "10. Jump to new list at 10" in text
    assert "13. Carrying on @ 13" in text


def test_the_872_pages(tmp_path: Path) -> None:
    start = time.monotonic()
    document = read(FORMATS / "un__handbook-872p.docx", "docx", tmp_path)
    assert time.monotonic() - start < 15
    assert len(document.metadata.headings) > 100


def test_a_password_opens_what_is_locked(tmp_path: Path) -> None:
    path = FORMATS / "tk__testEXCEL_protected_passtika.xlsx"
    with pytest.raises(CorpusError) as caught:
        read(path, "xlsx", tmp_path)
    assert caught.value.code is Code.ENCRYPTED_DOCUMENT
    assert read(path, "xlsx", tmp_path, passwords=["wrong", "tika"]).content.startswith("# ")


def test_merged_slide_table_and_hidden_sheet(tmp_path: Path) -> None:
    table = read(FORMATS / "dl__powerpoint_sample.pptx", "pptx", tmp_path).tables[0]
    assert sum(c.rowspan > 1 or c.colspan > 1 for c in table.cells) == 5
    assert "Sheet1 (hidden)" in read(FORMATS / "po__TwoSheetsOneHidden.xlsx", "xlsx", tmp_path).content


def test_what_tika_sees_in_formats_and_dates(tmp_path: Path) -> None:
    text = read(FORMATS / "tk__testEXCEL-formats.xlsx", "xlsx", tmp_path).content
    for shown in ("1,599.99", "$1,599.99", "($1,599.99)", "1.98E+08", "2.50%"):
        assert shown in text
    for name, kind in (("tk__testEXCEL_dateFormats.xlsx", "xlsx"), ("tk__testEXCEL_dateFormats.xls", "xls")):
        text = read(FORMATS / name, kind, tmp_path).content
        assert "2018-09-20" in text
        assert "1996-08-10" in text
    assert "2000-01-01" in read(FORMATS / "po__1904DateWindowing.xls", "xls", tmp_path).content


def test_embedded_files_become_children(tmp_path: Path) -> None:
    (child,) = read(FORMATS / "tk__test_recursive_embedded.docx", "docx", tmp_path).attached
    assert (child.filename, Path(child.path).read_bytes()[:2]) == ("embed1.zip", b"PK")
