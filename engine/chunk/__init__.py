"""Chunking: strategy functions over a document's spans, and the record they give.

A strategy is `chunk(document, config, ruler) -> list[Piece]`; `make_chunks` turns pieces into `Chunk`s
(ids, counts, provenance) and holds them to both token limits. See `engine.chunk.make`, and
`engine.chunk.select` for the table that names the strategies.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Piece:
    """A stretch of `document.content` that becomes one chunk.

    `path`: the section it belongs to; None: what its spans have in common. `repeated`: text put in front of
    the stretch (header rows of a table, a column's name). `table_rows`: first and last body row covered.
    """

    start: int
    end: int
    path: list[str] | None = None
    repeated: str = ""
    table_rows: tuple[int, int] | None = None
