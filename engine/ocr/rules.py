"""Finds the straight lines drawn on a picture of a page: the rules of its tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from engine.ocr.ink import ink

Stroke = tuple[float, float, float, float]  # x0, y0, x1, y1 in pixels; a line's own thickness left out
_LONGEST = 2600  # pixels of the longer side looked at
_LENGTH = 2.0  # of a text line's height; no dash is as long
_HEIGHT = 1.5  # of the same; no letter is as high, and no row of a table lower
_THICK = 0.4  # of that height; thicker is a bar or a picture
_MOST = 1500  # more lines are a drawing


def find_rules(picture: Path, line_height: float) -> list[Stroke]:
    """Horizontal and vertical rules of an upright picture. `line_height`: of its text, in pixels."""
    with Image.open(picture) as image:
        grey = np.asarray(image.convert("L"))
    factor = max(1, round(max(grey.shape) / _LONGEST))
    dark = ink(_darkest(grey, factor))
    unit = line_height / factor
    thick = max(2, round(_THICK * unit))
    flat = [(x0, y, x1, y) for y, x0, x1 in _strokes(dark, max(12, round(_LENGTH * unit)), thick)]
    upright = np.ascontiguousarray(dark.T)
    tall = [(x, y0, x, y1) for x, y0, y1 in _strokes(upright, max(12, round(_HEIGHT * unit)), thick)]
    if len(flat) + len(tall) > _MOST:
        return []
    return [(a * factor, b * factor, c * factor, d * factor) for a, b, c, d in (*flat, *tall)]


def _darkest(grey: NDArray[np.uint8], factor: int) -> NDArray[np.uint8]:
    """The picture made smaller so that a thin line stays as dark as it is."""
    rows, columns = (side // factor * factor for side in grey.shape)
    blocks = grey[:rows, :columns].reshape(rows // factor, factor, columns // factor, factor)
    return blocks.min(axis=(1, 3)) if factor > 1 else grey


def _strokes(dark: NDArray[np.bool_], length: int, thick: int) -> list[tuple[float, float, float]]:
    """(row, first column, last column) of long thin horizontal strokes; rows of one stroke are one.

    A row is looked at together with its neighbours, so that a stroke one step out of level stays whole.
    """
    near = dark.copy()
    near[1:] |= dark[:-1]
    near[:-1] |= dark[1:]
    solid = np.zeros_like(dark)
    solid[thick:-thick] = dark[: -2 * thick] & dark[2 * thick :]
    padded = np.zeros((near.shape[0], near.shape[1] + 2), dtype=np.int8)
    padded[:, 1:-1] = near & ~solid
    steps = np.diff(padded, axis=1)
    rows, starts = np.nonzero(steps == 1)
    _, ends = np.nonzero(steps == -1)
    long = ends - starts >= length
    runs = zip(rows[long].tolist(), starts[long].tolist(), ends[long].tolist(), strict=True)
    return _joined(list(runs), thick)


def _joined(runs: list[tuple[int, int, int]], thick: int) -> list[tuple[float, float, float]]:
    """Runs in following rows that overlap, as one stroke at their middle; those too thick for one left out."""
    open_: list[list[int]] = []  # first row, last row, start, end
    done: list[list[int]] = []
    for row, start, end in runs:
        for stroke in open_:
            if row - stroke[1] <= 1 and start < stroke[3] and end > stroke[2]:
                stroke[1], stroke[2], stroke[3] = row, min(start, stroke[2]), max(end, stroke[3])
                break
        else:
            open_.append([row, row, start, end])
        if len(open_) > 200:
            done += [s for s in open_ if row - s[1] > 1]
            open_ = [s for s in open_ if row - s[1] <= 1]
    done += open_
    return [((a + b) / 2, float(start), float(end)) for a, b, start, end in done if b - a <= 2 * thick + 2]
