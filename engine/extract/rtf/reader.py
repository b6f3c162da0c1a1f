"""Reads RTF: groups, destinations, character formatting, code pages, Unicode, tables, notes.

After the RTF 1.9.1 specification. The parser keeps its own stack, so nesting costs memory, not recursion.
"""

from __future__ import annotations

import re

from engine.document import Builder
from engine.extract.flow import text_block
from engine.extract.rtf.controls import HANDLERS, end_paragraph
from engine.extract.rtf.destinations import close_flow
from engine.extract.rtf.flow import Flow, Paragraph
from engine.extract.rtf.state import Group, Reader
from engine.extract.rtf.tokens import DOUBLE_BYTE, Token, tokens
from engine.records import StructureElement

_SIGNS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ", "zwj": "\u200d",
    "zwnj": "\u200c", "ltrmark": "\u200e", "rtlmark": "\u200f",
}  # fmt: skip
_HEADING_STYLE = re.compile(
    r"\s*(?:heading|überschrift|titre|título|titolo|kop|rubrik|overskrift|nagłówek|заголовок)\s+([1-6])\s*;?\s*$",
    re.IGNORECASE,
)
_SYMBOLS = {"~": "\u00a0", "_": "-", "{": "{", "}": "}", "\\": "\\"}
# Destinations whose text is not part of the document, beside all unknown ones marked with \*.
_SKIPPED = {
    "colortbl", "listtable", "listoverridetable", "rsidtbl", "generator", "xmlnstbl", "themedata", "datastore",
    "colorschememapping", "latentstyles", "filetbl", "revtbl", "fldinst", "bkmkstart", "bkmkend", "objdata", "objclass",
    "objname", "nonesttables", "sn", "sv", "sp", "atnid", "atnref", "atndate", "atntime", "atnicn", "atnparent",
    "annotationref", "private", "operator", "nonshppict", "ftnsep", "ftnsepc", "aftnsep", "aftnsepc", "tc", "tcn", "xe",
    "pnseclvl", "template", "falt", "panose", "fontemb", "do", "mmathPr", "wgrffmtfilter", "pgptbl", "docvar",
    "userprops",
}  # fmt: skip
_FLOWS = {
    "footnote": "note", "header": "page_header", "headerl": "page_header", "headerr": "page_header",
    "headerf": "page_header", "footer": "page_footer", "footerl": "page_footer", "footerr": "page_footer",
    "footerf": "page_footer", "annotation": "comment", "shptxt": "box", "listtext": "marker", "pntext": "marker",
    "atnauthor": "atnauthor", "title": "title", "author": "author", "subject": "subject", "keywords": "keywords",
    "doccomm": "doccomm", "stylesheet": "stylesheet", "fonttbl": "fonttbl", "pict": "pict",
}  # fmt: skip
_KNOWN_STARRED = {
    "shpinst",
    "shptxt",
    "nesttableprops",
    "moMath",
    "ud",
    "shppict",
    "atnauthor",
    "annotation",
    "listtext",
}


def read(data: bytes, builder: Builder) -> list[StructureElement]:
    """Blocks of an RTF file in source order; headers and footers last; metadata goes to the builder."""
    body = Flow()
    reader = Reader(builder, Group(body, "cp1252"))
    for token in tokens(data):
        _token(reader, token)
    while reader.stack:  # a truncated file ends inside its groups
        _close(reader)
    reader.flush()
    furniture = [text_block(kind, text) for kind, text in dict.fromkeys(reader.furniture)]
    return body.finish(reader.paragraph) + furniture


def _token(reader: Reader, token: Token) -> None:
    match token.kind:
        case "open":
            reader.open()
        case "close":
            _close(reader)
        case "text" | "hex":
            reader.group.fresh = False
            reader.write_bytes(token.data)
        case "symbol":
            _control_symbol(reader, token.name)
        case _:
            _control_word(reader, token.name, token.number)


def _close(reader: Reader) -> None:
    if reader.group.flow.kind == "stylesheet":
        _name_style(reader)
    flow = reader.close()
    if flow is not None:
        close_flow(reader, flow)


def _name_style(reader: Reader) -> None:
    """At the end of a style's group: one called "heading 2" is one, whether or not it states an outline level."""
    reader.flush()
    parts = reader.group.flow.parts
    match = _HEADING_STYLE.match("".join(parts))
    if match:
        reader.headings.setdefault(reader.style, int(match[1]))
    parts.clear()


def _control_symbol(reader: Reader, name: str) -> None:
    if name == "*":
        reader.group.starred = True
    elif name in "\r\n":
        end_paragraph(reader, None)
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
    handler = HANDLERS.get(name)
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
    if name == "objdata":
        reader.builder.warn("ole_object_skipped", "an embedded object was left out; its preview and text were kept")
    if name in _SKIPPED or (group.starred and name not in _KNOWN_STARRED):
        group.skip = True
        return True
    return group.starred
