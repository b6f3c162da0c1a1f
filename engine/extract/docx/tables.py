"""Word tables: exact spans out of grid columns, and what their cells hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.extract.docx.source import Source
from engine.extract.docx.styles import W, number, toggled, value
from engine.extract.flow import cell_text, table_block
from engine.records import StructureElement, TableCell
from engine.sanitize.safexml import Node
from engine.tables import table_from_cells

Blocks = Callable[[Source, Node], Iterator[StructureElement]]
_WRAPPERS = {f"{W}{name}" for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag")}
_MAX_COLUMNS = 1000


def table_blocks(source: Source, table: Node, blocks: Blocks) -> Iterator[StructureElement]:
    """The table, then what its cells cannot hold (nested tables, pictures, notes, comments).

    A table of one cell is a frame around its content, which is read as ordinary blocks.
    """
    rows = [row for row in _children(table, f"{W}tr") if not _is_deleted(row)]
    if len(rows) == 1 and len(cells := list(_children(rows[0], f"{W}tc"))) == 1:
        yield from blocks(source, cells[0])
        return
    outside: list[StructureElement] = []
    cells = _cells(source, rows, blocks, outside)
    if cells:
        yield table_block(table_from_cells(cells, header_rows=_header_rows(rows, cells)))
    yield from outside


def _children(element: Node, tag: str) -> Iterator[Node]:
    """Children with a tag, looking through content controls and tracked insertions."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _children(child, tag)


def _is_deleted(row: Node) -> bool:
    return row.find(f"{W}trPr/{W}del") is not None


def _cells(source: Source, rows: list[Node], blocks: Blocks, outside: list[StructureElement]) -> list[TableCell]:
    cells: list[TableCell] = []
    above: dict[int, TableCell] = {}  # vertically merged cells still open, by column
    for index, row in enumerate(rows):
        column = before = _skipped_columns(row, "gridBefore")
        known = len(cells)
        for element in _children(row, f"{W}tc"):
            properties = element.find(f"{W}tcPr")
            width = min(max(number(value(properties, "gridSpan")) or 1, 1), _MAX_COLUMNS)
            merge = value(properties, "vMerge")
            open_cell = above.get(column)
            if value(properties, "hMerge") == "continue" and len(cells) > known:
                cells[-1].colspan += width  # the older way to merge sideways: the text is in the first cell
            elif merge is not None and merge != "restart" and open_cell is not None and open_cell.colspan == width:
                open_cell.rowspan = index - open_cell.row + 1
            elif properties is None or properties.find(f"{W}cellDel") is None:
                text, more = cell_text(blocks(source, element), f"row {index + 1}, column {column + 1}")
                outside.extend(more)
                cell = TableCell(index, column, text, 1, width)
                cells.append(cell)
                above.pop(column, None)
                if merge is not None:
                    above[column] = cell
            column += width
        if len(cells) == known and (before or _skipped_columns(row, "gridAfter")):
            cells.append(TableCell(index, 0 if before else column, ""))  # a row of continued cells and a gap
    return cells


def _skipped_columns(row: Node, side: str) -> int:
    return min(number(value(row.find(f"{W}trPr"), side)) or 0, _MAX_COLUMNS)


def _header_rows(rows: list[Node], cells: list[TableCell]) -> int:
    """Rows marked as header; else the first one, as far down as its cells reach."""
    marked = 0
    while marked < len(rows) and toggled(rows[marked].find(f"{W}trPr"), "tblHeader"):
        marked += 1
    if marked:
        return marked if marked < len(rows) else 1
    if len(rows) < 2:
        return 0
    deepest = max((c.rowspan for c in cells if c.row == 0), default=1)
    return deepest if deepest < len(rows) else 1
