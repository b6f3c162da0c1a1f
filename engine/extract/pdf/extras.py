"""What a PDF carries beside its pages: form values, comments, embedded files, properties, bookmarks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import PurePosixPath
from typing import Any

from engine.document import Builder
from engine.errors import Code
from engine.extract import Context
from engine.extract.pdf.headings import OutlineEntry, title_key
from engine.extract.pdf.model import PageModel, Transform, Widget, apply
from engine.extract.pdf.mupdf import MUPDF_ERRORS, Document, Page, pymupdf
from engine.records import ChildDocument, DocumentMetadata

_COMMENTS = {
    pymupdf.PDF_ANNOT_TEXT, pymupdf.PDF_ANNOT_FREE_TEXT, pymupdf.PDF_ANNOT_HIGHLIGHT, pymupdf.PDF_ANNOT_UNDERLINE,
    pymupdf.PDF_ANNOT_SQUIGGLY, pymupdf.PDF_ANNOT_STRIKE_OUT, pymupdf.PDF_ANNOT_CARET, pymupdf.PDF_ANNOT_SQUARE,
    pymupdf.PDF_ANNOT_CIRCLE, pymupdf.PDF_ANNOT_POLYGON, pymupdf.PDF_ANNOT_LINE, pymupdf.PDF_ANNOT_INK,
    pymupdf.PDF_ANNOT_STAMP,
}  # fmt: skip
_MAX_ANNOTATIONS = 5000  # per page
_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+\-Z])(\d\d)?'?(\d\d)?)?")
_FILE_TITLE = re.compile(
    r"^(?:microsoft \w+ - |untitled|.*\.(?:docx?|pptx?|xlsx?|indd|qxd|tex|dvi|rtf|pdf|pmd|p65)$)", re.I
)
_JUNK_BOOKMARK = re.compile(r"^(?:page|seite|slide|folie|blank page|_\w+)?\s*[\divxl]*$", re.IGNORECASE)
_MAX_BOOKMARKS = 20_000


# ---------------------------------------------------------------- fields and comments
def read_widgets(page: Page, model: PageModel, to_frame: Transform) -> None:
    """Fill `model.widgets` with field values and comments that the page's text does not show already."""
    entries = page.annot_xrefs()
    if not entries:
        return
    shown = _squeezed(" ".join(run.text for run in (*model.runs, *model.asides)))
    kinds = {kind for _, kind, *_ in entries}
    found: Iterator[tuple[str, str, pymupdf.Rect]] = iter(())
    if pymupdf.PDF_ANNOT_WIDGET in kinds:
        found = _fields(page)
    texts = [*found, *(_comments(page) if kinds & _COMMENTS else ())]
    for kind, text, rect in texts[:_MAX_ANNOTATIONS]:
        if _squeezed(text) not in shown:
            model.widgets.append(Widget(kind, text, *apply(to_frame, tuple(rect))))


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def _fields(page: Page) -> Iterator[tuple[str, str, pymupdf.Rect]]:
    for widget in page.widgets():
        value = widget.field_value
        if widget.field_type in (pymupdf.PDF_WIDGET_TYPE_CHECKBOX, pymupdf.PDF_WIDGET_TYPE_RADIOBUTTON):
            if value in (None, False, "", "Off"):
                continue
            value = f"[x] {widget.field_label or ''}".strip()
            if value == "[x]":
                continue
        elif widget.field_type in (pymupdf.PDF_WIDGET_TYPE_BUTTON, pymupdf.PDF_WIDGET_TYPE_SIGNATURE):
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")
        if text.strip():
            yield "field", text.strip(), widget.rect


def _comments(page: Page) -> Iterator[tuple[str, str, pymupdf.Rect]]:
    for annotation in page.annots(types=list(_COMMENTS)):
        text = str(annotation.info.get("content") or "").strip()
        if text:
            author = str(annotation.info.get("title") or "").strip()
            yield "comment", f"{author}: {text}" if author else text, annotation.rect


# ---------------------------------------------------------------- embedded files
def take_attachments(document: Document, builder: Builder, context: Context) -> None:
    """Write embedded files to scratch as child documents, within the container limits."""
    limits = context.settings.limits
    budget = limits.container_mb * 1_048_576
    names: set[str] = set()
    for number, (name, read) in enumerate(_embedded(document, builder)):
        if number >= limits.container_members:
            builder.warn("attachment_skipped", "more embedded files than limits.container_members")
            continue
        inner = _unique(_file_name(name, number), names)
        try:
            data = read()
        except MUPDF_ERRORS as error:
            message = f"the embedded file cannot be read: {str(error)[:100]}"
            builder.attached.append(ChildDocument(inner, inner, "", Code.EXTRACTION_FAILED, message))
            continue
        if len(data) > budget:
            message = "the embedded files pass limits.container_mb"
            builder.attached.append(ChildDocument(inner, inner, "", Code.LIMIT_EXCEEDED, message))
            continue
        budget -= len(data)
        path = context.scratch / f"attached-{number:04d}{PurePosixPath(inner).suffix[:12]}"
        path.write_bytes(data)
        builder.attached.append(ChildDocument(inner, inner, str(path)))


def _embedded(document: Document, builder: Builder) -> Iterator[tuple[str, Any]]:
    for index in range(document.embfile_count()):
        info = document.embfile_info(index)
        yield str(info.get("ufilename") or info.get("filename") or info.get("name") or ""), _reader(document, index)
    for number in range(min(document.page_count, builder.limits.pages)):
        if not _has_file_annotation(document, number):
            continue
        for annotation in document[number].annots(types=[pymupdf.PDF_ANNOT_FILE_ATTACHMENT]):
            yield str(annotation.file_info.get("filename") or ""), annotation.get_file


def _reader(document: Document, index: int) -> Any:
    return lambda: document.embfile_get(index)


def _has_file_annotation(document: Document, number: int) -> bool:
    try:
        return any(kind == pymupdf.PDF_ANNOT_FILE_ATTACHMENT for _, kind, *_ in document.page_annot_xrefs(number))
    except MUPDF_ERRORS:  # the page itself is unreadable, which is reported when it is read
        return False


def _file_name(name: str, number: int) -> str:
    """The last part of a name that may be a path of any system, without control characters."""
    base = re.sub(r"[\x00-\x1f]", "", re.split(r"[/\\]", name)[-1]).strip(". ")
    return base[:200] or f"attachment-{number + 1}"


def _unique(name: str, taken: set[str]) -> str:
    stem, dot, suffix = name.rpartition(".")
    candidate, count = name, 2
    while candidate in taken:
        candidate = f"{stem} ({count}){dot}{suffix}" if dot else f"{name} ({count})"
        count += 1
    taken.add(candidate)
    return candidate


# ---------------------------------------------------------------- properties
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
