"""Lays a page out: tables, columns in reading order, lines, blocks, footnotes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.extract.pdf.aligned import free_tables
from engine.extract.pdf.blocks import Block, PageLayout, TextBlock, continues, split_paragraphs
from engine.extract.pdf.footnotes import set_notes_apart
from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.guided import take_region_tables
from engine.extract.pdf.lines import line_of, lines_of
from engine.extract.pdf.model import Line, PageModel, Run
from engine.extract.pdf.profile import DocumentProfile
from engine.extract.pdf.tables import take_ruled_tables, without
from engine.ocr.order import reading_order

_BACKGROUND = 0.6  # of the page; larger pictures lie behind the text


@dataclass(slots=True)
class _Barrier:
    """A picture: the text above it is read before the text below."""

    x0: float
    y0: float
    x1: float
    y1: float
    text: str = ""


def layout_page(model: PageModel, profile: DocumentProfile) -> PageLayout:
    """Find tables, columns, lines and paragraphs. Consumes `model.runs`."""
    if profile.mono:
        for run in model.runs:
            run.mono = False
    tables = take_ruled_tables(model)
    tables += take_region_tables(model, tables)
    runs = list(model.runs)
    rtl = 2 * sum(len(r.text) for r in runs if r.rtl) > sum(len(r.text) for r in runs)
    blocks: list[Block] = []
    lines: list[Line] = []
    for group in reading_order([*runs, *tables], rtl, _barriers(model)):
        blocks.extend(_group_blocks(group, rtl, lines, profile))
    for run in model.asides:  # text in other directions: each piece is a block of its own, in drawing order
        blocks.extend(split_paragraphs([line_of([run], False)], profile))
    blocks = set_notes_apart(_joined_across(blocks), profile.body_size, model.frame_height)
    return PageLayout(model, blocks, lines)


def _barriers(model: PageModel) -> list[_Barrier]:
    page = model.frame_width * model.frame_height
    return [_Barrier(p.x0, p.y0, p.x1, p.y1) for p in model.pictures if p.area < _BACKGROUND * page]


def _group_blocks(
    group: Sequence[Run | FoundTable], rtl: bool, lines: list[Line], profile: DocumentProfile
) -> list[Block]:
    """The blocks of one column: its free tables taken out, the rest cut into paragraphs around them."""
    runs = [b for b in group if isinstance(b, Run)]
    tables = [b for b in group if isinstance(b, FoundTable)]
    free = free_tables(runs)
    if free:
        runs = without(runs, {id(w) for t in free for w in t.words})
        tables += free
    tables.sort(key=lambda t: (t.y0, t.x0))
    column = lines_of(runs, rtl)
    lines.extend(column)
    blocks: list[Block] = []
    rest = column
    for table in tables:
        above = [line for line in rest if (line.y0 + line.y1) / 2 < table.y0 + 2]
        rest = rest[len(above) :] if above == rest[: len(above)] else [line for line in rest if line not in above]
        blocks.extend(split_paragraphs(above, profile))
        blocks.append(table)
    blocks.extend(split_paragraphs(rest, profile))
    return blocks


def _joined_across(blocks: list[Block]) -> list[Block]:
    """Join a paragraph that breaks at the end of a column with its rest at the top of the next."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if isinstance(last, TextBlock) and isinstance(block, TextBlock) and continues(last, block):
            last.lines.extend(block.lines)
        else:
            joined.append(block)
    return joined
