"""Joins blocks that the layout model holds for one heading: a number apart from its title, a broken title."""

from __future__ import annotations

from collections.abc import Sequence

from engine.extract.pdf.blocks import Block, TextBlock
from engine.extract.pdf.guided import HEADING_LABELS
from engine.extract.pdf.model import Region


def rejoined(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, those in one heading region made one. Nothing changes where the model was not asked."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if isinstance(last, TextBlock) and isinstance(block, TextBlock):
            region = _heading(last)
            if region is not None and region is _heading(block):
                last.lines.extend(block.lines)
                continue
        joined.append(block)
    return joined


def _heading(block: TextBlock) -> Region | None:
    """The heading region that holds the whole block."""
    first = block.lines[0].runs[0].region
    if first is None or first.label not in HEADING_LABELS:
        return None
    return first if all(run.region is first for line in block.lines for run in line.runs) else None
