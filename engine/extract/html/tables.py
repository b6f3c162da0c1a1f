"""HTML tables: data tables with their spans and rich cells; layout tables read as the blocks they hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborNode

from engine.extract.html.inline import whole_number
from engine.records import StructureElement, TableCell
from engine.tables import table_from_cells

if TYPE_CHECKING:
    from engine.extract.html.blocks import Walker

MAX_SPAN = 1000  # columns; what browsers allow (HTML standard, table model). Rows end with the table.
_NESTED = "table, pre, h1, h2, h3, h4, h5, h6, form, figure"
_ENDED = re.compile(r"\s*\n\s*")


def read_table(node: LexborNode, walker: Walker, depth: int, inside_main: bool) -> list[StructureElement]:
    """The blocks a table stands for: caption and table, or the blocks of its cells where it only lays out."""
    rows = _rows(node)
    filled = [row for row in rows if row.text(strip=True)]
    if _is_line(node, filled):
        return _line(filled[0], walker, depth, inside_main)
    if _is_layout(node, rows):
        inner = walker.sub()
        for cell in (c for row in rows for c in _cells(row)):
            inner.read(cell, depth + 3, inside_main)
        caption = _caption(node, walker, depth)
        return [*([StructureElement("caption", None, caption)] if caption else []), *inner.blocks]
    cells, extra = _grid(rows, walker, depth)
    table = table_from_cells(_without_gaps(cells), caption=_caption(node, walker, depth) or None)
    return [StructureElement("table", None, "", table=table), *extra]


def _rows(node: LexborNode) -> list[LexborNode]:
    """Rows of this table, not of tables inside it; head rows first, foot rows last."""
    heads: list[LexborNode] = []
    bodies: list[LexborNode] = []
    feet: list[LexborNode] = []
    groups = {"thead": heads, "tfoot": feet}
    child = node.child
    while child is not None:
        if child.tag == "tr":
            bodies.append(child)
        elif child.tag in ("thead", "tbody", "tfoot"):
            groups.get(child.tag, bodies).extend(_named(child, {"tr"}))
        child = child.next
    return [*heads, *bodies, *feet]


def _cells(row: LexborNode) -> list[LexborNode]:
    return [c for c in _named(row, {"td", "th"}) if "linenos" not in (c.attributes.get("class") or "")]


def _named(node: LexborNode, tags: set[str]) -> list[LexborNode]:
    found: list[LexborNode] = []
    child = node.child
    while child is not None:
        if child.tag in tags:
            found.append(child)
        child = child.next
    return found


def _is_line(node: LexborNode, rows: list[LexborNode]) -> bool:
    """One row of plain cells without a header: a sentence laid out with its check box, bullet or number."""
    if len(rows) != 1 or node.css_first("th, caption, thead") is not None:
        return False
    return all(cell.css_first("p + p, li, div + div, " + _NESTED) is None for cell in _cells(rows[0]))


def _line(row: LexborNode, walker: Walker, depth: int, inside_main: bool) -> list[StructureElement]:
    """The sentence that the cells make; the blocks of the cells where one of them holds more than a sentence."""
    cells = [walker.sub().read(cell, depth + 3, inside_main) for cell in _cells(row)]
    if sum(len(blocks) > 0 for blocks in cells) == 1 or any(len(blocks) > 2 for blocks in cells):
        return [block for blocks in cells for block in blocks]
    pictures: list[StructureElement] = []
    text = " ".join(t for t in (_cell_text(blocks, pictures) for blocks in cells) if t)
    return [*([StructureElement("paragraph", None, text)] if text else []), *pictures]


def _is_layout(node: LexborNode, rows: list[LexborNode]) -> bool:
    """A table that only places blocks: says so, has one column or row, or holds whole sections in its cells."""
    if node.attributes.get("role") in ("presentation", "none"):
        return True
    widths = [len(_cells(row)) for row in rows]
    if max(widths, default=0) <= 1:
        return True
    if node.css_first("th, caption, thead") is not None and not _holds_page(node):
        return False
    filled = [c for row in rows for c in _cells(row) if c.text(strip=True)]
    if len(rows) == 1:
        return _holds_sections(filled) or len(filled) <= 1
    return _holds_sections(filled) and len(filled) <= 2 * len(rows)


def _holds_page(node: LexborNode) -> bool:
    return node.css_first("main, article, nav, h1") is not None


def _holds_sections(cells: list[LexborNode]) -> bool:
    """At least one cell with headings, tables or several paragraphs of its own."""
    return any(c.css_first(_NESTED) is not None or len(c.css("p")) > 2 or len(c.css("div")) > 3 for c in cells)


def _caption(node: LexborNode, walker: Walker, depth: int) -> str:
    found = _named(node, {"caption"})
    return " ".join(b.content for b in walker.sub().read(found[0], depth + 1)) if found else ""


def _grid(rows: list[LexborNode], walker: Walker, depth: int) -> tuple[list[TableCell], list[StructureElement]]:
    """Cells at their places by the HTML table model, and the pictures found in them."""
    cells: list[TableCell] = []
    pictures: list[StructureElement] = []
    pending: dict[int, int] = {}  # column → row below which a cell from above no longer reaches
    for row_number, row in enumerate(rows):
        column = 0
        for node in _cells(row):
            while pending.get(column, 0) > row_number:
                column += 1
            colspan = min(max(whole_number(node.attributes.get("colspan"), 1), 1), MAX_SPAN)
            rowspan = whole_number(node.attributes.get("rowspan"), 1)
            rowspan = min(rowspan, len(rows) - row_number) if rowspan > 0 else len(rows) - row_number
            text = _cell_text(walker.sub().read(node, depth + 3), pictures)
            header = node.tag == "th" or (row.parent is not None and row.parent.tag == "thead")
            cells.append(TableCell(row_number, column, text, rowspan, colspan, header))
            for covered in range(column, column + colspan):
                pending[covered] = max(pending.get(covered, 0), row_number + rowspan)
            column += colspan
    return cells, pictures


def _cell_text(blocks: list[StructureElement], pictures: list[StructureElement]) -> str:
    lines: list[str] = []
    for block in blocks:
        if block.image is not None:
            pictures += [block] if block.image.data else []
            lines.append(block.image.alt_text or "")
        elif block.table is not None:
            lines += _nested_lines(block)
        elif block.type == "list_item":
            indent = "  " * ((block.level or 1) - 1)
            lines.append(f"{indent}{block.attributes.get('marker', '-')} {block.content}")
        else:
            lines.append(block.content)
    return "\n".join(line for line in lines if line.strip())


def _nested_lines(block: StructureElement) -> list[str]:
    """A table inside a cell: a line per row, as a cell holds text only."""
    table = block.table
    if table is None:
        return []
    rows = [table.headers, *table.rows] if table.headers else table.rows
    return [table.caption or "", *(" | ".join(_ENDED.sub(" ", c) for c in row if c) for row in rows)]


def _without_gaps(cells: list[TableCell]) -> list[TableCell]:
    """The grid without rows and columns that hold no text anywhere (spacers), spans shortened to match."""
    used_columns = {c for cell in cells if cell.text.strip() for c in _kept(cell.col, cell.colspan)}
    used_rows = {r for cell in cells if cell.text.strip() for r in _kept(cell.row, cell.rowspan)}
    if not used_columns:
        return cells
    columns, rows = _renumber(used_columns), _renumber(used_rows)
    kept: list[TableCell] = []
    for cell in cells:
        spanned = [columns[c] for c in range(cell.col, cell.col + cell.colspan) if c in columns]
        lines = [rows[r] for r in range(cell.row, cell.row + cell.rowspan) if r in rows]
        if spanned and lines:
            cell.row, cell.col, cell.rowspan, cell.colspan = lines[0], spanned[0], len(lines), len(spanned)
            kept.append(cell)
    return kept


def _kept(start: int, span: int) -> range:
    """A spanning cell keeps its first column (row); the others stay when a cell of their own needs them."""
    return range(start, start + 1) if span > 1 else range(start, start + span)


def _renumber(used: set[int]) -> dict[int, int]:
    return {old: new for new, old in enumerate(sorted(used))}
