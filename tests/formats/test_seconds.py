"""No real PDF of ordinary size takes longer than half a minute in the default profile."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

from engine.prepare import NoLedger, Preparer, Run
from engine.records import SourceItem
from engine.settings import load
from engine.sources.local import local_uri

FORMATS = Path(__file__).resolve().parents[2] / ".." / "shared" / "corpora" / "formats"
MOST_SECONDS = 30


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.is_dir(), reason="the folder of real documents is not there")
def test_no_pdf_takes_longer_than_half_a_minute() -> None:
    with (FORMATS / "manifest.csv").open(encoding="utf-8") as file:
        names = [row["path"] for row in csv.DictReader(file) if row["format"] == "pdf" and row["class"] != "hostile"]
    preparer = Preparer(load({}, environ={}), Run("r", "f"), NoLedger())
    seconds: list[tuple[float, str]] = []
    try:
        for name in names:
            path = FORMATS / name
            began = time.monotonic()
            list(preparer.prepare([SourceItem("p", "s", name, local_uri(bytes(path)), path.stat().st_size)]))
            seconds.append((round(time.monotonic() - began, 2), name))
    finally:
        preparer.close()
    slowest = sorted(seconds, reverse=True)[:5]
    print(f"{len(names)} documents, slowest: {slowest}")
    assert len(names) > 50 and slowest[0][0] < MOST_SECONDS
