"""Cuts a table that is over the limit into row groups, each with the header rows in front.

A row that alone is over the limit becomes groups of its cells under their columns' names; a cell that is over it,
pieces of its sentences behind the column's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.chunk import Piece
from engine.chunk.pack import Stretch, pack
from engine.chunk.ruler import Budget, Ruler, Tokens
from engine.chunk.sentences import sentence_ends
from engine.document import header_row_count, table_lines
from engine.records import ExtractedTable, Span

HEADER_SHARE = 3  # header rows may take one third of the target, longer ones are shortened
NAME_SHARE = 4  # a column's name in front of a part of its cell: a quarter
_BAR = re.compile(r"(?<!\\)\|")
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


def table_pieces(
    start: int, span: Span, end: int, ruler: Ruler, budget: Budget, path: list[str]
) -> list[Piece]:
    """Pieces of the table of `span` over [start, end), which takes in its captions."""
    rows = locate(span, ruler.text)
    if ruler.fits(start, end, budget.hard):
        return [Piece(start, end, path, table_rows=(0, len(rows.body) - 1) if rows and rows.body else None)]
    if rows is None or not rows.body:
        return _as_text(start, end, ruler, budget, path)
    header = Tokens(0, 0) if not rows.header else ruler.costs.of(rows.header + "\n")
    third = Tokens(budget.target.standard // HEADER_SHARE, budget.target.model // HEADER_SHARE)
    front: list[Piece] = []
    if not header.within(third) or not ruler.fits(start, rows.header_end, third):
        front = _as_text(start, rows.header_end, ruler, budget, path)
        start = rows.body[0][0]
    grouped = _Groups(rows, ruler, budget, path, header.within(third)).pieces(start)
    return front + _with_rest(grouped, span.end, end, ruler, budget, path)


def _with_rest(
    pieces: list[Piece], table_end: int, end: int, ruler: Ruler, budget: Budget, path: list[str]
) -> list[Piece]:
    """The pieces and what stands behind the table (its caption), in the last piece if that has room."""
    if end <= table_end:
        return pieces
    return pieces + _as_text(table_end, end, ruler, budget, path)


def _as_text(start: int, end: int, ruler: Ruler, budget: Budget, path: list[str]) -> list[Piece]:
    text = ruler.text
    lines = [m.start() for m in re.compile("\n").finditer(text, start, end)]
    stretch = Stretch(start, end, blocks=lines, sentences=sentence_ends(text, start, end))
    return [Piece(s, e, path) for s, e in pack(stretch, ruler, budget)]


@dataclass(slots=True)
class _Groups:
    """The body rows on their way into pieces."""

    rows: Rows
    ruler: Ruler
    budget: Budget
    path: list[str]
    repeat: bool  # the header rows are short enough to stand in front of every group

    def pieces(self, start: int) -> list[Piece]:
        """`start`: the table's own start when its header goes into the first group as it stands."""
        found: list[Piece] = []
        repeated = self.rows.header + "\n" if self.repeat and self.rows.header else ""
        room = self.budget.less(self.ruler.costs.of(repeated)) if repeated else self.budget
        row = 0
        while row < len(self.rows.body):
            first = start if row == 0 else self.rows.body[row][0]
            front = "" if row == 0 and first < self.rows.body[0][0] else repeated
            last = self._last_row(row, first, room if front else self.budget)
            if last < row and first < self.rows.body[row][0]:  # header and first row do not fit together
                found += _as_text(first, self.rows.header_end, self.ruler, self.budget, self.path)
                start = self.rows.body[0][0]
                continue
            if last < row:
                found += self._cells(row)
                last = row
            else:
                found.append(Piece(first, self.rows.body[last][1], self.path, front, (row, last)))
            row = last + 1
        return found

    def _last_row(self, row: int, start: int, room: Budget) -> int:
        """The last body row of the group that begins with `row`; `row - 1` when not even that one fits."""
        body = self.rows.body
        if self.ruler.fits(start, body[-1][1], room.hard):
            return len(body) - 1
        last = row - 1
        while last + 1 < len(body) and self.ruler.fits(start, body[last + 1][1], room.target):
            last += 1
        if last < row and self.ruler.fits(start, body[row][1], room.hard):
            return row
        return last

    # ------------------------------------------------------------ a row over the limit
    def _cells(self, row: int) -> list[Piece]:
        """Groups of the cells of one row, each under the names of its columns."""
        cells = _cell_ranges(self.ruler.text, *self.rows.body[row])
        found: list[Piece] = []
        column = 0
        while column < len(cells):
            last, names = self._last_cell(cells, column)
            if last < column:
                found += self._parts(row, column, cells[column])
                last = column
            elif self.ruler.text[cells[column][0] : cells[last][1]].strip(" |"):
                found.append(Piece(cells[column][0], cells[last][1], self.path, names, (row, row)))
            column = last + 1
        return found

    def _last_cell(self, cells: list[tuple[int, int]], column: int) -> tuple[int, str]:
        """The last cell of the group that begins with `column`, and the text put in front of the group."""
        last, names = column - 1, ""
        while last + 1 < len(cells):
            wider = self._names(column, last + 1)
            room = self.budget.less(self.ruler.costs.of(wider)).target
            if not self.ruler.fits(cells[column][0], cells[last + 1][1], room):
                break
            last, names = last + 1, wider
        return last, names

    def _names(self, first: int, last: int) -> str:
        names = [self._name(column) for column in range(first, last + 1)]
        return ", ".join(filter(None, names)) + ": " if any(names) else ""

    def _name(self, column: int) -> str:
        name = self.rows.names[column] if column < len(self.rows.names) else ""
        allowed = Tokens(self.budget.target.standard // NAME_SHARE, self.budget.target.model // NAME_SHARE)
        return shortened(name, allowed, self.ruler)

    def _parts(self, row: int, column: int, cell: tuple[int, int]) -> list[Piece]:
        """Pieces of one cell, by sentences and then words, each behind the column's name."""
        name = self._name(column)
        front = f"{name}: " if name else ""
        room = self.budget.less(self.ruler.costs.of(front)) if front else self.budget
        stretch = Stretch(*cell, sentences=sentence_ends(self.ruler.text, *cell))
        return [Piece(s, e, self.path, front, (row, row)) for s, e in pack(stretch, self.ruler, room)]


def _cell_ranges(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Ranges between the bars of a pipe row."""
    bars = [m.start() for m in _BAR.finditer(text, start, end)]
    return [(left + 1, right) for left, right in zip(bars, bars[1:], strict=False)]


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
