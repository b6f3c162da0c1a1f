"""The pictures inside a document made safe to be shown: decoded and written anew, or left out.

Runs where the document was parsed, in the isolated child. What leaves here is PNG or JPEG made by our own
encoder, without metadata and without whatever else the original bytes carried.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from engine.document import walk
from engine.errors import InputError
from engine.records import ExtractedDocument, Loss
from engine.sanitize.image import one_frame, opened
from engine.sanitize.likeness import Look, alike, look_of
from engine.settings import Limits

MOST_PICTURES = 1000  # of one document
MOST_BYTES = 64 << 20  # encoded, over one document
MOST_DECODED = 600_000_000  # pixels decoded over one document
MOST_PIXELS = 4_000_000  # of one picture as kept
MOST_PNG = 1 << 20  # bytes; a larger one that is a third of that as JPEG is a photograph
_JPEG_QUALITY = 88
_MOST_LOOKS = 48 << 20  # bytes of looks kept of one document; pictures after that are only compared
_LOSSES = {
    "image_not_kept": "pictures that cannot be decoded safely (vector graphics, damaged ones) were not kept",
    "image_alike": "pictures that look the same as another one were stored once",
    "image_over_limit": "pictures beyond what is kept of one document were left out",
    "image_reduced": f"pictures of more than {MOST_PIXELS:,} pixels were kept smaller",
}
Encoded = tuple[bytes, str]  # bytes, MIME type


@dataclass(slots=True)
class _Budget:
    """What the pictures of one document have taken so far; equal bytes are encoded once."""

    limits: Limits
    scratch: Path
    pictures: int = 0
    bytes: int = 0
    decoded: int = 0
    losses: Counter[str] = field(default_factory=lambda: Counter[str]())
    made: dict[bytes, Encoded] = field(default_factory=lambda: dict[bytes, Encoded]())
    looks: list[Look] = field(default_factory=lambda: list[Look]())
    seen: list[Encoded] = field(default_factory=lambda: list[Encoded]())  # of the looks, in their order
    look_bytes: int = 0


def clean_pictures(document: ExtractedDocument, scratch: Path, limits: Limits) -> None:
    """Replace the bytes of every picture by a fresh encoding of its pixels, in place.

    What is not kept (unreadable, vector graphics, over a bound) loses its bytes, keeps its texts, and goes to the
    loss report. Equal bytes give equal bytes, and pictures that nobody could tell apart those of the first.
    `scratch`: a private folder for the picture at hand.
    """
    budget = _Budget(limits, scratch)
    for element in walk(document.structure):
        image = element.image
        if image is not None and image.data:
            digest = hashlib.sha256(image.data).digest()
            if digest not in budget.made:
                budget.made[digest] = _cleaned(image.data, budget)
            elif not budget.made[digest][0]:
                budget.losses["image_not_kept"] += 1
            data, mime = budget.made[digest]
            image.data, image.mime_type = data, mime or image.mime_type
    document.warnings += [Loss(code, _LOSSES[code], "", count) for code, count in sorted(budget.losses.items())]


def _cleaned(data: bytes, budget: _Budget) -> Encoded:
    if budget.pictures >= MOST_PICTURES or budget.bytes >= MOST_BYTES or budget.decoded >= MOST_DECODED:
        budget.losses["image_over_limit"] += 1
        return b"", ""
    path = budget.scratch / "picture-at-hand"
    path.write_bytes(data)
    try:
        encoded, mime = _encoded(path, budget)
    except InputError:
        budget.losses["image_not_kept"] += 1
        return b"", ""
    finally:
        path.unlink(missing_ok=True)
    if all(encoded is not known for known, _ in budget.made.values()):
        budget.pictures += 1
        budget.bytes += len(encoded)
    return encoded, mime


def _encoded(path: Path, budget: _Budget) -> Encoded:
    """The first frame as JPEG when it is a photograph, else as PNG; or what is kept of one that looks the same."""
    with opened(path) as image:
        photo = image.format in ("JPEG", "MPO")
        budget.decoded += image.width * image.height
        frame, dpi = one_frame(image, 1, budget.limits, [])
    look = look_of(frame)
    double = alike(look, budget.looks)
    if double is not None:
        budget.losses["image_alike"] += 1
        return budget.seen[double]
    made = _written(*_bounded(frame, dpi, budget), photo)
    if budget.look_bytes < _MOST_LOOKS:
        budget.looks.append(look)
        budget.seen.append(made)
        budget.look_bytes += look.cells.nbytes
    return made


def _bounded(frame: Image.Image, dpi: float, budget: _Budget) -> tuple[Image.Image, float]:
    pixels = frame.width * frame.height
    if pixels <= MOST_PIXELS:
        return frame, dpi
    budget.losses["image_reduced"] += 1
    factor = math.sqrt(MOST_PIXELS / pixels)
    size = max(1, int(frame.width * factor)), max(1, int(frame.height * factor))
    return frame.resize(size, Image.Resampling.LANCZOS), dpi * factor


def _written(frame: Image.Image, dpi: float, photo: bool) -> Encoded:
    """The same pixels give the same bytes."""
    jpeg, png = io.BytesIO(), io.BytesIO()
    if not photo:
        frame.save(png, "PNG", compress_level=6)
        if png.tell() <= MOST_PNG:
            return png.getvalue(), "image/png"
    frame.save(jpeg, "JPEG", quality=_JPEG_QUALITY, dpi=(round(dpi), round(dpi)))
    if photo or jpeg.tell() * 3 < png.tell():
        return jpeg.getvalue(), "image/jpeg"
    return png.getvalue(), "image/png"
