"""Finds footnotes: smaller type at the foot of a page or column that begins with a note's mark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from engine.extract.pdf.blocks import Block, TextBlock
from engine.extract.pdf.captions import is_caption

_SMALLER = 0.95  # of the body's size
_FOOT = 0.35  # of the page's height; notes begin below
_LONG = 40  # characters of running text
_APART = 1.6  # of the type size; white within one note's stretch
MARK = re.compile(r"(?:\[?(\d{1,3})[\].)]?|([*†‡§¶#]{1,3}))\s*(?=[^\W\d_]|[\"“‘«(])")


def set_notes_apart(blocks: Sequence[Block], body_size: float, height: float) -> list[Block]:
    """The blocks with footnotes behind the text, their kind set to "note".

    `body_size` of the document, `height` of the page, in points. A stretch of blocks at the foot, smaller than the
    text above, is notes if one of them begins with a mark; those before it go on from the page before.
    """
    if not _may_have_notes(blocks, height):
        return list(blocks)
    stretches = [s for s in _stretches(blocks, body_size, height) if any(note_mark(b.text) for b in s)]
    if not stretches:
        return list(blocks)
    small = {id(b) for stretch in stretches for b in stretch}
    text = " ".join(b.text for b in blocks if isinstance(b, TextBlock) and id(b) not in small)
    notes = [b for stretch in stretches if any(_is_referred_to(b, text) for b in stretch) for b in stretch]
    taken = {id(n) for n in notes}
    rest = [b for b in blocks if id(b) not in taken]
    if not notes or not rest:
        return list(blocks)
    for note in notes:
        note.kind = "note"
    end, bottom = len(rest), max(n.y1 for n in notes)
    while end and rest[end - 1].y0 > bottom - 2:  # page numbers and the like stay last
        end -= 1
    return [*rest[:end], *notes, *rest[end:]]


def _may_have_notes(blocks: Sequence[Block], height: float) -> bool:
    """A cheap look before the closer one: a marked block at the foot that is smaller than some other."""
    texts = [b for b in blocks if isinstance(b, TextBlock)]
    largest = max((b.size for b in texts), default=0.0)
    return any(
        MARK.match(b.lines[0].text) and b.size <= _SMALLER * largest and b.lines[0].y0 >= _FOOT * height for b in texts
    )


def note_mark(text: str) -> str:
    """The number or sign that a note begins with; empty without one."""
    found = MARK.match(text)
    return (found.group(1) or found.group(2)) if found else ""


def _is_referred_to(block: TextBlock, text: str) -> bool:
    """Whether a note's number stands in the page's text; signs need not, they are often lost."""
    mark = note_mark(block.text)
    return bool(mark) and (not mark.isdigit() or re.search(rf"(?<!\d){mark}(?!\d)", text) is not None)


def _stretches(blocks: Sequence[Block], body_size: float, height: float) -> list[list[TextBlock]]:
    """Runs of blocks that follow each other closely, smaller than the text above them, at the foot of the page."""
    stretches: list[list[TextBlock]] = []
    for before, block in pairwise([None, *blocks]):
        if not isinstance(block, TextBlock) or block.kind == "code" or block.y0 < _FOOT * height:
            continue
        if stretches and stretches[-1][-1] is before and _goes_on(stretches[-1][-1], block):
            stretches[-1].append(block)
        elif block.size <= _SMALLER * _size_above(block, blocks, body_size) and not is_caption(block.text):
            stretches.append([block])
    return [s for s in stretches if not _stands_over_text(s, blocks)]


def _goes_on(note: TextBlock, block: TextBlock) -> bool:
    return abs(note.size - block.size) < 0.6 and note.y0 < block.y0 < note.y1 + _APART * block.size


def _size_above(block: TextBlock, blocks: Sequence[Block], body_size: float) -> float:
    """Type size of the nearest text above in the block's column; the document's body's at the top of a column."""
    above = [b for b in blocks if isinstance(b, TextBlock) and b.y1 < block.y0 + 2 and _overlap(b, block)]
    nearest = max((b for b in above if _is_long(b)), key=lambda b: b.y1, default=None)
    return nearest.size if nearest else body_size


def _stands_over_text(stretch: Sequence[TextBlock], blocks: Sequence[Block]) -> bool:
    """Whether more text or a table follows below."""
    last = stretch[-1]
    under = [b for b in blocks if b.y0 > last.y1 - 2 and _overlap(b, last)]
    return any(not isinstance(b, TextBlock) or _is_long(b) for b in under)


def _is_long(block: TextBlock) -> bool:
    return sum(len(line.text) for line in block.lines) > _LONG


def _overlap(one: Block, other: Block) -> bool:
    return one.x0 < other.x1 and one.x1 > other.x0
