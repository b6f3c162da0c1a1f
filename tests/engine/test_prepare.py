"""Preparing in a real isolated child: big documents in parts, vision for poor pages, what may travel where."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from PIL import Image, ImageDraw, ImageFont

from engine.prepare import NoLedger, Preparer, Run
from engine.process import PAGES_AT_A_LOOK, Answer, Task
from engine.records import Prepared, SourceItem
from engine.settings import load
from engine.sources.local import local_uri


def prepare(path: Path, **settings: object) -> list[Prepared]:
    overrides = {name.replace("__", "."): value for name, value in settings.items()}
    preparer = Preparer(load(overrides, environ={}), Run("r", "f"), NoLedger(), keep_documents=True)
    try:
        return list(preparer.prepare([SourceItem("p", "s", path.name, local_uri(bytes(path)), path.stat().st_size)]))
    finally:
        preparer.close()


class _Counting(Preparer):
    """Notes what is asked of the child."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.asked: list[str] = []

    def _ask(self, task: Task) -> Answer:
        self.asked.append(task.op)
        return super()._ask(task)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A PDF of 24 pages with sections that cross page borders, padded to count as big."""
    document = pymupdf.open()
    for number in range(24):
        page = document.new_page()
        if number % 3 == 0:
            page.insert_text((72, 80), f"Chapter {number // 3 + 1}", fontsize=20)
        lines = [f"Page {number + 1}, line {n}: the tide table of the harbour." for n in range(12)]
        page.insert_textbox((72, 110, 520, 700), "\n".join(lines), fontsize=11)
    document.set_metadata({"title": "Tides", "author": "x" * 250_000})
    document.save(tmp_path / "book.pdf")
    return tmp_path / "book.pdf"


def test_chunks_do_not_depend_on_how_a_big_document_is_cut(book: Path) -> None:
    (whole,) = prepare(book)
    (cut,) = prepare(book, pipeline__part_pages=10)
    assert whole.document is not None and cut.document is not None
    assert whole.document.metadata.page_count == 24
    assert [c.chunk_id for c in cut.chunks] == [c.chunk_id for c in whole.chunks]
    assert [c.metadata.page_numbers for c in cut.chunks] == [c.metadata.page_numbers for c in whole.chunks]
    assert cut.document.content == whole.document.content


def test_a_big_document_over_the_page_limit_fails_before_any_page_is_read(book: Path) -> None:
    (p,) = prepare(book, pipeline__part_pages=10, limits__pages=20)
    assert p.failure is not None and (p.failure.code, "limits.pages" in p.failure.message) == ("LIMIT_EXCEEDED", True)


@pytest.fixture
def scan(tmp_path: Path) -> Iterator[Path]:
    picture = Image.new("L", (1240, 500), 255)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(48)
    draw.text((60, 80), "The keeper wound the clockwork", font=font, fill=0)
    draw.text((60, 180), "of the lamp every four hours.", font=font, fill=0)
    picture.save(tmp_path / "scan.png", dpi=(150, 150))
    yield tmp_path / "scan.png"


def test_a_long_fax_is_read_in_parts_each_with_its_own_time(tmp_path: Path, scan: Path) -> None:
    pages = [Image.new("L", (1240, 500), 255) for _ in range(PAGES_AT_A_LOOK + 3)]
    pages[-2] = Image.open(scan)
    pages[0].save(tmp_path / "fax.tif", save_all=True, append_images=pages[1:], dpi=(150, 150))
    preparer = _Counting(load({}, environ={}), Run("r", "f"), NoLedger(), keep_documents=True)
    item = SourceItem("p", "s", "fax.tif", local_uri(bytes(tmp_path / "fax.tif")), 1)
    try:
        (p,) = preparer.prepare([item])
    finally:
        preparer.close()
    assert [op for op in preparer.asked if op != "look"][:4] == ["parts", "part", "part", "merge"]
    assert p.document is not None and p.document.metadata.page_count == len(pages)
    assert [n for n, page in enumerate(p.document.pages) if page.content] == [len(pages) - 2]
    assert "clockwork" in p.document.content


def test_poor_pages_are_read_again_by_vision(scan: Path) -> None:
    (tesseract,) = prepare(scan, ocr__vision="off")
    (both,) = prepare(scan, ocr__confidence_threshold=1.0)
    for p in (tesseract, both):
        assert p.failure is None, p.failure
        assert p.document is not None and "clockwork" in p.document.content
        assert p.document.pending == []
    assert both.seconds.get("vision", 0) > 0 and "vision" not in tesseract.seconds


def test_a_look_that_dies_costs_the_second_reading_only(scan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preparer = Preparer(load({"ocr.confidence_threshold": 1.0}, environ={}), Run("r", "f"), NoLedger(), True)
    honest = preparer._slot.call

    def dying(request: bytes, seconds: float | None = None) -> bytes:
        return honest(request, 0.01 if b'"op":"look"' in request else seconds)  # far too little for vision

    monkeypatch.setattr(preparer._slot, "call", dying)
    item = SourceItem("p", "s", "scan.png", local_uri(bytes(scan)), scan.stat().st_size)
    (p,) = list(preparer.prepare([item]))
    preparer.close()
    assert p.failure is None
    assert p.document is not None and "clockwork" in p.document.content
    assert "vision_failed" in [w.code for w in p.document.warnings]


def test_a_child_is_not_told_the_secrets_of_its_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("S3_SECRET_KEY", "DATABASE_URL", "LLM_GATEWAY_API_KEY", "AWS_ACCESS_KEY_ID", "GITHUB_TOKEN"):
        monkeypatch.setenv(name, "hush")
    (tmp_path / "a.txt").write_text("Some words to read.")
    preparer = Preparer(load(environ={}), Run("r", "f"), NoLedger())
    list(preparer.prepare([SourceItem("p", "s", "a.txt", local_uri(bytes(tmp_path / "a.txt")), 19)]))
    environment = Path(f"/proc/{preparer._slot.pid}/environ").read_bytes()
    preparer.close()
    assert b"hush" not in environment
