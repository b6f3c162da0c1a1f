"""Embedded files of a PDF as child documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath

from engine.document import Builder
from engine.errors import Code
from engine.extract import Context
from engine.extract.pdf.mupdf import MUPDF_ERRORS, Document, pymupdf
from engine.records import ChildDocument


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


def _embedded(document: Document, builder: Builder) -> Iterator[tuple[str, Callable[[], bytes]]]:
    for index in range(document.embfile_count()):
        info = document.embfile_info(index)
        yield str(info.get("ufilename") or info.get("filename") or info.get("name") or ""), _reader(document, index)
    yield from _in_tree(document, builder.limits.container_members)
    for number in range(min(document.page_count, builder.limits.pages)):
        if not _has_file_annotation(document, number):
            continue
        for annotation in document[number].annots(types=[pymupdf.PDF_ANNOT_FILE_ATTACHMENT]):
            yield str(annotation.file_info.get("filename") or ""), annotation.get_file


def _in_tree(document: Document, most: int) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Files named in the branches of a name tree (ISO 32000-1, 7.9.6), which the library's own list leaves out."""
    branches = _references(document, document.pdf_catalog(), "Names/EmbeddedFiles/Kids")
    seen: set[int] = set()
    while branches and len(seen) <= 2 * most:
        node = branches.pop(0)
        if node in seen:
            continue
        seen.add(node)
        branches += _references(document, node, "Kids")
        for reference in _references(document, node, "Names"):
            streams = _references(document, reference, "EF/F") or _references(document, reference, "EF/UF")
            if streams:
                name = _text(document, reference, "UF") or _text(document, reference, "F")
                yield name, partial(document.xref_stream, streams[0])


def _references(document: Document, number: int, key: str) -> list[int]:
    """Object numbers that a key of an object refers to, in order."""
    try:
        kind, value = document.xref_get_key(number, key)
    except MUPDF_ERRORS:  # a damaged branch has nothing to give
        return []
    return [int(found) for found in re.findall(r"(\d+) \d+ R", value)] if kind in ("array", "xref") else []


def _text(document: Document, number: int, key: str) -> str:
    kind, value = document.xref_get_key(number, key)
    return str(value) if kind == "string" else ""


def _reader(document: Document, index: int) -> Callable[[], bytes]:
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
