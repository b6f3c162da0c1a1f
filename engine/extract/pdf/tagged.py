"""Reads headings from the structure tree of a tagged PDF (ISO 32000-1, 14.7 and 14.8.4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from engine.extract.pdf.headings import OutlineEntry, title_key
from engine.extract.pdf.mupdf import MUPDF_ERRORS, TEXT_FLAGS, Document, pymupdf
from engine.extract.pdf.profile import sample_numbers

_STRUCTURE = 2  # type of a structure element among the blocks of a text page
_HEADING = re.compile(r"H([1-6]?)$")
_MAX_DEPTH = 60
_MAX_CHARACTERS = 300


@dataclass(slots=True)
class TaggedHeadings:
    """The headings that a document's tags name, page by page. Reads nothing where the document has no tags."""

    document: Document
    _worth: bool | None = None
    _known: dict[int, list[OutlineEntry]] = field(default_factory=lambda: dict[int, list[OutlineEntry]]())

    def on_page(self, number: int) -> list[OutlineEntry]:
        """Headings tagged on a page, by number from 1. Costs about as much as the page's text once more.

        Where none stands on a sample of the document's pages, no more are looked for: the same for all parts that a
        document may be read in.
        """
        if self._worth is None:
            sample = sample_numbers(self.document.page_count)
            self._worth = is_tagged(self.document) and any(map(self._page, sample))
        return self._page(number) if self._worth else []

    def _page(self, number: int) -> list[OutlineEntry]:
        if number not in self._known:
            try:
                self._known[number] = self._read(number)
            except MUPDF_ERRORS:  # a broken tree: what the page looks like decides
                self._known[number] = []
        return self._known[number]

    def _read(self, number: int) -> list[OutlineEntry]:
        flags = TEXT_FLAGS | pymupdf.TEXT_COLLECT_STRUCTURE
        blocks = self.document[number - 1].get_textpage(flags=flags).extractDICT()["blocks"]
        return [
            OutlineEntry(level, text, number, title_key(text))
            for level, text in _headings(blocks, 0, 0)
            if 0 < len(text) <= _MAX_CHARACTERS
        ]


def is_tagged(document: Document) -> bool:
    """Whether the document says that its tags are worth something, and has some."""
    try:
        catalog = document.pdf_catalog()
        marked = document.xref_get_key(catalog, "MarkInfo/Marked")[1] == "true"
        return marked and document.xref_get_key(catalog, "StructTreeRoot")[0] != "null"
    except MUPDF_ERRORS:
        return False


def _headings(blocks: list[dict[str, Any]], depth: int, sections: int) -> Iterator[tuple[int, str]]:
    """Level and text of every heading element. H has the level of its nesting in sections, H1 to H6 their own."""
    if depth > _MAX_DEPTH:
        return
    for block in blocks:
        if block["type"] != _STRUCTURE:
            continue
        role = str(block.get("std") or block.get("raw") or "")
        heading = _HEADING.match(role)
        if heading or role == "Title":
            level = int(heading.group(1)) if heading and heading.group(1) else max(sections, 1)
            yield min(level, 6), " ".join(" ".join(_texts(block, depth)).split())
        else:
            yield from _headings(block.get("blocks", []), depth + 1, sections + (role in {"Sect", "Art", "Part"}))


def _texts(block: dict[str, Any], depth: int) -> Iterator[str]:
    for line in block.get("lines", ()):
        yield "".join(span["text"] for span in line["spans"])
    if depth < _MAX_DEPTH:
        for child in block.get("blocks", ()):
            yield from _texts(child, depth + 1)
