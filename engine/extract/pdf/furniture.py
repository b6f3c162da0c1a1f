"""Finds running headers, footers, page numbers and line numbers, by what neighbouring pages repeat."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Sequence

from engine.extract.pdf.headings import title_key
from engine.extract.pdf.model import PageModel, Run

MarginKeys = set[tuple[str, str, int]]
REACH = 2  # pages looked at on either side
_ZONE = 0.13  # of the page's height, at the top and at the bottom
_OUTERMOST = 3  # rows from the edge that can be furniture
_NUMBERS = re.compile(r"\d+|\b[ivxlc]+\b", re.IGNORECASE)


def margin_keys(model: PageModel) -> MarginKeys:
    """(zone, text with numbers blanked, height in steps of 6 points) of the rows in the page's margins."""
    return {
        (zone, _key(run.text, model.number), round(run.y0 / 6))
        for zone, rows in _margin_rows(model)
        for row in rows
        for run in row
    }


def _margin_rows(model: PageModel) -> list[tuple[str, list[list[Run]]]]:
    """The outermost rows of the top and of the bottom margin, from the edge inwards."""
    top, bottom = _ZONE * model.frame_height, (1 - _ZONE) * model.frame_height
    upper = sorted((r for r in model.runs if r.y1 < top), key=lambda r: r.y0)
    lower = sorted((r for r in model.runs if r.y0 > bottom), key=lambda r: -r.y1)
    return [("header", _rows(upper)), ("footer", _rows(lower))]


def _rows(runs: list[Run]) -> list[list[Run]]:
    rows: list[list[Run]] = []
    for run in runs:
        if rows and abs(rows[-1][0].y0 - run.y0) < 3:
            rows[-1].append(run)
        elif len(rows) < _OUTERMOST:
            rows.append([run])
        else:
            break
    return rows


def _key(text: str, page: int) -> str:
    """What a recurring text keeps from page to page: itself without its numbers.

    A number alone must count the pages: then its distance to the page's number stays the same.
    """
    if any(c.isalpha() for c in text):
        return " ".join(_NUMBERS.sub("#", text).split()).casefold()
    numbers = re.findall(r"\d+", text)
    return f"#{int(numbers[0]) - page}" if len(numbers) == 1 and len(numbers[0]) < 6 else text


def take_furniture(
    model: PageModel, neighbours: Sequence[MarginKeys], titles: Collection[str] = ()
) -> list[tuple[str, Run]]:
    """Remove from `model.runs` what its margins share with a neighbouring page; (page_header|page_footer, run).

    Text must recur at nearly the same height; numbers count as equal. Looking inwards from the edge, the
    first row that does not recur ends it: what lies behind is the page's text. A title of the document (`titles`:
    keys of the bookmarks') beside a page number is a running header too, on a page without neighbours.
    """
    repeated: list[tuple[str, Run]] = []
    for zone, rows in _margin_rows(model):
        for row in rows:
            running = _is_running_title(row, titles)
            recurring = [run for run in row if running or _recurs(zone, run, model.number, neighbours)]
            repeated += [(f"page_{zone}", run) for run in recurring]
            if len(recurring) < len(row):
                break
    taken = {id(run) for _, run in repeated}
    if len(taken) == len(model.runs):  # a page of nothing but margins is content
        return []
    model.runs = [r for r in model.runs if id(r) not in taken]
    return repeated


def _is_running_title(row: list[Run], titles: Collection[str]) -> bool:
    """Whether a row is a page number and one of the titles."""
    named = [run for run in row if not run.text.isdigit()]
    return len(named) == len(row) - 1 and title_key(" ".join(run.text for run in named)) in titles


def _recurs(zone: str, run: Run, page: int, neighbours: Sequence[MarginKeys]) -> bool:
    key, height = _key(run.text, page), round(run.y0 / 6)
    return any((zone, key, height + step) in keys for keys in neighbours for step in (-1, 0, 1))


def take_line_numbers(model: PageModel) -> int:
    """Remove a column of consecutive line numbers left of the text; the count of those removed."""
    columns: dict[int, list[Run]] = {}
    for run in model.runs:
        if run.text.isdigit() and len(run.text) <= 3:
            columns.setdefault(round(run.x1 / 8), []).append(run)
    for numbers in columns.values():
        numbers.sort(key=lambda r: r.y0)
        rising = all(int(b.text) == int(a.text) + 1 for a, b in itertools.pairwise(numbers))
        taken = {id(r) for r in numbers}
        others = [r for r in model.runs if id(r) not in taken]
        edge = max(r.x1 for r in numbers)
        if len(numbers) >= 10 and rising and others and edge <= sorted(r.x0 for r in others)[len(others) // 20]:
            model.runs = others
            return len(numbers)
    return 0
