"""Builds the best table inside a region that something else named a table (a layout model, a person)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.extract.pdf.columnar import aligned_table
from engine.extract.pdf.columns import column_edges
from engine.extract.pdf.evidence import is_something_else
from engine.extract.pdf.grid import FoundTable, grid_table, words_inside
from engine.extract.pdf.model import Rectangle, Rule, Run
from engine.extract.pdf.rows import bands_of
from engine.extract.pdf.rules import networks, positions, segments

_MARGIN = 3.0  # points around the region in which lines and words still belong to it


def region_table(runs: Sequence[Run], rules: Sequence[Rule], box: Rectangle) -> FoundTable | None:
    """The table inside `box` (x0, y0, x1, y1 in points of the reading frame), or None without two columns, or for
    contents, lists, numbered formulas.

    Lines drawn inside win where they make a grid that holds most of the words; else the words' own alignment
    decides, with the horizontal lines as row separators. No proof is asked that this is a table.
    """
    inside = [r for r in runs if _within(r, box)]
    near = [r for r in rules if _touches(r, box)]
    horizontal, vertical = segments([r for r in near if not r.weak])
    grids = [grid_table(n, words_inside(n, inside)) for n in networks(horizontal, vertical) if n.vertical]
    words = sum(len(r.words) for r in inside)
    best = max((g for g in grids if g), key=lambda g: len(g.words), default=None)
    if best is not None and len(best.words) >= 0.8 * words:
        return best
    bands = bands_of(inside)
    if is_something_else([b for b in bands if len(b.entries) > 1], column_edges(bands)):
        return None
    width = box[2] - box[0]
    wide = positions([s.at for s in horizontal if s.end - s.start >= 0.6 * width])
    partial = [s for s in horizontal if s.end - s.start < 0.6 * width]
    return aligned_table(bands, True, wide, partial, proof=False) or best


def _within(run: Run, box: Rectangle) -> bool:
    x, y = (run.x0 + run.x1) / 2, (run.y0 + run.y1) / 2
    return box[0] - _MARGIN <= x <= box[2] + _MARGIN and box[1] - _MARGIN <= y <= box[3] + _MARGIN


def _touches(rule: Rule, box: Rectangle) -> bool:
    x, y = (rule.x0 + rule.x1) / 2, (rule.y0 + rule.y1) / 2
    return box[0] - _MARGIN <= x <= box[2] + _MARGIN and box[1] - _MARGIN <= y <= box[3] + _MARGIN
