"""A document as plain text, without any markup: for reading aloud, for diffs, and for measuring OCR."""

from __future__ import annotations

from engine.document import FURNITURE, walk
from engine.records import ExtractedDocument, ExtractedTable, StructureElement


def to_text(document: ExtractedDocument) -> str:
    """Blocks one below the other, list items with their markers, cells of a table's row with tabs between them."""
    blocks = [_text(e) for e in walk(document.structure) if e.type not in FURNITURE]
    return "\n\n".join(block for block in blocks if block)


def _text(element: StructureElement) -> str:
    if element.table is not None:
        rows = _rows(element.table)
        return "\n".join([element.table.caption, *rows] if element.table.caption else rows)
    if element.type == "list_item":
        return f"{element.attributes.get('marker', '-')} {element.content}"
    return element.content


def _rows(table: ExtractedTable) -> list[str]:
    if not table.cells:
        return ["\t".join(row) for row in (table.headers, *table.rows)]
    grid: dict[int, list[str]] = {}
    for cell in sorted(table.cells, key=lambda c: (c.row, c.col)):
        grid.setdefault(cell.row, []).append(" ".join(cell.text.split()))
    return ["\t".join(row).rstrip() for _, row in sorted(grid.items())]
