"""Windows of even size over a document's text, each repeating the end of the one before."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from engine.chunk import Piece
from engine.chunk.pack import next_start, text_end
from engine.chunk.prefix import Prefixes
from engine.chunk.ruler import Budget, Ruler
from engine.records import ChunkConfig, ExtractedDocument

# (start, budget) → end of the window; (start, furthest overlap start, end) → start of the next one
Cut = Callable[[int, Budget], int]
Step = Callable[[int, int, int], int]


def windows(document: ExtractedDocument, config: ChunkConfig, ruler: Ruler, cut: Cut, step: Step) -> list[Piece]:
    """Pieces from the first character to the last; each window starts behind the start of the one before."""
    prefixes = Prefixes(ruler, config.include_headings)
    starts = [span.start for span in document.spans]
    found: list[Piece] = []
    end = text_end(ruler.text, 0, len(ruler.text))
    start = next_start(ruler.text, 0, end)
    while start < end:
        path = document.spans[max(0, bisect_right(starts, start) - 1)].section_path if starts else []
        budget = ruler.budget.less(prefixes.cost(path))
        if ruler.fits(start, end, budget.target):
            found.append(Piece(start, end, path))
            break
        stop = min(cut(start, budget), end)
        found.append(Piece(start, text_end(ruler.text, start, stop), path))
        repeat = ruler.back(stop, start, overlap(config, budget))
        start = next_start(ruler.text, max(step(start, repeat, stop), start + 1), end)
    return found


def overlap(config: ChunkConfig, budget: Budget) -> int:
    """Tokens repeated between windows: as configured, at most half a window."""
    return max(0, min(config.overlap_tokens, budget.target.standard // 2, budget.target.model // 2))
