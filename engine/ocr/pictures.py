"""Prepares a picture for Tesseract: small ones are enlarged."""

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
