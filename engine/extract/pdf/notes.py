"""Tells captions and notes that stand inside a table's frame from its rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol, TypeVar

from engine.extract.pdf.model import Word

CAPTION = re.compile(
    r"(?:table|figure|fig\.|exhibit|chart|box|tableau|tabelle|abbildung|tabla|cuadro|figura|tabella|tabela|таблица"
    r"|表|图|圖|図|표)\s*\.?\s*(?:\d|[A-Z]?[\d.-]*\d|[IVX]+\b)",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"(?:sources?|notes?|quellen?|anmerkung|remarques?|fuentes?|notas?|fonti?|exhibit reads)\b", re.IGNORECASE
)
_PROSE = 25  # words


class Spanning(Protocol):
    row: int
    col: int
    rowspan: int
    colspan: int
    words: list[Word]


T = TypeVar("T", bound=Spanning)


def without_notes(cells: Sequence[T]) -> tuple[list[T], list[T]]:
    """The cells without a caption as first row or a note as last row, and those taken out; rows are renumbered.

    Only a row that is one cell over all columns can be either.
    """
    columns = max((c.col + c.colspan for c in cells), default=0)
    rows = max((c.row + c.rowspan for c in cells), default=0)
    outer: list[T] = []
    for edge, pattern in ((0, CAPTION), (rows - 1, _NOTE)):
        own = [c for c in cells if c.row <= edge < c.row + c.rowspan]
        if rows < 4 or len(own) != 1 or own[0].colspan < columns or own[0].rowspan > 1:
            continue
        text = " ".join(w.text for w in own[0].words)
        if pattern.match(text) or (edge and len(own[0].words) > _PROSE):
            outer.append(own[0])
    kept = [c for c in cells if all(c is not o for o in outer)]
    if any(o.row == 0 for o in outer):
        for cell in kept:
            cell.row -= 1
    return kept, outer
