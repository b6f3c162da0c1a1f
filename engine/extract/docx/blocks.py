"""Word body content as blocks in source order: headings, paragraphs, list items, code, tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from engine.extract.docx.inline import Inline, read_paragraph
from engine.extract.docx.source import Source
from engine.extract.docx.styles import W, number, value
from engine.extract.docx.tables import table_blocks
from engine.extract.embedded import attach_part
from engine.extract.flow import text_block
from engine.extract.ooxml import R, chosen
from engine.records import StructureElement
from engine.sanitize.safexml import Node, local_name

_LONGEST_HEADING = 400  # characters; beyond it a heading style was put on body text
_CODE_SIGNS = re.compile(r"[{}()\[\];=<>|&*$#@\\]|->|::|\+\+")
_WRAPPERS = {"sdtContent", "customXml", "ins", "moveTo", "smartTag", "Choice", "Fallback", "body"}


def blocks(source: Source, container: Node) -> Iterator[StructureElement]:
    """Blocks of everything inside a body, cell, text box, note, comment or header."""
    for child in container:
        yield from block(source, child)
    yield from pending(source)


def pending(source: Source) -> Iterator[StructureElement]:
    """What paragraphs with a deleted end mark left over, where no paragraph follows to take it."""
    text, source.pending_text = source.pending_text.strip(), ""
    anchored, source.pending_blocks = source.pending_blocks, []
    if text:
        yield text_block("paragraph", text)
    yield from anchored


def block(source: Source, element: Node) -> Iterator[StructureElement]:
    """Blocks of one child of such a container."""
    match local_name(element):
        case "p":
            yield from _paragraph(source, element)
        case "tbl":
            yield from pending(source)
            yield from table_blocks(source, element, blocks)
        case "sdt":
            content = element.find(f"{W}sdtContent")
            if content is not None:
                yield from blocks(source, content)
        case "AlternateContent":
            branch = chosen(element)
            if branch is not None:
                yield from blocks(source, branch)
        case name if name in _WRAPPERS:
            yield from blocks(source, element)
        case name:
            _mark(source, element, name)


def _mark(source: Source, element: Node, name: str) -> None:
    """Elements between blocks that show nothing themselves."""
    match name:
        case "sectPr":
            _note_headers(source, element)
        case "altChunk":
            _imported(source, element)
        case "commentRangeStart":
            source.open_range(element)
        case "commentRangeEnd":
            source.close_range(element)
        case _:
            pass


def _imported(source: Source, element: Node) -> None:
    """An altChunk: a document in another format, which becomes a child of its own."""
    relationship = source.rels.get(element.get(f"{R}id", ""))
    if relationship is not None and not relationship.external:
        attach_part(source.package, relationship.target, "", source.children)


def _paragraph(source: Source, paragraph: Node) -> Iterator[StructureElement]:
    properties = paragraph.find(f"{W}pPr")
    if properties is not None and properties.find(f"{W}sectPr") is not None:
        _note_headers(source, properties.find(f"{W}sectPr"))
    inline = read_paragraph(source, paragraph, blocks)
    text, source.pending_text = source.pending_text + inline.text, ""
    anchored, source.pending_blocks = source.pending_blocks + inline.anchored, []
    if _mark_is_deleted(properties):
        source.pending_text, source.pending_blocks = text, anchored
        return
    first = _classified(source, properties, text, inline)
    if first is not None:
        yield first
    yield from anchored


def _mark_is_deleted(properties: Node | None) -> bool:
    """Whether the end of the paragraph was deleted under tracking, so that the next one continues it."""
    mark = properties.find(f"{W}rPr") if properties is not None else None
    return mark is not None and (mark.find(f"{W}del") is not None or mark.find(f"{W}moveFrom") is not None)


def _classified(source: Source, properties: Node | None, text: str, inline: Inline) -> StructureElement | None:
    style = value(properties, "pStyle")
    label, depth = _number_of(source, properties, style)
    if source.styles.is_code(style):
        return text_block("code", text)
    raw, text = text, text.replace("\t", " ").strip()
    if not text:
        return None
    level = _heading_level(source, properties, style)
    if level is not None and len(text) <= _LONGEST_HEADING:
        if source.styles.is_title(style):
            source.builder.metadata.title = source.builder.metadata.title or text
        shown = label if label and label != "-" else ""
        return text_block("heading", f"{shown} {text}".strip(), level)
    if label:
        return text_block("list_item", text, depth, marker=label)
    if source.styles.is_caption(style):
        return text_block("caption", text)
    if inline.monospaced:
        return text_block("code", raw, perhaps="yes")
    look = _look(source, inline)
    return text_block("paragraph", text, look=look) if look else text_block("paragraph", text)


def _look(source: Source, inline: Inline) -> str:
    """The look of a paragraph set all in one look, for headings told by it; counts what text is set in."""
    for (size, _), characters in inline.looks.items():
        source.sizes[size] += characters
    if len(inline.looks) != 1:
        return ""
    ((size, bold),) = inline.looks
    return f"{size} {'bold' if bold else 'plain'}"


def settled(blocks: Iterable[StructureElement]) -> Iterator[StructureElement]:
    """Decide runs of paragraphs in a typewriter font: code where they look like it, else paragraphs."""
    for is_open, run in groupby(blocks, key=lambda block: block.attributes.get("perhaps") == "yes"):
        if not is_open:
            yield from run
            continue
        lines = list(run)
        text = "\n".join(line.content for line in lines)
        code = sum(map(len, _CODE_SIGNS.findall(text))) >= max(2, len(text) / 40)
        for line in lines:
            yield text_block("code", line.content) if code else text_block("paragraph", line.content.strip())


def _heading_level(source: Source, properties: Node | None, style: str | None) -> int | None:
    direct = number(value(properties, "outlineLvl"))
    if direct is not None:
        return direct + 1 if direct < 9 else None
    return source.styles.heading_level(style)


def _number_of(source: Source, properties: Node | None, style: str | None) -> tuple[str | None, int]:
    """The label that automatic numbering shows before the paragraph, and its depth from 1."""
    given = properties.find(f"{W}numPr") if properties is not None else None
    list_id, level = value(given, "numId"), number(value(given, "ilvl"))
    if list_id is None:
        list_id, styled_level = source.styles.list_of(style)
        level = styled_level if level is None else level
    if not list_id or list_id == "0":
        return None, 1
    if level is None:
        level = source.numbering.level_of_style(list_id, style)
    return source.numbering.next_label(list_id, level), level + 1


def _note_headers(source: Source, section: Node) -> None:
    """Remember the header and footer parts of a section; first-page ones only where they are in use."""
    first = section.find(f"{W}titlePg") is not None
    for reference in section:
        kind = local_name(reference)
        relationship = source.rels.get(reference.get(f"{R}id", ""))
        if kind not in {"headerReference", "footerReference"} or relationship is None:
            continue
        if reference.get(f"{W}type") != "first" or first:
            source.header_parts[relationship.target] = "page_header" if kind == "headerReference" else "page_footer"
