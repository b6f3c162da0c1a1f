"""The layout model itself: loaded late, what it says of a plain page, and what happens without it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from engine.document import walk
from engine.extract import extract
from engine.extract.pdf import layout_model, router
from engine.extract.pdf.layout_model import LayoutModelError, available, regions
from engine.extract.pdf.mupdf import pymupdf
from tests.engine.extract.pdf_files import LOREM, context, pdf, text_at, wrapped

pytestmark = pytest.mark.skipif(not available(), reason="the layout model is not installed")
ROWS = [("Region", "Sales", "Share"), ("North", "1,204", "31 %"), ("South", "988", "25 %"), ("West", "1,702", "44 %")]


def report(canvas: Canvas) -> None:
    text_at(canvas, 72, 90, "Sales in the Three Regions", 20, "Helvetica-Bold")
    top = wrapped(canvas, 72, 125, 450, LOREM * 3)
    text_at(canvas, 72, top + 24, "Findings", 14, "Helvetica-Bold")
    top = wrapped(canvas, 72, top + 45, 450, LOREM * 2) + 20
    for row in ROWS:
        for x, cell in zip((90, 240, 360), row, strict=True):
            text_at(canvas, x, top, cell, 10)
        top += 16
    text_at(canvas, 295, 815, "7", 9)


def letter(canvas: Canvas) -> None:
    wrapped(canvas, 72, 125, 450, LOREM * 2)


@pytest.fixture
def unloaded() -> Iterator[None]:
    layout_model._loaded.cache_clear()
    yield
    layout_model._loaded.cache_clear()


def test_importing_the_extractor_loads_neither_model_nor_runtime() -> None:
    code = "import sys, engine.extract.pdf; print('onnxruntime' in sys.modules, sys.modules.get('pymupdf.layout'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["False", "None"]


def test_regions_of_a_page_and_no_second_model_in_pymupdf(tmp_path: Path) -> None:
    path = pdf(tmp_path / "report.pdf", report)
    with pymupdf.open(path) as document:
        found = regions(document[0])
        again = regions(document[0])
    assert found == again
    by_label = {label: [r for r in found if r.label == label] for label in {r.label for r in found}}
    headings = [r for r in found if r.heading > 0.5]
    assert [round(r.box[1] / 10) for r in headings] == sorted(round(r.box[1] / 10) for r in headings)
    assert 1 <= len(headings) <= 2 and headings[0].box[1] < 95
    assert by_label["text"] and all(0 <= r.score <= 1 for r in found)
    (table,) = by_label["table"]
    assert table.box[0] < 95 and table.box[2] > 360
    assert by_label["page-footer"][0].box[1] > 800
    assert pymupdf._get_layout is None


def test_a_missing_model_is_a_loss_once_and_geometry_reads_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unloaded: None
) -> None:
    monkeypatch.setattr(layout_model, "_folder", lambda: tmp_path / "nothing")
    assert not available()
    path = pdf(tmp_path / "report.pdf", report, letter)
    with pymupdf.open(path) as document, pytest.raises(LayoutModelError, match="not installed") as caught:
        regions(document[0])
    assert caught.value.missing
    document = extract(path, context(tmp_path, extraction={"profile": "accurate"}))
    losses = [w for w in document.warnings if w.code == "layout_model_skipped"]
    assert [w.count for w in losses] == [1] and "not installed" in losses[0].message
    assert [p.layout for p in document.pages] == ["geometry", "geometry"]
    assert "Sales in the Three Regions" in document.metadata.headings


def test_accurate_asks_the_model_and_fast_never_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pdf(tmp_path / "report.pdf", report)
    accurate = extract(path, context(tmp_path, extraction={"profile": "accurate"}))
    assert [p.layout for p in accurate.pages] == ["model"]
    assert accurate.metadata.headings == ["Sales in the Three Regions", "Findings"]
    assert [[c.text for c in t.cells] for t in accurate.tables] == [[c for row in ROWS for c in row]]
    monkeypatch.setattr(router, "BIAS", 1.0)  # every page worth it
    fast = extract(path, context(tmp_path, extraction={"profile": "fast"}))
    assert [p.layout for p in fast.pages] == ["geometry"]
    texts = [" ".join(e.content for e in walk(d.structure) if e.type == "paragraph") for d in (fast, accurate)]
    assert texts[0] == texts[1] and "treasurer" in texts[0]
