"""Text of a Word paragraph in reading order, and what is anchored in it.

Runs, links, fields (results, not codes), tracked changes as accepted, content controls, check boxes, symbols,
equations; notes, comments, text boxes, pictures, charts and embedded files come out as blocks of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from engine.extract.docx.source import FieldState, Source
from engine.extract.docx.styles import W, toggled, value
from engine.extract.docx.symbols import symbol
from engine.extract.drawing import chart_blocks, diagram_blocks, graphic_parts
from engine.extract.embedded import attach_part
from engine.extract.flow import image_block, plain_text, text_block
from engine.extract.omml import latex
from engine.extract.ooxml import A, R, chosen
from engine.extract.ordinals import roman
from engine.extract.pictures import picture
from engine.records import StructureElement
from engine.sanitize.safexml import Node, text_of

W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
WP = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"
V = "{urn:schemas-microsoft-com:vml}"
O = "{urn:schemas-microsoft-com:office:office}"  # noqa: E741
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MONOSPACED = re.compile(
    r"(?:courier|consolas|menlo|monaco|lucida console|andale mono|dejavu sans mono|liberation mono|source code"
    r"|fira code|fira mono|cascadia|jetbrains mono|ubuntu mono|roboto mono|inconsolata|sf mono)",
    re.IGNORECASE,
)
_TINY_HALF_POINTS = 4  # text of two points or less is not for people

Blocks = Callable[[Source, Node], Iterator[StructureElement]]  # reader of block content, for text boxes and notes


@dataclass(slots=True)
class Inline:
    """Collects one paragraph: its text, and the blocks to stand after it."""

    source: Source
    blocks: Blocks
    parts: list[str] = field(default_factory=lambda: list[str]())
    hidden: bool = False  # by the paragraph's style
    monospaced: bool | None = None  # whether all text so far is in a typewriter font; None without text
    anchored: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())

    @property
    def text(self) -> str:
        """The paragraph as collected so far."""
        return "".join(self.parts)

    def write(self, text: str) -> None:
        """Add text, unless an open field is still at its code."""
        if text and all(state.in_result for state in self.source.fields):
            self.parts.append(text)

    def read(self, element: Node) -> None:
        """Read all children of an element."""
        for child in element:
            handler = _HANDLERS.get(child.tag)
            if handler is not None:
                handler(self, child)


def read_paragraph(source: Source, paragraph: Node, blocks: Blocks) -> Inline:
    """Text and anchored blocks of a `w:p`."""
    style = value(paragraph.find(f"{W}pPr"), "pStyle")
    inline = Inline(source, blocks, hidden=source.styles.hidden(style))
    inline.read(paragraph)
    # A field code cannot sensibly run into the next paragraph; an unclosed one must not swallow the document.
    source.fields = [state for state in source.fields if state.in_result]
    return inline


# ---------------------------------------------------------------- runs
def _run(inline: Inline, run: Node) -> None:
    properties = run.find(f"{W}rPr")
    if _is_hidden(inline, properties):
        if any(text_of(t).strip() for t in run.iter(f"{W}t")):
            inline.source.warn("hidden_text", "text marked hidden was left out")
        return
    if properties is not None:
        _flag_invisible(inline, properties)
    before = len(inline.parts)
    inline.read(run)
    if "".join(inline.parts[before:]).strip():
        inline.monospaced = inline.monospaced is not False and _is_monospaced(properties)


def _is_monospaced(properties: Node | None) -> bool:
    fonts = properties.find(f"{W}rFonts") if properties is not None else None
    return fonts is not None and bool(_MONOSPACED.match(fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi") or ""))


def _is_hidden(inline: Inline, properties: Node | None) -> bool:
    direct = toggled(properties, "vanish")
    styled = inline.hidden or inline.source.styles.hidden(value(properties, "rStyle"))
    return styled if direct is None else direct


def _flag_invisible(inline: Inline, properties: Node) -> None:
    size = value(properties, "sz")
    tiny = size is not None and size.isdigit() and int(size) <= _TINY_HALF_POINTS
    white = (value(properties, "color") or "").upper() == "FFFFFF" and properties.find(f"{W}shd") is None
    if tiny or (white and properties.getparent().getparent().getparent().tag == f"{W}body"):
        inline.source.warn("suspicious_text", "text too small or too pale to be seen was kept")


def _text(inline: Inline, element: Node) -> None:
    inline.write(text_of(element))


def _literal(text: str) -> Callable[[Inline, Node], None]:
    return lambda inline, element: inline.write(text)


def _symbol(inline: Inline, element: Node) -> None:
    text = symbol(element.get(f"{W}font", ""), element.get(f"{W}char", ""))
    if text is None:
        inline.source.warn("symbol_unknown", "a symbol without a Unicode counterpart became U+FFFD")
    inline.write(text or "\ufffd")


def _ruby(inline: Inline, element: Node) -> None:
    base = element.find(f"{W}rubyBase")
    if base is not None:
        inline.read(base)
        inline.source.warn("ruby_dropped", "pronunciation guides above the text were left out")


def _skip_deleted(inline: Inline, element: Node) -> None:
    inline.source.warn("tracked_changes", "tracked changes were read as accepted")


def _kept_change(inline: Inline, element: Node) -> None:
    inline.source.warn("tracked_changes", "tracked changes were read as accepted")
    inline.read(element)


def _read(inline: Inline, element: Node) -> None:
    inline.read(element)


# ---------------------------------------------------------------- fields and controls
def _field_mark(inline: Inline, element: Node) -> None:
    fields = inline.source.fields
    match element.get(f"{W}fldCharType"):
        case "begin":
            _form_field(inline, element)
            fields.append(FieldState())
        case "separate" if fields:
            fields[-1].in_result = True
        case "end" if fields:
            fields.pop()
        case _:
            pass


def _form_field(inline: Inline, element: Node) -> None:
    box = element.find(f"{W}ffData/{W}checkBox")
    if box is not None:
        checked = toggled(box, "checked")
        inline.write("☒" if (toggled(box, "default") if checked is None else checked) else "☐")
    choices = element.find(f"{W}ffData/{W}ddList")
    if choices is not None:
        entries = [e.get(f"{W}val", "") for e in choices.iterchildren(f"{W}listEntry")]
        picked = int(value(choices, "result") or value(choices, "default") or 0)
        inline.write(entries[picked] if picked < len(entries) else "")


def _control(inline: Inline, element: Node) -> None:
    """A content control: its content, and the state of a check box that shows none."""
    content = element.find(f"{W}sdtContent")
    before = len(inline.parts)
    if content is not None:
        inline.read(content)
    box = element.find(f"{W}sdtPr/{W14}checkbox")
    if box is not None and not "".join(inline.parts[before:]).strip():
        checked = box.find(f"{W14}checked")
        inline.write("☒" if checked is not None and checked.get(f"{W14}val") in {"1", "true"} else "☐")


# ---------------------------------------------------------------- equations
def _equation(inline: Inline, element: Node) -> None:
    text = latex(element)
    if text:
        inline.write(f"${text}$")


def _equation_block(inline: Inline, element: Node) -> None:
    lines = [latex(e) for e in element.iterchildren(f"{M}oMath")]
    inline.write("\n".join(f"$${line}$$" for line in lines if line))


# ---------------------------------------------------------------- notes and comments
def _note(kind: str) -> Callable[[Inline, Node], None]:
    # No mark goes into the sentence: it would break the words apart for search and quotation.
    def read(inline: Inline, element: Node) -> None:
        source = inline.source
        note = source.notes.pop((kind, element.get(f"{W}id", "")), None)
        if note is None:
            return
        count = source.note_counts[kind] = source.note_counts.get(kind, 0) + 1
        label = str(count) if kind == "footnote" else roman(count)
        rels, source.rels = source.rels, source.note_rels.get(kind, {})
        text = plain_text(inline.blocks(source, note)).strip()
        source.rels = rels
        if text:
            inline.anchored.append(text_block("note", f"[^{label}]: {text}", label=label, kind=kind))

    return read


def _comment(inline: Inline, element: Node) -> None:
    comment = inline.source.comments.pop(element.get(f"{W}id", ""), None)
    if comment is not None:
        inline.anchored.append(comment_block(inline.source, comment, inline.blocks))


def comment_block(source: Source, comment: Node, blocks: Blocks) -> StructureElement:
    """A `w:comment` with its author."""
    author = comment.get(f"{W}author", "")
    text = plain_text(blocks(source, comment)).strip()
    return text_block("comment", f"{author}: {text}" if author and text else text, author=author)


# ---------------------------------------------------------------- drawings and objects
def _alternate(inline: Inline, element: Node) -> None:
    branch = chosen(element)
    if branch is not None:
        inline.read(branch)


def _drawing(inline: Inline, element: Node) -> None:
    """DrawingML: text boxes, pictures, charts and diagrams, in the order in which they are stored."""
    source = inline.source
    for box in outermost(element, f"{W}txbxContent"):
        inline.anchored.extend(_box_blocks(inline, box))
    properties = next(element.iter(f"{WP}docPr"), None)
    alt = (properties.get("descr") or properties.get("title") or "") if properties is not None else ""
    for blip in element.iter(f"{A}blip"):
        _picture(inline, blip.get(f"{R}embed") or blip.get(f"{R}link") or "", alt)
        alt = ""
    for kind, rel_id in graphic_parts(element):
        root = source.package.optional_xml(source.rels[rel_id].target) if rel_id in source.rels else None
        if root is not None:
            inline.anchored.extend(chart_blocks(root) if kind == "chart" else diagram_blocks(root))


def _vml(inline: Inline, element: Node) -> None:
    """VML: text boxes, WordArt, pictures."""
    for box in outermost(element, f"{W}txbxContent"):
        inline.anchored.extend(_box_blocks(inline, box))
    for path in element.iter(f"{V}textpath"):
        if path.get("string"):
            inline.anchored.append(text_block("paragraph", path.get("string")))
    for shape in element.iter(f"{V}imagedata"):
        _picture(inline, shape.get(f"{R}id") or shape.get(f"{R}href") or "", shape.get(f"{O}title") or "")


def _box_blocks(inline: Inline, box: Node) -> list[StructureElement]:
    """The blocks of a text box; fields that are open around it do not reach inside."""
    source = inline.source
    fields, source.fields = source.fields, []
    found = list(inline.blocks(source, box))
    source.fields = fields
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


def _object(inline: Inline, element: Node) -> None:
    """An embedded file: a document of its own; its preview picture says nothing more."""
    source = inline.source
    for box in outermost(element, f"{W}txbxContent"):
        inline.anchored.extend(_box_blocks(inline, box))
    for ole in element.iter(f"{O}OLEObject"):
        relationship = source.rels.get(ole.get(f"{R}id", ""))
        if relationship is None or relationship.external:
            source.warn("external_reference", "a linked object was not read")
        else:
            attach_part(source.package, relationship.target, ole.get("ProgID", ""), source.builder, source.context)


def outermost(element: Node, tag: str) -> Iterator[Node]:
    """Descendants with a tag that are not inside another such one; one branch of alternates only."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag == "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent":
            branch = chosen(child)
            if branch is not None:
                yield from outermost(branch, tag)
        else:
            yield from outermost(child, tag)


_HANDLERS: dict[object, Callable[[Inline, Node], None]] = {
    f"{W}r": _run,
    f"{W}t": _text,
    f"{W}tab": _literal("\t"),
    f"{W}ptab": _literal("\t"),
    f"{W}br": _literal("\n"),
    f"{W}cr": _literal("\n"),
    f"{W}noBreakHyphen": _literal("-"),
    f"{W}sym": _symbol,
    f"{W}ruby": _ruby,
    f"{W}ins": _kept_change,
    f"{W}moveTo": _kept_change,
    f"{W}del": _skip_deleted,
    f"{W}moveFrom": _skip_deleted,
    f"{W}fldChar": _field_mark,
    f"{W}sdt": _control,
    f"{W}footnoteReference": _note("footnote"),
    f"{W}endnoteReference": _note("endnote"),
    f"{W}commentReference": _comment,
    f"{W}drawing": _drawing,
    f"{W}pict": _vml,
    f"{W}object": _object,
    f"{M}oMath": _equation,
    f"{M}oMathPara": _equation_block,
    "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent": _alternate,
    **dict.fromkeys(
        (f"{W}{n}" for n in ("hyperlink", "fldSimple", "smartTag", "customXml", "bdo", "dir", "rubyBase")), _read
    ),
}
