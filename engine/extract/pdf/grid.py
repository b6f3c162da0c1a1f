"""Tables whose cells are drawn: from a network of lines to cells with their spans and words."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.extract.pdf.model import Run, Word
from engine.extract.pdf.paragraphs import join_words, word_lines
from engine.extract.pdf.rules import Network, Segment, positions
from engine.records import TableCell

_BULLETS = re.compile(r"[\s•▪◦●○■□·*–—-]*")
_CELL_GAP = 0.6  # of the line height; wider white is no space between words
_COVER = 0.6  # share of a cell's side that a line must cover to close it
_THIN = 4.0  # points; grid rows and columns thinner than this are double lines
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

    @property
    def shape(self) -> tuple[int, int]:
        return (
            max((c.row + c.rowspan for c in self.cells), default=0),
            max((c.col + c.colspan for c in self.cells), default=0),
        )


@dataclass(slots=True)
class _Place:
    row: int
    col: int
    rowspan: int
    colspan: int
    words: list[Word] = field(default_factory=lambda: list[Word]())


def grid_table(network: Network, runs: Sequence[Run]) -> FoundTable | None:
    """The table drawn by a network of lines, or None when it is a box, a chart or a single column."""
    if not network.horizontal or not network.vertical:
        return None
    x0, y0, x1, y1 = network.box
    xs = _without_thin(positions([v.at for v in network.vertical] + _ends(network.horizontal)))
    ys = _without_thin(positions([h.at for h in network.horizontal] + _ends(network.vertical)))
    if len(xs) < 2 or len(ys) < 2 or (len(xs) - 1) * (len(ys) - 1) > _MAX_CELLS:
        return None
    words = [w for r in runs if r.y1 >= y0 and r.y0 <= y1 and r.x1 >= x0 and r.x0 <= x1 for w in r.words]
    inside = [w for w in words if x0 - 2 <= (w.x0 + w.x1) / 2 <= x1 + 2 and y0 - 2 <= (w.y0 + w.y1) / 2 <= y1 + 2]
    xs = _with_unruled_columns(xs, inside)
    if len(xs) < 3 or len(inside) < 2:
        return None
    places = _places(xs, ys, network)
    _fill(places, xs, ys, inside)
    places = _split_rows([part for place in places for part in _split_span(place, xs)])
    places = _without_unused(places)
    cells = [TableCell(p.row, p.col, join_words(p.words), p.rowspan, p.colspan) for p in places]
    table = FoundTable(x0, y0, x1, y1, cells, inside, "x " * 20, xs[:-1])
    return table if _is_table(table, places) else None


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
        lines = [_entries(line) for line in word_lines(column)]
        several = [line for line in lines if len(line) >= 2]
        if len(several) < 3 or len(several) < 0.6 * len(lines) or not _is_numeric(column):
            continue
        reach = float("-inf")
        for x0, x1 in sorted((e[0].x0, max(w.x1 for w in e)) for line in several for e in line):
            if x0 - reach > 3 and reach > left:
                added.append((reach + x0) / 2)
            reach = max(reach, x1)
    return sorted([*xs, *added])


def _entries(words: list[Word]) -> list[list[Word]]:
    """Words in one line cut at white wider than a space."""
    entries: list[list[Word]] = []
    reach = float("-inf")
    for word in sorted(words, key=lambda w: w.x0):
        if word.x0 - reach > _CELL_GAP * (word.y1 - word.y0):
            entries.append([])
        entries[-1].append(word)
        reach = max(reach, word.x1)
    return entries


# ---------------------------------------------------------------- cells
def _places(xs: list[float], ys: list[float], network: Network) -> list[_Place]:
    """Grid fields joined wherever no line parts them. Spans grow right first, then down."""
    right = _closed(network.vertical, xs, ys)  # (column line, row)
    below = _closed(network.horizontal, ys, xs)  # (row line, column)
    columns, rows = len(xs) - 1, len(ys) - 1
    taken: set[tuple[int, int]] = set()
    places: list[_Place] = []
    for row in range(rows):
        for col in range(columns):
            if (row, col) in taken:
                continue
            wide = 1
            while col + wide < columns and (col + wide, row) not in right and (row, col + wide) not in taken:
                wide += 1
            high = _height(row, col, wide, rows, right, below)
            taken.update((r, c) for r in range(row, row + high) for c in range(col, col + wide))
            places.append(_Place(row, col, high, wide))
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


def _fill(places: list[_Place], xs: list[float], ys: list[float], words: list[Word]) -> None:
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


# ---------------------------------------------------------------- rows and columns that no line parts
def _split_span(place: _Place, xs: list[float]) -> list[_Place]:
    """A cell over several columns whose words stand apart at the column lines is several cells."""
    if place.colspan < 2 or place.rowspan > 1 or len(place.words) < 2:
        return [place]
    pieces = _entries(place.words)
    spans = [_columns(piece, xs, place) for piece in pieces]
    if len(pieces) < 2 or any(a[1] >= b[0] for a, b in itertools.pairwise(spans)):
        return [place]
    split: list[_Place] = []
    at = place.col
    for (first, last), piece in zip(spans, pieces, strict=True):
        split += [_Place(place.row, c, 1, 1) for c in range(at, first)]
        split.append(_Place(place.row, first, 1, last - first + 1, piece))
        at = last + 1
    return split + [_Place(place.row, c, 1, 1) for c in range(at, place.col + place.colspan)]


def _columns(words: list[Word], xs: list[float], place: _Place) -> tuple[int, int]:
    """First and last column that some words reach into by more than a sliver."""
    x0, x1 = min(w.x0 for w in words), max(w.x1 for w in words)
    first = bisect_right(xs, x0 + 0.2 * (x1 - x0)) - 1
    last = bisect_right(xs, x1 - 0.2 * (x1 - x0)) - 1
    return max(first, place.col), min(last, place.col + place.colspan - 1)


def _split_rows(places: list[_Place]) -> list[_Place]:
    """Split a drawn row that holds several printed rows: short entries at equal heights in most columns."""
    split: list[_Place] = []
    shift = 0
    rows = max((p.row + p.rowspan for p in places), default=0)
    for row in range(rows):
        here = [p for p in places if p.row == row]
        heights = _printed_rows(here) if all(p.rowspan == 1 for p in here) else []
        if any(p.row < row < p.row + p.rowspan for p in places):
            heights = []
        for place in here:
            if not heights:
                split.append(_Place(row + shift, place.col, place.rowspan, place.colspan, place.words))
                continue
            parts: list[list[Word]] = [[] for _ in heights]
            for word in place.words:
                middle = (word.y0 + word.y1) / 2
                parts[min(range(len(heights)), key=lambda n: abs(heights[n] - middle))].append(word)
            split.extend(_Place(row + shift + n, place.col, 1, place.colspan, part) for n, part in enumerate(parts))
        shift += max(len(heights) - 1, 0)
    return split


def _printed_rows(places: list[_Place]) -> list[float]:
    """Heights of the printed rows inside one drawn row; empty when it is a single row with wrapped text."""
    filled = [p for p in places if p.words]
    if len(filled) < 2:
        return []
    lines = [_line_heights(p.words) for p in filled]
    most = max(map(len, lines))
    full = [n for n in range(len(filled)) if len(lines[n]) >= 0.5 * most]
    if most < 3 or len(full) < max(2, 0.5 * len(filled)):
        return []
    reference = max(lines, key=len)
    unit = filled[0].words[0].y1 - filled[0].words[0].y0
    for other in lines:
        if any(min(abs(y - r) for r in reference) > 0.3 * unit for y in other):
            return []
    figures = sum(_is_numeric(filled[n].words) for n in full)
    return reference if 2 * figures >= len(full) else []


def _is_numeric(words: list[Word]) -> bool:
    return 2 * sum(any(c.isdigit() for c in w.text) or w.text in "-–—*" for w in words) > len(words)


def _line_heights(words: list[Word]) -> list[float]:
    heights: list[float] = []
    for word in sorted(words, key=lambda w: w.y0 + w.y1):
        middle = (word.y0 + word.y1) / 2
        if not heights or middle - heights[-1] > 0.5 * (word.y1 - word.y0):
            heights.append(middle)
    return heights


# ---------------------------------------------------------------- judgement
def _without_unused(places: list[_Place]) -> list[_Place]:
    """Grid rows and columns in which no text starts are doubled lines or spacing."""
    rows = {p.row for p in places if p.words}
    cols = {p.col for p in places if p.words}
    row_at = {r: n for n, r in enumerate(sorted(rows))}
    col_at = {c: n for n, c in enumerate(sorted(cols))}
    kept: list[_Place] = []
    for p in places:
        own_rows = [row_at[r] for r in range(p.row, p.row + p.rowspan) if r in row_at]
        own_cols = [col_at[c] for c in range(p.col, p.col + p.colspan) if c in col_at]
        if own_rows and own_cols:
            kept.append(_Place(own_rows[0], own_cols[0], len(own_rows), len(own_cols), p.words))
    return kept


def _is_table(table: FoundTable, places: list[_Place]) -> bool:
    rows, columns = table.shape
    filled = sum(bool(p.words) for p in places)
    if rows < 2 or columns < 2 or filled < 3:
        return False
    if filled < 0.15 * len(places) or all(_BULLETS.fullmatch(c.text) for c in table.cells if c.col == 0):
        return False
    longest = max(len(p.words) for p in places)
    return longest < 0.9 * len(table.words) or longest < 30
