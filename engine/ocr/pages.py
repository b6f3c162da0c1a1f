"""Reads one rendered page or picture into a document that is being built."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from engine.document import Builder
from engine.errors import Code, InputError
from engine.ocr import tesseract
from engine.ocr.layout import joined, ocr_elements
from engine.ocr.quality import worth
from engine.records import OcrResult, PendingPage, StructureElement
from engine.settings import Settings

# Loss codes that say: this page or picture shows something, and no text came of it.
UNAVAILABLE = "ocr_unavailable"
FAILED = "ocr_failed"
NOTHING_READ = "ocr_nothing_read"
NOT_RENDERED = "page_not_rendered"
LOW_CONFIDENCE = "page_ocr_low_confidence"
UNREAD = frozenset({UNAVAILABLE, FAILED, NOTHING_READ, NOT_RENDERED})
_FEW_LETTERS = 20  # a picture that gives fewer is worth a second look, however sure the reading
_SOME_LETTERS = 150  # fewer may be the letterhead of a page whose handwriting was passed over:
_MUCH_INK = 0.5  # more than this share of the dark pixels outside the lines read says so


def ocr_page(
    builder: Builder,
    picture: Path,
    points: tuple[float, float],
    settings: Settings,
    language: str | None = None,
    layer_worth: float = 0.0,
    likely: str | None = None,
) -> StructureElement | None:
    """Read `picture`, the current page of `builder`: an `ocr_page` element for the caller to add.

    `language` and `likely` as for `tesseract.read`.
    `points`: width and height of the page. `layer_worth`: what the page's own text is worth
    (`engine.ocr.quality.worth`); None when OCR reads no more than that, or is off. A page read poorly is
    left for a vision engine in `builder.pending`, unless that is off.
    """
    page = builder.page or 1
    place = f"page {page}"
    if not settings.ocr.enabled:
        builder.warn(UNAVAILABLE, "the page shows something but text recognition is off (ocr.enabled)", place)
        return None
    result = _read(builder, picture, settings, (language, likely))
    read_worth = _worth(result) if result else 0.0
    if layer_worth > read_worth:
        return None
    confidence = result.confidence if result else None
    record = builder.pages.get(page)
    if record is not None and result is not None:
        record.ocr_confidence, record.ocr_engine = confidence, result.engine
    element = _element(picture, page, points, settings, result)
    doubtful = (confidence or 0.0) < settings.ocr.confidence_threshold or read_worth < _FEW_LETTERS
    if doubtful or (result is not None and read_worth < _SOME_LETTERS and unread_ink(picture, result) > _MUCH_INK):
        _leave_for_vision(builder, picture, points, settings, confidence, bool(element.children))
    return element


def _element(
    picture: Path, page: int, points: tuple[float, float], settings: Settings, result: OcrResult | None
) -> StructureElement:
    element = StructureElement("ocr_page", None, "", page_number=page, method="ocr")
    element.attributes["threshold"] = f"{settings.ocr.confidence_threshold:g}"
    if result is not None:
        with Image.open(picture) as image:
            size = image.size
        element.children = ocr_elements(result, page, points, size, "ocr")
        element.attributes["ocr_confidence"] = f"{result.confidence:.2f}"
    return element


def _read(
    builder: Builder, picture: Path, settings: Settings, hints: tuple[str | None, str | None]
) -> OcrResult | None:
    place = f"page {builder.page}"
    try:
        return tesseract.read(picture, settings, *hints)
    except tesseract.OcrUnavailableError as error:
        builder.warn(UNAVAILABLE, error.message, place)
    except InputError as error:
        if error.code not in (Code.OCR_FAILED, Code.EXTRACTION_TIMEOUT):
            raise
        builder.warn(FAILED, error.message, place)
    return None


def unread_ink(picture: Path, result: OcrResult) -> float:
    """Share of the picture's dark pixels that lie outside the lines read."""
    with Image.open(picture) as image:
        grey = image.convert("L")
    factor = max(1, max(grey.size) // 600)
    small = grey.reduce(factor)
    ink = np.asarray(small) < np.asarray(small).mean() - 48
    total = int(ink.sum())
    for line in result.lines:
        x0, y0 = int(line.x0 / factor), int(line.y0 / factor)
        ink[max(y0 - 1, 0) : int(line.y1 / factor) + 2, max(x0 - 1, 0) : int(line.x1 / factor) + 2] = False
    return int(ink.sum()) / total if total else 0.0


def _worth(result: OcrResult) -> float:
    return worth(joined([line.text for line in result.lines]), result.confidence)


def _leave_for_vision(
    builder: Builder,
    picture: Path,
    points: tuple[float, float],
    settings: Settings,
    confidence: float | None,
    some_text: bool,
) -> None:
    page = builder.page or 1
    if not some_text:
        builder.warn(NOTHING_READ, "no text could be read on a page that shows something", f"page {page}")
    elif (confidence or 0.0) < settings.ocr.confidence_threshold:
        builder.warn(LOW_CONFIDENCE, f"read with a confidence of {confidence or 0.0:.2f}", f"page {page}")
    if settings.ocr.vision != "off":
        builder.pending.append(PendingPage(page, str(picture), *points, confidence))
