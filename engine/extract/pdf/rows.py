"""Runs of text as rows, and rows as entries that may be cells."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.extract.pdf.model import Run, Word

CELL_GAP = 0.85  # em; wider white inside a row parts two entries
_HALF_LINE = 0.3  # of a line's height either side of its middle; lines that overlap so are one band

_FIGURE_GAP = 0.45  # em; wider white between two figures does the same
_LEADING = 0.3  # of a line's height; wider white is not between lines of one text
_APART = 1.2  # of a line's height over the usual white between rows
_FEW = 0.2  # share of the gaps
_OVERLAP = 0.1  # em; runs that overlap so far are no phrase
_ONE_LINE = 0.25  # the same for lines that stand closer, in a band


@dataclass(slots=True)
class Entry:
    """Words of one row that stand together: what may be one cell."""

    words: list[Word]
    x0: float
    x1: float
    sequence: int  # place in the drawing order
    bold: bool = False

    @property
    def text(self) -> str:
        return " ".join(w.text for w in self.words)


@dataclass(slots=True)
class Row:
    """Entries at one height, or a band of lines that overlap in height, from left to right."""

    entries: list[Entry]
    y0: float
    y1: float
    runs: list[Run] = field(default_factory=lambda: list[Run]())

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


def rows_of(runs: Sequence[Run], reach_of_line: float = 0.45) -> list[Row]:
    """Runs as rows from top to bottom, each cut into entries at wide white.

    `reach_of_line`: share of a line's height by which the middles of runs in one row may differ.
    """
    groups: list[list[Run]] = []
    reach = float("-inf")
    for run in sorted(runs, key=lambda r: r.y0 + r.y1):
        middle = (run.y0 + run.y1) / 2
        if groups and middle < reach:
            groups[-1].append(run)
        else:
            groups.append([run])
            reach = middle + reach_of_line * run.height
    return [_row(group) for group in groups]


def bands_of(runs: Sequence[Run]) -> list[Row]:
    """Runs as bands: a line centred beside two others makes one band with them, as cells in mid-row do.

    Only for regions known to hold a table: text beside the table would chain its rows together.
    """
    groups: list[list[Run]] = []
    reach = float("-inf")
    for run in sorted(runs, key=lambda r: r.y0 + r.y1):
        middle, half = (run.y0 + run.y1) / 2, _HALF_LINE * run.height
        if groups and middle - half < reach:
            groups[-1].append(run)
            reach = max(reach, middle + half)
        else:
            groups.append([run])
            reach = middle + half
    return [_band(group) for group in groups]


def _band(runs: list[Run]) -> Row:
    lines = rows_of(runs, _ONE_LINE)
    if len(lines) == 1:
        return lines[0]
    entries = sorted((e for line in lines for e in line.entries), key=lambda e: e.x0)
    return Row(entries, lines[0].y0, max(line.y1 for line in lines), runs)


def _row(runs: list[Run]) -> Row:
    if len(runs) == 1:
        run = runs[0]
        return Row(_entries(run.words, run, run.rtl), run.y0, run.y1, runs)
    ordered = sorted(runs, key=lambda r: r.x0)
    entries: list[Entry] = []
    for run in ordered:
        for entry in _entries(run.words, run, run.rtl):
            last = entries[-1] if entries else None
            gap = entry.x0 - last.x1 if last is not None else 0.0
            if last is None or gap < -_OVERLAP * run.size or _is_wide(gap, run.size, last.words[-1], entry.words[0]):
                entries.append(entry)
            else:
                last.words += entry.words
                last.x1 = max(last.x1, entry.x1)
    entries.sort(key=lambda e: e.x0)
    return Row(entries, min(r.y0 for r in runs), max(r.y1 for r in runs), runs)


def _entries(words: list[Word], run: Run, turned: bool) -> list[Entry]:
    """One run's words, cut at wide white."""
    if turned:
        words = sorted(words, key=lambda w: w.x0)
    entries: list[Entry] = []
    start = 0
    reach = words[0].x1
    narrow = _FIGURE_GAP * run.size
    for n in range(1, len(words)):
        word = words[n]
        gap = word.x0 - reach
        if gap > narrow and _is_wide(gap, run.size, words[n - 1], word):
            entries.append(Entry(words[start:n], words[start].x0, reach, run.sequence, run.bold))
            start = n
            reach = word.x1
        elif word.x1 > reach:
            reach = word.x1
    entries.append(Entry(words[start:], words[start].x0, reach, run.sequence, run.bold))
    return entries


def _is_wide(gap: float, size: float, left: Word, right: Word) -> bool:
    return gap > CELL_GAP * size or (gap > _FIGURE_GAP * size and _are_figures(left, right))


def _are_figures(left: Word, right: Word) -> bool:
    return left.text[-1:].isdigit() and right.text[:1].isdigit()


def odd_gaps(rows: Sequence[Row]) -> list[int]:
    """Numbers of the rows over which the white is far wider than elsewhere: where one thing ends, another begins.

    When many gaps are wide, they are those between rows, and the narrow ones lie inside wrapped cells.
    """
    gaps = [b.y0 - a.y1 for a, b in itertools.pairwise(rows)]
    if len(gaps) < 2:
        return []
    unit = statistics.median(r.y1 - r.y0 for r in rows)
    limit = statistics.median(gaps) + _APART * unit
    odd = [n for n, gap in enumerate(gaps, 1) if gap > limit]
    return odd if len(odd) <= max(1, _FEW * len(gaps)) else []


def wrapped_stretch(rows: Sequence[Row]) -> list[Row]:
    """The first rows, as far as they stand as close together as the lines of wrapped text."""
    close = itertools.takewhile(
        lambda pair: pair[1].y0 - pair[0].y1 < _LEADING * unit(pair[1]), itertools.pairwise(rows)
    )
    return [*rows[:1], *(row for _, row in close)]


def unit(row: Row) -> float:
    """The height of one line of a row, whatever stands in it."""
    return min(r.height for r in row.runs)
