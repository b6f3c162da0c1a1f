"""Joins the printed lines of a table that are one row: cells whose text wraps, cells in mid-row."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from engine.extract.pdf.columns import Edges, Placed, union
from engine.extract.pdf.evidence import NUMBER
from engine.extract.pdf.model import Word
from engine.extract.pdf.rows import Row

_LEADING = 0.45  # of a line's height; wider white is never inside a cell
_JUMP = 0.22  # of a line's height between the white inside rows and the white between them
_SPACE = 0.25  # of a line's height
_WORDY = 3.5  # words a line
_BANDED = 0.6  # share of the rows that lines must part for the lines to tell all rows

Cell = tuple[int, int, list[Word]]


@dataclass(slots=True)
class _Gaps:
    """White between the printed lines of a table, and what is known about it."""

    unit: float  # median height of a line
    limit: float | None  # white up to this is inside a row, wider is between rows; None: no telling
    separators: Sequence[float]
    banded: bool  # lines are drawn between all rows


def merge_wrapped(
    rows: Sequence[Row], placed: Sequence[Placed], edges: Edges, separators: Sequence[float]
) -> tuple[list[Placed], list[Row]]:
    """The rows of the table, and the first printed line of each."""
    gaps = _gaps(rows, separators)
    if gaps.limit is not None and _grouped(rows, placed, edges, gaps):
        gaps.limit = None
    merged, first = [placed[0]], [rows[0]]
    for n in range(1, len(rows)):
        if _continues(rows[n - 1], rows[n], merged[-1], placed[n], edges, gaps):
            merged[-1] = union(merged[-1], placed[n])
        else:
            merged.append(placed[n])
            first.append(rows[n])
    return merged, first


def _gaps(rows: Sequence[Row], separators: Sequence[float]) -> _Gaps:
    unit = statistics.median(w.y1 - w.y0 for r in rows for e in r.entries for w in e.words)
    inner = [s for s in separators if rows[0].middle < s < rows[-1].middle]
    banded = len(rows) > 2 and len(inner) >= 2 and _parts_most(rows, inner)
    banded = banded or (len(inner) > 0 and _is_wordy(rows))
    white = sorted(b.y0 - a.y1 for a, b in itertools.pairwise(rows))
    limit = None
    jumps = [(b - a, a, b) for a, b in itertools.pairwise(white) if a < _LEADING * unit]
    if jumps:
        jump, low, high = max(jumps)
        limit = (low + high) / 2 if jump >= _JUMP * unit else None
    return _Gaps(unit, limit, separators, banded)


def _is_wordy(rows: Sequence[Row]) -> bool:
    """Whether the lines hold running text rather than entries."""
    lines = [e.words for r in rows for e in r.entries]
    return statistics.fmean(map(len, lines)) >= _WORDY and sum(map(_numeric, lines)) < 0.2 * len(lines)


def _grouped(rows: Sequence[Row], placed: Sequence[Placed], edges: Edges, gaps: _Gaps) -> bool:
    """Whether the narrow gaps part rows as well: then the wide ones part groups of rows."""
    narrow = apart = 0
    for (before, above), (row, below) in itertools.pairwise(zip(rows, placed, strict=True)):
        if gaps.limit is not None and row.y0 - before.y1 <= gaps.limit:
            narrow += 1
            shared = _shared(above, below)
            figures = any(_numeric(a[2]) and _numeric(b[2]) for a, b in shared)
            apart += figures or (len(shared) > 1 and all(_rooms(shared, edges, gaps.unit)))
    return 4 * apart > narrow


def _shared(above: Placed, below: Placed) -> list[tuple[Cell, Cell]]:
    """Cells of two lines that stand in the same column."""
    return [(a, b) for a in above for b in below if a[0] <= b[1] and b[0] <= a[1]]


def _rooms(shared: list[tuple[Cell, Cell]], edges: Edges, unit: float) -> list[bool]:
    return [_had_room(a[2], b[2], edges[a[0]][0], edges[a[1]][1], unit) for a, b in shared]


def _parts_most(rows: Sequence[Row], inner: Sequence[float]) -> bool:
    """Whether lines are drawn at most of the wide gaps, so that what no line parts is one row."""
    unit = statistics.median(r.y1 - r.y0 for r in rows)
    wide = [(a, b) for a, b in itertools.pairwise(rows) if b.y0 - a.y1 > -0.1 * unit]
    drawn = sum(any(a.middle < s < b.middle for s in inner) for a, b in wide)
    return drawn >= _BANDED * len(wide)


def _continues(before: Row, row: Row, above: Placed, below: Placed, edges: Edges, gaps: _Gaps) -> bool:
    if any(before.middle < s < row.middle for s in gaps.separators):
        return False
    if gaps.banded:
        return True
    white = row.y0 - before.y1
    shared = _shared(above, below)
    if white > _LEADING * gaps.unit or any(_numeric(a[2]) and _numeric(b[2]) for a, b in shared):
        return False
    room = _rooms(shared, edges, gaps.unit)
    leads = below[0][0] == 0
    if leads and above[0][0] > 0 and shared and not any(room):
        return True  # the label stands at the bottom or in the middle of its row
    if gaps.limit is not None:
        return white <= gaps.limit and (not any(room) or not leads or above[0][0] > 0)
    if not leads:
        return len(below) < len(edges) and not any(room)
    return _label_goes_on(above, below) and not any(room)


def _label_goes_on(above: Placed, below: Placed) -> bool:
    """Whether a line that holds a label only goes on with the label above it, or the other way round."""
    if len(below) > 1 and len(above) > 1:
        return False
    return below[0][2][0].text[:1].islower()


def _numeric(words: Sequence[Word]) -> bool:
    return bool(NUMBER.match(" ".join(w.text for w in words)))


def _had_room(above: Sequence[Word], below: Sequence[Word], left: float, right: float, unit: float) -> bool:
    """Whether the first word of the lower line would have fitted on the line above: then it is no wrapped text."""
    bottom = max((w.y0 + w.y1) / 2 for w in above)
    last = [w for w in above if bottom - (w.y0 + w.y1) / 2 < 0.5 * (w.y1 - w.y0)]
    top = min((w.y0 + w.y1) / 2 for w in below)
    first = min((w for w in below if (w.y0 + w.y1) / 2 - top < 0.5 * (w.y1 - w.y0)), key=lambda w: w.x0)
    used = max(w.x1 for w in last) - min(w.x0 for w in last)
    return used + _SPACE * unit + (first.x1 - first.x0) < right - left - 1
