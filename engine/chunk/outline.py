"""The sections of a document as a tree over its spans: what belongs under which heading."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.records import ExtractedDocument, Span


@dataclass(slots=True)
class Section:
    """A heading (None for the root and for text outside any heading), its own blocks, its subsections."""

    path: list[str]
    heading: Span | None = None
    spans: list[Span] = field(default_factory=lambda: list[Span]())
    children: list[Section] = field(default_factory=lambda: list[Section]())
    start: int = 0
    end: int = 0

    @property
    def body_start(self) -> int:
        """Where the text behind the heading begins; `end` when there is none."""
        starts = [s.start for s in self.spans[:1]] + [c.start for c in self.children[:1]]
        return min(starts, default=self.end)


def outline(document: ExtractedDocument) -> Section:
    """The root section, with everything below it in source order."""
    root = Section([], start=document.spans[0].start if document.spans else 0)
    stack = [root]
    for span in document.spans:
        depth = len(span.section_path)
        while len(stack) > 1 and len(stack[-1].path) >= depth + (span.type != "heading"):
            stack.pop()
        if span.type == "heading" or stack[-1].children:
            section = Section(span.section_path, span if span.type == "heading" else None, start=span.start)
            stack[-1].children.append(section)
            stack.append(section)
        if span.type != "heading":
            stack[-1].spans.append(span)
        for section in stack:
            section.end = span.end
    return root
