"""OpenDocument spreadsheets (.ods): the text each cell shows is stored beside its value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.document import Builder
from engine.errors import InputError, Stage
from engine.extract.children import Children
from engine.extract.number_format import general
from engine.extract.odf.flow import Reader, comment_block, shape_blocks
from engine.extract.odf.parts import DRAW, OFFICE, TABLE, TEXT, inline_text, open_content, read_meta
from engine.extract.odf.styles import Counter, read_styles
from engine.extract.sheet.grid import Budget, Sheet, over
from engine.extract.sheet.references import column_letters
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name

STYLE = "{urn:oasis:names:tc:opendocument:xmlns:style:1.0}"
_MAX_ROW, _MAX_COLUMN = 1_048_576, 16_384


@dataclass(slots=True)
class _Reading:
    """The sheet being filled and where in it we are."""

    sheet: Sheet
    budget: Budget
    shapes: Reader  # of what is drawn over the cells
    row: int = 0
    column: int = 0  # of the column descriptions


def read_ods(package: Package, builder: Builder, children: Children) -> Iterator[Sheet]:
    """Sheets in tab order. Raises InputError as `Package` and `Budget` do."""
    content = open_content(package)
    read_meta(package, builder)
    body = content.find(f"{OFFICE}body/{OFFICE}spreadsheet")
    if body is None:
        raise InputError("this is not an OpenDocument spreadsheet", stage=Stage.EXTRACT)
    invisible = _invisible_table_styles(content)
    budget = Budget(builder.limits)
    styles = read_styles(package.optional_xml("styles.xml"), content)
    reader = Reader(package, builder, children, styles, Counter(styles.outline))
    for table in body.iterchildren(f"{TABLE}table"):
        sheet = Sheet(table.get(f"{TABLE}name") or "Sheet", table.get(f"{TABLE}style-name") in invisible)
        _rows(_Reading(sheet, budget, reader), table)
        yield sheet


def _invisible_table_styles(content: Node) -> set[str | None]:
    return {
        style.get(f"{STYLE}name")
        for style in content.iter(f"{STYLE}style")
        if style.get(f"{STYLE}family") == "table"
        and any(p.get(f"{TABLE}display") == "false" for p in style.iterchildren(f"{STYLE}table-properties"))
    }


def _rows(reading: _Reading, element: Node) -> None:
    for child in element:
        match local_name(child):
            case "table-row":
                _row(reading, child)
            case "table-row-group" | "table-rows" | "table-header-rows":
                _rows(reading, child)
            case "table-column":
                _column(reading, child)
            case "table-column-group" | "table-columns" | "table-header-columns" | "table-source":
                _rows(reading, child)
            case "shapes":
                _drawn(reading, child)
            case _:
                pass


def _column(reading: _Reading, element: Node) -> None:
    last = min(reading.column + _repeat(element, "columns"), _MAX_COLUMN) - 1
    if element.get(f"{TABLE}visibility", "visible") != "visible":
        reading.sheet.hidden_columns.append((reading.column, last))
    reading.column = last + 1


def _repeat(element: Node, what: str) -> int:
    text = element.get(f"{TABLE}number-{what}-repeated", "1")
    return max(int(text), 1) if text.isdigit() else 1


def _row(reading: _Reading, element: Node) -> None:
    """Read a row; a row of content that is repeated stands that many times, an empty one is skipped over."""
    cells = _cells(reading, element)
    repeat = _repeat(element, "rows")
    if cells:
        if element.get(f"{TABLE}visibility", "visible") != "visible":
            reading.sheet.hidden_rows.update(range(reading.row, min(reading.row + repeat, _MAX_ROW)))
        for number in range(reading.row, min(reading.row + repeat, _MAX_ROW)):
            if number > reading.row:
                for text in cells.values():
                    reading.budget.spend(text)
            reading.sheet.rows[number] = dict(cells)
    reading.row += repeat


def _cells(reading: _Reading, element: Node) -> dict[int, str]:
    cells: dict[int, str] = {}
    column = 0
    for cell in element:
        name = local_name(cell)
        if name not in {"table-cell", "covered-table-cell"}:
            continue
        repeat = _repeat(cell, "columns")
        text = _cell_text(cell) if name == "table-cell" else ""
        if text.strip():
            for place in range(column, min(column + repeat, _MAX_COLUMN)):
                reading.budget.spend(text)
                cells[place] = text
            _merge(reading, cell, column)
        _annotations(reading, cell, column)
        column += repeat
    return cells


def _merge(reading: _Reading, cell: Node, column: int) -> None:
    height = cell.get(f"{TABLE}number-rows-spanned", "1")
    width = cell.get(f"{TABLE}number-columns-spanned", "1")
    if (height, width) != ("1", "1") and (height + width).isdigit():
        bottom, right = reading.row + int(height) - 1, column + int(width) - 1
        reading.sheet.merges.append((reading.row, column, bottom, right))
        if len(reading.sheet.merges) > 500_000:
            raise over("merged areas", 500_000)


def _cell_text(cell: Node) -> str:
    """Dates in ISO form, else the text shown, else the stored value."""
    kind = cell.get(f"{OFFICE}value-type", "")
    shown = "\n".join(inline_text(p) for p in cell.iterchildren(f"{TEXT}p"))
    date = cell.get(f"{OFFICE}date-value", "")
    if kind == "date" and date and _is_full_date(shown):
        return date.replace("T00:00:00", "").replace("T", " ")
    if shown:
        return shown
    value = cell.get(f"{OFFICE}value") or cell.get(f"{OFFICE}string-value") or date
    if kind in {"float", "percentage", "currency"} and value:
        try:
            return general(float(value))
        except ValueError:
            return value
    return value or cell.get(f"{OFFICE}boolean-value", "").upper() or cell.get(f"{OFFICE}time-value", "")


def _is_full_date(shown: str) -> bool:
    """Whether the text shown has a day, a month and a year: two numbers and more, or none to go by."""
    return not shown or sum(part.isdigit() for part in "".join(c if c.isdigit() else " " for c in shown).split()) >= 2


def _annotations(reading: _Reading, cell: Node, column: int) -> None:
    for note in cell.iterchildren(f"{OFFICE}annotation"):
        text = comment_block(note).content
        if text:
            reading.sheet.comments.append(f"{column_letters(column)}{reading.row + 1}: {text}")
    if len(cell):
        _drawn(reading, cell)


def _drawn(reading: _Reading, element: Node) -> None:
    """Charts, text boxes and pictures that stand in a cell or over the sheet."""
    for shape in element:
        if shape.tag.startswith(DRAW):
            reading.sheet.blocks.extend(shape_blocks(reading.shapes, shape))
