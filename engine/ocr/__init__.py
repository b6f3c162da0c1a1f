"""Reading page pictures: Tesseract first, a vision engine for pages and lines it reads poorly.

A page's way: `pictures` (small ones enlarged) → `tesseract` (passes of the `program`: `upright`, in the page's
`languages`) → `doubt` (is a second look worth it?) → `vision_local` or `vision_gateway` → `fuse` (line by line,
what either read better). `rules` finds the lines of tables, `order` and `layout` the reading order, `quality` judges
text. `engine.extract.scans` drives it, because a page read is laid out like a page of a PDF.
"""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from engine.errors import Code, ConfigError, InputError, Stage
from engine.ocr.layout import ocr_elements
from engine.ocr.pages import NOTHING_READ, UNREAD
from engine.ocr.program import INSTALL_COMMAND, OcrUnavailableError, installed_languages
from engine.ocr.tesseract import read
from engine.records import ExtractedDocument, Loss, OcrResult
from engine.settings import Settings

__all__ = [
    "INSTALL_COMMAND",
    "NOTHING_READ",
    "OcrUnavailableError",
    "VisionEngine",
    "check_read",
    "installed_languages",
    "ocr_elements",
    "read_page",
    "vision_engine",
]


class VisionEngine(Protocol):
    """Reads an upright picture of a page; boxes of the result are in the picture's pixels.

    `known`: what Tesseract read of it; an engine may leave out places where that is sure, if its lines say in
    `engine` that they are its own, so that the two are put together.
    """

    @property
    def name(self) -> str: ...

    def read(self, image_path: Path, known: OcrResult | None = None) -> OcrResult: ...


def read_page(image_path: Path, settings: Settings, language: str | None = None) -> OcrResult:
    """Read one picture with Tesseract. `language`: ISO 639-1 hint.

    Raises OcrUnavailableError (MISSING_DEPENDENCY), or InputError: OCR_FAILED, EXTRACTION_TIMEOUT.
    """
    return read(image_path, settings, language)


def vision_engine(settings: Settings, threads: int = 1) -> VisionEngine:
    """The vision engine of the settings. Raises ConfigError when it is off or not fully configured."""
    if settings.ocr.vision == "local":
        if settings.ocr.vision_model not in ("", "rapidocr"):
            from engine.ocr.vision_model import ModelVision

            return ModelVision(settings.ocr.vision_model, threads)
        from engine.ocr.vision_local import LocalVision

        return LocalVision(threads)
    if settings.ocr.vision == "gateway":
        from engine.ocr.vision_gateway import gateway_vision

        return gateway_vision(settings)
    raise ConfigError("ocr.vision is off, so no page waits for a vision engine")


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
