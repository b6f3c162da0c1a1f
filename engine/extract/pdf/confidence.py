"""What geometry is unsure of on a page, as a few cheap figures: the inputs of `router`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from engine.extract.pdf.blocks import PageLayout
from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.heading_chance import chance
from engine.extract.pdf.looks import Looks, page_looks
from engine.extract.pdf.model import Line
from engine.extract.pdf.profile import DocumentProfile

_OPEN = (0.05, 0.6)  # chances of being a heading that the rules cannot be trusted with
_LIKELY = 0.3  # chance from which on a block is taken for a heading
_APART = 1.5  # of the type size; wider white inside a line may part columns


@dataclass(slots=True, frozen=True)
class Doubts:
    """All near 0 on a page of plain prose. Counts are taken as log(1 + n)."""

    unsure: float  # sum of p (1 - p) over the blocks, p the chance of being a heading
    open: float  # blocks with a chance that is neither small nor large
    largest: float  # type size of the largest block that is no heading, over the body's
    parted: float  # lines outside tables with wide white inside
    tables: float

    def values(self) -> tuple[float, ...]:
        return astuple(self)


def page_doubts(layout: PageLayout, profile: DocumentProfile) -> Doubts:
    """The figures of one page, from its layout by geometry alone."""
    seen = [one for one in page_looks(layout, profile) if one]
    return doubts_of(layout, seen, [chance(one) for one in seen])


def doubts_of(layout: PageLayout, seen: Sequence[Looks], chances: Sequence[float]) -> Doubts:
    return Doubts(
        unsure=sum(p * (1 - p) for p in chances),
        open=math.log1p(sum(_OPEN[0] < p < _OPEN[1] for p in chances)),
        largest=max((one.ratio for one, p in zip(seen, chances, strict=True) if p < _LIKELY), default=0.0),
        parted=math.log1p(sum(_is_parted(line) for line in layout.lines)),
        tables=math.log1p(sum(isinstance(b, FoundTable) for b in layout.blocks)),
    )


def _is_parted(line: Line) -> bool:
    return any(b.x0 - a.x1 > _APART * line.size for a, b in itertools.pairwise(line.runs))
