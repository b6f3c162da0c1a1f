"""Pictures made safe: decoded under limits and written anew, without EXIF, XMP or anything else but pixels."""

from __future__ import annotations

import io
import warnings
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

from engine.errors import Code, InputError, Stage
from engine.records import Loss
from engine.settings import Limits

# Nothing else is tried: some of Pillow's formats start programs.
_FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF")
_ANIMATIONS = ("GIF", "WEBP", "PNG", "MPO", "HEIF")  # more frames are the same picture again
_METADATA = ("exif", "xmp", "XML:com.adobe.xmp", "photoshop", "icc_profile", "comment", "Comment")
_DEFAULT_DPI = 72.0


def sanitize_image(path: Path, out: Path, limits: Limits | None = None) -> list[Loss]:
    """Where the picture carries metadata, write its pixels alone to `out` and say what was left behind.

    `out` becomes a PNG, or a TIFF for several pages, whatever its name. Without metadata nothing is
    written. Raises InputError as `frames` does.
    """
    losses: list[Loss] = []
    with opened(path) as image:
        found = sorted(key for key in _METADATA if image.info.get(key))
        if not found and not image.getexif():
            return []
        pages = [(frame, dpi) for frame, dpi in frames(image, limits or Limits.model_validate({}), losses)]
    losses.append(Loss("metadata_removed", f"embedded metadata was removed: {', '.join(found) or 'exif'}"))
    first, dpi = pages[0]
    if len(pages) > 1:
        rest = [frame for frame, _ in pages[1:]]
        first.save(out, "TIFF", save_all=True, append_images=rest, compression="tiff_deflate", dpi=(dpi, dpi))
    else:
        first.save(out, "PNG", compress_level=1, dpi=(dpi, dpi))
    return losses


@contextmanager
def opened(source: Path | bytes) -> Generator[Image.Image]:
    """The picture in a file or in memory, header read only; pixel limits are checked by `frames`.

    Raises InputError (EXTRACTION_FAILED) for whatever Pillow cannot read, inside the block too.
    """
    formats = (*_FORMATS, "HEIF") if _is_heif(source) else _FORMATS
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(file, formats=formats) as image:
                yield image
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as error:
        raise InputError(f"not a readable picture: {_short(error)}", Code.EXTRACTION_FAILED, Stage.EXTRACT) from error
    finally:
        Image.MAX_IMAGE_PIXELS = limit


def _is_heif(source: Path | bytes) -> bool:
    """Whether it is an ISO media file, as HEIC is; its decoder is loaded only for those."""
    if isinstance(source, bytes):
        head = source[:12]
    else:
        with source.open("rb") as file:
            head = file.read(12)
    if head[4:8] != b"ftyp":
        return False
    import pillow_heif

    pillow_heif.register_heif_opener()
    return True


def frames(image: Image.Image, limits: Limits, losses: list[Loss]) -> Iterator[tuple[Image.Image, float]]:
    """(plain frame, dots per inch) one at a time; what is skipped or damaged goes to `losses`.

    Raises InputError (LIMIT_EXCEEDED) before decoding a frame above limits.image_pixels, and for more
    frames than limits.pages.
    """
    count = int(getattr(image, "n_frames", 1))
    shown = frame_count(image)
    if shown < count:
        losses.append(Loss("frames_skipped", "only the first frame of an animation or burst is read", count=count - 1))
    if shown > limits.pages:
        raise _over("pages", shown, limits.pages)
    for number in range(shown):
        yield one_frame(image, number + 1, limits, losses)


def frame_count(image: Image.Image) -> int:
    """How many frames are pages: all of a TIFF, one of an animation."""
    return 1 if image.format in _ANIMATIONS else int(getattr(image, "n_frames", 1))


def one_frame(image: Image.Image, number: int, limits: Limits, losses: list[Loss]) -> tuple[Image.Image, float]:
    """Frame `number` (from 1) as a plain frame, and its dots per inch; losses and errors as of `frames`."""
    if number > 1 or frame_count(image) > 1:
        image.seek(number - 1)
    if image.width * image.height > limits.image_pixels:
        raise _over("image_pixels", image.width * image.height, limits.image_pixels)
    dpi = _dpi(image)
    _load(image, number, losses)
    return plain(ImageOps.exif_transpose(image)), dpi


def _over(limit: str, value: int, bound: int) -> InputError:
    return InputError(
        f"the picture has {value} {'pages' if limit == 'pages' else 'pixels'}, more than the limit of {bound} "
        f"(setting limits.{limit})",
        Code.LIMIT_EXCEEDED,
        Stage.EXTRACT,
        {"limit": limit, "value": bound},
    )


def _load(image: Image.Image, number: int, losses: list[Loss]) -> None:
    """Decode, and once more leniently when the file ends early: what is there is worth reading."""
    try:
        image.load()
        return
    except (OSError, SyntaxError) as error:
        message = f"the picture is damaged and was read as far as it goes: {_short(error)}"
    ImageFile.LOAD_TRUNCATED_IMAGES = True
    try:
        image.load()
    finally:
        ImageFile.LOAD_TRUNCATED_IMAGES = False
    losses.append(Loss("image_truncated", message, f"page {number}"))


def plain(image: Image.Image) -> Image.Image:
    """`image` as 8-bit grey or RGB without palette, alpha or metadata; transparency becomes white."""
    if image.mode.startswith(("I", "F")):
        flat = _eight_bit(image)
    elif image.mode in ("1", "L"):
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


def _eight_bit(image: Image.Image) -> Image.Image:
    """Deep grey stretched to the range it uses."""
    values = image.convert("F")
    low, high = values.getextrema()
    scale = 255.0 / max(float(high) - float(low), 1.0)  # pyright: ignore[reportArgumentType]
    return values.point(lambda v: v * scale - float(low) * scale).convert("L")  # pyright: ignore[reportArgumentType]


def _dpi(image: Image.Image) -> float:
    """Resolution from the header where it is believable, else 72: one pixel a point."""
    try:
        dpi = float(image.info.get("dpi", (_DEFAULT_DPI, 0))[0])
    except (TypeError, ValueError, ZeroDivisionError, IndexError):
        return _DEFAULT_DPI
    return dpi if 50 <= dpi <= 1200 else _DEFAULT_DPI


def _short(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:150]
