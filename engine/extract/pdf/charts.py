"""Tells drawings that only look like tables: charts, whose lines cross words or stand up freely."""

from __future__ import annotations

from collections.abc import Sequence

from engine.extract.pdf.model import Word
from engine.extract.pdf.rules import Network

_MEET = 2.5  # points
_CORNERS = 7  # free corners: a table's frame has four, a step in its head adds two
_CROSSED = 0.25  # share of the words that lines may cut through
_INSET = 1.5  # points of a word's ends that a line may touch


def is_chart(network: Network, words: Sequence[Word]) -> bool:
    """Whether the lines are bars, axes or a drawing rather than the borders of cells.

    Bars leave many free corners, where a horizontal and a vertical line both end; and labels lie over the lines,
    while the words of a table keep inside their cells.
    """
    crossed = sum(_is_crossed(w, network) for w in words)
    if crossed >= max(3, _CROSSED * len(words)):
        return True
    return crossed > 0 and _free_corners(network) >= _CORNERS


def _is_crossed(word: Word, network: Network) -> bool:
    middle = (word.y0 + word.y1) / 2
    return any(v.start < middle < v.end and word.x0 + _INSET < v.at < word.x1 - _INSET for v in network.vertical)


def _free_corners(network: Network) -> int:
    count = 0
    for h in network.horizontal:
        for v in network.vertical:
            if min(abs(v.at - h.start), abs(v.at - h.end)) < _MEET:
                count += min(abs(h.at - v.start), abs(h.at - v.end)) < _MEET
    return count
