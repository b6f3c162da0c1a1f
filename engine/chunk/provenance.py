"""Where a chunk comes from: pages, boxes, kinds and tables of the spans under it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass

from engine.document import FURNITURE
from engine.records import Box, ExtractedDocument, ExtractedImage, Relation, Span, StructureElement

MOST_BOXES = 8  # of one chunk; beyond, the boxes of each page become one
_ELEMENT_TYPES = {"table": "table", "code": "code", "image": "image_caption", "caption": "image_caption"}
_CHUNK_TYPES = {"table": "table", "image_caption": "image"}


@dataclass(slots=True)
class Provenance:
    pages: list[int]
    boxes: list[Box]
    element_type: str
    chunk_type: str
    method: str
    path: list[str]  # what the sections of the spans have in common
    opens_with_heading: bool


class SpanIndex:
    """Finds the spans under a range of a document's content."""

    def __init__(self, document: ExtractedDocument) -> None:
        self.spans = document.spans
        self._starts = [span.start for span in self.spans]
        self._ends = [span.end for span in self.spans]
        self._images = images_of_spans(document)

    def under(self, start: int, end: int) -> list[Span]:
        return self.spans[bisect_right(self._ends, start) : bisect_left(self._starts, end)]

    def before(self, start: int) -> Span | None:
        """The last span that begins before `start`."""
        at = bisect_left(self._starts, start) - 1
        return self.spans[at] if at >= 0 else None

    def section_start(self, start: int) -> int:
        """Where the text of the section around `start` begins: behind the last heading before it."""
        at = bisect_left(self._starts, start) - 1
        while at >= 0 and self.spans[at].type != "heading":
            if start - self._starts[at] > 2000:
                return self._starts[at]
            at -= 1
        return self._ends[at] if at >= 0 else 0

    def provenance(self, start: int, end: int) -> Provenance:
        spans = self.under(start, end)
        element_type = _element_type(spans, start, end)
        return Provenance(
            sorted({s.page_number for s in spans if s.page_number is not None}),
            merged_boxes([s.box for s in spans if s.box is not None]),
            element_type,
            _CHUNK_TYPES.get(element_type, "text"),
            _method({s.method for s in spans}),
            _common_path(spans),
            bool(spans) and spans[0].type == "heading" and spans[0].start == start,
        )

    def relations(self, start: int, end: int, shift: int) -> list[Relation]:
        """The tables and pictures that stand in the range; `shift` moves their places into the chunk's content."""
        found: list[Relation] = []
        for span in self.under(start, end):
            image = self._images.get(span.start)
            target = span.table.table_id if span.table is not None else image.image_id if image is not None else ""
            if target:
                found.append(Relation(target, "embeds", target, max(0, span.start - start) + shift))
        return found


def images_of_spans(document: ExtractedDocument) -> dict[int, ExtractedImage]:
    """The picture of each image span, by the span's start: both stand in source order."""
    shown = [e.image for e in _rendered(document.structure) if e.type == "image" and e.content]
    starts = [span.start for span in document.spans if span.type == "image"]
    if len(shown) != len(starts):
        return {}
    return {start: image for start, image in zip(starts, shown, strict=True) if image is not None}


def _rendered(elements: list[StructureElement]) -> list[StructureElement]:
    """The elements that rendering looks at, in source order."""
    found: list[StructureElement] = []
    stack = list(reversed(elements))
    while stack:
        element = stack.pop()
        if element.type not in FURNITURE:
            found.append(element)
            stack.extend(reversed(element.children))
    return found


def _element_type(spans: list[Span], start: int, end: int) -> str:
    """The kind that most of the characters belong to."""
    weights: Counter[str] = Counter()
    for span in spans:
        weights[_ELEMENT_TYPES.get(span.type, "text")] += min(span.end, end) - max(span.start, start)
    return max(weights, key=lambda kind: (weights[kind], kind == "text"), default="text")


def _method(methods: set[str]) -> str:
    return methods.pop() if len(methods) == 1 else "mixed" if methods else "text"


def _common_path(spans: list[Span]) -> list[str]:
    """The headings above all of the spans; headings themselves only count when there is nothing else."""
    paths = [s.section_path for s in spans if s.type != "heading"] or [s.section_path for s in spans]
    if not paths:
        return []
    first, last = min(paths), max(paths)  # the common start of the extremes is common to all
    size = 0
    while size < min(len(first), len(last)) and first[size] == last[size]:
        size += 1
    return first[:size]


def merged_boxes(boxes: list[Box]) -> list[Box]:
    """Boxes with neighbours of the same column joined; one for each page when there are too many."""
    merged: list[Box] = []
    for box in boxes:
        if merged and _same_column(merged[-1], box):
            merged[-1] = _union(merged[-1], box)
        else:
            merged.append(box)
    if len(merged) <= MOST_BOXES:
        return merged
    pages: dict[int, Box] = {}
    for box in merged:
        pages[box.page] = _union(pages[box.page], box) if box.page in pages else box
    return [pages[number] for number in sorted(pages)]


def _same_column(a: Box, b: Box) -> bool:
    """Whether two boxes of one page overlap sideways by more than half of the narrower one."""
    shared = min(a.x1, b.x1) - max(a.x0, b.x0)
    return a.page == b.page and shared > 0.5 * min(a.x1 - a.x0, b.x1 - b.x0)


def _union(a: Box, b: Box) -> Box:
    return Box(a.page, min(a.x0, b.x0), min(a.y0, b.y0), max(a.x1, b.x1), max(a.y1, b.y1))
