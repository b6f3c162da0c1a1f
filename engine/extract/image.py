"""Picture files: every frame is a page, turned upright, re-encoded without its metadata, and read by OCR."""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.ocr import read_into
from engine.records import ExtractedDocument
from engine.settings import Limits

# Format id → Pillow's format names; nothing else is tried (some of Pillow's formats start programs).
PILLOW_FORMATS = {
    "png": ("PNG",),
    "jpg": ("JPEG", "MPO"),
    "tiff": ("TIFF",),
    "bmp": ("BMP", "DIB"),
    "webp": ("WEBP",),
    "gif": ("GIF",),
    "heic": ("HEIF",),
}
_ALL = tuple(name for names in PILLOW_FORMATS.values() for name in names)
_ANIMATIONS = ("GIF", "WEBP", "PNG", "MPO", "HEIF")  # more frames are the same picture again
_DEFAULT_DPI = 72.0
_BLANK_RANGE = 12  # of 256 grey levels; less contrast is an empty sheet


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a picture. Raises InputError: EXTRACTION_FAILED when it is no such picture, LIMIT_EXCEEDED
    above limits.image_pixels or limits.pages."""
    builder = context.builder()
    if context.source_format == "heic":
        import pillow_heif

        pillow_heif.register_heif_opener()
    with opened(path, context.source_format) as image:
        for number, (frame, dpi) in enumerate(_frames(image, builder, context.settings.limits), 1):
            _read_frame(frame, dpi, number, builder, context)
    builder.metadata.page_count = len(builder.pages)
    return builder.finish()


@contextmanager
def opened(path: Path, source_format: str = "") -> Generator[Image.Image]:
    """The picture, header read only. Pixel limits are the caller's to check before decoding."""
    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=PILLOW_FORMATS.get(source_format, _ALL)) as image:
                yield image
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise InputError(f"not a readable picture: {error}", Code.EXTRACTION_FAILED, Stage.EXTRACT) from error
    finally:
        Image.MAX_IMAGE_PIXELS = limit


def _frames(image: Image.Image, builder: Builder, limits: Limits) -> Iterator[tuple[Image.Image, float]]:
    """(frame, dots per inch) one at a time, each within the pixel limit."""
    count = int(getattr(image, "n_frames", 1))
    if count > 1 and image.format in _ANIMATIONS:
        builder.warn("frames_skipped", "only the first picture of an animation or burst is read", count=count - 1)
        count = 1
    for number in range(count):
        if count > 1:
            image.seek(number)
        check_pixels(image, limits)
        yield _decoded(image, builder, number + 1), _dpi(image)


def check_pixels(image: Image.Image, limits: Limits) -> None:
    """Raises InputError(LIMIT_EXCEEDED) when decoding would pass limits.image_pixels."""
    pixels = image.width * image.height
    if pixels > limits.image_pixels:
        raise InputError(
            f"the picture has {pixels} pixels, more than the limit of {limits.image_pixels} (limits.image_pixels)",
            Code.LIMIT_EXCEEDED,
            Stage.EXTRACT,
            {"limit": "image_pixels", "value": limits.image_pixels},
        )


def _decoded(image: Image.Image, builder: Builder, number: int) -> Image.Image:
    """The frame as plain grey or RGB, upright by its EXIF orientation, transparency on white."""
    try:
        image.load()
    except (OSError, SyntaxError) as error:
        ImageFile.LOAD_TRUNCATED_IMAGES = True
        try:
            image.load()
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = False
        builder.warn(
            "image_truncated", f"the picture is damaged and was read as far as it goes: {error}", f"page {number}"
        )
    return plain(ImageOps.exif_transpose(image))


def plain(image: Image.Image) -> Image.Image:
    """`image` as 8-bit grey or RGB without palette, alpha or metadata."""
    if image.mode.startswith(("I", "F")):
        low, high = (float(v) for v in image.getextrema()[:2])  # pyright: ignore[reportArgumentType]
        scale = 255.0 / max(high - low, 1.0)
        image = image.convert("F").point(lambda v: v * scale - low * scale).convert("L")
    if image.mode in ("1", "L"):
        flat = image.convert("L")
    elif "A" in image.mode or "transparency" in image.info:
        rgba = image.convert("RGBA")
        flat = Image.new("RGB", rgba.size, "white")
        flat.paste(rgba, mask=rgba.getchannel("A"))
    else:
        flat = image.convert("RGB")
    clean = flat.copy()
    clean.info = {}
    return clean


def _dpi(image: Image.Image) -> float:
    """Resolution from the header where it is believable, else 72: one pixel a point."""
    try:
        dpi = float(image.info.get("dpi", (_DEFAULT_DPI, 0))[0])
    except (TypeError, ValueError, ZeroDivisionError, IndexError):
        return _DEFAULT_DPI
    return dpi if 50 <= dpi <= 1200 else _DEFAULT_DPI


def _read_frame(frame: Image.Image, dpi: float, number: int, builder: Builder, context: Context) -> None:
    points = (frame.width * 72 / dpi, frame.height * 72 / dpi)
    builder.start_page(number, *points)
    low, high = frame.convert("L").getextrema()
    if high - low <= _BLANK_RANGE:  # pyright: ignore[reportOperatorIssue]
        builder.warn("blank_page", "the picture shows nothing", f"page {number}")
        return
    picture = context.scratch / f"page-{number:05d}.png"
    frame.save(picture)
    read_into(builder, picture, points, context.settings, context.language)
