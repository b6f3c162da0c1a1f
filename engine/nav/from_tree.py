"""The section tree out of the document's own tree: every heading, with the chunks that lie under it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from engine.nav.draft import Draft
from engine.nav.records import Resource
from engine.records import ExtractedDocument, Span, StructureElement

_PROSE = ("paragraph", "list_item", "note", "caption", "speaker_notes")


def tree_draft(document: ExtractedDocument, chunks: Sequence[dict[str, Any]]) -> Draft:
    """`chunks`: payloads of the whole document, in order."""
    root = Draft()
    headings = _by_spans(root, document, _Ranges(chunks))
    _add_resources(root, document, headings)
    return root


class _Ranges:
    """Finds the chunks over a range of the document's content."""

    def __init__(self, chunks: Sequence[dict[str, Any]]) -> None:
        ordered = sorted(chunks, key=lambda payload: (int(payload["char_start"]), int(payload["char_end"])))
        self._numbers = [int(payload["chunk_index"]) for payload in ordered]
        self._starts = [int(payload["char_start"]) for payload in ordered]
        self._ends = list(accumulate((int(payload["char_end"]) for payload in ordered), max))

    def over(self, start: int, end: int) -> list[int]:
        return self._numbers[bisect_right(self._ends, start) : bisect_left(self._starts, end)]


def _by_spans(root: Draft, document: ExtractedDocument, ranges: _Ranges) -> list[Draft]:
    """Sections and their chunks; the sections in the order of their headings."""
    stack, headings = [root], list[Draft]()
    for span in document.spans:
        if span.type == "heading":
            del stack[max(len(span.section_path), 1) :]
            stack.append(stack[-1].child(span.section_path[-1], span.level or len(span.section_path)))
            headings.append(stack[-1])
        else:
            del stack[len(span.section_path) + 1 :]
        _take(stack[-1], span, document.content, ranges)
    return headings


def _take(draft: Draft, span: Span, content: str, ranges: _Ranges) -> None:
    draft.chunks.update(ranges.over(span.start, span.end))
    if not draft.text and span.type in _PROSE:
        draft.text = content[span.start : min(span.end, span.start + 4000)]


def _add_resources(root: Draft, document: ExtractedDocument, headings: list[Draft]) -> None:
    """Tables and pictures of each section. Headings come in the same order here as among the spans."""
    stack: list[tuple[StructureElement, Draft]] = [(e, root) for e in reversed(document.structure)]
    following = iter(headings)
    while stack:
        element, draft = stack.pop()
        if element.type == "heading":
            draft = next(following, draft)
        resource = _resource(element)
        if resource is not None:
            draft.add(resource)
        stack.extend((child, draft) for child in reversed(element.children))


def _resource(element: StructureElement) -> Resource | None:
    if element.table is not None:
        return Resource(element.table.table_id, "table", element.table.caption, element.page_number)
    if element.image is not None:
        image = element.image
        return Resource(image.image_id, "image", image.caption or image.alt_text, element.page_number)
    return None
