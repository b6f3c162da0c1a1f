"""Tells headings from paragraphs: the outline first, then their looks; and gives them levels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engine.extract.pdf.blocks import Block, PageLayout, TextBlock
from engine.extract.pdf.heading_chance import chance, is_heading_by_both, model_odds
from engine.extract.pdf.looks import Looks, page_looks
from engine.extract.pdf.profile import DocumentProfile, section_depth
from engine.extract.pdf.spacing import is_rtl

_MAX_LINES = 4
_OPEN = (0.08, 0.8)  # chances by looks between which a reader may think otherwise
_UPPER = 0.45  # of a slide's height; its title begins above
_LARGER = 1.1  # of the body's size


@dataclass(slots=True)
class OutlineEntry:
    """A bookmark: nesting level from 1, title, page number from 1, and height on the page if given."""

    level: int
    title: str
    page: int
    key: str = ""


@dataclass(slots=True)
class PageHeadings:
    """Which blocks of a page are headings (block index → level, text), bookmarks that no block shows, and blocks
    that may or may not be headings (block index → chance, level)."""

    levels: dict[int, tuple[int, str]] = field(default_factory=lambda: dict[int, tuple[int, str]]())
    unplaced: list[OutlineEntry] = field(default_factory=lambda: list[OutlineEntry]())
    doubts: dict[int, tuple[float, int]] = field(default_factory=lambda: dict[int, tuple[float, int]]())


def title_key(text: str) -> str:
    """A title without what outline and page write differently: case, spaces, punctuation, numbering."""
    letters = re.sub(r"[\W_]+", "", text.casefold())
    return re.sub(r"^\d+(?=\D{3})", "", letters)


def page_headings(
    layout: PageLayout,
    profile: DocumentProfile,
    outline: Sequence[OutlineEntry],
    tagged: Sequence[OutlineEntry] = (),
) -> PageHeadings:
    """The headings of one page. `outline`: the bookmarks that point to it; `tagged`: its tagged headings.

    Both are taken for the truth, the bookmarks first. A block that begins with such a title is cut behind it.
    """
    found = PageHeadings()
    wanted, marked = list(outline), list(tagged)
    if wanted or marked:
        layout.blocks = _cut_behind_titles(layout.blocks, {e.key for e in (*wanted, *marked) if e.key})
    looks = page_looks(layout, profile)
    for index, (block, look) in enumerate(zip(layout.blocks, looks, strict=True)):
        if look is None or not isinstance(block, TextBlock):
            continue
        mark, entry = _matching(block, marked), _matching(block, wanted)
        if mark is not None:
            marked.remove(mark)
        if entry is not None:
            wanted.remove(entry)
        told = entry or mark
        if told is not None:
            found.levels[index] = (min(told.level, 6), block.text)
            continue
        if is_heading_by_both(look, model_odds(block.lines)) and _fits_kind(look, profile):
            found.levels[index] = (_level(block, profile), block.text)
        if not look.chapter and not look.item and _OPEN[0] < chance(look) < _OPEN[1]:
            found.doubts[index] = (chance(look), _level(block, profile))
    if profile.kind == "slides":
        _add_slide_title(layout, looks, profile, found)
    found.unplaced = wanted
    return found


def _matching(block: TextBlock, told: list[OutlineEntry]) -> OutlineEntry | None:
    if not told or len(block.lines) > _MAX_LINES:
        return None
    key = title_key(block.text)
    return next((e for e in told if e.key and _same_title(key, e.key)), None)


def _same_title(key: str, told: str) -> bool:
    """Equal, or the page shows the beginning only; ligatures of Arabic may have their letters in another order."""
    return key == told or (len(key) > 8 and told.startswith(key)) or (is_rtl(key) and sorted(key) == sorted(told))


def _cut_behind_titles(blocks: Sequence[Block], keys: set[str]) -> list[Block]:
    """The blocks, those that begin with a whole title and go on behind it cut in two."""
    cut: list[Block] = []
    for block in blocks:
        lines = _title_lines(block, keys) if isinstance(block, TextBlock) and block.kind != "code" else 0
        if lines and isinstance(block, TextBlock):
            cut.append(replace(block, lines=block.lines[:lines]))
            cut.append(TextBlock(block.lines[lines:], gap_above=block.lines[lines].y0 - block.lines[lines - 1].y1))
        else:
            cut.append(block)
    return cut


def _title_lines(block: TextBlock, keys: set[str]) -> int:
    """How many lines at the start of a block are a title; 0 when none or all are."""
    text = ""
    for count, line in enumerate(block.lines[:_MAX_LINES], 1):
        text = f"{text} {line.text}"
        if count < len(block.lines) and title_key(text) in keys:
            return count
    return 0


def _fits_kind(look: Looks, profile: DocumentProfile) -> bool:
    """In forms, labels are bold and short as well: a title must be larger or numbered."""
    return profile.kind != "form" or look.large or look.chapter


def _add_slide_title(
    layout: PageLayout, looks: Sequence[Looks | None], profile: DocumentProfile, found: PageHeadings
) -> None:
    """A slide's title is its largest text, if that is one short block in the upper part."""
    height = layout.model.frame_height
    titles = [
        (block.size, -block.y0, index)
        for index, (block, look) in enumerate(zip(layout.blocks, looks, strict=True))
        if look is not None and isinstance(block, TextBlock) and not (look.vetoed or look.long or look.item)
    ]
    if not titles:
        return
    size, top, index = max(titles)
    alone = sum(s > size - 0.5 for s, _, _ in titles) == 1
    if alone and -top < _UPPER * height and size > _LARGER * profile.body_size and index not in found.levels:
        found.levels[index] = (1, layout.blocks[index].text)


def _level(block: TextBlock, profile: DocumentProfile) -> int:
    """By the depth of the section number where the document numbers its sections, else by type."""
    depth = section_depth(block.text)
    if depth in profile.numbered:
        return profile.numbered[depth]
    level = profile.style_level(block.size)
    return min(max(level, depth), 6)
