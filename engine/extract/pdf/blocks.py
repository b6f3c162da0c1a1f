"""From the lines of a column to blocks: paragraphs, list items, code."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.guided import heading_border
from engine.extract.pdf.lines import code_text
from engine.extract.pdf.model import Line, PageModel
from engine.extract.pdf.paragraphs import join_lines
from engine.extract.pdf.profile import DocumentProfile

BULLET = re.compile(r"^(?:[•▪‣◦●○■□▸►➢➤✓✔·∙\uf0b7\uf0a7\uf0d8\u2043\uf06e]|[–—*-](?=\s))\s*")
NUMBERING = re.compile(r"^(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})[.)]|\(\d{1,3}\)|\.\d{1,2}(?=\s))\s+(?=\S)")
_SECTION_NUMBER = re.compile(r"^\d{1,2}(?:\.\d{1,2}){1,4}\.?\s+[A-Z\u00c0-\u00de]")
_FEW_WORDS = 3  # fewer spaces are in a name or a label, which no line end divides
_WIDE_TITLE = 3.0  # of the type size; white between the lines of a title
_SENTENCE_END = (".", "!", "?", ":", ";", "”", '"', ")", "。", "！", "？")


@dataclass(slots=True)
class TextBlock:
    """Lines that belong together. `kind`: paragraph, item (of a list), code or note (at the foot)."""

    lines: list[Line]
    kind: str = "paragraph"
    marker: str = ""
    gap_above: float = 0.0  # white above, in points; large at the top of a column

    @property
    def x0(self) -> float:
        return min(line.x0 for line in self.lines)

    @property
    def y0(self) -> float:
        return min(line.y0 for line in self.lines)

    @property
    def x1(self) -> float:
        return max(line.x1 for line in self.lines)

    @property
    def y1(self) -> float:
        return max(line.y1 for line in self.lines)

    @property
    def size(self) -> float:
        return max(self.lines, key=lambda line: len(line.text)).size

    @property
    def bold(self) -> bool:
        return all(line.bold for line in self.lines)

    @property
    def text(self) -> str:
        if self.kind == "code":
            return code_text(self.lines)
        return join_lines([line.text for line in self.lines])


Block = TextBlock | FoundTable


@dataclass(slots=True)
class PageLayout:
    """A page as blocks in reading order."""

    model: PageModel
    blocks: list[Block]
    lines: list[Line] = field(default_factory=lambda: list[Line]())


# ---------------------------------------------------------------- paragraphs
def split_paragraphs(lines: list[Line], profile: DocumentProfile) -> list[TextBlock]:
    """Cut one column's lines into paragraphs, list items and code."""
    if not lines:
        return []
    left, right = min(line.x0 for line in lines), max(line.x1 for line in lines)
    usual = _usual_gap(lines)
    blocks = [_start_block(lines[0], lines[0].size * 2)]
    for before, line in itertools.pairwise(lines):
        gap = line.y0 - before.y1
        border = heading_border(before, line)
        if border is None and _title_goes_on(before, line, gap, right, profile):
            border = False
        if border is None:
            border = _starts_block(blocks[-1], before, line, gap, usual, left, right) or (
                _had_room(before, line, right) and not _is_display(line, profile)
            )
        if border:
            blocks.append(_start_block(line, gap))
        else:
            blocks[-1].lines.append(line)
    return _code_blocks(blocks)


def _title_goes_on(before: Line, line: Line, gap: float, right: float, profile: DocumentProfile) -> bool:
    """Whether a widely set title goes on in the next line: the same style and edge, and a small letter to begin, or
    a line before that was full."""
    if line.bold != before.bold or abs(line.size - before.size) > 0.3 or not _is_display(line, profile):
        return False
    aligned = abs(line.x0 - before.x0) < line.size or abs(line.x0 + line.x1 - before.x0 - before.x1) < 2 * line.size
    if not aligned or gap < 0:
        return False
    if line.text[:1].islower():
        return gap < _WIDE_TITLE * line.size
    fresh = NUMBERING.match(line.text) or _SECTION_NUMBER.match(line.text) or BULLET.match(line.text)
    full = before.text.count(" ") >= _FEW_WORDS and not _had_room(before, line, right)
    return full and not fresh and not before.text.endswith(_SENTENCE_END) and gap < 2 * line.size


def _usual_gap(lines: list[Line]) -> float:
    """The white between lines of one paragraph: the lower quartile of all gaps."""
    gaps = sorted(b.y0 - a.y1 for a, b in itertools.pairwise(lines))
    return gaps[len(gaps) // 3] if gaps else 0.0


def _start_block(line: Line, gap: float) -> TextBlock:
    bullet = BULLET.match(line.text) or NUMBERING.match(line.text)
    if bullet and line.text[bullet.end() :].strip():
        return TextBlock([line], "item", bullet.group().strip(), gap)
    return TextBlock([line], gap_above=gap)


def _starts_block(
    block: TextBlock, before: Line, line: Line, gap: float, usual: float, left: float, right: float
) -> bool:
    size = max(before.size, line.size, 1.0)
    if gap < -1.2 * size or gap > usual + 0.45 * size or gap > 1.2 * size:
        return True
    if abs(before.size - line.size) > 0.12 * size or before.mono != line.mono:
        return True
    if len(block.lines) == 1 and _SECTION_NUMBER.match(before.text) and _had_room(before, line, right):
        return not before.text.endswith(_SENTENCE_END)
    if before.bold != line.bold and (len(block.lines) > 1 or _is_short(before, right, left) or line.bold):
        return True
    if BULLET.match(line.text) or _next_number(block, line):
        return True
    return _indents(block, before, line, left, right)


def _is_short(line: Line, right: float, left: float) -> bool:
    return right - line.x1 > 0.2 * (right - left)


def _next_number(block: TextBlock, line: Line) -> bool:
    """A numbered line starts an item or a section unless it is the wrapped middle of a sentence."""
    if not NUMBERING.match(line.text) and not _SECTION_NUMBER.match(line.text):
        return False
    return block.kind == "item" or block.lines[-1].text.endswith(_SENTENCE_END) or line.x0 < block.lines[-1].x0 + 1


def _indents(block: TextBlock, before: Line, line: Line, left: float, right: float) -> bool:
    """Whether the line's indent, or the short line before it, begins a paragraph."""
    size = max(line.size, 1.0)
    if line.rtl or abs((line.x0 + line.x1) - (before.x0 + before.x1)) < 0.6 * size:
        return False
    step = line.x0 - before.x0
    if block.kind == "item":
        return step < -0.8 * size and line.x0 < block.lines[0].x0 - 0.5 * size
    ended = before.text.endswith(_SENTENCE_END)
    if step > 0.8 * size and (len(block.lines) > 1 or (ended and _is_short(before, right, left))):
        return ended or (len(block.lines) > 1 and step < 4 * size)
    if step < -0.8 * size and len(block.lines) > 1 and block.lines[0].x0 < before.x0 - 0.8 * size:
        return True  # hanging indents: the next entry starts further out
    return ended and _is_short(before, right, left) and line.text[:1].isupper()


def _had_room(before: Line, line: Line, right: float) -> bool:
    """Whether the next line's first word would have fitted on the line before: then its end was meant."""
    if line.rtl or line.text[:1].islower() or abs((line.x0 + line.x1) - (before.x0 + before.x1)) < 0.6 * line.size:
        return False
    first = line.runs[0].words[0]
    return right - before.x1 > 1.1 * (first.x1 - first.x0) + 2.0 * line.size


def _is_display(line: Line, profile: DocumentProfile) -> bool:
    """Titles are broken by sense, not where the line is full."""
    return profile.is_large(line.size) or (line.bold and not profile.body_bold)


def _code_blocks(blocks: list[TextBlock]) -> list[TextBlock]:
    """Neighbouring blocks in a fixed-pitch face are one listing."""
    merged: list[TextBlock] = []
    for block in blocks:
        if not all(line.mono for line in block.lines):
            merged.append(block)
        elif merged and merged[-1].kind == "code" and block.gap_above < 2.5 * block.size:
            merged[-1].lines.extend(block.lines)
        else:
            merged.append(TextBlock(block.lines, "code", "", block.gap_above))
    for block in merged:
        if block.kind == "code" and len(block.lines) < 2:
            block.kind = "paragraph"
    return merged


def continues(above: TextBlock, below: TextBlock) -> bool:
    """Whether a block at the top of a column goes on with the sentence at the end of the column before."""
    jumped = below.lines[0].y1 < above.lines[-1].y0
    if not jumped or above.kind == "code" or below.kind != "paragraph" or abs(above.size - below.size) > 0.3:
        return False
    end, start = above.lines[-1].text, below.lines[0].text
    return start[:1].islower() and not end.endswith(_SENTENCE_END) and above.bold == below.bold
