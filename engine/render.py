"""A page of a PDF or of a picture file as PNG, with boxes drawn over it.

Decodes bytes nobody vouches for: to be called in an isolated child (see `engine.inspector`) only.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageDraw

from engine.errors import Code, InputError, Stage
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.extract.pdf.mupdf import Document
    from engine.marks import Mark

Rectangle = tuple[float, float, float, float]  # x0, y0, x1, y1 in points from the page's top left, as seen
PICTURES = ("png", "jpg", "tiff", "bmp", "webp", "gif", "heic")
PAGED = ("pdf", *PICTURES)
MOST_PIXELS = 24_000_000  # of one answer; larger sheets are rendered at a lower resolution
_POINTS = 72.0
_FILL, _EDGE = (255, 196, 0, 70), (214, 90, 0, 255)


def render_page(
    path: Path,
    source_format: str,
    page: int,
    dpi: int,
    boxes: Sequence[Rectangle],
    settings: Settings,
    marks: Sequence[Mark] | None = None,
) -> bytes:
    """PNG of page `page` (1-based) at `dpi`, turned as a reader sees it. Pictures are never enlarged. `marks`: elements
    to be drawn over it with their numbers, a legend under it; None for the page alone.

    Raises InputError: INVALID_REQUEST for a format without pages that can be drawn, DOCUMENT_NOT_FOUND for a page
    that is not there, LIMIT_EXCEEDED when an image on it passes limits.image_pixels, EXTRACTION_FAILED or
    ENCRYPTED_DOCUMENT when the file cannot be read.
    """
    if source_format == "pdf":
        image, scale = _pdf_page(path, page, dpi / _POINTS, settings)
    elif source_format in PICTURES:
        image, scale = _frame(path, page, dpi, settings)
    else:
        raise no_pictures(source_format)
    if boxes:
        image = _with_boxes(image, boxes, scale)
    if marks is not None:
        from engine.overlay import draw_marks

        image = draw_marks(image, marks, scale)
    out = io.BytesIO()
    image.save(out, "PNG", compress_level=4, dpi=(scale * _POINTS, scale * _POINTS))
    return out.getvalue()


def no_pictures(source_format: str) -> InputError:
    """The one answer for a format whose pages cannot be drawn."""
    return InputError(
        f"documents of the format {source_format} have no pages that can be shown as pictures",
        Code.INVALID_REQUEST,
        details={"source_format": source_format, "formats": list(PAGED)},
    )


def no_such_page(page: int) -> InputError:
    """The one answer for a page that is not there."""
    return InputError(f"the document has no page {page}", Code.DOCUMENT_NOT_FOUND, details={"page": page})


def _pdf_page(path: Path, page: int, wanted: float, settings: Settings) -> tuple[Image.Image, float]:
    from engine.extract.pdf.mupdf import MUPDF_ERRORS, open_document, release_memory

    document = open_document(path, [secret.get_secret_value() for secret in settings.password])
    try:
        if not 1 <= page <= document.page_count:
            raise no_such_page(page)
        return _pixmap(document, page, wanted, settings)
    except MUPDF_ERRORS as error:
        said = (str(error).splitlines() or [type(error).__name__])[0][:150]
        raise InputError(f"the page cannot be rendered: {said}", Code.EXTRACTION_FAILED, Stage.EXTRACT) from error
    finally:
        document.close()
        release_memory()


def _pixmap(document: Document, page: int, wanted: float, settings: Settings) -> tuple[Image.Image, float]:
    from engine.extract.pdf.mupdf import pymupdf
    from engine.extract.pdf.scan import ScanPolicy

    shown = document[page - 1]
    if ScanPolicy(document, settings).refuses(shown):
        raise InputError(
            "an image on the page passes limits.image_pixels, so the page is not rendered",
            Code.LIMIT_EXCEEDED,
            Stage.EXTRACT,
            {"limit": "image_pixels", "value": settings.limits.image_pixels},
        )
    scale = _bounded(wanted, float(shown.rect.width), float(shown.rect.height), settings)
    # the pixmap is turned as /Rotate says, and so are the boxes: pixels are points times the scale
    pixmap = shown.get_pixmap(matrix=pymupdf.Matrix(scale, scale), colorspace=pymupdf.csRGB, alpha=False)
    return Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples), scale


def _bounded(wanted: float, width: float, height: float, settings: Settings) -> float:
    """Pixels per point: `wanted`, or less for a page that would have too many pixels."""
    bound = min(MOST_PIXELS, settings.limits.image_pixels)
    return min(wanted, math.sqrt(bound / max(width * height, 1.0)))


def _frame(path: Path, page: int, dpi: int, settings: Settings) -> tuple[Image.Image, float]:
    from engine.sanitize.image import frame_count, one_frame, opened

    with opened(path) as image:
        if not 1 <= page <= frame_count(image):
            raise no_such_page(page)
        frame, own = one_frame(image, page, settings.limits, [])
    factor = min(1.0, _bounded(dpi / own, frame.width, frame.height, settings))
    size = max(1, round(frame.width * factor)), max(1, round(frame.height * factor))
    small = frame if size == frame.size else frame.resize(size, Image.Resampling.LANCZOS)
    return small, own * factor / _POINTS


def _with_boxes(image: Image.Image, boxes: Sequence[Rectangle], scale: float) -> Image.Image:
    drawn = image.convert("RGB")
    pen = ImageDraw.Draw(drawn, "RGBA")
    width = max(1, round(1.2 * scale))
    for x0, y0, x1, y1 in boxes:
        left, right = _span(x0, x1, scale, drawn.width)
        top, bottom = _span(y0, y1, scale, drawn.height)
        pen.rectangle((left, top, right, bottom), fill=_FILL, outline=_EDGE, width=width)
    return drawn


def _span(a: float, b: float, scale: float, size: int) -> tuple[int, int]:
    """Two coordinates in pixels, in order and on the page."""
    low, high = (round(min(max(value * scale, 0.0), size - 1.0)) for value in sorted((a, b)))
    return low, high
