"""Tells headings and captions from paragraphs: the outline first, then type size and weight, with vetoes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.extract.pdf.blocks import PageLayout, TextBlock
from engine.extract.pdf.profile import DocumentProfile

CAPTION = re.compile(
    r"^(?:fig(?:ure|\.)?|table|tab\.|chart|plate|exhibit|abb(?:ildung|\.)?|tabelle|tableau|figura|tabla|box|map)"
    r"\s*(?:[A-Z]?\d+|[IVX]+\b)",
    re.IGNORECASE,
)
_CJK_CAPTION = re.compile(r"^[図圖图表]\s*\d")
NUMBERED = re.compile(
    r"^(?:(?:chapter|section|part|appendix|article)\s+[\dIVXA-Z]+\b|\d{1,2}(?:\.\d{1,3}){0,4}\.?\s+\D)", re.I
)
_MAX_CHARACTERS = 240
_MAX_LINES = 4


@dataclass(slots=True)
class OutlineEntry:
    """A bookmark: nesting level from 1, title, page number from 1, and height on the page if given."""

    level: int
    title: str
    page: int
    key: str = ""


@dataclass(slots=True)
class PageHeadings:
    """Which blocks of a page are headings (block index → level, text), and bookmarks that no block shows."""

    levels: dict[int, tuple[int, str]] = field(default_factory=lambda: dict[int, tuple[int, str]]())
    unplaced: list[OutlineEntry] = field(default_factory=lambda: list[OutlineEntry]())


def title_key(text: str) -> str:
    """A title without what outline and page write differently: case, spaces, punctuation, numbering."""
    letters = re.sub(r"[\W_]+", "", text.casefold())
    return re.sub(r"^[\divx]{0,4}(?=\D{3})", "", letters) if re.match(r"^\W*\d", text) else letters


def page_headings(layout: PageLayout, profile: DocumentProfile, outline: Sequence[OutlineEntry]) -> PageHeadings:
    """The headings of one page. `outline`: the bookmarks that point to it."""
    found = PageHeadings()
    wanted = list(outline)
    bold_share = _bold_share(layout)
    for index, block in enumerate(layout.blocks):
        if not isinstance(block, TextBlock) or block.kind == "code":
            continue
        entry = _matching(block, wanted)
        if entry is not None:
            wanted.remove(entry)
            found.levels[index] = (min(entry.level, 6), block.text)
        elif is_heading(block, profile, bold_share):
            found.levels[index] = (_level(block, profile), block.text)
    found.unplaced = wanted
    return found


def is_caption(text: str) -> bool:
    return bool(CAPTION.match(text) or _CJK_CAPTION.match(text))


def _matching(block: TextBlock, outline: list[OutlineEntry]) -> OutlineEntry | None:
    if not outline or len(block.lines) > _MAX_LINES:
        return None
    key = title_key(block.text)
    return next((e for e in outline if e.key and (key == e.key or (len(key) > 8 and key == e.key[: len(key)]))), None)


def _bold_share(layout: PageLayout) -> float:
    total = sum(len(line.text) for line in layout.lines)
    return sum(len(line.text) for line in layout.lines if line.bold) / total if total else 0.0


def is_heading(block: TextBlock, profile: DocumentProfile, bold_share: float) -> bool:
    """Larger or bolder than the body, and nothing speaks against it."""
    text = block.text
    large = profile.is_large(block.size)
    heavy = block.bold and not profile.body_bold and bold_share < 0.4 and block.size >= 0.93 * profile.body_size
    if not large and not heavy:
        return False
    if _vetoed(block, text):
        return False
    if large and block.size >= 1.3 * profile.body_size:
        return len(text.split()) <= 30
    words = len(text.split())
    if block.kind == "item" and not NUMBERED.match(text):
        return False
    return words <= 18 and not (text.endswith(".") and words > 8) and not text[:1].islower()


def _vetoed(block: TextBlock, text: str) -> bool:
    letters = sum(c.isalpha() for c in text)
    if letters < 2 and not text.strip(". ").isdigit():
        return True
    if len(text) > _MAX_CHARACTERS or len(block.lines) > _MAX_LINES or letters < 0.4 * len(text.replace(" ", "")):
        return True
    if text.endswith((",", ";", "-")) or is_caption(text) or "@" in text or "://" in text:
        return True
    return any(b.x0 - a.x1 > 4 * a.size for line in block.lines for a, b in zip(line.runs, line.runs[1:], strict=False))


def _level(block: TextBlock, profile: DocumentProfile) -> int:
    if profile.is_large(block.size):
        return profile.level(block.size)
    deepest = min(len(profile.heading_sizes) + 1, 6)
    number = re.match(r"\d+(?:\.\d+)*", block.text)
    return min(max(deepest, number.group().count(".") + 1), 6) if number else deepest
