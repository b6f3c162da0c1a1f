"""Properties and bookmarks of a PDF."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

from engine.document import Builder
from engine.extract.pdf.headings import OutlineEntry, title_key
from engine.extract.pdf.mupdf import MUPDF_ERRORS, Document
from engine.records import DocumentMetadata

_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+\-Z])(\d\d)?'?(\d\d)?)?")
_FILE_TITLE = re.compile(
    r"^(?:microsoft \w+ - |untitled|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi|rtf|pdf|pmd|p65)$)", re.I
)
_JUNK_BOOKMARK = re.compile(r"^(?:page|seite|slide|folie|blank page|_\w+)?\s*[\divxl]*$", re.IGNORECASE)
_MAX_BOOKMARKS = 20_000


def read_metadata(document: Document, metadata: DocumentMetadata) -> None:
    """Title, author and dates from the document's properties; a title that is a file name does not count."""
    info = document.metadata or {}
    title = " ".join(str(info.get("title") or "").split())
    metadata.title = title if title and not _FILE_TITLE.match(title) else None
    metadata.author = " ".join(str(info.get("author") or "").split()) or None
    metadata.created_date = parse_date(str(info.get("creationDate") or ""))
    metadata.modified_date = parse_date(str(info.get("modDate") or ""))
    for key in ("subject", "keywords", "creator", "producer"):
        value = " ".join(str(info.get(key) or "").split())
        if value:
            metadata.extra[key] = value[:1000]


def parse_date(text: str) -> datetime | None:
    """A PDF date, D:YYYYMMDDHHmmSSOHH'mm' (ISO 32000-1, 7.9.4), with UTC where no zone is given."""
    found = _DATE.match(text.strip())
    if not found:
        return None
    year, month, day, hour, minute, second, sign, zone_hours, zone_minutes = found.groups()
    try:
        offset = timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
        zone = timezone(-offset if sign == "-" else offset)
        return datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=zone
        )
    except ValueError:
        return None


def read_outline(document: Document, builder: Builder) -> dict[int, list[OutlineEntry]]:
    """Bookmarks by the page they point to. Entries that only number pages are left out."""
    first = document.outline
    if first is not None and not first.this.m_internal:  # none: what follows reads the properties anew first
        return {}
    try:
        entries = document.get_toc(simple=True)
    except MUPDF_ERRORS as error:
        builder.warn("outline_unreadable", f"the bookmarks cannot be read: {str(error)[:100]}")
        return {}
    by_page: dict[int, list[OutlineEntry]] = {}
    for level, title, page, *_ in entries[:_MAX_BOOKMARKS]:
        title = " ".join(str(title).split())
        if page >= 1 and title and not _JUNK_BOOKMARK.match(title):
            by_page.setdefault(page, []).append(OutlineEntry(level, title, page, title_key(title)))
    return by_page
