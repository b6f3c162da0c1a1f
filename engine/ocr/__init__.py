"""Reading page pictures: Tesseract first, a vision engine for pages it reads poorly.

`read_page` is called while extracting, in the isolated child. `vision_engine` and `apply_vision` are called
by whoever holds a document with pending pages; after the last page, `engine.document.derive` must follow,
then `check_read`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from PIL import Image

from engine.document import walk
from engine.errors import Code, ConfigError, InputError, Stage
from engine.ocr.layout import ocr_elements
from engine.ocr.pages import LOW_CONFIDENCE, NOTHING_READ, UNREAD, ocr_page
from engine.ocr.quality import worth
from engine.ocr.tesseract import INSTALL_COMMAND, OcrUnavailableError, installed_languages, read
from engine.records import ExtractedDocument, Loss, OcrResult, PendingPage, StructureElement
from engine.settings import Settings

__all__ = [
    "INSTALL_COMMAND",
    "NOTHING_READ",
    "OcrUnavailableError",
    "VisionEngine",
    "apply_vision",
    "check_read",
    "installed_languages",
    "ocr_elements",
    "ocr_page",
    "read_page",
    "vision_engine",
]


class VisionEngine(Protocol):
    """Reads a page picture; boxes of the result are in the picture's pixels."""

    @property
    def name(self) -> str: ...

    def read(self, image_path: Path) -> OcrResult: ...


def read_page(image_path: Path, settings: Settings, language: str | None = None) -> OcrResult:
    """Read one picture with Tesseract. `language`: ISO 639-1 hint.

    Raises OcrUnavailableError (MISSING_DEPENDENCY), or InputError: OCR_FAILED, EXTRACTION_TIMEOUT.
    """
    return read(image_path, settings, language)


def vision_engine(settings: Settings, threads: int = 1) -> VisionEngine:
    """The vision engine of the settings. Raises ConfigError when it is off or not fully configured."""
    if settings.ocr.vision == "local":
        from engine.ocr.vision_local import LocalVision

        return LocalVision(threads)
    if settings.ocr.vision == "gateway":
        from engine.ocr.vision_gateway import gateway_vision

        return gateway_vision(settings)
    raise ConfigError("ocr.vision is off, so no page waits for a vision engine")


def apply_vision(document: ExtractedDocument, page: PendingPage, result: OcrResult) -> bool:
    """Put a vision reading in place of Tesseract's where it is the better one; whether it was.

    The page is no longer pending afterwards. Both confidences stay on the page's element. The caller
    runs `engine.document.derive` after the last page.
    """
    document.pending = [p for p in document.pending if p is not page and p.page_number != page.page_number]
    element = next(
        (e for e in walk(document.structure) if e.type == "ocr_page" and e.page_number == page.page_number), None
    )
    record = next((p for p in document.pages if p.page_number == page.page_number), None)
    if element is None:
        _warn(document, NOTHING_READ, "the page's place in the document is gone", page.page_number)
        return False
    element.attributes["ocr_confidence"] = f"{page.ocr_confidence or 0.0:.2f}"
    element.attributes["vision_confidence"] = f"{result.confidence:.2f}"
    better = _worth(result) > _element_worth(element, page.ocr_confidence or 0.0)
    if better:
        with Image.open(page.image_path) as image:
            size = image.size
        element.children = ocr_elements(result, page.page_number, (page.width, page.height), size, "vision")
        element.method = "vision"
        if record is not None:
            record.ocr_confidence, record.ocr_engine = result.confidence, result.engine
    _settle_warnings(document, element, page, result if better else None)
    return better


def _worth(result: OcrResult) -> float:
    return worth("\n".join(line.text for line in result.lines), result.confidence)


def _element_worth(element: StructureElement, confidence: float) -> float:
    return worth("\n".join(child.content for child in element.children), confidence)


def _settle_warnings(
    document: ExtractedDocument, element: StructureElement, page: PendingPage, used: OcrResult | None
) -> None:
    """Replace the page's warnings of the first reading by what holds now."""
    place = f"page {page.page_number}"
    document.warnings = [
        w for w in document.warnings if w.place != place or w.code not in (LOW_CONFIDENCE, NOTHING_READ)
    ]
    confidence = used.confidence if used else (page.ocr_confidence or 0.0)
    if not any(child.content.strip() for child in element.children):
        _warn(document, NOTHING_READ, "no text could be read on a page that shows something", page.page_number)
    elif confidence < float(element.attributes.get("threshold", "0.7")):
        _warn(document, LOW_CONFIDENCE, f"read with a confidence of {confidence:.2f}", page.page_number)


def _warn(document: ExtractedDocument, code: str, message: str, page: int) -> None:
    document.warnings.append(Loss(code, message, f"page {page}"))


def check_read(document: ExtractedDocument) -> None:
    """Refuse an empty success: raises InputError when pages showed something and no text came of any.

    OCR_FAILED, or MISSING_DEPENDENCY when no OCR is installed. Call it after vision, once `derive` ran.
    """
    if document.content.strip() or document.attached:
        return
    unread = [w for w in document.warnings if w.code in UNREAD]
    looked = document.metadata.source_format == "pdf"  # its pages were judged as pictures already
    if not looked and not unread:
        unread = [w for w in document.warnings if w.code.startswith("image")]
    if document.images and not unread and not looked:
        unread = [Loss("image_unread", f"{len(document.images)} pictures and nothing else, not read by OCR here")]
    if not unread:
        return
    raise InputError(
        f"no text could be read: {unread[0].message}",
        Code.OCR_FAILED,
        Stage.OCR,
        {"pages": len({w.place for w in unread})},
    )
