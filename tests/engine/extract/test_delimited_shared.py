"""Real delimited and rich text files: every expected string is there, no forbidden one, within time."""

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
from tests.engine.extract.office_files import context

FORMATS = Path(__file__).resolve().parents[3] / "../shared/corpora/formats"
DELIMITED = {"csv", "tsv", "rtf"}
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FORMATS.exists(), reason="the shared documents are not there"),
]


def rows() -> list[dict[str, str]]:
    if not FORMATS.exists():
        return []
    with (FORMATS / "manifest.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["format"] in DELIMITED]


def squeezed(text: str) -> str:
    return re.sub(r"[\s\u00ad\-]", "", unicodedata.normalize("NFKC", text))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row["path"])
def test_expected_strings(row: dict[str, str], tmp_path: Path) -> None:
    expected, absent = json.loads(row["expect_contains"]), json.loads(row["expect_absent"])
    start = time.monotonic()
    try:
        text = to_markdown(extract(FORMATS / row["path"], context(tmp_path, row["format"])))
    except CorpusError as error:
        assert error.code in {Code.EXTRACTION_FAILED, Code.LIMIT_EXCEEDED, Code.ENCRYPTED_DOCUMENT}
        assert not expected
        return
    assert time.monotonic() - start < 30
    assert [e for e in expected if squeezed(e) not in squeezed(text)] == []
    assert [a for a in absent if (squeezed(a) or a) in (squeezed(text) if squeezed(a) else text)] == []
