"""Spreadsheets (.xlsx, .xls, .xlsb, .ods): sheet by sheet, each under a heading, with displayed values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.document import Builder
from engine.errors import Code, CorpusError, InputError
from engine.extract import Context
from engine.extract.encrypted import decrypted, legacy_is_encrypted, unlock
from engine.extract.libreoffice import convert
from engine.extract.sheet.grid import Sheet, emit_sheet
from engine.extract.sheet.ods import read_ods
from engine.extract.sheet.xls import read_xls
from engine.extract.sheet.xlsb import read_xlsb
from engine.extract.sheet.xlsx import read_xlsx
from engine.records import ExtractedDocument
from engine.sanitize.package import Package


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a workbook of `context.source_format`. Raises InputError as `Package` does, and ENCRYPTED_DOCUMENT."""
    builder = context.builder()
    for sheet in _sheets(path, context, builder):
        emit_sheet(builder, sheet)
    return builder.finish()


def _sheets(path: Path, context: Context, builder: Builder) -> Iterator[Sheet]:
    match context.source_format:
        case "xls":
            yield from _legacy(unlock(path, context) if legacy_is_encrypted(path) else path, context, builder)
        case "xlsb":
            path = decrypted(path, context, "Excel binary workbook")
            with Package(path, builder.limits, builder.warn, "Excel binary workbook") as package:
                yield from read_xlsb(package, builder)
        case "ods":
            with Package(path, builder.limits, builder.warn, "OpenDocument spreadsheet") as package:
                yield from read_ods(package, builder)
        case _:
            path = decrypted(path, context, "Excel workbook")
            with Package(path, builder.limits, builder.warn, "Excel workbook") as package:
                yield from read_xlsx(package, builder)


def _legacy(path: Path, context: Context, builder: Builder) -> list[Sheet]:
    """A binary workbook; one that its reader cannot make sense of is converted by LibreOffice first."""
    try:
        return list(read_xls(path, builder))
    except InputError as error:
        if error.code is not Code.EXTRACTION_FAILED:
            raise
        try:
            converted = convert(path, "xls", "xlsx", context)
        except CorpusError:
            raise error from None
        builder.warn("reader_fallback", f"read through LibreOffice: {error.message}"[:300])
    with Package(converted, builder.limits, builder.warn, "Excel workbook") as package:
        return list(read_xlsx(package, builder))
