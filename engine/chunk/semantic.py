"""The default strategy: along the document's own structure.

Sections are kept whole where they fit; paragraphs, then sentences are packed where not. Tables and code stay whole,
lists stay with the paragraph that introduces them.
"""

from __future__ import annotations

from engine.chunk import Piece
from engine.chunk.ruler import Ruler
from engine.chunk.sections import SectionWalk
from engine.records import ChunkConfig, ExtractedDocument


def chunk(document: ExtractedDocument, config: ChunkConfig, ruler: Ruler) -> list[Piece]:
    """Pieces in source order."""
    return SectionWalk(document, config, ruler, isolate_tables=True, glue_lists=True).pieces()
