"""Rich Text Format (.rtf): text in its code pages, tables, lists, notes, comments, pictures."""

from __future__ import annotations

from pathlib import Path

from engine.errors import InputError, Stage
from engine.extract import Context
from engine.extract.flow import emit
from engine.extract.rtf.reader import read
from engine.records import ExtractedDocument


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read an RTF file. Raises InputError(EXTRACTION_FAILED) when it is none, LIMIT_EXCEEDED past a bound."""
    data = path.read_bytes()
    if not data.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{\\rtf"):
        raise InputError("this is not an RTF file: it does not begin with {\\rtf", stage=Stage.EXTRACT)
    builder = context.builder()
    emit(builder, read(data, builder))
    return builder.finish()
