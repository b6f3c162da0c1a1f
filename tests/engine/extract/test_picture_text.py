"""Text on the pictures inside documents: found, placed, bounded, and not made up."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.document import Builder, walk
from engine.extract import picture_text
from engine.extract.picture_text import PICTURE_TEXT, has_even_ground, read_pictures
from engine.ocr import check_read, installed_languages
from engine.records import ExtractedDocument, ExtractedImage
from engine.settings import Limits, Settings
from tests.engine.extract.pdf_files import text_picture

needs_tesseract = pytest.mark.skipif("eng" not in installed_languages(), reason="Tesseract is not installed")
LINES = ("The annual meeting was opened at nine", "and closed at twelve with thanks to all")


def png(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def photograph(seed: int = 0) -> Image.Image:
    noise = np.random.default_rng(seed).integers(0, 255, (12, 16, 3), dtype=np.uint8)
    return Image.fromarray(noise).resize((640, 480), Image.Resampling.BICUBIC)


def document(*images: Image.Image, text: str = "A paragraph of the document.", **box: object) -> ExtractedDocument:
    builder = Builder("docx", Limits.model_validate({}))
    builder.paragraph(text)
    for image in images:
        builder.image(ExtractedImage(png(image), "image/png", caption="Figure 1"), **box)
    return builder.finish()


@needs_tesseract
def test_the_text_hangs_below_its_picture(tmp_path: Path) -> None:
    made = document(text_picture(*LINES))
    read_pictures(made, tmp_path, Settings())
    image = next(e for e in walk(made.structure) if e.image is not None)
    assert " ".join(e.content for e in image.children) == " ".join(LINES)
    assert {(e.method, e.attributes["origin"]) for e in image.children} == {("ocr", PICTURE_TEXT)}
    assert made.content.split("\n\n")[:2] == ["A paragraph of the document.", "Figure 1"]
    assert "annual meeting" in made.content and list(tmp_path.iterdir()) == []


@needs_tesseract
def test_photographs_and_labels_add_nothing(tmp_path: Path) -> None:
    made = document(photograph(), text_picture("Axis 10 20"))
    before = made.content
    read_pictures(made, tmp_path, Settings())
    assert made.content == before and made.warnings == []
    assert not has_even_ground(photograph()) and has_even_ground(text_picture(*LINES))


@needs_tesseract
def test_pictures_alone_give_their_text(tmp_path: Path) -> None:
    made = document(text_picture("Invoice 4711").rotate(180), text="")
    read_pictures(made, tmp_path, Settings.model_validate({"extraction": {"profile": "fast"}}))
    check_read(made)
    assert "Invoice 4711" in made.content


@needs_tesseract
def test_what_passes_the_bound_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_text, "MOST_PICTURES", 1)
    made = document(text_picture(*LINES), text_picture(*LINES), text_picture(*LINES, "and once more"))
    read_pictures(made, tmp_path, Settings())
    assert made.content.count("annual meeting") == 1  # equal pictures are read once
    assert [(w.code, w.count) for w in made.warnings] == [("pictures_unread", 1)]


@pytest.mark.parametrize("groups", [{"ocr": {"enabled": False}}, {"extraction": {"profile": "fast"}}])
def test_nothing_is_read_where_that_is_not_wanted(tmp_path: Path, groups: dict[str, object]) -> None:
    made = document(text_picture(*LINES))
    read_pictures(made, tmp_path, Settings.model_validate(groups))
    assert "annual meeting" not in made.content
