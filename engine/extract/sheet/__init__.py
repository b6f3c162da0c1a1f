"""Spreadsheets (.xlsx, .xls, .xlsb, .ods): sheet by sheet, each under a heading, with displayed values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engine.document import Builder
from engine.errors import Code, CorpusError, InputError
from engine.extract import Context
from engine.extract.children import Children
from engine.extract.encrypted import decrypted, legacy_is_encrypted, unlock
from engine.extract.flow import keep_furniture
from engine.extract.libreoffice import convert
from engine.extract.ole_facts import read_ole_facts
from engine.extract.sheet.grid import Sheet, emit_sheet
from engine.extract.sheet.ods import read_ods
from engine.extract.sheet.xls import read_xls
from engine.extract.sheet.xls_objects import draws
from engine.extract.sheet.xlsb import read_xlsb
from engine.extract.sheet.xlsx import read_xlsx
from engine.records import ExtractedDocument
from engine.sanitize.package import Package


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a workbook of `context.source_format`. Raises InputError as `Package` does, and ENCRYPTED_DOCUMENT."""
    builder = context.builder()
    for sheet in _sheets(path, context, builder):
        emit_sheet(builder, sheet, context.settings.extraction.hidden == "drop")
    keep_furniture(builder, context.settings)
    return builder.finish()


def _sheets(path: Path, context: Context, builder: Builder) -> Iterator[Sheet]:
    children = Children(builder, context)
    yield from _read(path, context, builder, children)
    children.close()


def _read(path: Path, context: Context, builder: Builder, children: Children) -> Iterator[Sheet]:
    match context.source_format:
        case "xls":
            yield from _legacy(unlock(path, context) if legacy_is_encrypted(path) else path, context, builder, children)
        case "xlsb":
            path = decrypted(path, context, "Excel binary workbook")
            with Package(path, builder.limits, builder.warn, "Excel binary workbook") as package:
                yield from read_xlsb(package, builder)
        case "ods":
            with Package(path, builder.limits, builder.warn, "OpenDocument spreadsheet") as package:
                yield from read_ods(package, builder, children)
        case _:
            path = decrypted(path, context, "Excel workbook")
            with Package(path, builder.limits, builder.warn, "Excel workbook") as package:
                yield from read_xlsx(package, builder, children)


def _legacy(path: Path, context: Context, builder: Builder, children: Children) -> list[Sheet]:
    """A binary workbook; one that its reader cannot make sense of is converted by LibreOffice first."""
    read_ole_facts(path, builder.metadata)
    try:
        sheets = list(read_xls(path, builder))
    except InputError as error:
        if error.code is not Code.EXTRACTION_FAILED:
            raise
        try:
            sheets = _converted(path, context, builder, children)
        except CorpusError:
            raise error from None
        builder.warn("reader_fallback", f"read through LibreOffice: {error.message}"[:300])
        return sheets
    return _with_drawings(sheets, path, context, builder) if draws(path) else sheets


def _converted(path: Path, context: Context, builder: Builder, children: Children) -> list[Sheet]:
    converted = convert(path, "xls", "xlsx", context)
    with Package(converted, builder.limits, builder.warn, "Excel workbook") as package:
        return list(read_xlsx(package, builder, children))


def _with_drawings(sheets: list[Sheet], path: Path, context: Context, builder: Builder) -> list[Sheet]:
    """The sheets with charts and text boxes, which only LibreOffice reads, and the sheets that are nothing else."""
    aside = context.builder()
    try:
        drawn = _converted(path, context, aside, Children(aside, context))
    except CorpusError as error:
        builder.warn("drawing_skipped", f"charts and text boxes could not be read: {error.message}"[:300])
        return sheets
    by_name = {sheet.name: sheet for sheet in sheets}
    for sheet in drawn:
        if sheet.name in by_name:
            by_name[sheet.name].blocks = sheet.blocks
    return [by_name.get(sheet.name, sheet) for sheet in drawn if sheet.name in by_name or sheet.blocks] or sheets
