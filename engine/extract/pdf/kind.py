"""Tells what kind of document a PDF is, from a sample of its pages."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Literal

from engine.extract.pdf.model import PageModel

Kind = Literal["born-digital", "scanned", "slides", "atlas", "form", "generic"]
_WIDE = 1.2  # width over height of a slide
_SLIDE_CHARACTERS = 1500  # per page at most
_FORM_FIELDS = 8  # filled ones, per page
_PICTURED = 0.5  # of the page under pictures
_TEXT_CHARACTERS = 300  # per page of a document of text


def document_kind(pages: Sequence[PageModel]) -> Kind:
    """What most of the pages are.

    Scanned: pictures of pages, with or without hidden text. Form: many filled fields. Slides: wide pages with little
    text. Atlas: half of the page or more is pictures. Born-digital: text. Generic: none of these, or too little.
    """
    seen = [p for p in pages if p.width > 0 and p.height > 0]
    if not seen:
        return "generic"
    characters = statistics.median(p.characters for p in seen)
    if _most(seen, _is_scan):
        return "scanned"
    if _most(seen, lambda p: sum(w.kind == "field" for w in p.widgets) >= _FORM_FIELDS):
        return "form"
    if _most(seen, lambda p: p.width >= _WIDE * p.height) and characters <= _SLIDE_CHARACTERS:
        return "slides"
    if _most(seen, lambda p: picture_share(p) >= _PICTURED):
        return "atlas"
    return "born-digital" if characters >= _TEXT_CHARACTERS else "generic"


def picture_share(page: PageModel) -> float:
    """Share of the page's area under pictures, overlaps counted twice; at most 1."""
    area = page.frame_width * page.frame_height
    return min(sum(p.area for p in page.pictures) / area, 1.0) if area else 0.0


def _is_scan(page: PageModel) -> bool:
    """Whether the page is a picture with invisible text or none."""
    return picture_share(page) >= _PICTURED and 2 * page.hidden_characters >= page.characters


def _most(pages: Sequence[PageModel], test: Callable[[PageModel], bool]) -> bool:
    return 2 * sum(map(test, pages)) > len(pages)
