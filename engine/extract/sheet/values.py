"""Workbooks read through calamine: values and dates without number formats (a fallback for damaged .xls)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, SheetTypeEnum, SheetVisibleEnum

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract.date_format import iso
from engine.extract.number_format import general
from engine.extract.sheet.grid import Budget, Sheet


def read_values(path: Path, builder: Builder) -> Iterator[Sheet]:
    """Sheets in tab order. Raises InputError: ENCRYPTED_DOCUMENT or EXTRACTION_FAILED."""
    budget = Budget(builder.limits)
    builder.warn("number_formats_ignored", "numbers were read as stored; percent and currency formats are not shown")
    try:
        with CalamineWorkbook.from_path(str(path)) as book:
            for meta in book.sheets_metadata:
                sheet = Sheet(meta.name, hidden=meta.visible != SheetVisibleEnum.Visible)
                if meta.typ == SheetTypeEnum.WorkSheet:
                    _fill(book, sheet, budget)
                yield sheet
    except PasswordError as error:
        message = "the workbook is encrypted and needs a password (setting password)"
        raise InputError(message, Code.ENCRYPTED_DOCUMENT, Stage.EXTRACT) from error
    except (CalamineError, OSError) as error:
        raise InputError(f"the workbook cannot be read: {error}", stage=Stage.EXTRACT) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a Rust panic, which is no Exception to Python
            raise
        raise InputError(f"the workbook is damaged: {error}", stage=Stage.EXTRACT) from error


def _fill(book: CalamineWorkbook, sheet: Sheet, budget: Budget) -> None:
    source = book.get_sheet_by_name(sheet.name)
    for number, values in enumerate(source.iter_rows()):
        row: dict[int, str] = {}
        for column, value in enumerate(values):
            text = _shown(value)
            if text.strip():
                budget.spend(text)
                row[column] = text
        if row:
            sheet.rows[number] = row
    for top, bottom in source.merged_cell_ranges or []:
        sheet.merges.append((top[0], top[1], bottom[0], bottom[1]))


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float | int):
        return general(float(value))
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        hours, rest = divmod(round(value.total_seconds()), 3600)
        return f"{hours}:{rest // 60:02d}:{rest % 60:02d}"
    return str(value)
