"""Excel 97-2003 and 95 workbooks (.xls), read with xlrd for their number formats, merges and notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import xlrd

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract.number_format import display, display_text
from engine.extract.sheet.grid import Budget, Sheet


def read_xls(path: Path, builder: Builder) -> Iterator[Sheet]:
    """Sheets in tab order. Raises InputError: ENCRYPTED_DOCUMENT, or EXTRACTION_FAILED when xlrd cannot read it."""
    book = _open(path)
    budget = Budget(builder.limits)
    for index in range(book.nsheets):
        yield _sheet(book, book.sheet_by_index(index), budget, builder)


def _open(path: Path) -> Any:
    try:
        with Path("/dev/null").open("w") as silent:
            return xlrd.open_workbook(str(path), formatting_info=True, ragged_rows=True, logfile=silent)
    except xlrd.biffh.XLRDError as error:
        if "encrypted" in str(error).lower():
            message = "the workbook is encrypted and needs a password (setting password)"
            raise InputError(message, Code.ENCRYPTED_DOCUMENT, Stage.EXTRACT) from error
        raise InputError(f"the workbook cannot be read: {error}", stage=Stage.EXTRACT) from error
    except Exception as error:
        raise InputError(f"the workbook is damaged: {type(error).__name__}: {error}", stage=Stage.EXTRACT) from error


def _sheet(book: Any, source: Any, budget: Budget, builder: Builder) -> Sheet:
    sheet = Sheet(source.name, hidden=source.visibility != 0)
    for number in range(source.nrows):
        row: dict[int, str] = {}
        for column in range(source.row_len(number)):
            text = _cell_text(book, source, number, column)
            if text.strip():
                budget.spend(text)
                row[column] = text
        if row:
            sheet.rows[number] = row
    sheet.merges = [(top, left, bottom - 1, right - 1) for top, bottom, left, right in source.merged_cells]
    sheet.hidden_rows = {n for n, info in source.rowinfo_map.items() if info.hidden}
    sheet.hidden_columns = [(c, c) for c, info in source.colinfo_map.items() if info.hidden]
    for (row_number, column), note in sorted(source.cell_note_map.items()):
        name = f"{xlrd.colname(column)}{row_number + 1}"
        author = note.author.strip()
        label = f"{author}: " if author and not note.text.startswith(author) else ""
        sheet.comments.append(f"{name}: {label}{note.text.strip()}")
    return sheet


def _cell_text(book: Any, source: Any, row: int, column: int) -> str:
    kind, value = source.cell_type(row, column), source.cell_value(row, column)
    if kind in {xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE}:
        return display(float(value), _format(book, source, row, column), book.datemode == 1)
    if kind == xlrd.XL_CELL_BOOLEAN:
        return "TRUE" if value else "FALSE"
    if kind == xlrd.XL_CELL_ERROR:
        return xlrd.error_text_from_code.get(value, "#ERROR")
    return display_text(str(value), _format(book, source, row, column)) if kind == xlrd.XL_CELL_TEXT else ""


def _format(book: Any, source: Any, row: int, column: int) -> str:
    try:
        style = book.xf_list[source.cell_xf_index(row, column)]
        return book.format_map[style.format_key].format_str
    except (IndexError, KeyError):
        return "General"
