"""Builds a table from rows whose entries stand in columns: places them, joins wrapped lines, sorts out the head."""

from __future__ import annotations

from collections.abc import Sequence

from engine.extract.pdf.columns import Edges, Placed, column_edges, column_starts, place
from engine.extract.pdf.evidence import is_table
from engine.extract.pdf.grid import FoundTable, mirror
from engine.extract.pdf.heads import Cell, head_cells, head_length
from engine.extract.pdf.paragraphs import join_words
from engine.extract.pdf.rows import Row
from engine.extract.pdf.rules import Segment
from engine.extract.pdf.wrapped import merge_wrapped
from engine.records import TableCell


def aligned_table(
    rows: list[Row],
    hinted: bool,
    separators: Sequence[float] = (),
    partial: Sequence[Segment] = (),
    proof: bool = True,
    edges: Edges | None = None,
) -> FoundTable | None:
    """A table of `rows`, or None when they are prose, a list of contents or a form without columns.

    `hinted`: rules frame the rows, so less proof is asked; without `proof`, none but two columns. `separators`:
    heights of rules between rows; `partial`: shorter rules, which lie under names over several columns;
    `edges`: the columns, where they are known already.
    """
    edges = column_edges(rows) if edges is None else edges
    if len(edges) < 2 or (proof and not is_table(rows, edges, hinted)):
        return None
    if not hinted and sum(r.mono for row in rows for r in row.runs) > 0.8 * sum(len(row.runs) for row in rows):
        return None  # a listing in a fixed pitch
    starts = column_starts(rows, edges)
    placed = [place(row, edges, starts) for row in rows]
    length = head_length(placed, [r.middle for r in rows], separators)
    head = head_cells(placed[:length], edges, partial)
    body: list[Placed] = []
    if length < len(rows):
        body, _ = merge_wrapped(rows[length:], placed[length:], edges, separators)
    rtl = _reading_order(rows)
    cells = _cells(head, body, len(edges), rtl)
    words = [w for row in rows for e in row.entries for w in e.words]
    box = (min(w.x0 for w in words), rows[0].y0, max(w.x1 for w in words), rows[-1].y1)
    if rtl:
        mirror(cells)
    grouped = [words for *_, words in head] + [words for row in body for _, _, words in _complete(row, len(edges))]
    return FoundTable(*box, cells, words, "x " * 20, [e[0] for e in edges], grouped)


def single_column(rows: list[Row]) -> FoundTable:
    """A table of one column with a row for each of `rows`."""
    words = [[w for e in row.entries for w in e.words] for row in rows]
    cells = [TableCell(n, 0, join_words(found)) for n, found in enumerate(words)]
    x0, x1 = min(e.x0 for r in rows for e in r.entries), max(e.x1 for r in rows for e in r.entries)
    return FoundTable(x0, rows[0].y0, x1, rows[-1].y1, cells, [w for found in words for w in found], "x " * 20, [x0])


def _reading_order(rows: Sequence[Row]) -> dict[int, int]:
    """Word id → place in the reading order, where the text runs from right to left; else empty."""
    runs = [r for row in rows for r in row.runs]
    if 2 * sum(r.rtl for r in runs) <= len(runs):
        return {}
    runs.sort(key=lambda r: -r.x1)
    return {id(w): n for n, w in enumerate(w for r in runs for w in r.words)}


def _cells(head: list[Cell], body: list[Placed], columns: int, order: dict[int, int]) -> list[TableCell]:
    top = max((row + 1 for row, *_ in head), default=0)
    for *_, words in [*head, *(entry for row in body for entry in row)] if order else []:
        words.sort(key=lambda w: order[id(w)])
    cells = [TableCell(row, col, join_words(words), tall, wide) for row, col, tall, wide, words in head]
    for r, entries in enumerate(body, top):
        cells += [
            TableCell(r, first, join_words(words), 1, last - first + 1)
            for first, last, words in _complete(entries, columns)
        ]
    return cells


def _complete(entries: Placed, columns: int) -> Placed:
    """The row's entries with an empty cell for every column that has none."""
    full: Placed = []
    at = 0
    for first, last, words in entries:
        full += [(c, c, []) for c in range(at, first)]
        full.append((first, last, words))
        at = last + 1
    return full + [(c, c, []) for c in range(at, columns)]
