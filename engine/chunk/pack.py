"""Packs a stretch of text into pieces under a budget, cutting at the best place that is near enough.

Places are ranked: block ends, item ends, sentence ends, line ends, word ends, and only then inside a word.
A higher rank wins if it leaves the piece at least half full; otherwise the next rank is asked.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field

from engine.chunk.ruler import Budget, Ruler, Tokens


@dataclass(slots=True)
class Stretch:
    """A range of a text and the places where it may be cut, each list sorted, offsets of ends."""

    start: int
    end: int
    blocks: list[int] = field(default_factory=lambda: list[int]())
    items: list[int] = field(default_factory=lambda: list[int]())
    sentences: list[int] = field(default_factory=lambda: list[int]())
    lines: list[int] = field(default_factory=lambda: list[int]())


def pack(stretch: Stretch, ruler: Ruler, budget: Budget) -> list[tuple[int, int]]:
    """Consecutive ranges that cover the stretch, each within `budget.hard` by the ruler's count.

    What is left fits whole into the hard limit: it is one piece, so no crumbs remain at the end.
    """
    found: list[tuple[int, int]] = []
    end = text_end(ruler.text, stretch.start, stretch.end)
    start = next_start(ruler.text, stretch.start, end)
    while start < end:
        if ruler.fits(start, end, budget.hard):
            cut = end
        else:
            cut = min(_best_cut(stretch, start, ruler, budget), end)
        found.append((start, text_end(ruler.text, start, cut)))
        start = next_start(ruler.text, cut, end)
    return found


def _best_cut(stretch: Stretch, start: int, ruler: Ruler, budget: Budget) -> int:
    aim = _aim(ruler.cost(start, stretch.end), budget)
    reach = ruler.reach(start, aim)
    half = start + (reach - start) // 2
    ranks = (stretch.blocks, stretch.items, stretch.sentences)
    for places in ranks:
        cut = last_between(places, half, reach)
        if cut is not None:
            return cut
    for places in (*ranks, stretch.lines):
        cut = last_between(places, start, reach)
        if cut is None:
            cut = _first_if_it_fits(places, start, ruler, budget)
        if cut is not None:
            return cut
    return ruler.word_cut(start, aim, budget.target, budget.hard)


def _aim(rest: Tokens, budget: Budget) -> Tokens:
    """What the next piece should hold: the target, or half of the rest when that is all that two pieces need."""
    target = budget.target
    if not rest.within(Tokens(2 * target.standard, 2 * target.model)):
        return target
    half = Tokens(int(rest.standard * 0.55) + 1, int(rest.model * 0.55) + 1)
    return Tokens(min(half.standard, target.standard), min(half.model, target.model))


def _first_if_it_fits(places: list[int], start: int, ruler: Ruler, budget: Budget) -> int | None:
    """The first place behind `start`, if what comes before it is over the target but within the hard limit."""
    at = bisect_right(places, start)
    if at < len(places) and ruler.fits(start, places[at], budget.hard):
        return places[at]
    return None


def last_between(places: list[int], low: int, high: int) -> int | None:
    """The last of the sorted places in (low, high]."""
    at = bisect_right(places, high) - 1
    return places[at] if at >= 0 and places[at] > low else None


def next_start(text: str, at: int, end: int) -> int:
    """Where text begins at or after `at`, with the indentation of its line if that line begins after `at`."""
    start = at
    while start < end and text[start].isspace():
        start += 1
    line = text.rfind("\n", at, start) + 1
    return line if line > 0 and start < end else start


def text_end(text: str, start: int, end: int) -> int:
    """`end` moved back over white space, not before `start`."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end
