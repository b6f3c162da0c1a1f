"""Tables whose cells are drawn: from a network of lines to cells with their spans and words."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.extract.pdf.model import Run, Word
from engine.extract.pdf.notes import without_notes
from engine.extract.pdf.paragraphs import join_words, word_lines
from engine.extract.pdf.printed import Place, entries_of, is_numeric, split_rows, split_span
from engine.extract.pdf.rules import Network, Segment, positions
from engine.extract.pdf.spacing import is_rtl
from engine.records import TableCell

_BULLETS = re.compile(r"[\s•▪◦●○■□·*–—-]*")
_CROWDED = 0.7  # of a word's height; the white between columns
_COVER = 0.6  # share of a cell's side that a line must cover to close it
_THIN = 4.0  # points; grid rows and columns thinner than this are double lines
_TALL = 200.0  # points; a single row that is higher is a layout of the page
_WORDY = 60  # words; and one that holds more is text side by side
_PAGE_OF_TEXT = 100  # words; a cell with more, and with much of all words, is no cell but part of a form
_MAX_CELLS = 20_000


@dataclass(slots=True)
class FoundTable:
    """A table on a page: its place, its cells, and the words it took."""

    x0: float
    y0: float
    x1: float
    y1: float
    cells: list[TableCell]
    words: list[Word]
    text: str = ""  # for the reading order: a table counts as long text
    column_starts: list[float] = field(default_factory=lambda: list[float]())
    cell_words: list[list[Word]] = field(default_factory=lambda: list[list[Word]]())  # of each cell

    @property
    def shape(self) -> tuple[int, int]:
        return (
            max((c.row + c.rowspan for c in self.cells), default=0),
            max((c.col + c.colspan for c in self.cells), default=0),
        )


def mirror(cells: list[TableCell]) -> None:
    """Count the columns from the right, where a table is read from right to left."""
    columns = max(c.col + c.colspan for c in cells)
    for cell in cells:
        cell.col = columns - cell.col - cell.colspan
    cells.sort(key=lambda c: (c.row, c.col))


def words_inside(network: Network, runs: Sequence[Run]) -> list[Word]:
    """The words that stand inside the lines of a network."""
    x0, y0, x1, y1 = network.box
    words = [w for r in runs if r.y1 >= y0 and r.y0 <= y1 and r.x1 >= x0 and r.x0 <= x1 for w in r.words]
    return [w for w in words if x0 - 2 <= w.x0 <= x1 - 2 and y0 - 2 <= (w.y0 + w.y1) / 2 <= y1 + 2]


def grid_table(network: Network, inside: list[Word]) -> FoundTable | None:
    """The table drawn by a network of lines around some words, or None when it is a box or a single column."""
    if not network.horizontal or not network.vertical:
        return None
    x0, y0, x1, y1 = network.box
    xs = _without_thin(positions([v.at for v in network.vertical] + _ends(network.horizontal)))
    ys = _without_thin(positions([h.at for h in network.horizontal] + _ends(network.vertical)))
    if len(xs) < 3 or len(ys) < 2 or (len(xs) - 1) * (len(ys) - 1) > _MAX_CELLS:
        return None
    xs = _with_unruled_columns(xs, inside)
    if len(inside) < 2:
        return None
    places = _places(xs, ys, network)
    _fill(places, xs, ys, inside)
    places = split_rows([part for place in places for part in split_span(place, xs)])
    places, outer = without_notes(_without_unused(places))
    cells = [TableCell(p.row, p.col, join_words(p.words), p.rowspan, p.colspan) for p in places]
    if outer:
        dropped = {id(w) for p in outer for w in p.words}
        inside = [w for w in inside if id(w) not in dropped]
        y0, y1 = min((w.y0 for w in inside), default=y0), max((w.y1 for w in inside), default=y1)
    if 2 * sum(is_rtl(w.text) for w in inside) > sum(any(c.isalpha() for c in w.text) for w in inside) > 0:
        mirror(cells)
    table = FoundTable(x0, y0, x1, y1, cells, inside, "x " * 20, xs[:-1], [p.words for p in places])
    return table if _is_table(table, places, network.is_open) else None


def _ends(lines: list[Segment]) -> list[float]:
    """The outermost ends of some lines: a table's sides where no line closes them."""
    return [min(s.start for s in lines), max(s.end for s in lines)]


def _without_thin(at: list[float]) -> list[float]:
    kept = at[:1]
    for value in at[1:]:
        if value - kept[-1] >= _THIN:
            kept.append(value)
    return kept


def _with_unruled_columns(xs: list[float], words: list[Word]) -> list[float]:
    """Column lines added where a drawn column holds several columns of short entries, row after row."""
    added: list[float] = []
    for left, right in itertools.pairwise(xs):
        column = [w for w in words if left < (w.x0 + w.x1) / 2 < right]
        lines = [entries_of(line) for line in word_lines(column)]
        several = [line for line in lines if len(line) >= 2]
        if len(several) < 3 or len(several) < 0.6 * len(lines) or not is_numeric(column):
            continue
        reach = float("-inf")
        for x0, x1 in sorted((e[0].x0, max(w.x1 for w in e)) for line in several for e in line):
            if x0 - reach > 3 and reach > left:
                added.append((reach + x0) / 2)
            reach = max(reach, x1)
    return sorted([*xs, *added])


# ---------------------------------------------------------------- cells
def _places(xs: list[float], ys: list[float], network: Network) -> list[Place]:
    """Grid fields joined wherever no line parts them. Spans grow right first, then down."""
    right = _closed(network.vertical, xs, ys)  # (column line, row)
    below = _closed(network.horizontal, ys, xs)  # (row line, column)
    columns, rows = len(xs) - 1, len(ys) - 1
    taken: set[tuple[int, int]] = set()
    places: list[Place] = []
    for row in range(rows):
        for col in range(columns):
            if (row, col) in taken:
                continue
            wide = 1
            while col + wide < columns and (col + wide, row) not in right and (row, col + wide) not in taken:
                wide += 1
            high = _height(row, col, wide, rows, right, below)
            taken.update((r, c) for r in range(row, row + high) for c in range(col, col + wide))
            places.append(Place(row, col, high, wide))
    return places


def _height(row: int, col: int, wide: int, rows: int, right: set[tuple[int, int]], below: set[tuple[int, int]]) -> int:
    high = 1
    while row + high < rows:
        if any((row + high, c) in below for c in range(col, col + wide)):
            break
        if any((c, row + high) in right for c in range(col + 1, col + wide)):
            break
        high += 1
    return high


def _closed(lines: list[Segment], at: list[float], across: list[float]) -> set[tuple[int, int]]:
    """(line index, field index) for every grid line piece that is drawn."""
    covered: dict[tuple[int, int], float] = {}
    for line in lines:
        index = min(range(len(at)), key=lambda n: abs(at[n] - line.at))
        first = max(bisect_right(across, line.start) - 1, 0)
        for n in range(first, len(across) - 1):
            if across[n] >= line.end:
                break
            overlap = min(line.end, across[n + 1]) - max(line.start, across[n])
            covered[index, n] = covered.get((index, n), 0.0) + max(overlap, 0.0)
    return {key for key, length in covered.items() if length >= _COVER * (across[key[1] + 1] - across[key[1]])}


def _fill(places: list[Place], xs: list[float], ys: list[float], words: list[Word]) -> None:
    owner = {
        (r, c): place
        for place in places
        for r in range(place.row, place.row + place.rowspan)
        for c in range(place.col, place.col + place.colspan)
    }
    for word in words:
        row = min(max(bisect_right(ys, (word.y0 + word.y1) / 2) - 1, 0), len(ys) - 2)
        col = min(max(bisect_right(xs, (word.x0 + word.x1) / 2) - 1, 0), len(xs) - 2)
        owner[row, col].words.append(word)


# ---------------------------------------------------------------- judgement
def crowded_cells(table: FoundTable) -> int:
    """Cells in which words of one line stand far apart: the columns may be finer than those found."""
    count = 0
    for words in table.cell_words:
        lines = [sorted(line, key=lambda w: w.x0) for line in word_lines(words)] if len(words) > 1 else []
        count += any(b.x0 - a.x1 > _CROWDED * (b.y1 - b.y0) for line in lines for a, b in itertools.pairwise(line))
    return count


def _without_unused(places: list[Place]) -> list[Place]:
    """Grid rows and columns in which no text starts are doubled lines or spacing."""
    rows = {p.row for p in places if p.words}
    cols = {p.col for p in places if p.words}
    row_at = {r: n for n, r in enumerate(sorted(rows))}
    col_at = {c: n for n, c in enumerate(sorted(cols))}
    kept: list[Place] = []
    for p in places:
        own_rows = [row_at[r] for r in range(p.row, p.row + p.rowspan) if r in row_at]
        own_cols = [col_at[c] for c in range(p.col, p.col + p.colspan) if c in col_at]
        if own_rows and own_cols:
            kept.append(Place(own_rows[0], own_cols[0], len(own_rows), len(own_cols), p.words))
    return kept


def _is_table(table: FoundTable, places: list[Place], is_open: bool) -> bool:
    rows, columns = table.shape
    filled = sum(bool(p.words) for p in places)
    if rows == 1 and columns > 1:
        short = len(table.words) < _WORDY and any(len(c.text) > 1 for c in table.cells)
        return not is_open and filled == columns and short and table.y1 - table.y0 < _TALL
    if rows < 2 or columns < 2 or filled < 3:
        return False
    if filled < 0.15 * len(places) or all(_BULLETS.fullmatch(c.text) for c in table.cells if c.col == 0):
        return False
    longest = max(len(p.words) for p in places)
    if longest > _PAGE_OF_TEXT and longest > 0.35 * len(table.words):
        return False
    return longest < 0.9 * len(table.words) or longest < 30
