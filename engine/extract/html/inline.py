"""Small pieces of a page: running text, list markers, pictures, formulas, the language of code."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urljoin

from selectolax.lexbor import LexborNode

from engine.extract.html.mathml import latex
from engine.extract.raised import superscript
from engine.records import ExtractedImage

BREAK = "\x0b"  # a forced line break inside running text; a control character, so no text holds it
MAX_IMAGE_BYTES = 8 << 20
_PLACEHOLDER = 2048  # bytes
_SPACES = re.compile(r"[ \t\r\n\f]+")
_AROUND_BREAK = re.compile(rf" *{BREAK} *")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:|sourceCode)[-\s]?([\w+#-]+)", re.IGNORECASE)
_CODE_CLASS = re.compile(r"(?:^|\s)(?:code|highlight|sourceCode)-([a-z][\w+#]{0,15})(?:\s|$)")
_NOTE_REFERENCE = re.compile(r"(?:^|\s)(?:noteref|doc-noteref)(?:\s|$)")
_NOTE = re.compile(r"(?:^|\s)(?:footnote|endnote|rearnote|doc-footnote|doc-endnote)(?:\s|$)")
_WEIGHT = re.compile(r"font-weight\s*:\s*([\w]+)", re.IGNORECASE)
_QUOTED_CLASS = re.compile(r"(?:^|\s)(?:gmail_quote|yahoo_quoted|protonmail_quote|zmail_extra)(?:\s|$)")
_NO_LANGUAGE = {"plaintext", "text", "none", "plain", "txt", "nohighlight", "hljs", "block", "wrapper", "toolbar"}
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-srcset", "srcset")
_SHOWN_FIELDS = {"", "text", "email", "number", "date", "tel", "url", "search", "time", "month", "datetime-local"}
SPECIAL = {"math", "svg", "rt", "select", "textarea", "q", "input"}
_DATA_IMAGE = re.compile(r"data:(image/(?:png|jpeg|jpg|gif|webp|bmp))[^,]{0,80};base64,", re.IGNORECASE)
_SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM")


def collapse(text: str) -> str:
    """Running text as a browser shows it: runs of white space are one space, forced breaks are line feeds."""
    text = _AROUND_BREAK.sub(BREAK, _SPACES.sub(" ", text))
    return text.strip(f" {BREAK}").replace(BREAK, "\n")


def special(node: LexborNode, tag: str) -> str:
    """Text of an element that is not simply its text."""
    if tag == "math":
        return f" {node.attributes.get('alttext') or latex(node)} "
    if tag == "input":
        return _field(node)
    if tag == "svg":
        return f" {' '.join(t.text(deep=True) for t in node.css('text'))} "
    if tag == "rt":
        return f"({node.text(deep=True)})"
    if tag == "q":
        return f"“{node.text(deep=True)}”"
    if tag == "select":
        return " " + ", ".join(o.text(deep=True).strip() for o in node.css("option")) + " "
    return f" {node.text(deep=True)} "


def _field(node: LexborNode) -> str:
    """What a filled form field shows."""
    attributes = node.attributes
    shown = (attributes.get("type") or "").lower() in _SHOWN_FIELDS
    return f" {attributes.get('value') or ''} " if shown else ""


def is_note_reference(node: LexborNode) -> bool:
    """A link to a note by its role (EPUB structural semantics, DPUB-ARIA)."""
    return node.tag == "a" and bool(_NOTE_REFERENCE.search(_roles(node)))


def is_note(node: LexborNode) -> bool:
    return bool(_NOTE.search(_roles(node)))


def _roles(node: LexborNode) -> str:
    return f"{node.attributes.get('epub:type') or ''} {node.attributes.get('role') or ''}"


def note_mark(text: str) -> str:
    """A note's number as a mark that does not run into the word before it."""
    text = text.strip()
    return f"[{text}]" if text.isalnum() else text


def raised(node: LexborNode) -> str:
    """A raised text: digits as such, a note's number in brackets; "" for anything else, which is read as it is."""
    text = node.text(deep=True).strip()
    parent = node.parent
    linked = parent is not None and parent.tag == "a" and (parent.attributes.get("href") or "").startswith("#")
    if linked or node.css_first("a[href^='#']") is not None:
        return note_mark(text)
    found = superscript(text)
    return found if found != text else ""


def whole_number(value: str | None, default: int) -> int:
    return int(value) if value and re.fullmatch(r"\s*-?\d{1,9}\s*", value) else default


def start_number(node: LexborNode) -> int:
    return whole_number(node.attributes.get("start"), 1)


def bullet(item: LexborNode) -> str:
    """`-`, or a checkbox where the item begins with one."""
    box = item.css_first("input[type=checkbox]")
    if box is None or box.parent is None or box.parent.mem_id not in (item.mem_id, _first_child(item)):
        return "-"
    return "[x]" if "checked" in box.attributes else "[ ]"


def _first_child(item: LexborNode) -> int:
    child = item.child
    while child is not None and child.tag == "-text" and not (child.text_content or "").strip():
        child = child.next
    return child.mem_id if child is not None else 0


def marker(numbered: LexborNode, item: LexborNode, number: int) -> str:
    """The number of an item as shown: by the `type` of its list."""
    kind = item.attributes.get("type") or numbered.attributes.get("type") or "1"
    if kind in ("a", "A") and 1 <= number <= 26:
        return f"{chr(ord(kind) + number - 1)}."
    if kind in ("i", "I") and 1 <= number <= 3999:
        return f"{_roman(number) if kind == 'I' else _roman(number).lower()}."
    return f"{number}."


def _roman(number: int) -> str:
    text = ""
    for value, letters in zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    ):
        text += letters * (number // value)
        number %= value
    return text


def is_bold(node: LexborNode, inherited: bool) -> bool:
    """Whether text right inside is bold, by its element or its own style."""
    match = _WEIGHT.search(node.attributes.get("style") or "")
    if match:
        return match[1].lower().startswith("bold") or match[1] in ("600", "700", "800", "900")
    return inherited or node.tag in ("b", "strong")


def is_quotation(node: LexborNode) -> bool:
    """A quotation: by its element, or as mailers wrap the message they answer."""
    names = node.attributes.get("class") or ""
    if node.tag == "blockquote":
        return "gmail_quote" not in names  # the part around it counts
    return node.tag == "div" and bool(_QUOTED_CLASS.search(names))


def code_language(node: LexborNode) -> str:
    """The language a code block names in its classes, lower case; empty when it names none."""
    inner = node.css_first("code")
    parent = node.parent
    for candidate in (node, inner, parent, parent.parent if parent is not None else None):
        if candidate is None:
            continue
        attributes = candidate.attributes
        names = attributes.get("class") or ""
        match = _LANGUAGE.search(names) or _CODE_CLASS.search(names)
        said = match[1] if match else attributes.get("data-lang") or attributes.get("data-language") or ""
        if not said and "hljs" in names.split():  # highlight.js writes the bare name beside its own
            said = next((name for name in names.split() if name != "hljs"), "")
        if said and said.lower() not in _NO_LANGUAGE:
            return said.lower()
    return (node.attributes.get("lang") or "").lower()


@dataclass(slots=True)
class Pictures:
    """Pictures that came with the page: by the address it gives, (MIME type, bytes) or None; which ones it showed."""

    find: Callable[[str], tuple[str, bytes] | None] = lambda _: None
    shown: set[str] = field(default_factory=lambda: set[str]())


def image(node: LexborNode, pictures: Pictures) -> ExtractedImage | None:
    """A picture worth a mention: one that is described or carried along. External ones keep only their texts."""
    attributes = node.attributes
    alt = collapse(attributes.get("alt") or attributes.get("title") or "")
    source = (attributes.get("src") or "").strip()
    carried = pictures.find(source)
    if carried is not None:
        pictures.shown.add(source)
        return ExtractedImage(carried[1], carried[0], alt_text=alt or None)
    match = _DATA_IMAGE.match(source)
    data = _decode(source[match.end() :]) if match else b""
    if data and len(data) < _PLACEHOLDER and any(attributes.get(name) for name in _LAZY):
        data = b""  # stands in for a picture that a script would load
    if not alt and not data:
        return None
    mime = match[1].lower().replace("jpg", "jpeg") if match and data else "application/octet-stream"
    return ExtractedImage(data, mime, alt_text=alt or None)


def picture_source(node: LexborNode, base: str) -> str:
    """Where a picture outside the document lies, never looked up; "" for one carried along."""
    attributes = node.attributes
    said = [attributes.get(name) or "" for name in ("src", *_LAZY)]
    source = next((s.strip().split()[0] for s in said if s.strip() and not s.strip().startswith(("data:", "cid:"))), "")
    try:
        return urljoin(base, source)[:2000] if source else ""
    except ValueError:  # an address that is none
        return source[:2000]


def _decode(encoded: str) -> bytes:
    if len(encoded) > MAX_IMAGE_BYTES * 4 // 3:
        return b""
    try:
        data = base64.b64decode("".join(encoded.split()) + "=" * (-len(encoded) % 4))
    except (binascii.Error, ValueError):
        return b""
    return data if data.startswith(_SIGNATURES) else b""
