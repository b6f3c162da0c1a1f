"""Windows of a fixed number of tokens, cut at word boundaries, with overlap. Structure is not looked at."""

from __future__ import annotations

from engine.chunk import Piece
from engine.chunk.ruler import Budget, Ruler
from engine.chunk.windows import windows
from engine.records import ChunkConfig, ExtractedDocument


def chunk(document: ExtractedDocument, config: ChunkConfig, ruler: Ruler) -> list[Piece]:
    """Pieces in source order, overlapping by `config.overlap_tokens`."""

    def cut(start: int, budget: Budget) -> int:
        return ruler.word_cut(start, budget.target, budget.hard)

    return windows(document, config, ruler, cut, lambda start, repeat, stop: repeat if repeat > start else stop)
