"""Tables told by alignment alone: rows of short entries that stand in columns, with or without rules."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence

from engine.extract.pdf.columnar import aligned_table
from engine.extract.pdf.evidence import is_drawn_by_rows
from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.headed import bold_headed_tables
from engine.extract.pdf.model import Run
from engine.extract.pdf.rows import Row, odd_gaps, rows_of


def free_tables(runs: Sequence[Run]) -> list[FoundTable]:
    """Tables among the runs of one column that no rule frames."""
    rows = rows_of(runs)
    found = bold_headed_tables(rows)
    if found:
        taken = {id(w) for t in found for w in t.words}
        rows = [r for r in rows if not any(id(w) in taken for e in r.entries for w in e.words)]
    for start, end in tabular_stretches(rows, hinted=False):
        table = aligned_table(rows[start:end], hinted=False)
        if table is not None:
            found.append(table)
    return found


def page_tables(rows: list[Row]) -> list[FoundTable]:
    """Tables without rules that no column of text stands beside: drawn row after row, in three columns or more.

    They are looked for before columns of text are, which would take the table's own columns apart.
    """
    found: list[FoundTable] = []
    for start, end in tabular_stretches(rows, hinted=False):
        part = rows[start:end]
        if is_drawn_by_rows(part) and max(len(r.entries) for r in part) > 2:
            table = aligned_table(part, hinted=False)
            if table is not None and table.shape[1] > 2:
                found.append(table)
    return found


def tabular_stretches(rows: list[Row], hinted: bool) -> list[tuple[int, int]]:
    """Longest runs of rows with several entries; single-entry rows may stand between, few at a time."""
    if not rows:
        return []
    unit = statistics.median(r.y1 - r.y0 for r in rows)
    stretches: list[tuple[int, int]] = []
    start, last, lonely = -1, -1, 0
    for n, row in enumerate(rows):
        gap = row.y0 - rows[n - 1].y1 if n else 0.0
        broken = start >= 0 and (gap > (4.0 if hinted else 2.2) * unit or lonely > (3 if hinted else 1))
        if broken:
            stretches.append((start, last + 1))
            start = -1
        if len(row.entries) >= 2:
            start = n if start < 0 else start
            last, lonely = n, 0
        elif start >= 0:
            lonely += 1
    if start >= 0:
        stretches.append((start, last + 1))
    parts = [part for s, e in stretches for part in ([(s, e)] if hinted else _close_parts(rows, s, e))]
    return [(s, e) for s, e in parts if e - s >= 2]


def _close_parts(rows: list[Row], start: int, end: int) -> list[tuple[int, int]]:
    """A stretch cut where the white is far wider than between its other rows."""
    return list(itertools.pairwise([start, *(start + n for n in odd_gaps(rows[start:end])), end]))
