"""The state of reading one Word file: its parts, and what has been met on the way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from engine.document import Builder
from engine.extract.children import Children
from engine.extract.docx.numbering import Numbering
from engine.extract.docx.styles import Styles, W
from engine.extract.ooxml import Relationships
from engine.records import StructureElement
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node


@dataclass(slots=True)
class Source:
    """One open Word file. `rels` are those of the part being read (the body, a header, the notes, ...)."""

    package: Package
    builder: Builder
    children: Children
    styles: Styles
    numbering: Numbering
    rels: Relationships
    notes: dict[tuple[str, str], Node] = field(default_factory=lambda: dict[tuple[str, str], Node]())
    note_rels: dict[str, Relationships] = field(default_factory=lambda: dict[str, Relationships]())
    comments: dict[str, Node] = field(default_factory=lambda: dict[str, Node]())
    note_counts: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    fields: list[FieldState] = field(default_factory=lambda: list[FieldState]())
    open_ranges: dict[str, list[str]] = field(default_factory=lambda: dict[str, list[str]]())  # by comment id
    ranges: dict[str, str] = field(default_factory=lambda: dict[str, str]())  # what each comment speaks of
    sizes: Counter[int] = field(default_factory=lambda: Counter[int]())  # characters by font size, headings aside
    pending_text: str = ""  # of paragraphs whose end mark was deleted under change tracking
    pending_blocks: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())
    header_parts: dict[str, str] = field(default_factory=lambda: dict[str, str]())  # part → page_header or page_footer

    def warn(self, code: str, message: str) -> None:
        """Add to the loss report."""
        self.builder.warn(code, message)

    def open_range(self, element: Node) -> None:
        """From here on a comment speaks of the text."""
        self.open_ranges[element.get(f"{W}id", "")] = []

    def close_range(self, element: Node) -> None:
        """The end of what a comment speaks of."""
        key = element.get(f"{W}id", "")
        self.ranges[key] = " ".join("".join(self.open_ranges.pop(key, [])).split())


@dataclass(slots=True)
class FieldState:
    """An open complex field: codes come first, after the separator its result."""

    in_result: bool = False
