"""Adds to a table of coloured rows the row above or below that has no colour of its own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.model import Run, Word
from engine.extract.pdf.paragraphs import join_words
from engine.extract.pdf.rows import Row, bands_of, wrapped_stretch
from engine.records import TableCell

_NEAR = 1.0  # of a line's height between the colour's edge and the row beside it
_INSIDE = 2.0  # points that text may stand out of its column


def with_plain_rows(table: FoundTable, runs: Sequence[Run]) -> FoundTable:
    """The table with the uncoloured row right above and right below it, where their entries keep to its columns."""
    beside = [r for r in runs if r.x0 >= table.x0 - _INSIDE and r.x1 <= table.x1 + _INSIDE]
    above = bands_of([r for r in beside if table.y0 - 5 * r.height < (r.y0 + r.y1) / 2 < table.y0])
    below = bands_of([r for r in beside if table.y1 < (r.y0 + r.y1) / 2 < table.y1 + 5 * r.height])
    if below and below[0].y0 - table.y1 < _NEAR * (below[0].y1 - below[0].y0):
        _add(table, wrapped_stretch(below), table.shape[0])
    if above and table.y0 - above[-1].y1 < _NEAR * (above[-1].y1 - above[-1].y0):
        _add(table, above[-1:], -1)
    return table


def _add(table: FoundTable, lines: Sequence[Row], at: int) -> None:
    """Add `lines` as row number `at` (-1: before all others) when each of their entries stands in one column."""
    columns = table.shape[1]
    edges = [*table.column_starts, table.x1]
    cells: list[list[Word]] = [[] for _ in range(columns)]
    for entry in (e for line in lines for e in line.entries):
        column = bisect_right(edges, (entry.x0 + entry.x1) / 2) - 1
        if not 0 <= column < columns or len(edges) != columns + 1:
            return
        if entry.x0 < edges[column] - _INSIDE or entry.x1 > edges[column + 1] + _INSIDE:
            return
        cells[column] += entry.words
    if 2 * sum(map(bool, cells)) < columns or sum(map(bool, cells)) < 2:
        return
    if at < 0:
        at = 0
        for cell in table.cells:
            cell.row += 1
    table.cells += [TableCell(at, n, join_words(words)) for n, words in enumerate(cells)]
    table.cells.sort(key=lambda c: (c.row, c.col))
    table.words += [w for words in cells for w in words]
    table.y0, table.y1 = min(table.y0, lines[0].y0), max(table.y1, lines[-1].y1)
