"""Word and PowerPoint 97-2003 (.doc, .ppt): converted by a headless LibreOffice, then read as modern files."""

from __future__ import annotations

from pathlib import Path

import olefile

from engine.errors import InputError, Stage
from engine.extract import Context, docx, pptx
from engine.extract.encrypted import is_ole, legacy_is_encrypted, unlock
from engine.extract.libreoffice import convert
from engine.records import ExtractedDocument
from engine.sanitize.ole import OLE_ERRORS


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a .doc or .ppt file, as `context.source_format` says.

    Raises InputError: ENCRYPTED_DOCUMENT, EXTRACTION_TIMEOUT, EXTRACTION_FAILED; CorpusError(MISSING_DEPENDENCY)
    when LibreOffice is not installed.
    """
    is_word = context.source_format == "doc"
    _check(path, "WordDocument" if is_word else "PowerPoint Document", "Word" if is_word else "PowerPoint")
    if legacy_is_encrypted(path):
        path = unlock(path, context)
    target = "docx" if is_word else "pptx"
    converted = convert(path, context.source_format, target, context)
    document = (docx if is_word else pptx).extract(converted, context)
    document.metadata.extra.setdefault("converted_by", "LibreOffice")
    return document


def _check(path: Path, stream: str, program: str) -> None:
    """Raise InputError(EXTRACTION_FAILED) unless the file is the OLE file its format says."""
    if not is_ole(path):
        raise InputError(f"this is not a {program} 97-2003 file: it has no OLE container", stage=Stage.EXTRACT)
    try:
        with olefile.OleFileIO(str(path)) as ole:
            found = ole.exists(stream)
    except OLE_ERRORS as error:
        raise InputError(f"the {program} file is damaged: {error}", stage=Stage.EXTRACT) from error
    if not found:
        raise InputError(f"this OLE file holds no {program} document", stage=Stage.EXTRACT)
