"""Excel binary workbooks (.xlsb): the records of [MS-XLSB] that hold cells, formats, merges and hiding."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from engine.document import Builder
from engine.errors import InputError
from engine.extract.number_format import BUILTIN, display
from engine.extract.ooxml import Relationships, main_part, read_properties, relationships
from engine.extract.sheet.drawings import drawing_blocks
from engine.extract.sheet.grid import Budget, Sheet, over
from engine.extract.sheet.xlsx import MAX_MERGES, Workbook
from engine.sanitize.package import Package

# Record types, [MS-XLSB] 2.3.2.
_ROW, _RK, _ERROR, _BOOL, _REAL, _TEXT, _SHARED = 0, 2, 3, 4, 5, 6, 7
_FORMULA_TEXT, _FORMULA_NUMBER, _FORMULA_BOOL, _FORMULA_ERROR = 8, 9, 10, 11
_STRING_ITEM, _FORMAT, _XF, _COLUMN, _RICH_TEXT = 19, 44, 47, 60, 62
_WORKBOOK_PROPERTIES, _SHEET, _MERGE, _BEGIN_XFS, _END_XFS = 153, 156, 176, 617, 618
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}

Record = tuple[int, bytes]


def read_xlsb(package: Package, builder: Builder) -> Iterator[Sheet]:
    """Sheets in tab order. Raises InputError as `Package` and `Budget` do."""
    part = main_part(package, "xl/workbook.bin")
    rels = relationships(package, part)
    read_properties(package, builder)
    records = list(_records(package.read(part)))
    epoch_1904 = any(kind == _WORKBOOK_PROPERTIES and data[:1] and data[0] & 1 for kind, data in records)
    budget = Budget(builder.limits)
    book = Workbook(package, builder, budget, _strings(package, rels, budget), _formats(package, rels), epoch_1904)
    for kind, data in records:
        if kind == _SHEET:
            yield _sheet(book, rels, data)


def _records(data: bytes) -> Iterator[Record]:
    """Type and body of each record; a record that runs past the end ends the part."""
    offset = 0
    while offset < len(data):
        kind, offset = _varint(data, offset, 2)
        size, offset = _varint(data, offset, 4)
        if offset + size > len(data):
            return
        yield kind, data[offset : offset + size]
        offset += size


def _varint(data: bytes, offset: int, most: int) -> tuple[int, int]:
    value = 0
    for index in range(most):
        if offset >= len(data):
            break
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << (7 * index)
        if not byte & 0x80:
            break
    return value, offset


def _string(data: bytes, offset: int) -> tuple[str, int]:
    """An XLWideString: length in UTF-16 units, then the text; a null one is empty."""
    (length,) = struct.unpack_from("<I", data, offset)
    offset += 4
    if length == 0xFFFFFFFF:
        return "", offset
    end = offset + 2 * length
    return data[offset:end].decode("utf-16-le", "replace"), end


def _target(rels: Relationships, kind: str, usual: str) -> str:
    return next((r.target for r in rels.values() if r.kind == kind), usual)


def _strings(package: Package, rels: Relationships, budget: Budget) -> list[str]:
    part = _target(rels, "sharedStrings", "xl/sharedStrings.bin")
    if part not in package:
        return []
    strings = [_string(data, 1)[0] for kind, data in _records(package.read(part)) if kind == _STRING_ITEM]
    if sum(map(len, strings)) > budget.limits.characters:
        raise over("characters", budget.limits.characters)
    return strings


def _formats(package: Package, rels: Relationships) -> list[str]:
    part = _target(rels, "styles", "xl/styles.bin")
    own: dict[int, str] = {}
    codes: list[str] = []
    inside = False
    for kind, data in _records(package.read(part)) if part in package else ():
        if kind == _FORMAT:
            own[struct.unpack_from("<H", data)[0]] = _string(data, 2)[0]
        elif kind in {_BEGIN_XFS, _END_XFS}:
            inside = kind == _BEGIN_XFS
        elif kind == _XF and inside:
            key = struct.unpack_from("<H", data, 2)[0]
            codes.append(own.get(key) or BUILTIN.get(key, "General"))
    return codes


def _sheet(book: Workbook, rels: Relationships, data: bytes) -> Sheet:
    (state,) = struct.unpack_from("<I", data)
    rel_id, name = _sheet_names(data)
    sheet = Sheet(name, hidden=state != 0)
    relationship = rels.get(rel_id)
    try:
        if relationship is not None and relationship.kind != "chartsheet":
            _fill(book, sheet, book.package.read(relationship.target))
    except (struct.error, InputError) as error:
        if isinstance(error, InputError) and error.code == "LIMIT_EXCEEDED":
            raise
        book.builder.warn("part_unreadable", f"a sheet was read only in part: {error}", f"sheet {sheet.name}")
    if relationship is not None:
        inner = relationships(book.package, relationship.target)
        sheet.blocks.extend(drawing_blocks(book.package, book.builder, inner))
        if any(r.kind == "comments" for r in inner.values()):
            book.builder.warn("part_skipped", "cell comments of binary workbooks are not read", f"sheet {sheet.name}")
    return sheet


def _sheet_names(data: bytes) -> tuple[str, str]:
    """Relationship id and name of a BrtBundleSh; early versions of Excel 2007 put four more bytes before them."""
    rel_id, name = "", "Sheet"
    for start in (8, 12):
        try:
            rel_id, offset = _string(data, start)
            name, end = _string(data, offset)
        except struct.error:
            continue
        if end == len(data):
            break
    return rel_id, name


def _fill(book: Workbook, sheet: Sheet, data: bytes) -> None:
    row, row_hidden = 0, False
    for kind, body in _records(data):
        if kind == _ROW:
            (row,) = struct.unpack_from("<I", body)
            row_hidden = len(body) > 11 and bool(body[11] & 0x10)
        elif kind <= _FORMULA_ERROR or kind == _RICH_TEXT:
            column, text = _cell(book, kind, body)
            if text.strip():
                book.budget.spend(text)
                if row_hidden:
                    sheet.hidden_rows.add(row)
                sheet.rows.setdefault(row, {})[column] = text
        elif kind == _MERGE and len(sheet.merges) < MAX_MERGES:
            top, bottom, left, right = struct.unpack_from("<4I", body)
            sheet.merges.append((top, left, bottom, right))
        elif kind == _COLUMN and len(body) > 16 and body[16] & 1:
            sheet.hidden_columns.append(struct.unpack_from("<2I", body))


def _cell(book: Workbook, kind: int, body: bytes) -> tuple[int, str]:
    column, style = struct.unpack_from("<2I", body)
    return column, _value(book, kind, body, style & 0xFFFFFF)


def _value(book: Workbook, kind: int, body: bytes, style: int) -> str:
    if kind in {_RK, _REAL, _FORMULA_NUMBER}:
        value = _rk(body) if kind == _RK else struct.unpack_from("<d", body, 8)[0]
        code = book.formats[style] if style < len(book.formats) else "General"
        return display(value, code, book.epoch_1904)
    if kind == _SHARED:
        (index,) = struct.unpack_from("<I", body, 8)
        return book.strings[index] if index < len(book.strings) else ""
    if kind in {_TEXT, _FORMULA_TEXT}:
        return _string(body, 8)[0]
    if kind == _RICH_TEXT:
        return _string(body, 9)[0]
    if kind in {_BOOL, _FORMULA_BOOL}:
        return "TRUE" if body[8] else "FALSE"
    if kind in {_ERROR, _FORMULA_ERROR}:
        return _ERRORS.get(body[8], "#ERROR")
    return ""


def _rk(body: bytes) -> float:
    """An RkNumber: 30 bits of an integer or of a double's head, and whether it is in hundredths."""
    (raw,) = struct.unpack_from("<I", body, 8)
    if raw & 2:
        value = float(struct.unpack("<i", struct.pack("<I", raw & 0xFFFFFFFC))[0] >> 2)
    else:
        value = struct.unpack("<d", struct.pack("<Q", (raw & 0xFFFFFFFC) << 32))[0]
    return value / 100 if raw & 1 else value
