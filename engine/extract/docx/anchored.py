"""What is anchored in a Word paragraph and stands after it: notes, comments, boxes, pictures, charts, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from engine.extract.docx.source import Source
from engine.extract.docx.styles import W
from engine.extract.drawing import CHARTS, chart_blocks, diagram_blocks, graphic_reference
from engine.extract.embedded import attach_part
from engine.extract.flow import image_block, plain_text, text_block
from engine.extract.ooxml import MC, A, R, chosen
from engine.extract.ordinals import roman
from engine.extract.pictures import picture
from engine.records import StructureElement
from engine.sanitize.safexml import Node

if TYPE_CHECKING:
    from engine.extract.docx.inline import Inline

WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
V = "{urn:schemas-microsoft-com:vml}"
O = "{urn:schemas-microsoft-com:office:office}"  # noqa: E741
_LONGEST_QUOTE = 80  # characters of the text commented on that a comment repeats

Blocks = Callable[[Source, Node], Iterator[StructureElement]]  # reader of block content, for text boxes and notes


# ---------------------------------------------------------------- notes and comments
def note(kind: str) -> Callable[[Inline, Node], None]:
    """The handler of a reference to a footnote or endnote.

    No mark goes into the sentence: it would break the words apart for search and quotation.
    """

    def read(inline: Inline, element: Node) -> None:
        source = inline.source
        found = source.notes.pop((kind, element.get(f"{W}id", "")), None)
        if found is None:
            return
        label = _note_label(source, kind, element)
        rels, source.rels = source.rels, source.note_rels.get(kind, {})
        text = plain_text(inline.blocks(source, found)).strip()
        source.rels = rels
        if text:
            inline.anchored.append(text_block("note", f"[^{label}]: {text}", label=label, kind=kind))

    return read


def _note_label(source: Source, kind: str, reference: Node) -> str:
    """The note's number; a mark of the author's own, which stands in the text beside it, is not counted."""
    if reference.get(f"{W}customMarkFollows") in {"1", "true", "on"}:
        return "*"
    count = source.note_counts[kind] = source.note_counts.get(kind, 0) + 1
    return str(count) if kind == "footnote" else roman(count)


def comment(inline: Inline, element: Node) -> None:
    """The handler of a reference to a comment."""
    key = element.get(f"{W}id", "")
    found = inline.source.comments.pop(key, None)
    if found is not None:
        block = comment_block(inline.source, found, inline.blocks)
        if quote := inline.source.ranges.get(key, ""):
            block.attributes["quote"] = quote
        inline.anchored.append(block)


def comment_block(source: Source, found: Node, blocks: Blocks) -> StructureElement:
    """A `w:comment` with its author and date."""
    author, date = found.get(f"{W}author", ""), found.get(f"{W}date", "")
    text = plain_text(blocks(source, found)).strip()
    block = text_block("comment", f"{author}: {text}" if author and text else text, author=author)
    if date:
        block.attributes["date"] = date
    return block


def quote_ranges(anchored: list[StructureElement], paragraph: str) -> None:
    """Let comments on a part of the paragraph say which, where it is short."""
    for block in anchored:
        quote, author = block.attributes.get("quote", ""), block.attributes.get("author", "")
        if block.type == "comment" and 0 < len(quote) <= _LONGEST_QUOTE and quote != paragraph.strip():
            text = block.content.removeprefix(f"{author}: ")
            block.content = f"{author} on “{quote}”: {text}".strip()


# ---------------------------------------------------------------- drawings and objects
def drawing(inline: Inline, element: Node) -> None:
    """DrawingML: text boxes, pictures, charts and diagrams, in the order in which they are stored."""
    source = inline.source
    properties = next(element.iter(f"{WP}docPr"), None)
    alt = (properties.get("descr") or properties.get("title") or "") if properties is not None else ""
    for part in _outermost(element, _PARTS):
        if part.tag == f"{W}txbxContent":
            inline.anchored.extend(_box_blocks(inline, part))
        elif part.tag == f"{A}blip":
            _picture(inline, part.get(f"{R}embed") or part.get(f"{R}link") or "", alt)
            alt = ""
        else:
            kind, rel_id = graphic_reference(part)
            root = source.package.optional_xml(source.rels[rel_id].target) if rel_id in source.rels else None
            if root is not None:
                inline.anchored.extend(chart_blocks(root) if kind == "chart" else diagram_blocks(root))


_PARTS = {f"{W}txbxContent", f"{A}blip", *CHARTS}


def vml(inline: Inline, element: Node) -> None:
    """VML: text boxes, WordArt, pictures."""
    for part in _outermost(element, {f"{W}txbxContent", f"{V}textpath", f"{V}imagedata"}):
        if part.tag == f"{W}txbxContent":
            inline.anchored.extend(_box_blocks(inline, part))
        elif part.tag == f"{V}imagedata":
            _picture(inline, part.get(f"{R}id") or part.get(f"{R}href") or "", part.get(f"{O}title") or "")
        elif part.get("string"):
            inline.anchored.append(text_block("paragraph", part.get("string")))


def embedded(inline: Inline, element: Node) -> None:
    """An embedded file: a document of its own; its preview picture says nothing more."""
    source = inline.source
    for box in _outermost(element, {f"{W}txbxContent"}):
        inline.anchored.extend(_box_blocks(inline, box))
    for ole in element.iter(f"{O}OLEObject"):
        relationship = source.rels.get(ole.get(f"{R}id", ""))
        if relationship is None or relationship.external:
            source.warn("external_reference", "a linked object was not read")
        else:
            attach_part(source.package, relationship.target, ole.get("ProgID", ""), source.children)


def _box_blocks(inline: Inline, box: Node) -> list[StructureElement]:
    """The blocks of a text box; fields that are open around it do not reach inside, nor does its look count."""
    source = inline.source
    fields, source.fields = source.fields, []
    pending, source.pending_text = source.pending_text, ""
    found = list(inline.blocks(source, box))
    source.fields, source.pending_text = fields, pending
    for block in found:
        block.attributes.pop("look", None)
    return found


def _picture(inline: Inline, rel_id: str, alt: str) -> None:
    source = inline.source
    relationship = source.rels.get(rel_id)
    if relationship is None or relationship.external:
        if relationship is not None:
            source.warn("external_reference", "a linked picture was not fetched")
        if alt:
            inline.anchored.append(image_block(b"", "", alt))
        return
    inline.anchored.append(picture(source.package, source.builder, relationship.target, alt))


def _outermost(element: Node, tags: set[str]) -> Iterator[Node]:
    """Descendants with these tags that are not inside another such one; one branch of alternates only."""
    for child in element:
        if child.tag in tags:
            yield child
        elif child.tag == f"{MC}AlternateContent":
            branch = chosen(child)
            if branch is not None:
                yield from _outermost(branch, tags)
        else:
            yield from _outermost(child, tags)
