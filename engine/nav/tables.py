"""Tables of a document: its own where the tree was kept, else put together again from the chunks.

Chunks hold tables as Markdown pipe rows, cut into row groups where they are long; `connect_to` says which table
stands where. The pieces are laid out again by their places in the document, so that neither repeated header rows
nor overlaps come out twice. Spans of cells cannot be had back.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.records import ExtractedDocument, ExtractedTable, TableCell
from engine.search.view import DocumentView, shows_asset
from engine.tables import table_from_cells

_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\|(?: --- \|)+")


@dataclass(slots=True)
class TablesFound:
    """`rebuilt`: put together from chunks. `incomplete`: ids of those of which a piece is missing."""

    tables: list[ExtractedTable]
    rebuilt: bool
    incomplete: list[str] = field(default_factory=lambda: list[str]())


def tables_of(view: DocumentView, tree: ExtractedDocument | None) -> TablesFound:
    """The tables the reader may see, in document order."""
    if tree is not None:
        return TablesFound([table for table in tree.tables if shows_asset(view, table.table_id)], False)
    places = _places(view.chunks)
    text = _Text(view.chunks)
    found = TablesFound([], True)
    for target, (start, page) in sorted(places.items(), key=lambda item: item[1][0]):
        if not shows_asset(view, target):
            continue
        made, whole = _table(text.of(target, start))
        if made is None or not whole:
            found.incomplete.append(target)
        if made is not None:
            made.table_id, made.page_number = target, page
            found.tables.append(made)
    return found


def _places(chunks: Sequence[dict[str, Any]]) -> dict[str, tuple[int, int | None]]:
    """Table id → where it begins in the document, and its page when its first chunk is on one page."""
    places: dict[str, tuple[int, int | None]] = {}
    for payload in chunks:
        begin = int(payload["char_end"]) - len(str(payload["content"]))
        pages: list[int] = payload["page_numbers"]
        for relation in payload["connect_to"]:
            target = str(relation["target"])
            if target.startswith("table-"):
                at = begin + int(relation["position"]), pages[0] if pages else None
                places[target] = min(places.get(target, at), at, key=lambda place: place[0])
    return places


class _Text:
    """The document's text as far as the chunks hold it, piece by piece."""

    def __init__(self, chunks: Sequence[dict[str, Any]]) -> None:
        self._pieces: list[tuple[int, str, set[str]]] = []
        covered = -1
        for payload in sorted(chunks, key=lambda p: (int(p["char_start"]), int(p["char_end"]))):
            start, end = int(payload["char_start"]), int(payload["char_end"])
            fresh = max(start, covered)
            if end > fresh:
                targets = {str(relation["target"]) for relation in payload["connect_to"]}
                self._pieces.append((fresh, str(payload["content"])[fresh - end :], targets))
                covered = end
        self._starts = [start for start, _, _ in self._pieces]

    def of(self, target: str, place: int) -> list[tuple[str, int]]:
        """The pieces that show a table, from its beginning at `place` on, each with the number of characters missing
        before it."""
        found: list[tuple[str, int]] = []
        at = place
        for start, piece, targets in self._pieces[max(bisect_right(self._starts, place) - 1, 0) :]:
            if start + len(piece) > at:
                if target not in targets:
                    break
                found.append((piece[max(0, at - start) :], max(0, start - at)))
                at = start + len(piece)
        return found


def _table(pieces: list[tuple[str, int]]) -> tuple[ExtractedTable | None, bool]:
    """The table the pieces begin with, and whether all of it was there."""
    caption, lines = _lines(_joined(pieces))
    rule = next((n for n, line in enumerate(lines) if _RULE.fullmatch(line)), None)
    if rule is None:
        return None, False
    width = len(_cells(lines[rule]))
    heads = [row for row in map(_cells, lines[:rule]) if any(row)]  # a table without header shows an empty one
    body = [_cells(line) for line in lines[rule + 1 :]]
    whole = all(missing <= 1 for _, missing in pieces[1:]) and all(len(row) == width for row in (*heads, *body))
    cells = [
        TableCell(r, c, text, header=r < len(heads))
        for r, row in enumerate((*heads, *body))
        for c, text in enumerate(row + [""] * (width - len(row)))
    ]
    return table_from_cells(cells, caption or None, header_rows=len(heads)), whole


def _joined(pieces: list[tuple[str, int]]) -> str:
    """A cut swallows the white space around it: a line feed between rows, a blank inside one."""
    joined = ""
    for piece, missing in pieces:
        if joined and missing:
            joined += "\n" if piece.startswith("|") else " "
        joined += piece
    return joined


def _lines(text: str) -> tuple[str, list[str]]:
    """The caption and the pipe lines of the table that `text` begins with."""
    if not text.startswith("|"):
        caption, _, text = text.partition("\n\n|")
        text = f"|{text}"
    else:
        caption = ""
    lines = text.split("\n\n", 1)[0].split("\n")
    return " ".join(caption.split()), [line for line in lines if line.startswith("|")]


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _BAR.split(line)[1:-1]]
