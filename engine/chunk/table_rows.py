"""Cuts a table that is over the limit into row groups, each with the header rows in front.

A row that alone is over the limit becomes groups of its cells under their columns' names; a cell that is over it,
pieces of its sentences behind the column's name.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from engine.chunk import Piece
from engine.chunk.pack import Stretch, pack
from engine.chunk.ruler import Budget, Ruler, Tokens
from engine.chunk.sentences import sentence_ends
from engine.records import ExtractedTable, Span
from engine.tables import header_row_count, table_lines

HEADER_SHARE = 3  # header rows may take one third of the target, longer ones are shortened
NAME_SHARE = 4  # a column's name in front of a part of its cell: a quarter
_BAR = re.compile(r"(?<!\\)\|")
_LINE = re.compile(r"\n")
MARK = "…"


@dataclass(slots=True)
class Rows:
    """Where a table's lines stand in the text: the header with its rule, then the body rows."""

    start: int  # of the table's first line (behind a caption that was rendered with it)
    header_end: int
    header: str  # header rows and rule, "" for a table without header
    names: list[str]  # of the columns
    body: list[tuple[int, int]]


def locate(span: Span, text: str) -> Rows | None:
    """The lines of a table's span; None when it was not rendered as pipe rows."""
    table = span.table
    if table is None:
        return None
    count = len(table_lines(table))
    lines = _last_lines(text, span.start, span.end, count)
    if len(lines) < count or not all(text[start] == "|" for start, _ in lines if start < span.end):
        return None
    heads = max(1, header_row_count(table)) if table.cells else 1
    header_end = lines[heads][1]
    header = text[lines[0][0] : header_end]
    names = _names(table, header.splitlines()[heads - 1])
    return Rows(lines[0][0], header_end, header if any(names) else "", names, lines[heads + 1 :])


def _last_lines(text: str, start: int, end: int, count: int) -> list[tuple[int, int]]:
    """Ranges of the last `count` lines of text[start:end], in order."""
    lines: list[tuple[int, int]] = []
    stop = end
    while len(lines) < count and stop >= start:
        begin = max(text.rfind("\n", start, stop) + 1, start)
        lines.append((begin, stop))
        stop = begin - 1
    return lines[::-1]


def _names(table: ExtractedTable, line: str) -> list[str]:
    return [name.strip() for name in _BAR.split(line)[1:-1]] or table.headers


def table_pieces(start: int, span: Span, end: int, ruler: Ruler, budget: Budget, path: list[str] | None) -> list[Piece]:
    """Pieces of the table of `span` over [start, end), which takes in its captions."""
    rows = locate(span, ruler.text)
    if ruler.fits(start, end, budget.hard):
        return [Piece(start, end, path, table_rows=(0, len(rows.body) - 1) if rows and rows.body else None)]
    if rows is None or not rows.body:
        return _as_text(start, end, ruler, budget, path)
    third = _share(budget.target, HEADER_SHARE)
    repeated = f"{rows.header}\n" if rows.header else ""
    front: list[Piece] = []
    if not ruler.costs.of(repeated).within(third) or not ruler.fits(start, rows.header_end, third):
        front = _as_text(start, rows.header_end, ruler, budget, path)
        start = rows.body[0][0]
        repeated = _short_header(rows.names, third, ruler)
    pieces = front + _Groups(rows, ruler, budget, path, repeated).pieces(start)
    return pieces + _as_text(span.end, end, ruler, budget, path)


def _share(tokens: Tokens, parts: int) -> Tokens:
    return Tokens(tokens.standard // parts, tokens.model // parts)


def _short_header(names: list[str], allowed: Tokens, ruler: Ruler) -> str:
    """A header of shortened names within the allowance; "" when there are too many columns for that."""
    each = _share(allowed, len(names) or 1)
    room = Tokens(each.standard - 3, each.model - 5)  # what a column's bars and rule cost
    if min(room.standard, room.model) < 1 or not any(names):
        return ""
    short = [shortened(name, room, ruler) for name in names]
    header = "| " + " | ".join(short) + " |\n|" + " --- |" * len(names) + "\n"
    return header if any(short) and ruler.costs.of(header).within(allowed) else ""


def _as_text(start: int, end: int, ruler: Ruler, budget: Budget, path: list[str] | None) -> list[Piece]:
    text = ruler.text
    lines = [m.start() for m in _LINE.finditer(text, start, end)]
    stretch = Stretch(start, end, blocks=lines, sentences=sentence_ends(text, start, end))
    return [Piece(s, e, path) for s, e in pack(stretch, ruler, budget)]


class _Groups:
    """The body rows of one table on their way into pieces. `repeated` stands in front of every group."""

    def __init__(self, rows: Rows, ruler: Ruler, budget: Budget, path: list[str] | None, repeated: str) -> None:
        self.rows, self.ruler, self.budget, self.path = rows, ruler, budget, path
        self.repeated = repeated
        self.room = budget.less(ruler.costs.of(repeated)) if repeated else budget
        self.row_ends = [end for _, end in rows.body]
        allowed = _share(budget.target, NAME_SHARE)
        self.names = [shortened(name, allowed, ruler) for name in rows.names]
        costs = [ruler.costs.of(f"{name}, ") for name in self.names]
        self.name_costs = [Tokens(0, 0)]
        for cost in costs:
            self.name_costs.append(self.name_costs[-1].plus(cost))

    def pieces(self, start: int) -> list[Piece]:
        """`start`: the table's own start when its header goes into the first group as it stands."""
        found: list[Piece] = []
        body = self.rows.body
        row = 0
        if start < body[0][0]:
            last = self._last_row(0, start, self.budget)
            if last < 0:  # header and first row do not fit together
                found += _as_text(start, self.rows.header_end, self.ruler, self.budget, self.path)
            else:
                found.append(Piece(start, body[last][1], self.path, "", (0, last)))
            row = last + 1
        while row < len(body):
            last = self._last_row(row, body[row][0], self.room)
            if last < row:
                found += self._cells(row)
                last = row
            else:
                found.append(Piece(body[row][0], body[last][1], self.path, self.repeated, (row, last)))
            row = last + 1
        return found

    def _last_row(self, row: int, start: int, room: Budget) -> int:
        """The last body row of the group that begins with `row`; `row - 1` when not even that one fits."""
        if self.ruler.fits(start, self.row_ends[-1], room.hard):
            return len(self.row_ends) - 1
        last = bisect_right(self.row_ends, self.ruler.reach(start, room.target)) - 1
        if last > row or self.ruler.fits(start, self.row_ends[row], room.hard):
            return max(last, row)
        return row - 1

    # ------------------------------------------------------------ a row over the limit
    def _cells(self, row: int) -> list[Piece]:
        """Groups of the cells of one row, each behind the names of its columns."""
        cells = _cell_ranges(self.ruler.text, *self.rows.body[row])
        ends = [end for _, end in cells]
        found: list[Piece] = []
        column = 0
        while column < len(cells):
            last = self._last_cell(cells, ends, column)
            if last < column:
                found += self._parts(row, column, cells[column])
                last = column
            elif self.ruler.text[cells[column][0] : ends[last]].strip(" |"):
                front = self._front(column, last)
                found.append(Piece(cells[column][0] + 1, ends[last], self.path, front, (row, row)))
            column = last + 1
        return found

    def _last_cell(self, cells: list[tuple[int, int]], ends: list[int], column: int) -> int:
        """The last cell of the group that begins with `column`; `column - 1` when that one alone is too long."""
        start, target = cells[column][0], self.budget.target
        last = bisect_right(ends, self.ruler.reach(start, target)) - 1
        known = len(self.names)
        while last >= column:
            names = self.name_costs[min(last + 1, known)].minus(self.name_costs[min(column, known)])
            if self.ruler.cost(start, ends[last]).plus(names).within(target):
                return last
            last -= 1
        return column - 1

    def _front(self, first: int, last: int) -> str:
        names = [name for name in self.names[first : last + 1] if name]
        return ", ".join(names) + ": " if names else ""

    def _parts(self, row: int, column: int, cell: tuple[int, int]) -> list[Piece]:
        """Pieces of one cell, by sentences and then words, each behind the column's name."""
        front = self._front(column, column)
        room = self.budget.less(self.ruler.costs.of(front)) if front else self.budget
        stretch = Stretch(*cell, sentences=sentence_ends(self.ruler.text, *cell))
        return [Piece(s, e, self.path, front, (row, row)) for s, e in pack(stretch, self.ruler, room)]


def _cell_ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges between the bars of a pipe row."""
    bars = [m.start() for m in _BAR.finditer(text, start, end)]
    return [(left + 1, right) for left, right in pairwise(bars)]


def shortened(text: str, allowed: Tokens, ruler: Ruler) -> str:
    """`text` if it costs no more than allowed, else its first words and a mark; "" when not even that fits."""
    if not text or ruler.costs.of(text).within(allowed):
        return text
    words = text.split()[: max(allowed.standard, allowed.model, 0)]
    while words:
        candidate = " ".join(words) + MARK
        if ruler.costs.of(candidate).within(allowed):
            return candidate
        words = words[: len(words) * 3 // 4] if len(words) > 3 else words[:-1]
    return ""
