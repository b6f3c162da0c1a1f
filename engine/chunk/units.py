"""Groups the blocks of a section into units that are packed in their own way: prose, a table, long code."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.chunk.pack import Stretch
from engine.chunk.ruler import Budget, Ruler
from engine.chunk.sentences import sentence_ends
from engine.records import Span

_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_LINE = re.compile(r"\n")


@dataclass(slots=True)
class Unit:
    """Consecutive blocks. `kind`: prose, table (with its captions) or code (a block over the hard limit)."""

    kind: str
    spans: list[Span]

    @property
    def start(self) -> int:
        return self.spans[0].start

    @property
    def end(self) -> int:
        return self.spans[-1].end


def group(spans: list[Span], ruler: Ruler, budget: Budget, isolate_tables: bool) -> list[Unit]:
    """The units of a section's blocks. A caption next to a table goes with it.

    `isolate_tables`: every table is a unit; otherwise only one that is over the hard limit.
    """
    units: list[Unit] = []
    for span in spans:
        kind = _kind(span, ruler, budget, isolate_tables)
        last = units[-1] if units else None
        if kind == "table" and last is not None and last.kind == "prose" and last.spans[-1].type == "caption":
            caption = last.spans.pop()
            if not last.spans:
                units.pop()
            units.append(Unit("table", [caption, span]))
        elif last is not None and (kind == last.kind == "prose" or _caption_of(last, span)):
            last.spans.append(span)
        else:
            units.append(Unit(kind, [span]))
    return units


def _kind(span: Span, ruler: Ruler, budget: Budget, isolate_tables: bool) -> str:
    if span.type == "table" and (isolate_tables or not ruler.fits(span.start, span.end, budget.hard)):
        return "table"
    if span.type == "code" and not ruler.fits(span.start, span.end, budget.hard):
        return "code"
    return "prose"


def _caption_of(last: Unit, span: Span) -> bool:
    return last.kind == "table" and span.type == "caption" and last.spans[-1].type == "table"


# ---------------------------------------------------------------- where a unit may be cut
def prose_stretch(spans: list[Span], text: str, glue_lists: bool) -> Stretch:
    """Cutting places of consecutive blocks. A list is one block with the paragraph before it (`glue_lists`);
    a picture is one with the caption behind it; tables and code offer no place inside."""
    stretch = Stretch(spans[0].start, spans[-1].end)
    for at, span in enumerate(spans):
        following = spans[at + 1] if at + 1 < len(spans) else None
        glued = following is not None and _belongs(span, following, glue_lists)
        if not glued:
            stretch.blocks.append(span.end)
        elif span.type == "list_item":
            stretch.items.append(span.end)
        if span.type not in ("table", "code"):
            stretch.sentences += sentence_ends(text, span.start, span.end)
            stretch.lines += [m.start() for m in _LINE.finditer(text, span.start, span.end)]
    return stretch


def _belongs(span: Span, following: Span, glue_lists: bool) -> bool:
    """Whether a cut between the two blocks would tear apart what belongs together."""
    if following.type == "list_item":
        return span.type == "list_item" or (glue_lists and span.type == "paragraph")
    return span.type == "image" and following.type == "caption"


def code_stretch(span: Span, text: str) -> Stretch:
    """Cutting places of a code block: between top-level statements, at blank lines, at line ends."""
    stretch = Stretch(span.start, span.end)
    stretch.lines = [m.start() for m in _LINE.finditer(text, span.start, span.end)]
    stretch.items = [m.start() for m in _BLANK_LINE.finditer(text, span.start, span.end)]
    stretch.blocks = [at for at in stretch.items if _begins_statement(text, at)]
    return stretch


def _begins_statement(text: str, blank: int) -> bool:
    """Whether the line behind the blank line at `blank` stands at the left margin and opens something."""
    at = blank
    while at < len(text) and text[at] in "\n \t":
        at += 1
    return at < len(text) and text[at - 1] == "\n" and text[at] not in ")]}"


def stretch_of(unit: Unit, text: str, glue_lists: bool) -> Stretch:
    """The cutting places of a prose or code unit."""
    if unit.kind == "code":
        return code_stretch(unit.spans[0], text)
    return prose_stretch(unit.spans, text, glue_lists)
