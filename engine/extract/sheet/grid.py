"""A sheet as read, and how it becomes blocks: contiguous regions as tables, titles as captions.

Policy: hidden sheets, rows and columns are kept; a hidden sheet says so in its heading, and every hidden
thing is in the loss report. A merged cell's text stands once, with its span.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract.flow import emit
from engine.records import StructureElement, TableCell
from engine.settings import Limits
from engine.tables import table_from_cells

_NUMBER = re.compile(r"[\s$€£¥₹(+\-−]*\d[\d.,'’\s]*(?:[%)\sA-Z€$£¥]|E[+-]\d+)*")
_YEAR = re.compile(r"(?:1[89]|2[01])\d\d(?:[/-]\d\d)?")
_DASHES = {"-", "–", "—", "n/a", "N/A", "#N/A"}
_MAX_CAPTION_ROWS = 3
_MAX_SPACER_ROWS = 2
_MAX_BOUNDARIES = 10  # columns at which parting is tried
_MAX_PARTED_ROWS = 20_000  # longer regions are one table: parting would cost too much
_MAX_CAPTION = 300
_SPARSE_FACTOR = 50  # a region with fewer than one filled place in so many is no table
_SPARSE_AREA = 10_000

Row = dict[int, str]  # column → text, filled places only


@dataclass(slots=True)
class Sheet:
    """One sheet: filled cells by row and column (0-based), merged areas, what is hidden, comments."""

    name: str
    hidden: bool = False
    rows: dict[int, Row] = field(default_factory=lambda: dict[int, Row]())
    merges: list[tuple[int, int, int, int]] = field(default_factory=lambda: list[tuple[int, int, int, int]]())
    hidden_rows: int = 0
    hidden_columns: int = 0
    comments: list[str] = field(default_factory=lambda: list[str]())
    blocks: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())  # charts, boxes


@dataclass(slots=True)
class Budget:
    """Cells and characters still allowed over all sheets, so that an exploding file ends while being read."""

    limits: Limits
    cells: int = 0
    characters: int = 0

    def spend(self, text: str) -> None:
        """Count one cell. Raises InputError(LIMIT_EXCEEDED) past limits.table_cells or limits.characters."""
        self.cells += 1
        self.characters += len(text)
        if self.cells > self.limits.table_cells:
            raise over("table_cells", self.limits.table_cells)
        if self.characters > self.limits.characters:
            raise over("characters", self.limits.characters)


def over(limit: str, value: int) -> InputError:
    """The error for a limit that was passed."""
    return InputError(
        f"the spreadsheet passes the limit of {value} {limit.replace('_', ' ')} (setting limits.{limit})",
        Code.LIMIT_EXCEEDED,
        Stage.EXTRACT,
        {"limit": limit, "value": value},
    )


def emit_sheet(builder: Builder, sheet: Sheet) -> None:
    """Add a sheet under a heading with its name."""
    builder.heading(1, f"{sheet.name} (hidden)" if sheet.hidden else sheet.name)
    place = f"sheet {sheet.name}"
    if sheet.hidden:
        builder.warn("hidden_sheet", "a hidden sheet was kept and marked", place)
    if sheet.hidden_rows:
        builder.warn("hidden_rows", "hidden rows were kept", place, sheet.hidden_rows)
    if sheet.hidden_columns:
        builder.warn("hidden_columns", "hidden columns were kept", place, sheet.hidden_columns)
    origins = _merge_origins(sheet)
    for region in _regions(sheet):
        _emit_region(builder, region, origins, place)
    emit(builder, sheet.blocks)
    for comment in sheet.comments:
        builder.paragraph(comment, "comment")


# ---------------------------------------------------------------- regions
@dataclass(slots=True)
class Region:
    """Filled rows in order, as (row number, cells)."""

    rows: list[tuple[int, Row]]

    @property
    def columns(self) -> tuple[int, int]:
        """First and last filled column."""
        return min(min(r) for _, r in self.rows), max(max(r) for _, r in self.rows)


def _regions(sheet: Sheet) -> Iterator[Region]:
    """Contiguous regions, top to bottom. Empty rows part them, and empty columns between two tables."""
    bridged = _bridged_rows(sheet)
    bands: list[Region] = []
    previous: int | None = None
    for number in sorted(n for n, row in sheet.rows.items() if row):
        if (
            previous is None
            or any(n not in bridged for n in range(previous + 1, min(number, previous + 50)))
            or (number - previous > 50)
        ):
            bands.append(Region([]))
        bands[-1].rows.append((number, sheet.rows[number]))
        previous = number
    for band in _joined(bands):
        yield from _split_columns(band)


def _bridged_rows(sheet: Sheet) -> set[int]:
    """Rows without text of their own that a merged cell with text covers."""
    bridged: set[int] = set()
    for top, left, bottom, _ in sheet.merges:
        if bottom > top and bottom - top < 1000 and left in sheet.rows.get(top, {}):
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


# ---------------------------------------------------------------- tables
Origins = dict[tuple[int, int], tuple[int, int]]  # (row, column) → (rowspan, colspan)


def _merge_origins(sheet: Sheet) -> Origins:
    return {
        (top, left): (bottom - top + 1, right - left + 1)
        for top, left, bottom, right in sheet.merges
        if left in sheet.rows.get(top, {})
    }


def _emit_region(builder: Builder, region: Region, origins: Origins, place: str) -> None:
    caption, rows = _caption(region)
    if not rows or (all(len(row) == 1 for _, row in rows) and len({next(iter(row)) for _, row in rows}) == 1):
        for text in [*caption, *(text for _, row in rows for text in row.values())]:
            builder.paragraph(text)
        return
    low, high = Region(rows).columns
    area = (rows[-1][0] - rows[0][0] + 1) * (high - low + 1)
    filled = sum(len(row) for _, row in rows)
    if area > max(_SPARSE_AREA, _SPARSE_FACTOR * filled):
        builder.warn("sparse_table", "cells too scattered for a table were written row by row", place)
        for _, row in rows:
            builder.paragraph(" | ".join(row[c] for c in sorted(row)))
        return
    cells = _cells(rows, low, high, origins)
    header = _header_rows(rows, cells, origins)
    builder.table(table_from_cells(cells, " – ".join(caption) or None, header_rows=header))


def _caption(region: Region) -> tuple[list[str], list[tuple[int, Row]]]:
    """Title lines at the top of a region (rows with one text above wider ones), and the rows that are left."""
    rows = region.rows
    count = 0
    while count < len(rows) and count <= _MAX_CAPTION_ROWS and len(rows[count][1]) == 1:
        text = next(iter(rows[count][1].values()))
        if is_number(text) or len(text) > _MAX_CAPTION:
            return [], rows
        count += 1
    if not 0 < count <= _MAX_CAPTION_ROWS or count == len(rows):
        return [], rows
    return [next(iter(row.values())) for _, row in rows[:count]], rows[count:]


def _cells(rows: list[tuple[int, Row]], low: int, high: int, origins: Origins) -> list[TableCell]:
    """Cells at their places in the region; merged areas are cut to it, empty places filled where spans need it."""
    index_of = {number: index for index, (number, _) in enumerate(rows)}
    bottom = rows[-1][0]
    spanned = any((number, column) in origins for number, row in rows for column in row)
    covered: set[tuple[int, int]] = set()
    cells: list[TableCell] = []
    for index, (number, row) in enumerate(rows):
        for column in range(low, high + 1) if spanned else sorted(row):
            if (index, column) in covered:
                continue
            height, width = origins.get((number, column), (1, 1)) if column in row else (1, 1)
            width = min(width, high - column + 1)
            height = sum(n in index_of for n in range(number, min(number + height, bottom + 1)))
            if height > 1 or width > 1:
                covered.update((r, c) for r in range(index, index + height) for c in range(column, column + width))
            cells.append(TableCell(index, column - low, row.get(column, ""), max(height, 1), width))
    return cells


def _header_rows(rows: list[tuple[int, Row]], cells: list[TableCell], origins: Origins) -> int:
    """Rows that name the columns: the first without numbers, and those that a merged head reaches into."""
    if len(rows) < 2 or any(is_number(text) for text in rows[0][1].values()):
        return 0
    first = [c for c in cells if c.row == 0]
    depth = max((c.rowspan for c in first), default=1)
    grouped = any(c.colspan > 1 and c.text for c in first) or len(rows[0][1]) * 2 <= len(rows[1][1])
    if grouped and depth == 1 and len(rows) > 2 and not any(is_number(t) for t in rows[1][1].values()):
        depth = 2
    return depth if depth < len(rows) else 1
