"""Walks a document's sections and cuts what does not fit: the common ground of semantic and recursive.

A section with all its subsections is one piece if it fits; otherwise its own blocks are packed and each
subsection is looked at in turn. A heading without a body goes with the section behind it.
"""

from __future__ import annotations

from engine.chunk import Piece
from engine.chunk.outline import Section, outline
from engine.chunk.pack import Stretch, pack
from engine.chunk.prefix import Prefixes
from engine.chunk.ruler import Budget, Ruler, Tokens
from engine.chunk.table_rows import table_pieces
from engine.chunk.units import Unit, group, stretch_of
from engine.records import ChunkConfig, ExtractedDocument, Span


class SectionWalk:
    """One walk over the section tree. `isolate_tables`: every table is a chunk of its own once its section is
    cut; `glue_lists`: a list stays with the paragraph before it. With `respect_structure` off, headings and
    tables are ordinary blocks."""

    def __init__(
        self, document: ExtractedDocument, config: ChunkConfig, ruler: Ruler, isolate_tables: bool, glue_lists: bool
    ) -> None:
        self._document = document
        self._config = config
        self._ruler = ruler
        self._isolate = isolate_tables and config.respect_structure
        self._glue = glue_lists
        self._prefixes = Prefixes(ruler, config.include_headings)
        self._found: list[Piece] = []
        self._carry: int | None = None  # start of headings that still wait for a body to go with

    def pieces(self) -> list[Piece]:
        if not self._document.spans:
            return []
        if self._config.respect_structure:
            self._section(outline(self._document))
        else:
            self._units(self._document.spans, self._document.spans[0].start, None)
        if self._carry is not None:  # headings at the end of the document
            rest = Stretch(self._carry, self._document.spans[-1].end)
            path = self._document.spans[-1].section_path
            self._found += [Piece(s, e, path) for s, e in pack(rest, self._ruler, self._ruler.budget)]
        return self._found

    def _section(self, section: Section) -> None:
        start = section.start if self._carry is None else self._carry
        if section.body_start < section.end and self._fits_whole(section, start):
            body = start if self._shows_heading(section) else section.body_start
            self._found.append(Piece(body, section.end, section.path or None))
            self._carry = None
            return
        if section.spans:
            self._blocks(section, start)
        elif section.heading is not None:
            self._carry = start
        for child in section.children:
            self._section(child)

    def _shows_heading(self, section: Section) -> bool:
        """Whether heading lines open the piece, so that it needs no prefix: its own when a subsection follows
        at once, and those of bodiless sections before it."""
        own = section.path and section.spans and self._prefixes.of(section.path)
        return self._carry is not None or not own

    def _fits_whole(self, section: Section, start: int) -> bool:
        if self._shows_heading(section):
            return self._ruler.fits(start, section.end, self._ruler.budget.hard)
        room = self._ruler.budget.hard.minus(self._prefixes.cost(section.path))
        return self._ruler.fits(section.body_start, section.end, room)

    def _blocks(self, section: Section, start: int) -> None:
        """The section's own blocks, packed under the heading's prefix."""
        first = start if self._shows_heading(section) else section.spans[0].start
        self._carry = None
        self._units(section.spans, first, section.path)

    def _units(self, spans: list[Span], start: int, path: list[str] | None) -> None:
        """Consecutive blocks from `start` on. Without a path each piece gets its own: room is kept for any."""
        paths = [path] if path is not None else [list(p) for p in {tuple(s.section_path[-1:]) for s in spans}]
        costs = [self._prefixes.cost(p) for p in paths]
        largest = Tokens(max(c.standard for c in costs), max(c.model for c in costs))
        budget = self._ruler.budget.less(largest)
        for unit in group(spans, self._ruler, budget, self._isolate):
            self._unit(unit, budget, path, start if unit.spans[0] is spans[0] else unit.start)

    def _unit(self, unit: Unit, budget: Budget, path: list[str] | None, start: int) -> None:
        if unit.kind == "table":
            table = next(span for span in unit.spans if span.type == "table")
            self._found += table_pieces(start, table, unit.end, self._ruler, budget, path)
        else:
            stretch = stretch_of(unit, self._ruler.text, self._glue)
            stretch.start = start
            self._found += [Piece(s, e, path) for s, e in pack(stretch, self._ruler, budget)]
