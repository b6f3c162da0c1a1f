"""Reading order of boxes on a page: columns apart, titles across columns where they stand.

A recursive cut in the spirit of the XY-cut (Nagy & Seth 1984), with one change: boxes that lie across a
gutter (titles, wide figures, footers) do not hide it. They part the page into zones from top to bottom, and
in each zone the columns are read one after the other. Serves OCR lines and PDF text alike; the unit of
length does not matter.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar


class Boxed(Protocol):
    x0: float
    y0: float
    x1: float
    y1: float
    text: str


T = TypeVar("T", bound=Boxed)
_MAX_BOXES = 4000  # beyond, a page is a drawing: order by rows only
_MAX_DEPTH = 12
_MIN_GUTTER = 0.6  # of the usual line height
_WIDE_WHITE = 2.2  # of the usual line height; wider than the white between paragraphs
_MAX_REACH = 2.0  # of the usual line height; how far a column's line may go past the gutter
_FEW_WORDS = 3.0  # a column of shorter lines may be labels beside their values


@dataclass(slots=True)
class _Gutter:
    x: float
    score: float


def reading_order(boxes: Sequence[T], rtl: bool = False, barriers: Sequence[Boxed] = ()) -> list[list[T]]:
    """Groups of boxes (each one column or a band across columns) in reading order, rows from top to bottom.

    `rtl`: columns are read from right to left. `barriers`: pictures and the like: columns that one lies across are
    read down to it, then on from below it. They do not come out. Boxes that come in drawing order give a hint where
    short lines stand side by side: columns drawn one after the other are read so, rows drawn across are rows.
    """
    if not boxes:
        return []
    unit = statistics.median(max(b.y1 - b.y0, 0.1) for b in boxes)
    rank = {id(b): n for n, b in enumerate(boxes)}
    if len(boxes) > _MAX_BOXES:
        return [_by_rows(list(boxes), rtl)]
    return _split(list(boxes), barriers, unit, rank, rtl, 0)


def _split(
    boxes: list[T], barriers: Sequence[Boxed], unit: float, rank: dict[int, int], rtl: bool, depth: int
) -> list[list[T]]:
    if len(boxes) < 2 or depth > _MAX_DEPTH:
        return [boxes]
    gutter = _best_gutter(boxes, unit, rank)
    if gutter is None:
        return [_by_rows(boxes, rtl)]
    groups: list[list[T]] = []
    flow: list[T] = []  # zones that stand alone across the page, read as one
    for zone, across in [*_zones(boxes, gutter, unit, barriers), ([], False)]:
        if across or (zone and not _two_sided(zone, gutter)):
            flow.extend(zone)
            continue
        if flow:
            groups.extend(_split(flow, (), unit, rank, rtl, depth + 1))
            flow = []
        left = [b for b in zone if _centre(b) < gutter]
        right = [b for b in zone if _centre(b) >= gutter]
        for side in (right, left) if rtl else (left, right):
            groups.extend(_split(side, barriers, unit, rank, rtl, depth + 1) if side else [])
    return groups


def _zones(boxes: list[T], gutter: float, unit: float, barriers: Sequence[Boxed] = ()) -> list[tuple[list[T], bool]]:
    """The boxes cut into zones from top to bottom: those across the gutter, and those beside it.

    A box beside the gutter belongs after every box across it whose middle lies above its own; one in the
    same row as a box across belongs to that row, one beside a barrier to the barrier.
    """
    across, beside = _across_and_beside(boxes, gutter, unit)
    rows: list[tuple[float, float, T | None]] = [(*_row_span(b, unit), b) for b in across]
    rows += [(b.y0, b.y1, None) for b in barriers if min(gutter - b.x0, b.x1 - gutter) > _MAX_REACH * unit]
    zones: list[tuple[list[T], bool]] = []
    position = 0
    for top, bottom, wide in sorted(rows, key=lambda row: row[0]):
        start = position
        while position < len(beside) and _middle(beside[position]) <= top:
            position += 1
        if position > start:
            zones.extend((part, False) for part in _apart(beside[start:position], gutter, unit))
        if not zones or not zones[-1][1]:
            zones.append(([], True))
        if wide is not None:
            zones[-1][0].append(wide)
        while position < len(beside) and _middle(beside[position]) < bottom:
            zones[-1][0].append(beside[position])
            position += 1
    if position < len(beside):
        zones.extend((part, False) for part in _apart(beside[position:], gutter, unit))
    return zones


def _row_span(box: Boxed, unit: float) -> tuple[float, float]:
    """The heights between which the middles of a box's own row lie; a table or a tall box has no row."""
    middle = _middle(box)
    return middle - 0.3 * unit, middle + (0.3 if box.y1 - box.y0 < 2 * unit else -0.3) * unit


def _across_and_beside(boxes: list[T], gutter: float, unit: float) -> tuple[list[T], list[T]]:
    """The boxes that lie across the gutter and those beside it, each from top to bottom.

    A line that only reaches into the gutter (with room in its row left for one on the other side) is beside it.
    """
    beside = [b for b in boxes if not b.x0 < gutter < b.x1]
    across: list[T] = []
    reaching: list[T] = []
    for box in boxes:
        if box.x0 < gutter < box.x1:
            (reaching if _only_reaches(box, beside, gutter, unit) else across).append(box)
    return sorted(across, key=_middle), sorted(beside + reaching, key=_middle)


def _only_reaches(box: T, beside: list[T], gutter: float, unit: float) -> bool:
    """Whether a box goes past the gutter by little and has a neighbour on the other side in its row."""
    over = min(box.x1 - gutter, gutter - box.x0)
    if over > _MAX_REACH * unit:
        return False
    left, middle = _centre(box) < gutter, _middle(box)
    return any(
        b.y0 < middle < b.y1 and (b.x0 >= box.x1 - 0.3 * unit if left else b.x1 <= box.x0 + 0.3 * unit) for b in beside
    )


def _apart(zone: list[T], gutter: float, unit: float) -> list[list[T]]:
    """A zone cut at wide white across both columns where only one of them goes on (or had begun)."""
    parts: list[list[T]] = [[]]
    reach = zone[0].y1
    for box in zone:
        if parts[-1] and box.y0 - reach > _WIDE_WHITE * unit:
            parts.append([])
        parts[-1].append(box)
        reach = max(reach, box.y1)
    if len(parts) == 1:
        return parts
    joined = parts[:1]
    for part in parts[1:]:
        if _two_sided(joined[-1], gutter) and _two_sided(part, gutter):
            joined[-1] = joined[-1] + part
        else:
            joined.append(part)
    return joined


def _two_sided(boxes: list[T], gutter: float) -> bool:
    return any(_centre(b) < gutter for b in boxes) and any(_centre(b) >= gutter for b in boxes)


def _centre(box: Boxed) -> float:
    return (box.x0 + box.x1) / 2


def _middle(box: Boxed) -> float:
    return (box.y0 + box.y1) / 2


# ---------------------------------------------------------------- gutters
def _best_gutter(boxes: list[T], unit: float, rank: dict[int, int]) -> float | None:
    """The x of the white strip that parts columns over the greatest height, if one does."""
    best: _Gutter | None = None
    for x in _candidates(boxes, unit):
        score = _score(boxes, x, unit, rank)
        if score > 0 and (best is None or score > best.score):
            best = _Gutter(x, score)
    return best.x if best else None


def _candidates(boxes: list[T], unit: float) -> list[float]:
    """Middles of the strips where many rows have white between two boxes, most supported first."""
    rows = _rows(boxes)
    gaps: list[tuple[float, float]] = []
    for row in rows:
        ordered = sorted(row, key=lambda b: b.x0)
        reach = ordered[0].x1
        for box in ordered[1:]:
            if box.x0 - reach >= _MIN_GUTTER * unit:
                gaps.append((reach, box.x0))
            reach = max(reach, box.x1)
    gaps.extend(_column_gaps(boxes, unit))
    found: list[float] = []
    for _ in range(6):
        if not gaps:
            break
        start, end = _densest(gaps)
        found.append((start + end) / 2)
        gaps = [g for g in gaps if not (g[0] <= (start + end) / 2 <= g[1])]
    return found


def _column_gaps(boxes: list[T], unit: float) -> list[tuple[float, float]]:
    """White strips over the whole height, for columns whose lines stand at different heights."""
    ordered = sorted(boxes, key=lambda b: b.x0)
    gaps: list[tuple[float, float]] = []
    reach = ordered[0].x1
    for box in ordered[1:]:
        if box.x0 - reach >= _MIN_GUTTER * unit:
            gaps.append((reach, box.x0))
        reach = max(reach, box.x1)
    return gaps


def _densest(gaps: list[tuple[float, float]]) -> tuple[float, float]:
    """The interval covered by the most gaps."""
    events = sorted([(g[0], 1) for g in gaps] + [(g[1], -1) for g in gaps], key=lambda e: (e[0], -e[1]))
    depth, best, start, end = 0, 0, gaps[0][0], gaps[0][1]
    for n, (x, step) in enumerate(events):
        depth += step
        if depth > best:
            best, start = depth, x
            end = events[n + 1][0] if n + 1 < len(events) else x
    return start, end


def _score(boxes: list[T], x: float, unit: float, rank: dict[int, int]) -> float:
    """Height over which columns stand on both sides of `x`; 0 where they are rather rows of one table."""
    total = 0.0
    for zone, across in _zones(boxes, x, unit):
        if across:
            continue
        left = [b for b in zone if _centre(b) < x]
        right = [b for b in zone if _centre(b) >= x]
        if not left or not right or not _are_columns(left, right, unit, rank):
            continue
        top = max(min(b.y0 for b in left), min(b.y0 for b in right))
        bottom = min(max(b.y1 for b in left), max(b.y1 for b in right))
        total += max(0.0, bottom - top)
        if bottom <= top and len(left) + len(right) > 2:
            total += 0.1 * unit
    return total if total >= 1.5 * unit else 0.0


def _are_columns(left: list[T], right: list[T], unit: float, rank: dict[int, int]) -> bool:
    """Whether two stacks side by side are columns of text, not labels with their values."""
    words_left, words_right = _words_per_row(left), _words_per_row(right)
    tall = max(b.y1 - b.y0 for b in (*left, *right)) > 4 * unit
    if _numeric_share(left + right) > 0.4 and _aligned(left, right, unit):
        return False
    if min(words_left, words_right) >= _FEW_WORDS or tall:
        return True
    if _drawn_apart(left, right, rank):
        return min(len(left), len(right)) > 1 or not _aligned(left, right, unit)
    return not _aligned(left, right, unit) and min(words_left, words_right) > 1.5


def _numeric_share(boxes: list[T]) -> float:
    words = [word for b in boxes for word in b.text.split()]
    return sum(word[:1].isdigit() for word in words) / max(len(words), 1)


def _words_per_row(boxes: list[T]) -> float:
    return sum(max(b.text.count(" ") + 1, len(b.text) / 12) for b in boxes) / max(len(_rows(boxes)), 1)


def _drawn_apart(left: list[T], right: list[T], rank: dict[int, int]) -> bool:
    first, second = sorted((left, right), key=lambda side: min(rank[id(b)] for b in side))
    return max(rank[id(b)] for b in first) < min(rank[id(b)] for b in second)


def _aligned(left: list[T], right: list[T], unit: float) -> bool:
    """Whether most lines of the shorter stack have a line at the same height in the other."""
    few, many = sorted((left, right), key=len)
    heights = [_middle(b) for b in many]
    hits = sum(any(abs(_middle(b) - y) < 0.35 * unit for y in heights) for b in few)
    return 2 * hits > len(few)


# ---------------------------------------------------------------- rows
def _rows(boxes: Sequence[T]) -> list[list[T]]:
    """Boxes grouped into rows by the height of their middles, from top to bottom."""
    rows: list[list[T]] = []
    reach = float("-inf")
    for box in sorted(boxes, key=_middle):
        if rows and _middle(box) < reach:
            rows[-1].append(box)
        else:
            rows.append([box])
            reach = _middle(box) + 0.5 * (box.y1 - box.y0)
    return rows


def _by_rows(boxes: list[T], rtl: bool) -> list[T]:
    """Row after row; the first box of a row decides its height, so tall boxes do not swallow rows."""
    return [b for row in _rows(boxes) for b in sorted(row, key=lambda b: -b.x1 if rtl else b.x0)]
