"""Tells ink from paper on a picture whose light or tint is not even."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_BLOCK = 32  # pixels; the ground is taken to be even within
_DARKER = 38  # grey levels between paper and ink
_DARK_PAGE = 110  # grey level of a ground on which the light pixels are the ink


def small_grey(picture: Path, longest: int) -> tuple[NDArray[np.uint8], int]:
    """A picture in grey, made smaller until its longer side has at most `longest` pixels, and by how much."""
    with Image.open(picture) as image:
        grey = image.convert("L")
    factor = max(1, math.ceil(max(grey.size) / longest))
    return np.asarray(grey.reduce(factor) if factor > 1 else grey), factor


def ink(grey: NDArray[np.uint8], darker: int = _DARKER) -> NDArray[np.bool_]:
    """Pixels that are darker by `darker` grey levels than the ground around them; on a dark page, lighter."""
    if float(np.median(grey)) < _DARK_PAGE:
        grey = 255 - grey
    return grey.astype(np.int16) < _paper(grey) - darker


def _paper(grey: NDArray[np.uint8]) -> NDArray[np.int16]:
    """The brightness of the ground around each pixel: the upper quartile of its block."""
    rows, columns = (-side % _BLOCK for side in grey.shape)
    whole = np.pad(grey, ((0, rows), (0, columns)), mode="edge")
    blocks = whole.reshape(whole.shape[0] // _BLOCK, _BLOCK, whole.shape[1] // _BLOCK, _BLOCK)
    ground = np.percentile(blocks, 75, axis=(1, 3)).astype(np.int16)
    spread = np.repeat(np.repeat(ground, _BLOCK, axis=0), _BLOCK, axis=1)
    return spread[: grey.shape[0], : grey.shape[1]]
