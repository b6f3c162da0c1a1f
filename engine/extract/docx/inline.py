"""Text of a Word paragraph in reading order, and what is anchored in it.

Runs, links, fields (results, not codes), tracked changes as accepted, content controls, check boxes, symbols,
equations; notes, comments, text boxes, pictures, charts and embedded files come out as blocks of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from engine.extract.docx.anchored import Blocks, comment, drawing, embedded, note, quote_ranges, vml
from engine.extract.docx.source import FieldState, Source
from engine.extract.docx.styles import W, number, toggled, value
from engine.extract.docx.symbols import from_symbol_font, symbol
from engine.extract.omml import latex
from engine.extract.ooxml import MC, chosen
from engine.records import StructureElement
from engine.sanitize.safexml import Node, text_of

W14 = "{http://schemas.microsoft.com/office/word/2010/wordml}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MONOSPACED = re.compile(
    r"(?:courier|consolas|menlo|monaco|lucida console|andale mono|dejavu sans mono|liberation mono|source code"
    r"|fira code|fira mono|cascadia|jetbrains mono|ubuntu mono|roboto mono|inconsolata|sf mono)",
    re.IGNORECASE,
)
_MOST_QUOTED = 100  # pieces of text kept of what a comment speaks of
_TINY_HALF_POINTS = 4  # text of two points or less is not for people


@dataclass(slots=True)
class Inline:
    """Collects one paragraph: its text, how it looks, and the blocks to stand after it."""

    source: Source
    blocks: Blocks
    style: str | None = None
    parts: list[str] = field(default_factory=lambda: list[str]())
    hidden: bool = False  # by the paragraph's style
    monospaced: bool | None = None  # whether all text so far is in a typewriter font; None without text
    font: str = ""  # of the run being read, where it names one itself
    looks: dict[tuple[int, bool], int] = field(default_factory=lambda: dict[tuple[int, bool], int]())
    anchored: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())

    @property
    def text(self) -> str:
        """The paragraph as collected so far."""
        return "".join(self.parts)

    def write(self, text: str) -> None:
        """Add text, unless an open field is still at its code."""
        if text and all(state.in_result for state in self.source.fields):
            self.parts.append(text)
            for quote in self.source.open_ranges.values():
                if len(quote) < _MOST_QUOTED:
                    quote.append(text)

    def read(self, element: Node) -> None:
        """Read all children of an element."""
        for child in element:
            handler = _HANDLERS.get(child.tag)
            if handler is not None:
                handler(self, child)


def read_paragraph(source: Source, paragraph: Node, blocks: Blocks) -> Inline:
    """Text and anchored blocks of a `w:p`."""
    style = value(paragraph.find(f"{W}pPr"), "pStyle")
    inline = Inline(source, blocks, style, hidden=source.styles.hidden(style))
    inline.read(paragraph)
    quote_ranges(inline.anchored, inline.text)
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
    before, inline.font = len(inline.parts), _font(properties)
    inline.read(run)
    added = "".join(inline.parts[before:]).strip()
    if added:
        inline.monospaced = inline.monospaced is not False and bool(_MONOSPACED.match(inline.font))
        look = _look(inline, properties)
        inline.looks[look] = inline.looks.get(look, 0) + len(added)


def _font(properties: Node | None) -> str:
    fonts = properties.find(f"{W}rFonts") if properties is not None else None
    return (fonts.get(f"{W}ascii") or fonts.get(f"{W}hAnsi") or "") if fonts is not None else ""


def _look(inline: Inline, properties: Node | None) -> tuple[int, bool]:
    """Size in half points and whether bold: by the run itself, its style, the paragraph's style."""
    styled = inline.source.styles.look(value(properties, "rStyle"), inline.style)
    size, bold = number(value(properties, "sz")), toggled(properties, "b")
    return styled[0] if size is None else size, styled[1] if bold is None else bold


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
    inline.write(from_symbol_font(inline.font, text_of(element)))


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


# ---------------------------------------------------------------- comment ranges and alternates
def _open_range(inline: Inline, element: Node) -> None:
    inline.source.open_range(element)


def _close_range(inline: Inline, element: Node) -> None:
    inline.source.close_range(element)


def _alternate(inline: Inline, element: Node) -> None:
    branch = chosen(element)
    if branch is not None:
        inline.read(branch)


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
    f"{W}footnoteReference": note("footnote"),
    f"{W}endnoteReference": note("endnote"),
    f"{W}commentRangeStart": _open_range,
    f"{W}commentRangeEnd": _close_range,
    f"{W}commentReference": comment,
    f"{W}drawing": drawing,
    f"{W}pict": vml,
    f"{W}object": embedded,
    f"{M}oMath": _equation,
    f"{M}oMathPara": _equation_block,
    f"{MC}AlternateContent": _alternate,
    **dict.fromkeys(
        (f"{W}{n}" for n in ("hyperlink", "fldSimple", "smartTag", "customXml", "bdo", "dir", "rubyBase")), _read
    ),
}
