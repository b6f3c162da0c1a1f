"""Runs of text as rows, and rows as entries that may be cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.extract.pdf.model import Run, Word

_CELL_GAP = 0.85  # em; wider white inside a row parts two entries


@dataclass(slots=True)
class Entry:
    """Words of one row that stand together: what may be one cell."""

    words: list[Word]
    x0: float
    x1: float
    sequence: int  # place in the drawing order

    @property
    def text(self) -> str:
        return " ".join(w.text for w in self.words)


@dataclass(slots=True)
class Row:
    """Entries at one height."""

    entries: list[Entry]
    y0: float
    y1: float
    runs: list[Run] = field(default_factory=lambda: list[Run]())

    @property
    def middle(self) -> float:
        return (self.y0 + self.y1) / 2


def rows_of(runs: Sequence[Run]) -> list[Row]:
    """Runs as rows from top to bottom, each cut into entries at wide white."""
    groups: list[list[Run]] = []
    reach = float("-inf")
    for run in sorted(runs, key=lambda r: r.y0 + r.y1):
        middle = (run.y0 + run.y1) / 2
        if groups and middle < reach:
            groups[-1].append(run)
        else:
            groups.append([run])
            reach = middle + 0.45 * run.height
    return [_row(group) for group in groups]


def _row(runs: list[Run]) -> Row:
    words = sorted(((w, r) for r in runs for w in r.words), key=lambda pair: pair[0].x0)
    entries: list[Entry] = []
    for word, run in words:
        gap = word.x0 - entries[-1].x1 if entries else 0.0
        if entries and gap <= _CELL_GAP * run.size:
            entries[-1].words.append(word)
            entries[-1].x1 = max(entries[-1].x1, word.x1)
        else:
            entries.append(Entry([word], word.x0, word.x1, run.sequence))
    return Row(entries, min(r.y0 for r in runs), max(r.y1 for r in runs), runs)
