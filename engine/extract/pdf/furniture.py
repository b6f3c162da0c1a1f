"""Finds running headers, footers, page numbers and line numbers, by what neighbouring pages repeat."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.extract.pdf.blocks import PageLayout, TextBlock
from engine.extract.pdf.model import PageModel, Run

REACH = 2  # pages looked at on either side
_ZONE = 0.13  # of the page's height, at the top and at the bottom
_OUTERMOST = 3  # rows from the edge that can be furniture
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)


def margin_keys(model: PageModel) -> set[tuple[str, str, int]]:
    """(zone, text with numbers blanked, height in steps of 6 points) of the rows in the page's margins."""
    return {(zone, _key(run.text), round(run.y0 / 6)) for zone, run in _margin_runs(model)}


def _margin_runs(model: PageModel) -> list[tuple[str, Run]]:
    top, bottom = _ZONE * model.frame_height, (1 - _ZONE) * model.frame_height
    upper = sorted((r for r in model.runs if r.y1 < top), key=lambda r: r.y0)
    lower = sorted((r for r in model.runs if r.y0 > bottom), key=lambda r: -r.y1)
    found = [("header", r) for r in upper if r.y0 in _first_heights([u.y0 for u in upper])]
    return found + [("footer", r) for r in lower if r.y0 in _first_heights([u.y0 for u in lower])]


def _first_heights(heights: list[float]) -> set[float]:
    kept: list[float] = []
    for height in heights:
        if not any(abs(height - k) < 3 for k in kept):
            kept.append(height)
        if len(kept) > _OUTERMOST:
            kept.pop()
            break
    return {h for h in heights if any(abs(h - k) < 3 for k in kept)}


def _key(text: str) -> str:
    return " ".join(_DIGITS.sub("#", text).split()).casefold()


def take_furniture(model: PageModel, neighbours: Sequence[set[tuple[str, str, int]]]) -> list[tuple[str, Run]]:
    """Remove from `model.runs` what its margins share with a neighbouring page; (page_header|page_footer, run).

    Text must recur at nearly the same height; numbers count as equal.
    """
    if not neighbours:
        return []
    repeated: list[tuple[str, Run]] = []
    for zone, run in _margin_runs(model):
        key, height = _key(run.text), round(run.y0 / 6)
        if any((zone, key, height + step) in keys for keys in neighbours for step in (-1, 0, 1)):
            repeated.append((f"page_{zone}", run))
    taken = {id(run) for _, run in repeated}
    if len(taken) == len(model.runs):  # a page of nothing but margins is content
        return []
    model.runs = [r for r in model.runs if id(r) not in taken]
    return repeated


def take_line_numbers(model: PageModel) -> int:
    """Remove a column of consecutive line numbers left of the text; the count of those removed."""
    numbers = sorted((r for r in model.runs if r.text.isdigit() and len(r.text) <= 3), key=lambda r: r.y0)
    if len(numbers) < 10:
        return 0
    values = [int(r.text) for r in numbers]
    edge = max(r.x1 for r in numbers)
    others = [r for r in model.runs if not (r.text.isdigit() and len(r.text) <= 3)]
    rising = all(b == a + 1 for a, b in zip(values, values[1:], strict=False))
    if not rising or not others or edge > min(r.x0 for r in others) or edge - min(r.x0 for r in numbers) > 30:
        return 0
    model.runs = others
    return len(numbers)


def is_page_number(block: TextBlock, layout: PageLayout) -> bool:
    """A lone number in the margin of a page without neighbours to compare."""
    height = layout.model.frame_height
    return block.text.strip("-–— ").isdigit() and (block.y1 < 0.08 * height or block.y0 > 0.92 * height)
