"""Tidies what a document says of itself: no title or author that a program put there, and how many words it has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.records import DocumentMetadata, StructureElement
from engine.text import clean_text

LONGEST_TITLE = 300  # characters of a heading that is taken for the title
# What programs write where nobody named the document or its author, in the languages such programs are common in.
_NO_TITLE = re.compile(
    r"\(?(untitled|anonymous|unnamed|unspecified|no title|none|null)\)?|untitled[ _-]*(document)?[ _-]*\d*"
    r"|(document|dokument|documento|presentation|slide|folie|diapositive|book|workbook|mappe|classeur|page)[ _-]*\d*"
    r"|power ?point[ -](presentation|präsentation)|présentation powerpoint|presentación de powerpoint"
    r"|presentazione standard di powerpoint|presentación\d*|title"
    r"|(microsoft (word|powerpoint|excel) - )?[\w .()-]+\.(docx?|pptx?|xlsx?|pdf|rtf|odt|txt|indd|qxd|ps|dvi|tex|exe)",
    re.IGNORECASE,
)
_NO_AUTHOR = re.compile(
    r"\(?(anonymous|unknown|author|user|admin|administrator|owner|python-docx|python-pptx|openpyxl|none|null)\)?"
    r"|microsoft( office)?( user)?|apache poi|benutzer|utilisateur|usuario",
    re.IGNORECASE,
)
# Formats whose first heading is what people call the document. (That of a workbook names a sheet.)
_TITLED = {"pdf", "docx", "doc", "pptx", "ppt", "odt", "odp", "html", "rtf", "epub", "md", "rst", "org", "ipynb"}
_BESIDE = {"page_header", "page_footer", "image"}  # may stand before the title
# A character of a script without spaces counts as a word, as word processors count.
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD = re.compile(
    rf"[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}][^\s{_IDEOGRAPHS}]*"
)  # linear: each character is looked at once


def count_words(text: str) -> int:
    """Words of a text; marks without a letter or digit (table rules, list signs) are none."""
    return sum(1 for _ in _WORD.finditer(text))


def tidy_facts(meta: DocumentMetadata, structure: Sequence[StructureElement]) -> None:
    """Clean title, author and extra facts in place. Without a title of its own, the document is called by the heading
    it opens with."""
    meta.title, meta.author = _said(meta.title, _NO_TITLE), _said(meta.author, _NO_AUTHOR)
    meta.extra = {clean_text(name): clean_text(value) for name, value in meta.extra.items()}
    if meta.title is None and meta.source_format in _TITLED:
        meta.title = _opening_heading(structure)


def _said(text: str | None, nothing: re.Pattern[str]) -> str | None:
    cleaned = clean_text(text or "").strip()
    return None if nothing.fullmatch(cleaned) else cleaned or None


def _opening_heading(structure: Sequence[StructureElement]) -> str | None:
    first = next((element for element in structure if element.type not in _BESIDE), None)
    if first is None or first.type != "heading" or first.level != 1 or (first.page_number or 1) > 1:
        return None
    return _said(first.content, _NO_TITLE) if len(first.content) <= LONGEST_TITLE else None
