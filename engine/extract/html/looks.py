"""Headings of pages that have none by name: short bold lines of their own above running text."""

from __future__ import annotations

import re

from engine.records import StructureElement

_MAX_LENGTH = 120
_MAX_SHARE = 0.4  # of a page's blocks; where more is bold, bold means nothing
_MIN_BLOCKS = 8  # a shorter page needs no tree
_NO_END = re.compile(r"[.,;:!]\s*$")


def read_looks(blocks: list[StructureElement], whole_page: bool) -> None:
    """Turn such lines into headings of level 2, on whole pages without any heading; the mark `bold` goes."""
    bold = [block for block in blocks if block.attributes.pop("bold", "") and block.type == "paragraph"]
    if not whole_page or len(blocks) < _MIN_BLOCKS or any(block.type == "heading" for block in blocks):
        return
    found = [block for block in bold if _may_head(block.content)]
    if len(found) > _MAX_SHARE * len(blocks):
        return
    for block in found:
        block.type, block.level = "heading", 2


def _may_head(text: str) -> bool:
    return (
        len(text) <= _MAX_LENGTH
        and "\n" not in text
        and not text.startswith("(")
        and sum(map(str.isalpha, text)) >= 3
        and not (_NO_END.search(text) and not re.match(r"(?:item|part|section|\d)", text, re.IGNORECASE))
    )
