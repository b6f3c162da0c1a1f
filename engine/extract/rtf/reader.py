"""Reads RTF: groups, destinations, character formatting, code pages, Unicode, tables, notes.

After the RTF 1.9.1 specification. The parser keeps its own stack, so nesting costs memory, not recursion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract.docx.symbols import symbol
from engine.extract.flow import image_block, plain_text, text_block
from engine.extract.rtf.flow import Flow, Paragraph
from engine.extract.rtf.table import CellDefinition, RowDefinition
from engine.extract.rtf.tokens import CHARSETS, DOUBLE_BYTE, SYMBOL_CHARSET, Token, codepage, tokens
from engine.records import StructureElement

MAX_DEPTH = 20_000
_MAX_PICTURE_BYTES = 8 << 20

_SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "zwj": "\u200d",
    "zwnj": "\u200c", "ltrmark": "\u200e", "rtlmark": "\u200f",
}  # fmt: skip
_SYMBOLS = {"~": "\u00a0", "_": "-", "{": "{", "}": "}", "\\": "\\"}
_PLACEHOLDER_BREAKS = {"page", "sect", "column", "softpage"}
# Destinations whose text is not part of the document, beside all unknown ones marked with \*.
_SKIPPED = {
    "colortbl", "listtable", "listoverridetable", "rsidtbl", "generator", "xmlnstbl", "themedata", "datastore",
    "colorschememapping", "latentstyles", "filetbl", "revtbl", "fldinst", "bkmkstart", "bkmkend", "objdata", "objclass",
    "objname", "nonesttables", "sn", "sv", "sp", "atnid", "atnref", "atndate", "atntime", "atnicn", "atnparent",
    "annotationref", "private", "operator", "nonshppict", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "tc", "tcn", "xe",
    "pnseclvl", "template", "falt", "panose", "fontemb", "do", "mmathPr", "wgrffmtfilter", "pgptbl", "docvar", "userprops",
}  # fmt: skip
_FLOWS = {
    "footnote": "note", "header": "page_header", "headerl": "page_header", "headerr": "page_header",
    "headerf": "page_header", "footer": "page_footer", "footerl": "page_footer", "footerr": "page_footer",
    "footerf": "page_footer", "annotation": "comment", "shptxt": "box", "listtext": "marker", "pntext": "marker",
    "atnauthor": "atnauthor", "title": "title", "author": "author", "subject": "subject", "keywords": "keywords",
    "doccomm": "doccomm", "stylesheet": "stylesheet", "fonttbl": "fonttbl", "pict": "pict",
}  # fmt: skip
_KNOWN_STARRED = {"shpinst", "shptxt", "nesttableprops", "moMath", "ud", "shppict", "atnauthor", "annotation", "listtext"}


@dataclass(slots=True)
class Group:
    """What a group inherits and gives back when it closes."""

    flow: Flow
    codec: str
    font_symbols: str = ""  # name of a symbol font in force
    skip: bool = False
    hidden: bool = False
    deleted: bool = False
    unicode_skip: int = 1
    opened_flow: bool = False
    starred: bool = False
    fresh: bool = True  # nothing met yet: a destination may still follow


@dataclass(slots=True)
class Font:
    codec: str | None = None
    symbol_charset: bool = False
    name: str = ""


@dataclass(slots=True)
class Reader:
    """One RTF file being read."""

    builder: Builder
    group: Group
    default_codec: str = "cp1252"
    stack: list[Group] = field(default_factory=lambda: list[Group]())
    fonts: dict[int, Font] = field(default_factory=lambda: dict[int, Font]())
    font: int = 0
    headings: dict[int, int] = field(default_factory=lambda: dict[int, int]())  # style number → level
    style: int = 0
    style_level: int | None = None
    paragraph: Paragraph = field(default_factory=Paragraph)
    row: RowDefinition = field(default_factory=RowDefinition)
    nested_row: RowDefinition = field(default_factory=RowDefinition)
    in_nested_properties: int = 0
    pending: bytearray = field(default_factory=bytearray)
    to_skip: int = 0  # characters still to be dropped after \uN
    notes: int = 0
    author: str = ""
    picture_kind: str = ""
    date: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    furniture: list[tuple[str, str]] = field(default_factory=lambda: list[tuple[str, str]]())

    # ------------------------------------------------------------ text
    def write(self, text: str) -> None:
        """Add decoded text to the current flow, unless it is not to be seen."""
        self.flush()
        self._put(text)

    def _put(self, text: str) -> None:
        group = self.group
        if group.skip or not text:
            return
        if group.hidden or group.deleted:
            if text.strip() and group.flow.kind not in {"stylesheet", "fonttbl", "pict"}:
                code = "hidden_text" if group.hidden else "tracked_changes"
                message = "text marked hidden was left out" if group.hidden else "tracked changes were read as accepted"
                self.builder.warn(code, message)
            return
        group.flow.parts.append(text)

    def write_bytes(self, data: bytes) -> None:
        """Add bytes in the code page in force; they are decoded together, as characters may span tokens."""
        if self.to_skip:
            dropped = min(self.to_skip, len(data))
            self.to_skip -= dropped
            data = data[dropped:]
        if not self.group.skip:
            self.pending += data

    def flush(self) -> None:
        """Decode the pending bytes."""
        if not self.pending:
            return
        data, self.pending = bytes(self.pending), bytearray()
        if self.group.font_symbols:
            signs = (symbol(self.group.font_symbols, f"{byte:02x}") or chr(byte) for byte in data)
            self._put("".join(signs))
        else:
            self._put(data.decode(self.group.codec, "replace"))

    # ------------------------------------------------------------ groups
    def open(self) -> None:
        self.flush()
        self.to_skip = 0
        if len(self.stack) >= MAX_DEPTH:
            raise InputError("the RTF file is nested too deeply", Code.LIMIT_EXCEEDED, Stage.EXTRACT)
        self.stack.append(self.group)
        self.group = replace(self.group, opened_flow=False, starred=False, fresh=True)

    def close(self) -> None:
        self.flush()
        self.to_skip = 0
        if not self.stack:
            return
        ended = self.group
        self.group = self.stack.pop()
        if len(self.stack) < self.in_nested_properties:
            self.in_nested_properties = 0
        if ended.opened_flow:
            close_flow(self, ended.flow)

    def open_flow(self, kind: str) -> None:
        """Text of this group goes to a flow of its own from here on."""
        self.group.flow = Flow(kind)
        self.group.opened_flow = True
        self.group.skip = False


def read(data: bytes, builder: Builder) -> list[StructureElement]:
    """Blocks of an RTF file in source order; headers, footers and metadata go to the builder."""
    body = Flow()
    reader = Reader(builder, Group(body, "cp1252"))
    for token in tokens(data):
        _token(reader, token)
    while reader.stack:  # a truncated file ends inside its groups
        reader.close()
    reader.flush()
    blocks = body.finish(reader.paragraph)
    for kind, text in dict.fromkeys(reader.furniture):
        builder.paragraph(text, kind)
    return blocks


def _token(reader: Reader, token: Token) -> None:
    match token.kind:
        case "open":
            reader.open()
        case "close":
            reader.close()
        case "text" | "hex":
            reader.group.fresh = False
            reader.write_bytes(token.data)
        case "symbol":
            _control_symbol(reader, token.name)
        case _:
            _control_word(reader, token.name, token.number)


def _control_symbol(reader: Reader, name: str) -> None:
    if name == "*":
        reader.group.starred = True
    elif name in "\r\n":
        _end_paragraph(reader, None)
    elif reader.to_skip and name in _SYMBOLS:
        reader.to_skip -= 1
    elif name in "\\{}" and reader.pending and reader.group.codec in DOUBLE_BYTE:
        reader.pending += name.encode("ascii")  # may be the second half of a character
    else:
        reader.write(_SYMBOLS.get(name, ""))


def _control_word(reader: Reader, name: str, number: int | None) -> None:
    group = reader.group
    if group.fresh and (group.starred or name in _SKIPPED or name in _FLOWS):
        group.fresh = False
        if _destination(reader, name):
            return
    group.fresh = False
    handler = _HANDLERS.get(name)
    if handler is not None:
        reader.flush()
        handler(reader, number)
    elif name in _SIGNS:
        reader.write(_SIGNS[name])


def _destination(reader: Reader, name: str) -> bool:
    """Start a destination; True when the word has done its work by that."""
    group = reader.group
    if group.skip:
        return False
    if name in _FLOWS:
        if name == "pict" and group.flow.kind in {"pict", "stylesheet", "fonttbl"}:
            group.skip = True
        else:
            reader.picture_kind = ""
            reader.open_flow(_FLOWS[name])
            if _FLOWS[name] in {"note", "box", "comment", "page_header", "page_footer"}:
                reader.paragraph = Paragraph()
        return True
    if name == "nesttableprops":
        reader.in_nested_properties = len(reader.stack)
        return True
    if name in _SKIPPED or (group.starred and name not in _KNOWN_STARRED):
        group.skip = True
        return True
    return group.starred


# ---------------------------------------------------------------- closing destinations
def close_flow(reader: Reader, flow: Flow) -> None:
    """Use what a destination collected."""
    parent = reader.group.flow
    match flow.kind:
        case "marker":
            parent.marker = "".join(flow.parts).strip() or "-"
        case "note" | "comment" | "page_header" | "page_footer" | "box":
            _close_text(reader, flow, parent)
        case "title" | "author" | "subject" | "keywords" | "doccomm":
            _close_info(reader, flow)
        case "atnauthor":
            reader.author = "".join(flow.parts).strip()
        case "pict":
            _close_picture(reader, flow, parent)
        case _:
            pass


def _close_text(reader: Reader, flow: Flow, parent: Flow) -> None:
    blocks = flow.finish(reader.paragraph)
    if flow.kind == "box":
        parent.anchored.extend(blocks)
        return
    text = plain_text(blocks).strip()
    if not text:
        return
    if flow.kind == "note":
        reader.notes += 1
        parent.anchored.append(text_block("note", f"[^{reader.notes}]: {text}", label=str(reader.notes)))
    elif flow.kind == "comment":
        author, reader.author = reader.author, ""
        parent.anchored.append(text_block("comment", f"{author}: {text}" if author else text, author=author))
    else:
        reader.furniture.append((flow.kind, text))


def _close_info(reader: Reader, flow: Flow) -> None:
    text = "".join(flow.parts).strip()
    meta = reader.builder.metadata
    if not text:
        return
    if flow.kind == "title":
        meta.title = text
    elif flow.kind == "author":
        meta.author = text
    else:
        meta.extra[{"doccomm": "description"}.get(flow.kind, flow.kind)] = text[:2000]


def _close_picture(reader: Reader, flow: Flow, parent: Flow) -> None:
    digits = "".join("".join(flow.parts).split())
    if not digits or parent.kind in {"marker", "stylesheet"}:
        return
    mime_type = {"pngblip": "image/png", "jpegblip": "image/jpeg"}.get(reader.picture_kind, "")
    data = b""
    if mime_type and len(digits) <= 2 * _MAX_PICTURE_BYTES:
        try:
            data = bytes.fromhex(digits)
        except ValueError:
            reader.builder.warn("image_unreadable", "a picture's data is damaged")
    elif mime_type:
        reader.builder.warn("image_skipped", "pictures beyond the size kept were left out")
    parent.anchored.append(image_block(data, mime_type or "image/x-wmf", None))


# ---------------------------------------------------------------- control words
def _end_paragraph(reader: Reader, number: int | None) -> None:
    flow = reader.group.flow
    if reader.group.skip:
        return
    if flow.kind in {"stylesheet", "fonttbl", "pict", "marker"}:
        return
    flow.end_paragraph(reader.paragraph)


def _end_cell(reader: Reader, number: int | None) -> None:
    reader.group.flow.end_cell(reader.paragraph, 1)


def _end_nested_cell(reader: Reader, number: int | None) -> None:
    reader.group.flow.end_cell(reader.paragraph, max(reader.paragraph.nesting, 2))


def _end_row(reader: Reader, number: int | None) -> None:
    reader.group.flow.end_row(reader.row, 1)


def _end_nested_row(reader: Reader, number: int | None) -> None:
    reader.group.flow.end_row(reader.nested_row, max(reader.paragraph.nesting, 2))
    reader.nested_row = RowDefinition()


def _row_of(reader: Reader) -> RowDefinition:
    return reader.nested_row if reader.in_nested_properties else reader.row


def _start_row(reader: Reader, number: int | None) -> None:
    if reader.in_nested_properties:
        reader.nested_row = RowDefinition()
    else:
        reader.row = RowDefinition()


def _row_left(reader: Reader, number: int | None) -> None:
    _row_of(reader).left = number or 0


def _row_header(reader: Reader, number: int | None) -> None:
    _row_of(reader).header = True


def _cell_edge(reader: Reader, number: int | None) -> None:
    row = _row_of(reader)
    if len(row.cells) < 1000:
        row.cells.append(replace(row.next, right=number or 0))
    row.next = CellDefinition()


def _cell_flag(name: str) -> Callable[[Reader, int | None], None]:
    return lambda reader, number: setattr(_row_of(reader).next, name, True)


def _reset_paragraph(reader: Reader, number: int | None) -> None:
    if reader.group.flow.kind != "marker":
        reader.paragraph = Paragraph()


def _in_table(reader: Reader, number: int | None) -> None:
    reader.paragraph.in_table = True


def _nesting(reader: Reader, number: int | None) -> None:
    reader.paragraph.nesting = min(max(number or 1, 1), 20)
    reader.paragraph.in_table = reader.paragraph.in_table or (number or 0) > 0


def _outline(reader: Reader, number: int | None) -> None:
    level = (number or 0) + 1 if (number or 0) < 9 else None
    if reader.group.flow.kind == "stylesheet":
        if level is not None:
            reader.headings[reader.style] = level
    else:
        reader.paragraph.heading = level


def _style(reader: Reader, number: int | None) -> None:
    reader.style = number or 0
    if reader.group.flow.kind != "stylesheet":
        reader.paragraph.heading = reader.headings.get(reader.style, reader.paragraph.heading)


def _list_level(reader: Reader, number: int | None) -> None:
    reader.paragraph.depth = min((number or 0) + 1, 9)


def _font(reader: Reader, number: int | None) -> None:
    reader.font = number or 0
    if reader.group.flow.kind == "fonttbl":
        reader.fonts.setdefault(reader.font, Font())
        return
    font = reader.fonts.get(reader.font, Font())
    reader.group.codec = font.codec or reader.default_codec
    reader.group.font_symbols = "symbol" if font.symbol_charset else ""


def _font_charset(reader: Reader, number: int | None) -> None:
    font = reader.fonts.setdefault(reader.font, Font())
    font.symbol_charset = number == SYMBOL_CHARSET
    font.codec = CHARSETS.get(number or 0) if number != 0 else None
    if number == 0:
        font.codec = "cp1252"


def _font_codepage(reader: Reader, number: int | None) -> None:
    reader.fonts.setdefault(reader.font, Font()).codec = codepage(number or 1252)


def _default_codepage(reader: Reader, number: int | None) -> None:
    reader.default_codec = codepage(number or 1252)
    reader.group.codec = reader.default_codec


def _fixed_codec(codec: str) -> Callable[[Reader, int | None], None]:
    def read(reader: Reader, number: int | None) -> None:
        reader.default_codec = reader.group.codec = codec

    return read


def _unicode(reader: Reader, number: int | None) -> None:
    unit = (number or 0) % 65_536
    reader.write(chr(unit))
    reader.to_skip = reader.group.unicode_skip


def _unicode_skip(reader: Reader, number: int | None) -> None:
    reader.group.unicode_skip = max(number or 0, 0)


def _hidden(reader: Reader, number: int | None) -> None:
    reader.group.hidden = number != 0


def _deleted(reader: Reader, number: int | None) -> None:
    reader.group.deleted = number != 0


def _revised(reader: Reader, number: int | None) -> None:
    if number != 0:
        reader.builder.warn("tracked_changes", "tracked changes were read as accepted")


def _plain(reader: Reader, number: int | None) -> None:
    reader.group.hidden = reader.group.deleted = False
    reader.group.codec, reader.group.font_symbols = reader.default_codec, ""


def _picture_kind(name: str) -> Callable[[Reader, int | None], None]:
    return lambda reader, number: setattr(reader, "picture_kind", name)


def _date_part(name: str) -> Callable[[Reader, int | None], None]:
    def read(reader: Reader, number: int | None) -> None:
        reader.date[name] = number or 0
        _store_date(reader)

    return read


def _date_start(name: str) -> Callable[[Reader, int | None], None]:
    def read(reader: Reader, number: int | None) -> None:
        reader.date = {name: 1}

    return read


def _store_date(reader: Reader) -> None:
    parts = reader.date
    if not {"yr", "mo", "dy"} <= set(parts):
        return
    try:
        moment = datetime(
            parts["yr"], parts["mo"], parts["dy"], parts.get("hr", 0), parts.get("min", 0), tzinfo=timezone.utc
        )
    except ValueError:
        return
    if "creatim" in parts:
        reader.builder.metadata.created_date = moment
    elif "revtim" in parts:
        reader.builder.metadata.modified_date = moment


_HANDLERS: dict[str, Callable[[Reader, int | None], None]] = {
    "par": _end_paragraph,
    **dict.fromkeys(_PLACEHOLDER_BREAKS, _end_paragraph),
    "cell": _end_cell,
    "nestcell": _end_nested_cell,
    "row": _end_row,
    "nestrow": _end_nested_row,
    "trowd": _start_row,
    "trleft": _row_left,
    "trhdr": _row_header,
    "cellx": _cell_edge,
    "clmgf": _cell_flag("merge_start"),
    "clmrg": _cell_flag("merged"),
    "clvmgf": _cell_flag("vertical_start"),
    "clvmrg": _cell_flag("vertical"),
    "pard": _reset_paragraph,
    "intbl": _in_table,
    "itap": _nesting,
    "outlinelevel": _outline,
    "s": _style,
    "ilvl": _list_level,
    "f": _font,
    "fcharset": _font_charset,
    "cpg": _font_codepage,
    "ansicpg": _default_codepage,
    "mac": _fixed_codec("mac_roman"),
    "pc": _fixed_codec("cp437"),
    "pca": _fixed_codec("cp850"),
    "u": _unicode,
    "uc": _unicode_skip,
    "v": _hidden,
    "deleted": _deleted,
    "revised": _revised,
    "plain": _plain,
    "pngblip": _picture_kind("pngblip"),
    "jpegblip": _picture_kind("jpegblip"),
    "creatim": _date_start("creatim"),
    "revtim": _date_start("revtim"),
    **{name: _date_part(name) for name in ("yr", "mo", "dy", "hr", "min")},
}
