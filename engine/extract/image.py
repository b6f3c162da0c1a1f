"""Picture files: every frame is a page, turned upright, re-encoded without its metadata, and read by OCR."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from engine.document import Builder
from engine.extract import Context
from engine.extract.scans import ocr_page
from engine.records import ExtractedDocument, Loss
from engine.sanitize.image import frame_count, frames, one_frame, opened

_BLANK_RANGE = 12  # of 256 grey levels; less contrast is an empty sheet


def page_count(path: Path, context: Context) -> int:
    """Frames that are pages, without decoding them. Raises InputError as `extract` does."""
    with opened(path) as image:
        return frame_count(image)


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a picture file.

    Raises InputError: EXTRACTION_FAILED when it is no such picture, LIMIT_EXCEEDED above
    limits.image_pixels or limits.pages.
    """
    return extract_pages(path, context, 1, None)


def extract_pages(path: Path, context: Context, first: int, last: int | None) -> ExtractedDocument:
    """Read frames `first` to `last` (1-based, both included; None: to the end), so that those of a long fax can
    each have their time. Raises InputError as `extract` does."""
    builder = context.builder()
    losses: list[Loss] = []
    with opened(path) as image:
        limits = context.settings.limits
        wanted = (
            enumerate(frames(image, limits, losses), 1)
            if last is None
            else ((number, one_frame(image, number, limits, losses)) for number in range(first, last + 1))
        )
        for number, (frame, dpi) in wanted:
            _read_frame(frame, dpi, number, builder, context)
    for loss in losses:
        builder.warn(loss.code, loss.message, loss.place, loss.count)
    return builder.finish()


def _range(frame: Image.Image) -> float:
    """The widest range of any colour channel: red on green of the same brightness is not blank."""
    bands = frame.convert("RGB").getextrema()
    return max(float(high) - float(low) for low, high in bands)  # pyright: ignore[reportGeneralTypeIssues,reportArgumentType,reportUnknownVariableType]


def _read_frame(frame: Image.Image, dpi: float, number: int, builder: Builder, context: Context) -> None:
    points = (round(frame.width * 72 / dpi, 2), round(frame.height * 72 / dpi, 2))
    builder.start_page(number, *points)
    if _range(frame) <= _BLANK_RANGE:
        builder.warn("blank_page", "the picture shows nothing", f"page {number}")
        return
    picture = context.scratch / f"page-{number:05d}.png"
    frame.save(picture, compress_level=1)
    element = ocr_page(builder, picture, points, context.settings, context.language)
    if element is not None:
        builder.add(element)
