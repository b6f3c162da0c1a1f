"""Turns a picture upright (quarter turns, then the small angle of a skewed scan) and maps places back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.ocr.ink import ink, small_grey

Affine = tuple[float, float, float, float, float, float]  # a, b, c, d, e, f: x' = ax + cy + e, y' = bx + dy + f
_SMALL = 700  # pixels of the longer side that the angle is measured on
_FAINT = 24  # grey levels; letters made small are faint
_MOST_DEGREES = 16.0
_LEAST_DEGREES = 0.6  # a smaller angle does no harm
_CLEARER = 1.12  # by how much lines must stand out more at another angle than at none
_MAX_POINTS = 40_000


@dataclass(frozen=True, slots=True)
class Turn:
    """How a picture of `width` by `height` pixels is made upright: `rotate` degrees clockwise in quarter turns,
    then `skew` degrees (positive: its lines fall to the right by that much)."""

    width: int
    height: int
    rotate: int = 0
    skew: float = 0.0

    @property
    def size(self) -> tuple[int, int]:
        """Of the upright picture; corners that the angle turns out of it are lost."""
        return (self.height, self.width) if self.rotate in (90, 270) else (self.width, self.height)

    def back(self) -> Affine:
        """From the upright picture's pixels to the original's."""
        width, height = self.size
        cos, sin = math.cos(math.radians(self.skew)), math.sin(math.radians(self.skew))
        x, y = width / 2, height / 2
        level: Affine = (cos, sin, -sin, cos, x - cos * x + sin * y, y - sin * x - cos * y)
        quarters: dict[int, Affine] = {
            0: (1.0, 0.0, 0.0, 1.0, 0.0, 0.0),
            90: (0.0, -1.0, 1.0, 0.0, 0.0, float(self.height)),
            180: (-1.0, 0.0, 0.0, -1.0, float(self.width), float(self.height)),
            270: (0.0, 1.0, -1.0, 0.0, float(self.width), 0.0),
        }
        return composed(level, quarters[self.rotate])


def composed(first: Affine, then: Affine) -> Affine:
    """The map that applies `first`, then `then`."""
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u


def mapped(matrix: Affine, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """A box under a map by quarter turns and a small angle: its middle moves, its sides keep their length."""
    a, b, c, d, e, f = matrix
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    across, down = (box[2] - box[0]) / 2, (box[3] - box[1]) / 2
    middle_x, middle_y = a * x + c * y + e, b * x + d * y + f
    wide, tall = math.hypot(a, b) * across, math.hypot(c, d) * down
    if abs(b) > abs(a):
        wide, tall = tall, wide
    return middle_x - wide, middle_y - tall, middle_x + wide, middle_y + tall


def upright_copy(picture: Path, turn: Turn, copy: Path) -> Path:
    """Save the picture made upright at `copy`."""
    methods = {90: Image.Transpose.ROTATE_270, 180: Image.Transpose.ROTATE_180, 270: Image.Transpose.ROTATE_90}
    with Image.open(picture) as image:
        turned = image.transpose(methods[turn.rotate]) if turn.rotate else image.copy()
    if turn.skew:
        if turned.mode not in ("L", "RGB"):
            turned = turned.convert("L" if turned.mode in ("1", "LA", "I;16") else "RGB")
        a, b, c, d, e, f = Turn(*turned.size, 0, turn.skew).back()
        white = 255 if turned.mode == "L" else (255, 255, 255)
        turned = turned.transform(
            turned.size, Image.Transform.AFFINE, (a, c, e, b, d, f), Image.Resampling.BICUBIC, fillcolor=white
        )
    turned.save(copy, compress_level=1)
    return copy


# ---------------------------------------------------------------- measuring
def ink_of(picture: Path) -> NDArray[np.bool_]:
    """The ink of a picture made small, for measuring."""
    return ink(small_grey(picture, _SMALL)[0], _FAINT)


def skew_of(ink: NDArray[np.bool_]) -> float:
    """Degrees by which lines of text fall to the right; 0 when they are level or no lines show.

    The angle at which the rows' sums of ink vary the most (Postl 1986), searched in two steps.
    """
    rows, columns = np.nonzero(ink)
    if len(rows) < 200:
        return 0.0
    if len(rows) > _MAX_POINTS:
        step = math.ceil(len(rows) / _MAX_POINTS)
        rows, columns = rows[::step], columns[::step]
    coarse = np.arange(-_MOST_DEGREES, _MOST_DEGREES + 0.5, 1.0)
    near = float(coarse[int(np.argmax([_sharpness(rows, columns, a) for a in coarse]))])
    fine = np.arange(near - 1.0, near + 1.01, 0.2)
    best = float(fine[int(np.argmax([_sharpness(rows, columns, a) for a in fine]))])
    if abs(best) < _LEAST_DEGREES or abs(best) >= _MOST_DEGREES:
        return 0.0
    return best if _sharpness(rows, columns, best) > _CLEARER * _sharpness(rows, columns, 0.0) else 0.0


def stands_sideways(ink: NDArray[np.bool_]) -> bool:
    """Whether lines of text rather run from top to bottom."""
    rows, columns = np.nonzero(ink)
    return len(rows) > 0 and _sharpness(columns, rows, 0.0) > _sharpness(rows, columns, 0.0)


def _sharpness(rows: NDArray[np.intp], columns: NDArray[np.intp], degrees: float) -> float:
    """How much the ink of neighbouring rows differs once the picture is turned by `degrees`."""
    angle = math.radians(degrees)
    heights = rows * math.cos(angle) - columns * math.sin(angle)
    counts = np.bincount((heights - heights.min()).astype(np.intp)).astype(np.float64)
    return float(np.square(np.diff(counts)).sum())
