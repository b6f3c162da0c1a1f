"""What binary Office files state of themselves."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.extract.ole_facts import read_ole_facts
from engine.records import DocumentMetadata
from engine.settings import load
from jobs.extract_file import extract_file

FORMATS = Path(__file__).resolve().parents[3] / ".." / "shared" / "corpora" / "formats"


@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.is_dir(), reason="the folder of real documents is not there")
def test_title_author_and_dates_of_workbooks() -> None:
    settings = load({"pipeline.isolation": False}, environ={})
    (duck,) = extract_file(FORMATS / "dl__legacy_sample.xls", settings)
    assert duck.document is not None
    assert duck.document.metadata.title == "Wild Duck Observations"
    assert duck.document.metadata.created_date == datetime(2025, 10, 10, 8, 42, 42, tzinfo=UTC)
    meta = DocumentMetadata()
    read_ole_facts(FORMATS / "tk__testEXCEL_dateFormats.xls", meta)
    assert (meta.title, meta.author) == (None, "Gábor")


@pytest.mark.parametrize("data", [b"", b"not an OLE file", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600])
def test_damaged_files_state_nothing(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.xls").write_bytes(data)
    meta = DocumentMetadata()
    read_ole_facts(tmp_path / "a.xls", meta)
    assert meta == DocumentMetadata()
