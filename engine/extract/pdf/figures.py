"""Finds the pictures and charts of a page, whose letters are labels rather than text."""

from __future__ import annotations

from collections.abc import Sequence

from engine.extract.pdf.blocks import PageLayout
from engine.extract.pdf.charts import is_chart
from engine.extract.pdf.grid import FoundTable, words_inside
from engine.extract.pdf.model import PageModel, Rectangle, Rule
from engine.extract.pdf.rules import networks, segments

_BACKGROUND = 0.5  # of the page; larger pictures lie behind the text
_MOST_RULES = 1500  # a page with more is a drawing as a whole
_SIDES = 4  # upright lines that a chart has at least


def figure_boxes(layout: PageLayout) -> list[Rectangle]:
    """Boxes of the pictures and of the drawn charts, in the reading frame; tables and backgrounds are neither."""
    model = layout.model
    page = model.frame_width * model.frame_height
    boxes = [(p.x0, p.y0, p.x1, p.y1) for p in model.pictures if p.area < _BACKGROUND * page]
    free = _free_rules(model, [b for b in layout.blocks if isinstance(b, FoundTable)])
    if sum(not r.horizontal for r in free) >= _SIDES and len(free) <= _MOST_RULES:
        boxes += [
            network.box
            for network in networks(*segments(free))
            if len(network.vertical) >= _SIDES and is_chart(network, words_inside(network, model.runs))
        ]
    return boxes


def _free_rules(model: PageModel, tables: Sequence[FoundTable]) -> list[Rule]:
    if not model.rules or not tables:
        return model.rules
    return [r for r in model.rules if not any(_inside(r, t) for t in tables)]


def _inside(rule: Rule, table: FoundTable) -> bool:
    return table.x0 - 3 <= rule.x0 and rule.x1 <= table.x1 + 3 and table.y0 - 3 <= rule.y0 and rule.y1 <= table.y1 + 3
