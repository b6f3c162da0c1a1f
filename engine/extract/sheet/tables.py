"""Makes a region of a sheet into a table with caption, spans and header rows, or into paragraphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from engine.document import Builder
from engine.extract.sheet.references import Area, area_name, column_letters, runs_of
from engine.extract.sheet.regions import MAX_CAPTION_ROWS, Region, Row, is_number, is_title
from engine.records import TableCell
from engine.tables import table_from_cells

_SPARSE_FACTOR = 50  # a region with fewer than one filled place in so many is no table
_SPARSE_AREA = 10_000

Rows = list[tuple[int, Row]]
Origins = dict[tuple[int, int], tuple[int, int]]  # (row, column) → (rowspan, colspan)


def merge_origins(rows: dict[int, Row], merges: list[Area]) -> Origins:
    """Spans of merged areas that hold text, by the place of it."""
    return {
        (top, left): (bottom - top + 1, right - left + 1)
        for top, left, bottom, right in merges
        if left in rows.get(top, {})
    }


def emit_region(
    builder: Builder, region: Region, origins: Origins, place: str, hidden_rows: set[int], hidden_columns: set[int]
) -> None:
    """Add a region to the document. A table's attributes say where it stands (`range`, as in "B2:D5") and which of
    its rows and columns are hidden."""
    caption, rows = _caption(region) if region.header_rows is None else (region.caption, region.rows)
    if not rows or (region.header_rows is None and _is_one_column(rows)):
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
    header = _header_rows(rows, origins) if region.header_rows is None else min(region.header_rows, len(rows))
    attributes = _attributes(region.left_out, rows, (low, high), hidden_rows, hidden_columns)
    cells = _cells(rows, low, high, origins)
    if region.left_out:
        cells = _closed_up(cells, low, region.left_out)
    builder.table(table_from_cells(cells, " – ".join(caption) or None, header_rows=header), attributes=attributes)


def _attributes(
    left_out: set[int], rows: Rows, columns: tuple[int, int], hidden_rows: set[int], hidden_columns: set[int]
) -> dict[str, str]:
    low, high = columns
    attributes = {"range": area_name((rows[0][0], low, rows[-1][0], high))}
    if inside := [n for n, _ in rows if n in hidden_rows]:
        attributes["hidden_rows"] = runs_of(inside, lambda n: str(n + 1))
    if inside := [c for c in range(low, high + 1) if c in hidden_columns - left_out]:
        attributes["hidden_columns"] = runs_of(inside, column_letters)
    return attributes


def _closed_up(cells: Iterable[TableCell], low: int, left_out: set[int]) -> Iterator[TableCell]:
    """Cells moved together over the columns that were left out."""
    for cell in cells:
        first = cell.col + low
        gone = sum(low <= c < first for c in left_out)
        within = sum(first <= c < first + cell.colspan for c in left_out)
        yield replace(cell, col=cell.col - gone, colspan=max(cell.colspan - within, 1))


def _is_one_column(rows: Rows) -> bool:
    return all(len(row) == 1 for _, row in rows) and len({next(iter(row)) for _, row in rows}) == 1


def _caption(region: Region) -> tuple[list[str], Rows]:
    """Title lines at the top of a region (rows with one text above wider ones), and the rows that are left."""
    rows = region.rows
    count = 0
    while count < len(rows) and count <= MAX_CAPTION_ROWS and len(rows[count][1]) == 1:
        text = next(iter(rows[count][1].values()))
        if not is_title(text):
            return [], rows
        count += 1
    if not 0 < count <= MAX_CAPTION_ROWS or count == len(rows):
        return [], rows
    return [next(iter(row.values())) for _, row in rows[:count]], rows[count:]


def _cells(rows: Rows, low: int, high: int, origins: Origins) -> Iterable[TableCell]:
    """Cells at their places in the region; merged areas are cut to it, empty places filled where spans need it."""
    if not any((number, column) in origins for number, row in rows for column in row):
        return _plain_cells(rows, low)
    return _spanned_cells(rows, low, high, origins)


def _plain_cells(rows: Rows, low: int) -> Iterator[TableCell]:
    """Cells of a region without merged areas; each row is let go as it is used, for a large sheet's sake."""
    for index, (_, row) in enumerate(rows):
        for column in sorted(row):
            yield TableCell(index, column - low, row[column])
        row.clear()


def _spanned_cells(rows: Rows, low: int, high: int, origins: Origins) -> list[TableCell]:
    index_of = {number: index for index, (number, _) in enumerate(rows)}
    bottom = rows[-1][0]
    covered: set[tuple[int, int]] = set()
    cells: list[TableCell] = []
    for index, (number, row) in enumerate(rows):
        for column in range(low, high + 1):
            if (index, column) in covered:
                continue
            height, width = origins.get((number, column), (1, 1)) if column in row else (1, 1)
            width = min(width, high - column + 1)
            height = sum(n in index_of for n in range(number, min(number + height, bottom + 1)))
            if height > 1 or width > 1:
                covered.update((r, c) for r in range(index, index + height) for c in range(column, column + width))
            cells.append(TableCell(index, column - low, row.get(column, ""), max(height, 1), width))
    return cells


def _header_rows(rows: Rows, origins: Origins) -> int:
    """Rows that name the columns: the first without numbers, and those that a merged head reaches into."""
    if len(rows) < 2 or any(is_number(text) for text in rows[0][1].values()):
        return 0
    number, first = rows[0]
    spans = [origins[number, column] for column in first if (number, column) in origins]
    reached = max((number + height for height, _ in spans), default=number + 1)
    depth = max(sum(n < reached for n, _ in rows), 1)
    grouped = any(width > 1 for _, width in spans) or len(first) * 2 <= len(rows[1][1])
    if grouped and depth == 1 and len(rows) > 2 and not any(is_number(t) for t in rows[1][1].values()):
        depth = 2
    return depth if depth < len(rows) else 1
