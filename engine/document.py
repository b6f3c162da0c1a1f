"""Builds the one tree of a document and derives everything else from it.

Extractors push blocks in source order into a `Builder`; `Builder.finish` renders the tree once into
`content` (Markdown) and lays `Span`s over it; pages, tables, headings and word counts come from the same walk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from engine.divided import join_divided_words
from engine.errors import Code, InputError, Stage
from engine.facts import count_words, tidy_facts
from engine.records import (
    Box,
    ChildDocument,
    DocumentMetadata,
    ExtractedDocument,
    ExtractedImage,
    ExtractedPage,
    ExtractedTable,
    Loss,
    PendingPage,
    Span,
    StructureElement,
)
from engine.settings import Limits
from engine.tables import has_spans, table_html, table_lines
from engine.text import clean_text

# formats in which a line feed inside a paragraph is a break its author set, not where a line happened to end
MARKS_BREAKS = {"docx", "doc", "pptx", "ppt", "odt", "odp", "rtf", "html", "epub"}
BROKEN = {"paragraph", "list_item", "caption", "note", "comment", "speaker_notes"}
FURNITURE = {"page_header", "page_footer"}  # kept in the tree, never in content


@dataclass
class Builder:
    """Collects a document's blocks in source order. Not thread-safe; one per document.

    Every text is cleaned, every limit checked on the way in: `InputError(LIMIT_EXCEEDED)` as soon
    as one is passed, so that an exploding document ends early.
    """

    source_format: str
    limits: Limits
    roots: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())
    metadata: DocumentMetadata = field(default_factory=DocumentMetadata)
    warnings: list[Loss] = field(default_factory=lambda: list[Loss]())
    attached: list[ChildDocument] = field(default_factory=lambda: list[ChildDocument]())
    pending: list[PendingPage] = field(default_factory=lambda: list[PendingPage]())
    pages: dict[int, ExtractedPage] = field(default_factory=lambda: dict[int, ExtractedPage]())
    page: int | None = None  # stamped on every block added while it is set
    _open: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())
    _characters: int = 0
    _elements: int = 0
    _cells: int = 0

    # ------------------------------------------------------------ blocks
    def add(self, element: StructureElement) -> StructureElement:
        """Put a finished element (with its children) at the current place in the tree."""
        self._account(element)
        if element.type == "heading":
            level = min(max(element.level or 1, 1), 6)
            element.level = level
            while self._open and (self._open[-1].level or 1) >= level:
                self._open.pop()
            self._siblings().append(element)
            self._open.append(element)
        else:
            self._siblings().append(element)
        return element

    def heading(self, level: int, text: str, **extra: object) -> None:
        lines = [" ".join(line.split()) for line in clean_text(text).split("\n")]
        text = " ".join(filter(None, lines))
        if text:
            element = self._element("heading", text, level, extra)
            if len(lines) > 1 and self.source_format in MARKS_BREAKS:
                element.attributes["lines"] = "\n".join(filter(None, lines))
            self.add(element)

    def paragraph(self, text: str, type: str = "paragraph", **extra: object) -> None:
        """A paragraph, or another text block: caption, note, comment, speaker_notes, page_header, page_footer."""
        text = clean_text(text).strip()
        if text:
            self.add(self._element(type, text, None, extra))

    def code(self, text: str, language: str = "", **extra: object) -> None:
        text = clean_text(text).strip("\n")
        if text.strip():
            element = self._element("code", text, None, extra)
            if language:
                element.attributes["language"] = language
            self.add(element)

    def list_block(self, items: list[tuple[int, str, str]], **extra: object) -> None:
        """A list. Each item: nesting depth from 1, marker as shown ("-", "1.", "a)", "[x]"), text."""
        children: list[StructureElement] = []
        for depth, marker, text in items:
            text = clean_text(text).strip()
            if text:
                item = self._element("list_item", text, max(depth, 1), extra)
                item.attributes["marker"] = marker or "-"
                children.append(item)
        if children:
            block = self._element("list", "", 1, extra)
            block.children = children
            self.add(block)

    def table(self, table: ExtractedTable, **extra: object) -> None:
        """A table; see `table_from_cells` and `table_from_rows` for ways to make one."""
        if not any(c.text.strip() for c in table.cells) and not any(map(any, [table.headers, *table.rows])):
            self.warn("empty_table", "a table without text was left out", place=self._place())
            return
        element = self._element("table", "", None, extra)
        table.page_number = element.page_number
        table.box = table.box or element.box
        element.table = table
        self.add(element)

    def image(self, image: ExtractedImage, **extra: object) -> None:
        """A picture with whatever is said of it; it shows in content by caption or alt text."""
        element = self._element("image", clean_text(image.caption or image.alt_text or "").strip(), None, extra)
        image.page_number = element.page_number
        image.box = image.box or element.box
        element.image = image
        self.add(element)

    # ------------------------------------------------------------ the rest
    def warn(self, code: str, message: str, place: str = "", count: int = 1) -> None:
        """Add to the loss report; equal codes and places are counted together."""
        for loss in self.warnings:
            if loss.code == code and loss.place == place:
                loss.count += count
                return
        if len(self.warnings) < 1000:
            self.warnings.append(Loss(code, message, place, count))

    def start_page(self, number: int, width: float | None = None, height: float | None = None) -> ExtractedPage:
        """Blocks added from now on belong to page `number` (1-based). Size in points."""
        if number > self.limits.pages:
            raise _over("pages", self.limits.pages)
        self.page = number
        return self.pages.setdefault(number, ExtractedPage(number, "", width=width, height=height))

    def finish(self) -> ExtractedDocument:
        """The finished document. The builder must not be used afterwards."""
        meta = self.metadata
        if self.source_format == "pdf":
            join_divided_words(walk(self.roots))
        for child in self.attached:
            child.inner_path, child.filename = clean_text(child.inner_path), clean_text(child.filename)
        meta.source_format = meta.source_format or self.source_format
        tidy_facts(meta, self.roots)
        if self.pages and meta.page_count is None:
            meta.page_count = len(self.pages)
        document = ExtractedDocument(
            "",
            [self.pages[n] for n in sorted(self.pages)],
            [],
            [],
            meta,
            self.roots,
            self.warnings,
            self.attached,
            self.pending,
        )
        derive(document)
        return document

    def _siblings(self) -> list[StructureElement]:
        return self._open[-1].children if self._open else self.roots

    def _place(self) -> str:
        return f"page {self.page}" if self.page else ""

    def _element(self, type: str, text: str, level: int | None, extra: dict[str, object]) -> StructureElement:
        element = StructureElement(type, level, text, page_number=self.page)
        for name, value in extra.items():
            setattr(element, name, value)  # slots refuse a field that does not exist
        return element

    def _account(self, element: StructureElement) -> None:
        for node in walk([element]):
            self._elements += 1
            self._characters += len(node.content)
            if node.table is not None:
                self._cells += len(node.table.cells)
                self._characters += sum(len(c.text) for c in node.table.cells)
        if self._characters > self.limits.characters:
            raise _over("characters", self.limits.characters)
        if self._elements > self.limits.elements:
            raise _over("elements", self.limits.elements)
        if self._cells > self.limits.table_cells:
            raise _over("table_cells", self.limits.table_cells)


def _over(limit: str, value: int) -> InputError:
    return InputError(
        f"the document passes the limit of {value} {limit.replace('_', ' ')} (setting limits.{limit})",
        Code.LIMIT_EXCEEDED,
        Stage.EXTRACT,
        {"limit": limit, "value": value},
    )


def walk(elements: list[StructureElement]) -> Iterator[StructureElement]:
    """Every element in source order, parents before children. Iterative: depth is the document's choice."""
    stack = list(reversed(elements))
    while stack:
        element = stack.pop()
        yield element
        stack.extend(reversed(element.children))


# ---------------------------------------------------------------- rendering
@dataclass
class _Rendering:
    """The text so far, and the spans over it."""

    for_people: bool = False  # Markdown beyond `content`: spanned tables as HTML, breaks in headings
    hard_breaks: bool = False  # a line feed in a paragraph as Markdown's backslash break
    parts: list[str] = field(default_factory=lambda: list[str]())
    length: int = 0
    spans: list[Span] = field(default_factory=lambda: list[Span]())

    def block(self, text: str, element: StructureElement, path: list[str], tight: bool = False) -> None:
        if self.length:
            gap = "\n" if tight else "\n\n"
            self.parts.append(gap)
            self.length += len(gap)
        start = self.length
        self.parts.append(text)
        self.length += len(text)
        self.spans.append(
            Span(
                element.type,
                start,
                self.length,
                path,
                element.level,
                element.page_number,
                element.box,
                element.method,
                element.table,
                element.attributes.get("language"),
            )
        )


def _render(elements: list[StructureElement], into: _Rendering, furniture: bool = False) -> None:
    stack: list[tuple[StructureElement, list[str]]] = [(e, []) for e in reversed(elements)]
    previous = ""
    while stack:
        element, path = stack.pop()
        if element.type in FURNITURE and not furniture:
            continue
        if element.type == "heading":
            path = [*path, element.content]
        text = _block_text(element, into.for_people)
        if into.hard_breaks and element.type in BROKEN:
            text = text.replace("\n", "\\\n")
        if text:
            into.block(text, element, path, tight=element.type == "list_item" and previous == "list_item")
            previous = element.type
        elif element.type == "list":
            previous = "list"
        stack.extend((child, path) for child in reversed(element.children))


def _block_text(element: StructureElement, for_people: bool) -> str:
    match element.type:
        case "heading":
            lines = element.attributes.get("lines", element.content) if for_people else element.content
            return f"{'#' * (element.level or 1)} {lines.replace(chr(10), '<br>')}"
        case "list_item":
            indent = "  " * ((element.level or 1) - 1)
            body = element.content.replace("\n", f"\n{indent}  ")
            return f"{indent}{element.attributes.get('marker', '-')} {body}"
        case "code":
            fence = "`" * max(3, max((len(m) + 1 for m in re.findall(r"`{3,}", element.content)), default=3))
            return f"{fence}{element.attributes.get('language', '')}\n{element.content}\n{fence}"
        case "table" if element.table is not None:
            table = element.table
            body = table_html(table) if for_people and _is_spanned(element, table) else "\n".join(table_lines(table))
            return f"{clean_text(table.caption)}\n\n{body}" if table.caption else body
        case "comment":
            return f"[Comment] {element.content}"
        case "speaker_notes":
            return f"Speaker notes: {element.content}"
        case _:
            return element.content


def _is_spanned(element: StructureElement, table: ExtractedTable) -> bool:
    """Whether a table needs HTML. One seen on a picture does not: pipe rows show best what was read where."""
    return element.method == "text" and has_spans(table)


def to_markdown(document: ExtractedDocument) -> str:
    """The document as Markdown for people and other tools: like `content`, but spanned tables as HTML and the
    line breaks that an author set as Markdown breaks."""
    rendering = _Rendering(for_people=True, hard_breaks=document.metadata.source_format in MARKS_BREAKS)
    _render(document.structure, rendering)
    if not rendering.parts:
        _render(document.structure, rendering, furniture=True)
    return "".join(rendering.parts)


def derive(document: ExtractedDocument) -> None:
    """Recompute content, spans, pages, tables, images, headings and word count from the tree."""
    rendering = _Rendering()
    _render(document.structure, rendering)
    if not rendering.parts:  # nothing but page headers and footers: then they are the text
        _render(document.structure, rendering, furniture=True)
    document.content = "".join(rendering.parts)
    document.spans = rendering.spans
    elements = list(walk(document.structure))
    document.tables = [e.table for e in elements if e.table is not None]
    document.images = [e.image for e in elements if e.image is not None]
    for number, table in enumerate(document.tables):
        table.table_id = f"table-{number + 1}"
    for number, image in enumerate(document.images):
        image.image_id = f"image-{number + 1}"
    meta = document.metadata
    meta.headings = [e.content for e in elements if e.type == "heading"]
    meta.word_count = count_words(document.content)
    _derive_pages(document)


def _derive_pages(document: ExtractedDocument) -> None:
    texts: dict[int, list[str]] = {}
    for span in document.spans:
        if span.page_number is not None:
            texts.setdefault(span.page_number, []).append(document.content[span.start : span.end])
    for page in document.pages:
        page.content = "\n\n".join(texts.get(page.page_number, []))
        page.tables = [t for t in document.tables if t.page_number == page.page_number]
        page.images = [i for i in document.images if i.page_number == page.page_number]


def page_box(page: int, x0: float, y0: float, x1: float, y1: float) -> Box:
    """A box with its corners in order, rounded to a tenth of a point."""
    return Box(page, round(min(x0, x1), 1), round(min(y0, y1), 1), round(max(x0, x1), 1), round(max(y0, y1), 1))


def merge(parts: list[ExtractedDocument], limits: Limits) -> ExtractedDocument:
    """One document from the parts of a big one, in page order. The tree is nested anew, so that it does not
    show where it was cut: a heading of a later part closes those of an earlier one as usual."""
    builder = Builder(parts[0].metadata.source_format, limits, metadata=parts[0].metadata)
    for part in parts:
        for element in _unnested(part.structure):
            builder.add(element)
        builder.pages.update({page.page_number: page for page in part.pages})
        builder.pending.extend(part.pending)
        builder.attached.extend(part.attached)
        for loss in part.warnings:
            builder.warn(loss.code, loss.message, loss.place, loss.count)
    builder.metadata.page_count = len(builder.pages)
    return builder.finish()


def _unnested(elements: list[StructureElement]) -> Iterator[StructureElement]:
    """The blocks of a tree in source order, headings without what they own."""
    for element in elements:
        if element.type == "heading":
            yield replace(element, children=[])
            yield from _unnested(element.children)
        else:
            yield element
