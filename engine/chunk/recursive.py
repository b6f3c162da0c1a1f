"""Splits at the highest level first: document, sections, blocks, sentences, lines, words.

Only what is over the limit is cut further. Unlike `semantic` it packs tables and lists like any other block; it is
the choice where a document shows no structure.
"""

from __future__ import annotations

from engine.chunk import Piece
from engine.chunk.ruler import Ruler
from engine.chunk.sections import SectionWalk
from engine.records import ChunkConfig, ExtractedDocument


def chunk(document: ExtractedDocument, config: ChunkConfig, ruler: Ruler) -> list[Piece]:
    """Pieces in source order."""
    return SectionWalk(document, config, ruler, isolate_tables=False, glue_lists=False).pieces()
