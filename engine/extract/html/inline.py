"""Small pieces of a page: running text, list markers, pictures, formulas, the language of code."""

from __future__ import annotations

import base64
import binascii
import re

from selectolax.lexbor import LexborNode

from engine.records import ExtractedImage

BREAK = "\x0b"  # a forced line break inside running text; a control character, so no text holds it
MAX_IMAGE_BYTES = 8 << 20
_SPACES = re.compile(r"[ \t\r\n\f]+")
_AROUND_BREAK = re.compile(rf" *{BREAK} *")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:|sourceCode)[-\s]?([\w+#-]+)", re.IGNORECASE)
_DATA_IMAGE = re.compile(r"data:(image/(?:png|jpeg|jpg|gif|webp|bmp))[^,]{0,80};base64,", re.IGNORECASE)
_SIGNATURES = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM")


def collapse(text: str) -> str:
    """Running text as a browser shows it: runs of white space are one space, forced breaks are line feeds."""
    text = _AROUND_BREAK.sub(BREAK, _SPACES.sub(" ", text))
    return text.strip(f" {BREAK}").replace(BREAK, "\n")


def special(node: LexborNode, tag: str) -> str:
    """Text of an element that is not simply its text."""
    if tag == "math":
        return f" {node.attributes.get('alttext') or _math(node)} "
    if tag == "svg":
        return f" {' '.join(t.text(deep=True) for t in node.css('text'))} "
    if tag == "rt":
        return f"({node.text(deep=True)})"
    if tag == "q":
        return f"“{node.text(deep=True)}”"
    if tag == "select":
        return " " + ", ".join(o.text(deep=True).strip() for o in node.css("option")) + " "
    return f" {node.text(deep=True)} "


def _math(node: LexborNode) -> str:
    for annotation in node.css("annotation, annotation-xml"):
        if annotation.attributes.get("encoding") == "application/x-tex":
            return annotation.text(deep=True)
    return " ".join(t.text(deep=True) for t in node.css("mi, mn, mo, mtext"))


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


def code_language(node: LexborNode) -> str:
    """The language a code block names in its classes, lower case; empty when it names none."""
    inner = node.css_first("code")
    parent = node.parent
    for candidate in (node, inner, parent, parent.parent if parent is not None else None):
        if candidate is None:
            continue
        match = _LANGUAGE.search(candidate.attributes.get("class") or "")
        if match and match[1].lower() not in ("plaintext", "text", "none"):
            return match[1].lower()
    return (node.attributes.get("lang") or node.attributes.get("data-lang") or "").lower()


def image(node: LexborNode) -> ExtractedImage | None:
    """A picture worth a mention: one that is described or carried along. External ones keep only their texts."""
    attributes = node.attributes
    alt = collapse(attributes.get("alt") or attributes.get("title") or "")
    source = (attributes.get("src") or "").strip()
    match = _DATA_IMAGE.match(source)
    data = _decode(source[match.end() :]) if match else b""
    if not alt and not data:
        return None
    mime = match[1].lower().replace("jpg", "jpeg") if match and data else "application/octet-stream"
    return ExtractedImage(data, mime, alt_text=alt or None)


def _decode(encoded: str) -> bytes:
    if len(encoded) > MAX_IMAGE_BYTES * 4 // 3:
        return b""
    try:
        data = base64.b64decode("".join(encoded.split()) + "=" * (-len(encoded) % 4))
    except (binascii.Error, ValueError):
        return b""
    return data if data.startswith(_SIGNATURES) else b""
