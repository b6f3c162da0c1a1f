"""Pages read by both engines: what asks for a second look, and what comes of the two readings."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image, ImageFilter

from engine.document import derive, walk
from engine.extract.scans import apply_vision
from engine.ocr import installed_languages, vision_engine
from engine.records import ExtractedDocument
from engine.settings import Settings
from tests.engine.extract.pdf_files import read, text_picture

needs_tesseract = pytest.mark.skipif("eng" not in installed_languages(), reason="Tesseract is not installed")
LINES = ("The annual meeting was opened at nine", "and closed at twelve with thanks to all")


def looked(document: ExtractedDocument) -> ExtractedDocument:
    """The document after the local engine looked at what waits."""
    engine = vision_engine(Settings())
    for page in list(document.pending):
        apply_vision(document, page, engine.read(Path(page.image_path), page.reading))
    derive(document)
    return document


@needs_tesseract
def test_a_clean_page_does_not_wait(tmp_path: Path) -> None:
    text_picture(*LINES).save(tmp_path / "a.png")
    assert read(tmp_path / "a.png", tmp_path, "png").pending == []


@needs_tesseract
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_short_text_is_turned_upright(tmp_path: Path, degrees: int) -> None:
    text_picture(*LINES).rotate(degrees, expand=True).save(tmp_path / "a.png")
    document = looked(read(tmp_path / "a.png", tmp_path, "png"))
    assert document.content.replace("\n\n", " ") == " ".join(LINES)
    page = document.pages[0]
    assert (
        page.width
        and page.height
        and all(
            -2 <= e.box.x0 < e.box.x1 <= page.width + 2 and -2 <= e.box.y0 < e.box.y1 <= page.height + 2
            for e in walk(document.structure)
            if e.box
        )
    )


@needs_tesseract
def test_a_skewed_page_is_levelled_and_its_places_follow(tmp_path: Path) -> None:
    image = text_picture(*LINES * 4).rotate(9, expand=True, fillcolor="white")
    image.save(tmp_path / "a.png")
    document = looked(read(tmp_path / "a.png", tmp_path, "png"))
    assert document.content.count("annual meeting was opened at nine") == 4


@needs_tesseract
def test_a_page_of_weak_lines_is_read_by_both_and_says_so(tmp_path: Path) -> None:
    small = text_picture(*LINES, "printed by the clerk of the board", size=36).filter(ImageFilter.GaussianBlur(2.2))
    small = small.resize((small.width // 3, small.height // 3), Image.Resampling.BILINEAR)
    small.save(tmp_path / "a.png")
    document = read(tmp_path / "a.png", tmp_path, "png", ocr={"confidence_threshold": 0.99})
    waiting = document.pending[0]
    assert waiting.reading is not None and waiting.reading.lines[0].words
    before = waiting.ocr_confidence
    looked(document)
    element = document.structure[0]
    assert element.attributes["ocr_confidence"] == f"{before:.2f}" and "vision_confidence" in element.attributes
    assert "annual meeting was opened at nine" in document.content
    assert (document.pages[0].ocr_engine or "").startswith(("tesseract:eng", "rapidocr"))
