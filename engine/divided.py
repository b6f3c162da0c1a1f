"""Joins words that the end of a page divides, so that each can be found whole on the page where it begins."""

from __future__ import annotations

from collections.abc import Iterable

from engine.records import StructureElement

_HYPHENS = "-\u2010\u00ad"
_TEXT = {"paragraph", "list_item"}
_ASIDE = {"page_header", "page_footer", "note", "image", "caption", "comment", "list"}


def join_divided_words(elements: Iterable[StructureElement]) -> int:
    """Move the rest of a divided word to the page before; the count of words joined.

    `elements`: a document's blocks in source order. Blocks keep their pages, because everything that cites them
    goes by the page.
    """
    joined = 0
    last: StructureElement | None = None
    for element in elements:
        if element.type in _ASIDE:
            continue
        if element.type not in _TEXT:
            last = None
            continue
        if last is not None and _follows(last, element):
            joined += _join(last, element)
        last = element
    return joined


def _follows(above: StructureElement, below: StructureElement) -> bool:
    """Whether one block is the last of its page, the other the first of the next (as far as blocks in order tell)."""
    return above.page_number is not None and below.page_number == above.page_number + 1


def _join(above: StructureElement, below: StructureElement) -> bool:
    text = above.content
    rest, _, others = below.content.partition(" ")
    if not (len(text) > 2 and text[-1] in _HYPHENS and text[-2].isalpha() and rest[:1].islower() and others):
        return False
    if text[-1] != "\u00ad" and "-" in text[:-1].rpartition(" ")[2]:  # "state-of-the-": the hyphen is the word's own
        return False
    above.content = text[:-1] + rest
    below.content = others.lstrip()
    return True
