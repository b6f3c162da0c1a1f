"""A sheet as read, and how it becomes blocks: contiguous regions as tables, titles as captions.

Hidden sheets, rows and columns are kept or left out as the setting extraction.hidden says: kept, a hidden sheet
says so in its heading and a table names its hidden rows and columns in its attributes; both ways they are in the
loss report. A merged cell's text stands once, with its span.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract.flow import emit
from engine.extract.sheet.references import Area, column_letters, runs_of
from engine.extract.sheet.regions import NamedTable, Row, regions
from engine.extract.sheet.tables import emit_region, merge_origins
from engine.records import StructureElement
from engine.settings import Limits


@dataclass(slots=True)
class Sheet:
    """One sheet: filled cells by row and column (0-based), merged areas, what is hidden, comments.

    `merges`: (top, left, bottom, right). `hidden_columns`: first and last of each run.
    """

    name: str
    hidden: bool = False
    rows: dict[int, Row] = field(default_factory=lambda: dict[int, Row]())
    merges: list[Area] = field(default_factory=lambda: list[Area]())
    hidden_rows: set[int] = field(default_factory=lambda: set[int]())
    hidden_columns: list[tuple[int, int]] = field(default_factory=lambda: list[tuple[int, int]]())
    tables: list[NamedTable] = field(default_factory=lambda: list[NamedTable]())
    comments: list[str] = field(default_factory=lambda: list[str]())
    blocks: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())  # charts, boxes
    furniture: list[tuple[str, str]] = field(default_factory=lambda: list[tuple[str, str]]())  # kind, text


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


def emit_sheet(builder: Builder, sheet: Sheet, drop_hidden: bool = False) -> None:
    """Add a sheet under a heading with its name."""
    place = f"sheet {sheet.name}"
    if sheet.hidden:
        builder.warn("hidden_sheet", _fate("a hidden sheet was", drop_hidden, " and marked"), place)
        if drop_hidden:
            return
    builder.heading(1, f"{sheet.name} (hidden)" if sheet.hidden else sheet.name)
    rows, columns = _hidden(builder, sheet, drop_hidden, place)
    origins = merge_origins(sheet.rows, sheet.merges)
    for region in regions(sheet.rows, sheet.merges, sheet.tables):
        if drop_hidden:  # only now: what hidden rows join must not fall apart without them
            visible = ((n, _without(row, columns)) for n, row in region.rows if n not in rows)
            region.rows, region.left_out = [(n, row) for n, row in visible if row], columns
        emit_region(builder, region, origins, place, rows, columns)
    emit(builder, sheet.blocks)
    for comment in sheet.comments:
        builder.paragraph(comment, "comment")
    for kind, text in sheet.furniture:
        builder.paragraph(text, kind)


def _hidden(builder: Builder, sheet: Sheet, drop: bool, place: str) -> tuple[set[int], set[int]]:
    """Hidden rows and columns that hold something, reported."""
    rows = {n for n in sheet.hidden_rows if sheet.rows.get(n)}
    runs = sheet.hidden_columns
    filled = {column for row in sheet.rows.values() for column in row} if runs else set[int]()
    columns = {c for c in filled if any(low <= c <= high for low, high in runs)}
    if rows:
        message = _fate("hidden rows were", drop) + ": " + runs_of(rows, lambda n: str(n + 1))
        builder.warn("hidden_rows", message, place, len(rows))
    if columns:
        message = _fate("hidden columns were", drop) + ": " + runs_of(columns, column_letters)
        builder.warn("hidden_columns", message, place, len(columns))
    return rows, columns


def _fate(what: str, drop: bool, kept: str = "") -> str:
    return f"{what} left out (setting extraction.hidden)" if drop else f"{what} kept{kept}"


def _without(row: Row, columns: set[int]) -> Row:
    return {c: text for c, text in row.items() if c not in columns} if columns else row
