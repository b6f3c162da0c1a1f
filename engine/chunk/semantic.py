"""The default strategy: along the document's own structure.

A section with all its subsections is one chunk if it fits; otherwise it is cut at its subsections, then
its own blocks are packed: paragraphs, then sentences; tables and code whole where they can be.
"""

from __future__ import annotations

from engine.chunk import Piece
from engine.chunk.outline import Section, outline
from engine.chunk.prefix import Prefixes
from engine.chunk.ruler import Ruler
from engine.chunk.table_rows import table_pieces
from engine.chunk.units import Unit, group, unit_ranges
from engine.records import ChunkConfig, ExtractedDocument


def chunk(document: ExtractedDocument, config: ChunkConfig, ruler: Ruler) -> list[Piece]:
    """Pieces in source order. With `respect_structure` off, headings and tables are ordinary blocks."""
    return Sections(document, config, ruler, isolate_tables=True, glue_lists=True).pieces()


class Sections:
    """One walk over the section tree of a document. Also the base of the recursive strategy."""

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
            self._blocks(Section([], spans=self._document.spans), self._document.spans[0].start)
        if self._carry is not None:
            self._add(self._carry, self._document.spans[-1].end, self._document.spans[-1].section_path)
        return self._found

    def _section(self, section: Section) -> None:
        start = section.start if self._carry is None else self._carry
        if section.body_start < section.end and self._fits_whole(section, start):
            body = start if self._shows_heading(section) else section.body_start
            self._add(body, section.end, section.path)
            self._carry = None
            return
        if section.spans:
            self._blocks(section, start)
        elif section.heading is not None:
            self._carry = start
        for child in section.children:
            self._section(child)

    def _shows_heading(self, section: Section) -> bool:
        """Whether the heading's own line opens the piece, so that it needs no prefix."""
        return self._carry is not None or section.heading is None or not self._prefixes.of(section.path)

    def _fits_whole(self, section: Section, start: int) -> bool:
        if self._shows_heading(section):
            return self._ruler.fits(start, section.end, self._ruler.budget.hard)
        room = self._ruler.budget.hard.minus(self._prefixes.cost(section.path))
        return self._ruler.fits(section.body_start, section.end, room)

    def _blocks(self, section: Section, start: int) -> None:
        """The section's own blocks, packed under the heading's prefix."""
        budget = self._ruler.budget.less(self._prefixes.cost(section.path))
        units = group(section.spans, self._ruler, budget, self._isolate)
        first = start if self._shows_heading(section) else section.spans[0].start
        self._carry = None
        for unit in units:
            self._unit(unit, budget, section.path, first if unit is units[0] else None)

    def _unit(self, unit: Unit, budget: object, path: list[str], start: int | None) -> None:
        raise NotImplementedError

    def _add(self, start: int, end: int, path: list[str]) -> None:
        self._found.append(Piece(start, end, path))
