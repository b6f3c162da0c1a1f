"""Overlapping windows that begin and end at lines or sentences where they can: for logs and transcripts."""

from __future__ import annotations

import re
from bisect import bisect_left

from engine.chunk import Piece
from engine.chunk.pack import last_between
from engine.chunk.ruler import Budget, Ruler
from engine.chunk.sentences import sentence_ends
from engine.chunk.windows import windows
from engine.records import ChunkConfig, ExtractedDocument

_LINE = re.compile(r"\n")


def chunk(document: ExtractedDocument, config: ChunkConfig, ruler: Ruler) -> list[Piece]:
    """Pieces in source order, overlapping by whole lines or sentences of up to `config.overlap_tokens`."""
    lines = [match.start() for match in _LINE.finditer(ruler.text)]
    places = sorted({*lines, *sentence_ends(ruler.text)})

    def cut(start: int, budget: Budget) -> int:
        reach = ruler.reach(start, budget.target)
        half = start + (reach - start) // 2
        return last_between(places, half, reach) or ruler.word_cut(start, budget.target, budget.hard)

    def step(start: int, repeat: int, stop: int) -> int:
        at = bisect_left(places, repeat)
        return places[at] if at < len(places) and start < places[at] < stop else stop

    return windows(document, config, ruler, cut, step)
