"""RTF tables: rows with the right edges of their cells become a grid with spans."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.extract.flow import cell_text, table_block
from engine.records import StructureElement, TableCell
from engine.tables import table_from_cells

_TOLERANCE_TWIPS = 60  # edges closer than this are the same


@dataclass(slots=True)
class CellDefinition:
    """A cell as \\trowd announces it."""

    right: int = 0
    merge_start: bool = False
    merged: bool = False  # with the cell to its left
    vertical_start: bool = False
    vertical: bool = False  # with the cell above


@dataclass(slots=True)
class RowDefinition:
    left: int = 0
    header: bool = False
    cells: list[CellDefinition] = field(default_factory=lambda: list[CellDefinition]())
    next: CellDefinition = field(default_factory=CellDefinition)


@dataclass(slots=True)
class Row:
    definition: RowDefinition
    cells: list[list[StructureElement]]


def build_table(rows: list[Row]) -> list[StructureElement]:
    """The table of these rows, then what its cells cannot hold."""
    edges = _edges(rows)
    outside: list[StructureElement] = []
    cells: list[TableCell] = []
    above: dict[int, TableCell] = {}
    for number, row in enumerate(rows):
        for definition, left, right, blocks in _placed(row, edges):
            text, more = cell_text(blocks)
            outside += more
            open_cell = above.get(left)
            if definition.vertical and open_cell is not None:
                open_cell.rowspan = number - open_cell.row + 1
                open_cell.text = "\n".join(filter(None, (open_cell.text, text)))
                continue
            cell = TableCell(number, left, text, 1, max(right - left, 1))
            cells.append(cell)
            above.pop(left, None)
            if definition.vertical_start:
                above[left] = cell
    marked = next((i for i, row in enumerate(rows) if not row.definition.header), len(rows))
    header = marked if 0 < marked < len(rows) else min(1, len(rows) - 1)
    return [*([table_block(table_from_cells(cells, header_rows=header))] if cells else []), *outside]


def _edges(rows: list[Row]) -> list[int]:
    positions = sorted({r.definition.left for r in rows} | {c.right for r in rows for c in r.definition.cells})
    edges: list[int] = []
    for position in positions:
        if not edges or position - edges[-1] > _TOLERANCE_TWIPS:
            edges.append(position)
    return edges


def _column(edges: list[int], position: int) -> int:
    return min(range(len(edges)), key=lambda i: abs(edges[i] - position)) if edges else 0


def _placed(row: Row, edges: list[int]) -> list[tuple[CellDefinition, int, int, list[StructureElement]]]:
    """Each cell with its first and last grid line; cells without a definition follow on the right."""
    placed: list[tuple[CellDefinition, int, int, list[StructureElement]]] = []
    left = _column(edges, row.definition.left)
    for index, blocks in enumerate(row.cells):
        known = index < len(row.definition.cells)
        definition = row.definition.cells[index] if known else CellDefinition()
        right = max(_column(edges, definition.right) if known else left + 1, left)
        if definition.merged and placed:
            first, start, _, content = placed[-1]
            placed[-1] = (first, start, right, content + blocks)
        else:
            placed.append((definition, left, right, blocks))
        left = right
    return placed
