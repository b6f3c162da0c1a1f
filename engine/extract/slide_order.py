"""Reading order of boxes on a slide: cut along the gaps, rows before columns.

A recursive XY cut: where a horizontal gap runs across all boxes, what is above is read first; else where a
vertical gap runs down, what is left of it; boxes that overlap are read top to bottom, then left to right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")
Rect = tuple[float, float, float, float]  # x0, y0, x1, y1; any unit
_MAX_BOXES = 2000  # beyond it the cuts would cost too much; sorted plainly


def reading_order(items: Sequence[tuple[Rect | None, T]]) -> list[T]:
    """Items in reading order; those without a box come first, as stored."""
    placed = [(box, item) for box, item in items if box is not None]
    loose = [item for box, item in items if box is None]
    if len(placed) > _MAX_BOXES:
        return loose + [item for _, item in sorted(placed, key=_corner)]
    return loose + [item for _, item in _ordered(placed, 0)]


def _corner(entry: tuple[Rect, T]) -> tuple[float, float]:
    return entry[0][1], entry[0][0]


def _ordered(entries: list[tuple[Rect, T]], depth: int) -> list[tuple[Rect, T]]:
    if len(entries) < 2 or depth > 50:
        return sorted(entries, key=_corner)
    for low, high in ((1, 3), (0, 2)):
        bands = _bands(entries, low, high)
        if len(bands) > 1:
            return [entry for band in bands for entry in _ordered(band, depth + 1)]
    return sorted(entries, key=_corner)


def _bands(entries: list[tuple[Rect, T]], low: int, high: int) -> list[list[tuple[Rect, T]]]:
    """Groups with gaps between them along one axis. Touching or slightly overlapping boxes part too."""
    bands: list[list[tuple[Rect, T]]] = []
    end = float("-inf")
    for entry in sorted(entries, key=lambda e: e[0][low]):
        tolerance = min(entry[0][high] - entry[0][low], 1e9) * 0.1
        if entry[0][low] < end - tolerance:
            bands[-1].append(entry)
        else:
            bands.append([entry])
        end = max(end, entry[0][high])
    return bands
