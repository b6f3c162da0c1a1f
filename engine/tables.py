"""Tables: made from cells or rows, shown as Markdown pipe rows or as HTML with spans."""

from __future__ import annotations

import html
from collections.abc import Iterable

from engine.records import ExtractedTable, TableCell
from engine.text import clean_text


def table_from_cells(
    cells: Iterable[TableCell], caption: str | None = None, header_rows: int | None = None
) -> ExtractedTable:
    """A table from cells at their origins. `header_rows`: default is the rows made of header cells only."""
    texts = [TableCell(c.row, c.col, clean_text(c.text).strip(), c.rowspan, c.colspan, c.header) for c in cells]
    width = max((c.col + c.colspan for c in texts), default=0)
    height = max((c.row + 1 for c in texts), default=0)
    grid = [[""] * width for _ in range(height)]
    for cell in texts:
        grid[cell.row][cell.col] = cell.text
        cell.rowspan = min(cell.rowspan, height - cell.row)  # no further down than rows with cells of their own
    if header_rows is None:
        plain = {c.row for c in texts if not c.header}
        header_rows = next((r for r in range(height) if r in plain), height)
    for cell in texts:
        cell.header = cell.header or cell.row < header_rows
    head = grid[header_rows - 1] if header_rows else []
    body = grid[header_rows:]
    return ExtractedTable(head, body, caption=caption, cells=texts)


def table_from_rows(rows: list[list[str]], header: bool = True, caption: str | None = None) -> ExtractedTable:
    """A table from plain rows; short rows are padded. `header`: the first row names the columns."""
    cells = [
        TableCell(r, c, text, header=header and r == 0) for r, row in enumerate(rows) for c, text in enumerate(row)
    ]
    return table_from_cells(cells, caption, header_rows=1 if header and rows else 0)


def has_spans(table: ExtractedTable) -> bool:
    return any(c.rowspan > 1 or c.colspan > 1 for c in table.cells)


def header_row_count(table: ExtractedTable) -> int:
    """Header rows at the top of `cells`."""
    body = {c.row for c in table.cells if not c.header}
    height = max((c.row + 1 for c in table.cells), default=0)
    return next((r for r in range(height) if r in body), height)


def table_html(table: ExtractedTable) -> str:
    """The table as HTML with its spans."""
    rows: dict[int, list[TableCell]] = {}
    for cell in sorted(table.cells, key=lambda c: (c.row, c.col)):
        rows.setdefault(cell.row, []).append(cell)
    lines = ["<table>"]
    for row in range(max(rows, default=-1) + 1):
        lines.append("<tr>" + "".join(map(_cell_html, rows.get(row, []))) + "</tr>")
    return "\n".join([*lines, "</table>"])


def _cell_html(cell: TableCell) -> str:
    tag = "th" if cell.header else "td"
    spans = "".join(
        f' {name}="{value}"' for name, value in (("rowspan", cell.rowspan), ("colspan", cell.colspan)) if value > 1
    )
    return f"<{tag}{spans}>{html.escape(cell.text, quote=False)}</{tag}>"


def table_lines(table: ExtractedTable) -> list[str]:
    """The table as Markdown pipe rows: header rows, the rule, body rows. Spanned places stay empty."""
    width = max((c.col + c.colspan for c in table.cells), default=len(table.headers))
    if not table.cells:
        grid, heads = [table.headers, *table.rows], 1
    else:
        height = max(c.row + 1 for c in table.cells)
        grid = [[""] * width for _ in range(height)]
        for cell in table.cells:
            grid[cell.row][cell.col] = cell.text
        heads = header_row_count(table)
    lines = ["| " + " | ".join(map(_cell_pipe, row)) + " |" for row in grid]
    rule = "|" + " --- |" * width
    return [*lines[:heads], rule, *lines[heads:]] if heads else ["|" + "  |" * width, rule, *lines]


def _cell_pipe(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
