"""How the text blocks of a page look, as figures that tell headings from the rest."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from engine.extract.pdf.blocks import Block, PageLayout, TextBlock
from engine.extract.pdf.captions import is_caption
from engine.extract.pdf.figures import figure_boxes
from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.model import PageModel, Rectangle
from engine.extract.pdf.profile import DocumentProfile
from engine.extract.pdf.titles import is_chapter, is_named, is_no_title, is_numbered

_LONG, _SHORT = 15, 10  # words
_MAX_CHARACTERS = 240
_MAX_LINES = 4
_MARGIN = 0.07  # of the page's height
_LARGER = 1.04  # of the body's size
_RUNNING = 60  # characters; longer blocks are running text


@dataclass(slots=True, frozen=True)
class Looks:
    """What a block looks like. Truth values but the last three, which are multiples of type sizes or shares."""

    vetoed: bool  # no heading for its wording or setting, or for standing in a picture, a chart or at the foot
    margin: bool  # at the very top of the page, in no larger type
    large: bool
    bold: bool  # unlike the body
    capitals: bool
    lower: bool  # begins with a small letter
    stop: bool
    item: bool
    chapter: bool  # worded or numbered like a chapter's or section's title
    long: bool
    like: bool  # something short in the same style follows
    alone: bool  # a short line with white above and running text, a table or a section's title below
    marked: bool  # the same in capitals, bold, slightly larger, or worded like a chapter
    above: float  # white above
    below: float  # white below
    ratio: float  # type size over the body's


def page_looks(layout: PageLayout, profile: DocumentProfile) -> list[Looks | None]:
    """How each block of the page looks; None for tables, listings and notes."""
    heavy = not profile.body_bold and bold_share(layout) < 0.5
    boxes = figure_boxes(layout)
    looks: list[Looks | None] = []
    for block, after in itertools.pairwise([*layout.blocks, None]):
        if not isinstance(block, TextBlock) or block.kind in {"code", "note"}:
            looks.append(None)
        else:
            looks.append(_looks(block, after, layout.model, profile, boxes, heavy))
    return looks


def bold_share(layout: PageLayout) -> float:
    total = sum(len(line.text) for line in layout.lines)
    return sum(len(line.text) for line in layout.lines if line.bold) / total if total else 0.0


def _looks(
    block: TextBlock,
    after: Block | None,
    model: PageModel,
    profile: DocumentProfile,
    boxes: Sequence[Rectangle],
    heavy: bool,
) -> Looks:
    text = block.text
    words = text.count(" ") + 1
    size = max(block.size, 1.0)
    bold, large = block.bold and heavy, profile.is_large(size)
    follows = after if isinstance(after, TextBlock) else None
    led = isinstance(after, FoundTable) or (follows is not None and _is_led(follows.text))
    like = not led and follows is not None and _same_style(follows, block)
    below = follows.y0 - block.y1 if follows else after.y0 - block.y1 if after else 0.0
    stop, lower = text.endswith((".", "。", "?", "？")), text[:1].islower()
    vetoed = _vetoed(block, text) or (stop and words > _SHORT) or any(_inside(block, box) for box in boxes)
    vetoed = vetoed or block.y0 > (1 - _MARGIN) * model.frame_height
    chapter = not (stop or vetoed) and words <= _LONG and _is_chapter(block, text, profile)
    item = block.kind == "item" and not chapter and not ((bold or large) and is_numbered(text))
    alone = words <= _SHORT and led and block.gap_above > 0.5 * size and not (stop or lower or vetoed)
    capitals, ratio = text.isupper(), size / max(profile.body_size, 1.0)
    return Looks(
        vetoed,
        not large and block.y0 < _MARGIN * model.frame_height,
        large,
        bold,
        capitals,
        lower,
        stop,
        item,
        chapter,
        words > _LONG,
        like,
        alone,
        alone and (capitals or bold or chapter or ratio >= _LARGER),
        min(max(block.gap_above / size, 0.0), 2.0),
        min(max(below / size, 0.0), 2.0),
        min(max(ratio, 0.6), 2.0),
    )


def _same_style(one: TextBlock, other: TextBlock) -> bool:
    return abs(one.size - other.size) < 0.3 and one.bold == other.bold and one.kind == other.kind


def _is_led(text: str) -> bool:
    """Whether a text may stand under a title: running text, or the title of a section."""
    return is_chapter(text) or (len(text) > _RUNNING and sum(map(str.isalpha, text)) > 0.6 * len(text))


def _is_chapter(block: TextBlock, text: str, profile: DocumentProfile) -> bool:
    """Whether a title is worded or numbered like a chapter's; a single number needs larger type and white above."""
    if is_chapter(text) or is_named(text):
        return True
    return is_numbered(text) and block.size >= _LARGER * profile.body_size and block.gap_above > 0.8 * block.size


def _inside(block: TextBlock, box: Rectangle) -> bool:
    x, y = min(block.x0 + block.x1, 2 * block.x0 + 4 * block.size) / 2, (block.y0 + block.y1) / 2
    return box[0] - 2 <= x <= box[2] + 2 and box[1] - 2 <= y <= box[3] + 2


def _vetoed(block: TextBlock, text: str) -> bool:
    """Whether the wording or the setting cannot be a heading's: captions, addresses, dot leaders, figures."""
    if len(text) > _MAX_CHARACTERS or len(block.lines) > _MAX_LINES:
        return True
    if is_caption(text) or is_no_title(text):
        return True
    return any(b.x0 - a.x1 > 4 * a.size for line in block.lines for a, b in itertools.pairwise(line.runs))
