"""Tells whether nobody could tell two pictures apart: a copy in another wrapping, or packed again.

A difference hash first (N. Krawetz, "Kind of like that", 2013), then a closer look at both, so that two screenshots
which differ in one digit stay two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

_CELL = 8  # pixels: the side of a JPEG block (ITU-T T.81, A.1)
_HASH_BITS = 4  # of 64: hashes further apart are never looked at closer
_MOST_LUMINANCE = 6  # of 256 levels, in any cell: what JPEG changes at its usual qualities; another digit is 14
_MOST_COLOUR = 24  # in any cell: where colours meet, a JPEG with halved colour resolution blurs them


@dataclass(frozen=True, slots=True)
class Look:
    """What a picture looks like. `hash`: 64 bits, near each other for pictures that look alike. `cells`: the mean
    luminance and colour of each square of 8 pixels, which a JPEG keeps nearly exactly (they are its blocks)."""

    hash: int
    size: tuple[int, int]
    cells: NDArray[np.uint8]  # (rows, columns, 3)


def look_of(frame: Image.Image) -> Look:
    """The look of an RGB or grey picture."""
    cells = frame.convert("RGB").convert("YCbCr").reduce(_CELL)
    grey = np.asarray(cells.getchannel("Y").resize((9, 8), Image.Resampling.BOX), np.int16)
    bits = np.packbits(grey[:, 1:] > grey[:, :-1]).tobytes()
    return Look(int.from_bytes(bits, "big"), frame.size, np.asarray(cells))


def alike(look: Look, others: Sequence[Look]) -> int | None:
    """The index of the first of `others` that nobody could tell from `look`, else None."""
    for index, other in enumerate(others):
        if look.size != other.size or (look.hash ^ other.hash).bit_count() > _HASH_BITS:
            continue
        apart = np.abs(look.cells.astype(np.int16) - other.cells).max((0, 1))
        if apart[0] <= _MOST_LUMINANCE and apart[1:].max() <= _MOST_COLOUR:
            return index
    return None
