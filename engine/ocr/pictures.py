"""Prepares a picture for Tesseract (enlarged, turned) and maps places back to the original."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

_SMALL_SIDE = 900  # pixels; smaller pictures are enlarged, letters under 20 pixels read badly
_MAX_ENLARGED = 12_000_000


def enlarged(image_path: Path, scratch: Path) -> tuple[Path, float]:
    """The picture itself, or an enlarged copy of a small one, and the factor."""
    with Image.open(image_path) as image:
        width, height = image.size
        side = min(width, height)
        factor = 1 if side >= _SMALL_SIDE else min(3, max(1, round(_SMALL_SIDE / max(side, 1))))
        while factor > 1 and width * height * factor * factor > _MAX_ENLARGED:
            factor -= 1
        if factor == 1:
            return image_path, 1.0
        copy = scratch / "enlarged.png"
        mode = "L" if image.mode in ("1", "L", "LA", "I;16") else "RGB"
        image.convert(mode).resize((width * factor, height * factor), Image.Resampling.LANCZOS).save(copy)
    return copy, float(factor)


def turned(picture: Path, clockwise: int, scratch: Path) -> Path:
    """A copy of the picture in `scratch`, turned by 90, 180 or 270 degrees."""
    method = {
        90: Image.Transpose.ROTATE_270,
        180: Image.Transpose.ROTATE_180,
        270: Image.Transpose.ROTATE_90,
    }[clockwise]
    copy = scratch / "upright.png"
    with Image.open(picture) as image:
        image.transpose(method).save(copy)
    return copy


def unrotated(
    box: tuple[float, float, float, float], clockwise: int, size: tuple[int, int]
) -> tuple[float, float, float, float]:
    """A box on the picture turned `clockwise`, mapped back to the picture of `size` (width, height)."""
    x0, y0, x1, y1 = box
    width, height = size
    match clockwise:
        case 90:
            return y0, height - x1, y1, height - x0
        case 180:
            return width - x1, height - y1, width - x0, height - y0
        case 270:
            return width - y1, x0, width - y0, x1
        case _:
            return box
