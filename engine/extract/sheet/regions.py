"""Parts a sheet into regions: what lies together and is one table, title or remark to a reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from engine.extract.sheet.references import Area

_NUMBER = re.compile(r"[\s$€£¥₹(+\-−]*\d[\d.,'’\s]*(?:[%)\sA-Z€$£¥]|E[+-]\d+)*")
_YEAR = re.compile(r"(?:1[89]|2[01])\d\d(?:[/-]\d\d)?")
_DASHES = {"-", "–", "—", "n/a", "N/A", "#N/A"}
MAX_CAPTION_ROWS = 3
_MAX_CAPTION = 300
_MAX_SPACER_ROWS = 2
_MAX_BRIDGE = 50  # empty rows that a merged cell may cover within one region
_MAX_BOUNDARIES = 10  # columns at which parting is tried
_MAX_PARTED_ROWS = 20_000  # longer regions are one table: parting would cost too much

Row = dict[int, str]  # column → text, filled places only


@dataclass(slots=True)
class NamedTable:
    """A table that the workbook itself names ("format as table"): its area, and how many rows head it."""

    area: Area
    header_rows: int = 1


@dataclass(slots=True)
class Region:
    """Filled rows in order, as (row number, cells). `header_rows` and `caption` where they are known.

    `left_out`: columns of the sheet that are not to show.
    """

    rows: list[tuple[int, Row]]
    header_rows: int | None = None
    caption: list[str] = field(default_factory=lambda: list[str]())
    left_out: set[int] = field(default_factory=lambda: set[int]())

    @property
    def columns(self) -> tuple[int, int]:
        """First and last filled column."""
        return min(min(r) for _, r in self.rows), max(max(r) for _, r in self.rows)


def regions(rows: dict[int, Row], merges: list[Area], tables: list[NamedTable]) -> list[Region] | Iterator[Region]:
    """Regions of a sheet, top to bottom: the tables it names, and what else lies together."""
    if not tables:
        return _contiguous(rows, merges)
    rest = {number: dict(row) for number, row in rows.items()}
    named = [region for table in tables if (region := _taken_out(rest, table)) is not None]
    for region in named:
        _take_caption(region, rest)
    return sorted([*named, *_contiguous(rest, merges)], key=lambda region: (region.rows[0][0], region.columns[0]))


def _taken_out(rows: dict[int, Row], table: NamedTable) -> Region | None:
    """The region of a named table, its cells taken out of `rows`."""
    top, left, bottom, right = table.area
    found: list[tuple[int, Row]] = []
    for number in sorted(n for n in rows if top <= n <= bottom):
        inside = {c: text for c, text in rows[number].items() if left <= c <= right}
        if inside:
            found.append((number, inside))
            rows[number] = {c: text for c, text in rows[number].items() if c not in inside}
    return Region(found, table.header_rows) if found else None


def _take_caption(region: Region, rest: dict[int, Row]) -> None:
    """Make lines of one text each that stand right above a named table its caption."""
    number, (left, right) = region.rows[0][0] - 1, region.columns
    if not rest.get(number):
        number -= 1  # one blank row may lie between
    while len(region.caption) < MAX_CAPTION_ROWS and len(row := rest.get(number, {})) == 1:
        ((column, text),) = row.items()
        if not (left <= column <= right and is_title(text)):
            return
        region.caption.insert(0, text)
        del rest[number]
        number -= 1


def _contiguous(rows: dict[int, Row], merges: list[Area]) -> Iterator[Region]:
    """Contiguous regions, top to bottom. Empty rows part them, and empty columns between two tables."""
    bridged = _bridged_rows(rows, merges)
    bands: list[Region] = []
    previous: int | None = None
    for number in sorted(n for n, row in rows.items() if row):
        if previous is None or not _is_bridged(previous, number, bridged):
            bands.append(Region([]))
        bands[-1].rows.append((number, rows[number]))
        previous = number
    for band in _joined(bands):
        yield from _split_columns(band)


def _is_bridged(above: int, below: int, bridged: set[int]) -> bool:
    return below - above <= _MAX_BRIDGE and all(n in bridged for n in range(above + 1, below))


def _bridged_rows(rows: dict[int, Row], merges: list[Area]) -> set[int]:
    """Rows without text of their own that a merged cell with text covers."""
    bridged: set[int] = set()
    for top, left, bottom, _ in merges:
        if bottom > top and bottom - top < 1000 and left in rows.get(top, {}):
            bridged.update(range(top + 1, bottom + 1))
    return bridged


def _joined(bands: list[Region]) -> Iterator[Region]:
    """Put back together what one blank spacer row parts: data rows that go on under the same columns."""
    current: Region | None = None
    for band in bands:
        if current is not None and _continues(current, band):
            current.rows.extend(band.rows)
            continue
        if current is not None:
            yield current
        current = band
    if current is not None:
        yield current


def _continues(above: Region, below: Region) -> bool:
    first_number, first = below.rows[0]
    if first_number - above.rows[-1][0] - 1 > _MAX_SPACER_ROWS or len(above.rows) < 2 or len(first) < 2:
        return False
    (left, right), (low, high) = above.columns, below.columns
    labelled = not is_number(first[min(first)]) and any(map(is_number, first.values()))
    return low >= left and high <= right and right > left and labelled


def _split_columns(region: Region) -> Iterator[Region]:
    """Part two tables that stand side by side or corner to corner."""
    for boundary in _boundaries(region) if len(region.rows) <= _MAX_PARTED_ROWS else ():
        left = Region([(n, {c: t for c, t in row.items() if c < boundary}) for n, row in region.rows])
        right = Region([(n, {c: t for c, t in row.items() if c >= boundary}) for n, row in region.rows])
        left.rows, right.rows = [r for r in left.rows if r[1]], [r for r in right.rows if r[1]]
        if _are_apart(left, right):
            yield from _split_rows(left)
            yield from _split_rows(right)
            return
    yield region


def _boundaries(region: Region) -> list[int]:
    """Columns before which a table may end: after an empty column, or where no row lies on both sides."""
    used = sorted({column for _, row in region.rows for column in row})
    found = [b for a, b in pairwise(used) if b - a > 1]
    extents = sorted((min(row), max(row)) for _, row in region.rows)
    reach = extents[0][1]
    for low, high in extents:
        if low > reach:
            found.append(low)
        reach = max(reach, high)
    return found[:_MAX_BOUNDARIES]


def _are_apart(left: Region, right: Region) -> bool:
    """Whether two sides are tables of their own rather than the halves of one with a spacer column."""
    if not (_stands_alone(left) and _stands_alone(right)):
        return False
    if not {n for n, _ in left.rows} & {n for n, _ in right.rows}:
        return True
    headed = len(right.rows[0][1]) > 1 and not any(map(is_number, right.rows[0][1].values()))
    return _starts_with_labels(right) or (headed and right.rows[0][0] != left.rows[0][0])


def _split_rows(region: Region) -> Iterator[Region]:
    """Part again at rows that became empty, then at columns within."""
    start = 0
    for index in range(1, len(region.rows) + 1):
        if index == len(region.rows) or region.rows[index][0] - region.rows[index - 1][0] > 1:
            yield from _split_columns(Region(region.rows[start:index]))
            start = index


def _stands_alone(region: Region) -> bool:
    low, high = region.columns
    return high > low and len(region.rows) > 1


def _starts_with_labels(region: Region) -> bool:
    first, _ = region.columns
    labels = [row[first] for _, row in region.rows if first in row]
    return sum(not is_number(text) for text in labels) * 2 > len(labels)


def is_number(text: str) -> bool:
    """Whether a displayed text is a number, amount, percentage or dash; years may head a column and do not count."""
    return text.strip() in _DASHES or (bool(_NUMBER.fullmatch(text)) and not _YEAR.fullmatch(text))


def is_title(text: str) -> bool:
    """Whether a text standing alone above a table may be its title."""
    return len(text) <= _MAX_CAPTION and not is_number(text)
