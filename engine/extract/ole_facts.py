"""Title, author and dates of binary Office files, out of their SummaryInformation stream ([MS-OLEPS], 2.25.1)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import olefile

from engine.records import DocumentMetadata
from engine.sanitize.ole import OLE_ERRORS

_FIRST_YEAR = 1981  # FILETIME counts from 1601; earlier dates are counts of minutes or damaged


def read_ole_facts(path: Path, meta: DocumentMetadata) -> None:
    """Add what the file states. A stream that is missing or damaged states nothing."""
    try:
        with olefile.OleFileIO(str(path)) as ole:
            found: Any = ole.get_metadata()
    except OLE_ERRORS:
        return
    codepage = found.codepage if isinstance(found.codepage, int) else 1252
    meta.title = meta.title or _text(found.title, codepage)
    meta.author = meta.author or _text(found.author, codepage)
    meta.created_date = meta.created_date or _date(found.create_time)
    meta.modified_date = meta.modified_date or _date(found.last_saved_time)


def _text(value: object, codepage: int) -> str | None:
    if isinstance(value, bytes):
        name = "utf-8" if codepage in (65001, -535) else f"cp{codepage % 65536}"
        try:
            value = value.decode(name)
        except (LookupError, UnicodeDecodeError):
            value = value.decode("cp1252", "replace")
    return value.strip("\0 ") or None if isinstance(value, str) else None


def _date(value: object) -> datetime | None:
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.year >= _FIRST_YEAR else None
