"""Names of cells, areas, rows and columns in a sheet: "B2", "B2:D5", "C", and back to 0-based numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

Area = tuple[int, int, int, int]  # top, left, bottom, right; 0-based and inclusive

_REFERENCE = re.compile(r"\$?([A-Z]{1,3})\$?(\d+)")
_MOST_NAMED = 20  # runs that a message names


def column_index(letters: str) -> int:
    """0-based index of a column by its letters: A → 0, AA → 26."""
    index = 0
    for letter in letters.upper():
        index = index * 26 + (ord(letter) - 64)
    return max(index - 1, 0)


def column_letters(index: int) -> str:
    """Letters of a column by its 0-based index: 0 → A, 26 → AA."""
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(65 + rest) + text
    return text


def parse_area(text: str) -> Area | None:
    """The area of a reference such as "B2:D5"; None for one cell or anything else."""
    corners = _REFERENCE.findall(text.upper())
    if len(corners) != 2:
        return None
    (left, top), (right, bottom) = ((column_index(c), int(r) - 1) for c, r in corners)
    return min(top, bottom), min(left, right), max(top, bottom), max(left, right)


def area_name(area: Area) -> str:
    """The reference of an area: "B2:D5", "B2" for one cell."""
    top, left, bottom, right = area
    first, last = f"{column_letters(left)}{top + 1}", f"{column_letters(right)}{bottom + 1}"
    return first if first == last else f"{first}:{last}"


def runs_of(numbers: Iterable[int], name: Callable[[int], str]) -> str:
    """Numbers as named runs: "3, 5-9"; the first of them when there are many."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    shown = [name(a) if a == b else f"{name(a)}-{name(b)}" for a, b in runs[:_MOST_NAMED]]
    return ", ".join([*shown, "..."] if len(runs) > _MOST_NAMED else shown)
