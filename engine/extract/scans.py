"""Pages read by OCR: Tesseract's reading into the document being built, a vision engine's beside or over it later.

`ocr_page` is called while extracting, in the isolated child. `apply_vision` is called by whoever holds a document
with pending pages; after the last page, `engine.document.derive` must follow, then `engine.ocr.check_read`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from engine.document import Builder, walk
from engine.errors import Code, InputError
from engine.ocr import tesseract
from engine.ocr.doubt import is_doubtful, result_worth
from engine.ocr.fuse import fused
from engine.ocr.pages import FAILED, LOW_CONFIDENCE, NOTHING_READ, UNAVAILABLE
from engine.ocr.quality import worth
from engine.ocr.upright import Affine, composed, upright_copy
from engine.records import ExtractedDocument, Loss, OcrResult, PendingPage, StructureElement
from engine.settings import Settings


@dataclass(slots=True)
class _Scan:
    """A page's picture made upright, its place on the page, and what Tesseract read of it."""

    picture: Path
    to_page: Affine
    reading: OcrResult | None = None


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
    if not settings.ocr.enabled:
        message = "the page shows something but text recognition is off (ocr.enabled)"
        builder.warn(UNAVAILABLE, message, f"page {page}")
        return None
    scan = _read(builder, picture, points, settings, (language, likely))
    reading = scan.reading
    if layer_worth > (result_worth(reading) if reading else 0.0):
        return None
    element = StructureElement("ocr_page", None, "", page_number=page, method="ocr")
    element.attributes["threshold"] = f"{settings.ocr.confidence_threshold:g}"
    record = builder.pages.get(page)
    if reading is not None:
        element.children = _blocks(reading, scan.picture, page, scan.to_page, "ocr")
        element.attributes["ocr_confidence"] = f"{reading.confidence:.2f}"
        if record is not None:
            record.ocr_confidence, record.ocr_engine = reading.confidence, reading.engine
    if reading is None or is_doubtful(scan.picture, reading, settings):
        _leave_for_vision(builder, scan, points, settings, bool(element.children))
    return element


def _blocks(reading: OcrResult, picture: Path, page: int, to_page: Affine, method: str) -> list[StructureElement]:
    from engine.extract.scan_layout import ReadPage, scan_blocks  # brings the PDF geometry, which reads scans too

    return scan_blocks(reading, ReadPage(picture, page, to_page, method))


def _read(
    builder: Builder,
    picture: Path,
    points: tuple[float, float],
    settings: Settings,
    hints: tuple[str | None, str | None],
) -> _Scan:
    with Image.open(picture) as image:
        width, height = image.size
    to_points: Affine = (points[0] / max(width, 1), 0.0, 0.0, points[1] / max(height, 1), 0.0, 0.0)
    place = f"page {builder.page}"
    try:
        reading, turn = tesseract.read_upright(picture, settings, *hints)
    except tesseract.OcrUnavailableError as error:
        builder.warn(UNAVAILABLE, error.message, place)
    except InputError as error:
        if error.code not in (Code.OCR_FAILED, Code.EXTRACTION_TIMEOUT):
            raise
        builder.warn(FAILED, error.message, place)
    else:
        if turn.rotate or turn.skew:
            picture = upright_copy(picture, turn, picture.with_name(f"{picture.stem}-upright.png"))
        return _Scan(picture, composed(turn.back(), to_points), reading)
    return _Scan(picture, to_points)


def _leave_for_vision(
    builder: Builder, scan: _Scan, points: tuple[float, float], settings: Settings, some_text: bool
) -> None:
    page = builder.page or 1
    confidence = scan.reading.confidence if scan.reading else None
    if not some_text:
        builder.warn(NOTHING_READ, "no text could be read on a page that shows something", f"page {page}")
    elif (confidence or 0.0) < settings.ocr.confidence_threshold:
        builder.warn(LOW_CONFIDENCE, f"read with a confidence of {confidence or 0.0:.2f}", f"page {page}")
    if settings.ocr.vision != "off":
        waiting = PendingPage(page, str(scan.picture), *points, confidence, scan.to_page, scan.reading)
        builder.pending.append(waiting)


# ---------------------------------------------------------------- the second look
def apply_vision(document: ExtractedDocument, page: PendingPage, result: OcrResult) -> bool:
    """Put a vision reading in place of Tesseract's, or the two together, where that is better; whether it was.

    The page is no longer pending afterwards. Both confidences stay on the page's element. The caller
    runs `engine.document.derive` after the last page.
    """
    document.pending = [p for p in document.pending if p is not page and p.page_number != page.page_number]
    element = next(
        (e for e in walk(document.structure) if e.type == "ocr_page" and e.page_number == page.page_number), None
    )
    if element is None:
        _warn(document, NOTHING_READ, "the page's place in the document is gone", page.page_number)
        return False
    element.attributes["ocr_confidence"] = f"{page.ocr_confidence or 0.0:.2f}"
    element.attributes["vision_confidence"] = f"{result.confidence:.2f}"
    used = _chosen(element, page, result)
    if used is not None:
        element.children = _blocks(used, Path(page.image_path), page.page_number, _place(page), "vision")
        element.method = "vision" if any(e.method == "vision" for e in walk(element.children)) else "ocr"
        record = next((p for p in document.pages if p.page_number == page.page_number), None)
        if record is not None:
            record.ocr_confidence, record.ocr_engine = used.confidence, used.engine
    _settle_warnings(document, element, page, used)
    return used is not None


def _chosen(element: StructureElement, page: PendingPage, result: OcrResult) -> OcrResult | None:
    """What to put in place of the first reading: both line by line where both tell places, else the better whole."""
    if page.reading is not None and page.reading.lines and any(line.engine for line in result.lines):
        together = fused(page.reading, result)
        return together if any(line.engine == result.engine for line in together.lines) else None
    before = worth("\n".join(e.content for e in walk(element.children)), page.ocr_confidence or 0.0)
    return result if result_worth(result) > before else None


def _place(page: PendingPage) -> Affine:
    if page.to_page is not None:
        return page.to_page
    with Image.open(page.image_path) as image:
        width, height = image.size
    return (page.width / max(width, 1), 0.0, 0.0, page.height / max(height, 1), 0.0, 0.0)


def _settle_warnings(
    document: ExtractedDocument, element: StructureElement, page: PendingPage, used: OcrResult | None
) -> None:
    """Replace the page's warnings of the first reading by what holds now."""
    place = f"page {page.page_number}"
    document.warnings = [
        w for w in document.warnings if w.place != place or w.code not in (LOW_CONFIDENCE, NOTHING_READ)
    ]
    confidence = used.confidence if used else (page.ocr_confidence or 0.0)
    if not any(e.content.strip() or e.table is not None for e in walk(element.children)):
        _warn(document, NOTHING_READ, "no text could be read on a page that shows something", page.page_number)
    elif confidence < float(element.attributes.get("threshold", "0.7")):
        _warn(document, LOW_CONFIDENCE, f"read with a confidence of {confidence:.2f}", page.page_number)


def _warn(document: ExtractedDocument, code: str, message: str, page: int) -> None:
    document.warnings.append(Loss(code, message, f"page {page}"))
