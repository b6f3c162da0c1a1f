"""Tells headings and captions from paragraphs: the outline first, then type size and weight, with vetoes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.extract.pdf.blocks import PageLayout, TextBlock
from engine.extract.pdf.profile import DocumentProfile, section_depth

CAPTION = re.compile(
    r"^(?:fig(?:ure|\.)?|table|tab\.|chart|plate|exhibit|abb(?:ildung|\.)?|tabelle|tableau|figura|tabla|box|map)"
    r"\s*(?:[A-Z]?\d+|[IVX]+\b)",
    re.IGNORECASE,
)
_CJK_CAPTION = re.compile(r"^[図圖图表]\s*\d")
NUMBERED = re.compile(
    r"^(?:(?:chapter|section|part|appendix|article)\s+[\dIVXA-Z]+\b|\d{1,2}(?:\.\d{1,3}){0,4}\.?\s+\D)", re.I
)
SECTION_NUMBER = re.compile(r"^\d{1,2}(?:\.\d{1,2}){1,4}\.?\s+[A-Z\u00c0-\u00de]")
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
    return re.sub(r"^\d+(?=\D{3})", "", letters)


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
    """Larger, bolder, capitalised or numbered unlike the body, and nothing speaks against it."""
    if len(block.lines) > _MAX_LINES:
        return False
    text = block.text
    if _vetoed(block, text):
        return False
    words = len(text.split())
    if block.size >= 1.3 * profile.body_size and profile.is_large(block.size):
        return words <= 30
    if words > 18 or (text.endswith(".") and words > 8) or text[:1].islower():
        return False
    if _is_numbered_title(block, text, profile):
        return True
    if block.kind == "item" and not NUMBERED.match(text):
        return False
    heavy = block.bold and not profile.body_bold and bold_share < 0.4 and block.size >= 0.6 * profile.body_size
    return heavy or profile.is_large(block.size) or _is_capital_title(block, text, profile)


def _is_numbered_title(block: TextBlock, text: str, profile: DocumentProfile) -> bool:
    """One short line with a section number: several levels of it, or one and larger type than the body."""
    if len(block.lines) > 2 or text.endswith((".", ":")) or not NUMBERED.match(text):
        return False
    if SECTION_NUMBER.match(text):
        return True
    return block.size >= 1.03 * profile.body_size and block.gap_above > 0.8 * block.size


def _is_capital_title(block: TextBlock, text: str, profile: DocumentProfile) -> bool:
    """One isolated line of capitals, at least two words, about as large as the body."""
    if not text.isupper() or len(block.lines) > 2 or len(text.split()) < 2 or any(c.isdigit() for c in text):
        return False
    return block.size >= 0.8 * profile.body_size and block.gap_above > 0.6 * block.size


def _vetoed(block: TextBlock, text: str) -> bool:
    if len(text) > _MAX_CHARACTERS:
        return True
    letters = sum(c.isalpha() for c in text)
    if letters < 0.4 * len(text.replace(" ", "")) or (letters < 2 and not text.strip(". ").isdigit()):
        return True
    if text.endswith((",", ";", "-")) or is_caption(text) or "@" in text or "://" in text or "...." in text:
        return True
    return any(b.x0 - a.x1 > 4 * a.size for line in block.lines for a, b in itertools.pairwise(line.runs))


def _level(block: TextBlock, profile: DocumentProfile) -> int:
    """By the depth of the section number where the document numbers its sections, else by type."""
    depth = section_depth(block.text)
    if depth in profile.numbered:
        return profile.numbered[depth]
    level = profile.style_level(block.size)
    return min(max(level, depth), 6)
