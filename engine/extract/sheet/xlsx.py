"""Excel workbooks (.xlsx, .xlsm): one streaming pass per sheet for values, formats, merges and what is hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.document import Builder
from engine.errors import Code, InputError
from engine.extract.children import Children
from engine.extract.embedded import attach_part
from engine.extract.number_format import BUILTIN, display, display_text
from engine.extract.ooxml import R, Relationships, main_part, read_properties, relationships
from engine.extract.pptx.text import unescaped
from engine.extract.sheet.drawings import drawing_blocks, persons, sheet_comments
from engine.extract.sheet.grid import Budget, Sheet, over
from engine.extract.sheet.references import column_index, parse_area
from engine.extract.sheet.regions import NamedTable
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, text_of

S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
MAX_MERGES = 500_000
_EMBEDDED = {"package", "oleObject"}
_PRINT_CODE = re.compile(r'&(?:"[^"]*"|K(?:[0-9A-Fa-f]{6}|\d\d[+-]\d{3})|\d+|[A-Za-z])')
_MAX_ROW, _MAX_COLUMN = 1_048_576, 16_384


@dataclass(slots=True)
class Workbook:
    """What all sheets of a workbook share."""

    package: Package
    builder: Builder
    budget: Budget
    strings: list[str]
    formats: list[str]  # number format code by cell style index
    epoch_1904: bool
    persons: dict[str, str] = field(default_factory=lambda: dict[str, str]())  # authors of threads by id
    columns: dict[str, int] = field(default_factory=lambda: dict[str, int]())  # letters → index, as met


def read_xlsx(package: Package, builder: Builder, children: Children) -> Iterator[Sheet]:
    """Sheets in tab order, chart sheets included. Raises InputError as `Package` and `Budget` do."""
    part = main_part(package, "xl/workbook.xml")
    root = package.xml(part)
    rels = relationships(package, part)
    read_properties(package, builder)
    properties = root.find(f"{S}workbookPr")
    epoch_1904 = properties is not None and properties.get("date1904") in {"1", "true"}
    budget = Budget(builder.limits)
    book = Workbook(package, builder, budget, _shared_strings(package, rels), _formats(package, rels), epoch_1904)
    book.persons = persons(package, rels)
    if any(r.kind == "externalLink" for r in rels.values()):
        builder.warn("external_reference", "links to other workbooks were not followed; stored values were read")
    for entry in root.iter(f"{S}sheet"):
        sheet = Sheet(entry.get("name") or "Sheet", hidden=entry.get("state", "visible") != "visible")
        relationship = rels.get(entry.get(f"{R}id", ""))
        if relationship is None or relationship.target not in package:
            builder.warn("part_unreadable", "a sheet has no content part", f"sheet {sheet.name}")
        else:
            _read_sheet(book, sheet, relationship.target, children)
        yield sheet


def _part_of(rels: Relationships, kind: str, usual: str) -> str:
    return next((r.target for r in rels.values() if r.kind == kind and not r.external), usual)


# ---------------------------------------------------------------- shared parts
def _shared_strings(package: Package, rels: Relationships) -> list[str]:
    part = _part_of(rels, "sharedStrings", "xl/sharedStrings.xml")
    if part not in package:
        return []
    strings: list[str] = []
    characters = 0
    for element in package.stream(part, (f"{S}si",)):
        text = _rich_text(element)
        strings.append(text)
        characters += len(text)
        if characters > package.limits.characters:
            raise over("characters", package.limits.characters)
        _drop(element)
    return strings


def _rich_text(element: Node) -> str:
    """Text of a string item: its runs in order, without phonetic guides."""
    parts = [text_of(t) for t in element.iterchildren(f"{S}t")]
    parts += [text_of(t) for run in element.iterchildren(f"{S}r") for t in run.iterchildren(f"{S}t")]
    return unescaped("".join(parts))


def _formats(package: Package, rels: Relationships) -> list[str]:
    root = package.optional_xml(_part_of(rels, "styles", "xl/styles.xml"))
    if root is None:
        return []
    own = {e.get("numFmtId"): e.get("formatCode", "") for e in root.iterfind(f"{S}numFmts/{S}numFmt")}
    codes: list[str] = []
    for style in root.iterfind(f"{S}cellXfs/{S}xf"):
        key = style.get("numFmtId", "0")
        codes.append(own.get(key) or BUILTIN.get(int(key) if key.isdigit() else 0, "General"))
    return codes


def _drop(element: Node) -> None:
    """Free an element and what was read before it."""
    element.clear()
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


# ---------------------------------------------------------------- sheets
_WATCHED = tuple(f"{S}{name}" for name in ("row", "col", "mergeCell", "headerFooter"))


def _read_sheet(book: Workbook, sheet: Sheet, part: str, children: Children) -> None:
    try:
        for element in book.package.stream(part, _WATCHED):
            _read_element(book, sheet, element)
    except InputError as error:
        if error.code is Code.LIMIT_EXCEEDED:
            raise
        book.builder.warn("part_unreadable", error.message, f"sheet {sheet.name}")
    rels = relationships(book.package, part)
    sheet.tables.extend(_named_tables(book.package, rels))
    sheet.comments.extend(sheet_comments(book.package, rels, book.persons))
    sheet.blocks.extend(drawing_blocks(book.package, book.builder, rels))
    for target in dict.fromkeys(r.target for r in rels.values() if r.kind in _EMBEDDED and not r.external):
        attach_part(book.package, target, "", children)


def _named_tables(package: Package, rels: Relationships) -> Iterator[NamedTable]:
    """The areas that the workbook names as tables."""
    for relationship in rels.values():
        root = package.optional_xml(relationship.target) if relationship.kind == "table" else None
        area = parse_area(root.get("ref", "")) if root is not None else None
        if root is not None and area is not None:
            yield NamedTable(area, 0 if root.get("headerRowCount") == "0" else 1)


def _read_element(book: Workbook, sheet: Sheet, element: Node) -> None:
    name = element.tag.removeprefix(S)
    if name == "row":
        _read_row(book, sheet, element)
        _drop(element)
    elif name == "mergeCell":
        area = parse_area(element.get("ref", ""))
        if area is not None:
            sheet.merges.append(area)
        if len(sheet.merges) > MAX_MERGES:
            raise over("merged areas", MAX_MERGES)
        _drop(element)
    elif name == "headerFooter":
        sheet.furniture.extend(_furniture(element))
    elif name == "col" and element.get("hidden") in {"1", "true"}:
        low, high = element.get("min", "1"), element.get("max", "1")
        if (low + high).isdigit():
            sheet.hidden_columns.append((int(low) - 1, int(high) - 1))


def _furniture(element: Node) -> Iterator[tuple[str, str]]:
    """Printed headers and footers, without their codes for fonts, page numbers and the like."""
    for line in element:
        text = " ".join(_PRINT_CODE.sub(" ", text_of(line)).split())
        if text:
            yield ("page_header" if line.tag.endswith("Header") else "page_footer"), text


def _read_row(book: Workbook, sheet: Sheet, element: Node) -> None:
    given = element.get("r", "")
    number = int(given) - 1 if given.isdigit() else max(sheet.rows, default=-1) + 1
    cells: dict[int, str] = {}
    column = -1
    for cell in element.iterchildren(f"{S}c"):
        column = _column(book, cell.get("r", ""), column + 1)
        text = _cell_text(book, sheet, cell)
        if text.strip():
            book.budget.spend(text)
            cells[column] = text
    if cells and 0 <= number < _MAX_ROW:
        sheet.rows[number] = cells
        if element.get("hidden") in {"1", "true"}:
            sheet.hidden_rows.add(number)


def _column(book: Workbook, reference: str, expected: int) -> int:
    letters = reference.rstrip("0123456789")
    if not letters:
        return expected
    index = book.columns.get(letters)
    if index is None:
        index = book.columns[letters] = min(column_index(letters), _MAX_COLUMN - 1)
    return index


def _cell_text(book: Workbook, sheet: Sheet, cell: Node) -> str:
    """What the cell shows: its stored value under its number format."""
    kind = cell.get("t", "n")
    if kind == "inlineStr":
        return "".join(_rich_text(e) for e in cell.iterchildren(f"{S}is"))
    value = cell.find(f"{S}v")
    raw = text_of(value) if value is not None else ""
    if not raw:
        return _uncomputed(book, sheet, cell)
    if kind == "s":
        return _shared(book, raw)
    if kind == "str":
        return unescaped(raw)
    if kind == "b":
        return "TRUE" if raw == "1" else "FALSE"
    if kind in {"e", "d"}:
        return raw.replace("T00:00:00", "")
    return _number_text(book, sheet, cell, raw)


def _uncomputed(book: Workbook, sheet: Sheet, cell: Node) -> str:
    """A formula that was saved without its result shows itself; anything else here is empty."""
    formula = cell.find(f"{S}f")
    text = text_of(formula).strip() if formula is not None else ""
    if text:
        message = "formulas saved without results show as formulas"
        book.builder.warn("formula_without_value", message, f"sheet {sheet.name}")
    return f"={text}" if text else ""


def _shared(book: Workbook, raw: str) -> str:
    try:
        return book.strings[int(raw)]
    except (ValueError, IndexError):
        book.builder.warn("string_missing", "cells point at shared strings that are not there")
        return ""


def _number_text(book: Workbook, sheet: Sheet, cell: Node, raw: str) -> str:
    style = cell.get("s", "0")
    index = int(style) if style.isdigit() else 0
    code = book.formats[index] if index < len(book.formats) else "General"
    try:
        value = float(raw)
    except ValueError:
        return display_text(raw, code)
    shown = display(value, code, book.epoch_1904)
    if not shown and value:
        book.builder.warn("hidden_by_format", "values that a number format hides were left out", f"sheet {sheet.name}")
    return shown
