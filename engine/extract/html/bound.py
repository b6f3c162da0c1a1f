"""Keeps a page within what HTML parsers take in linear time: nesting and attributes beyond all reason are cut.

Finding the element that an end tag closes walks the stack of open elements, and adding an attribute walks those
already there; both are quadratic in what a hostile page chooses.
"""

from __future__ import annotations

import re

MAX_DEPTH = 800
_FEW_TAGS = 2000  # a page with fewer is not worth the look
_LONG_TAG = re.compile(r"<([A-Za-z][\w-]*)([^<>]{20000,})>")
_MAX_ATTRIBUTES = 1000
_TAG = re.compile(r"<(/?)([A-Za-z][\w-]*)[^<>]*>")
# Void elements, and those that a new one of their kind closes by itself: they make no depth of their own.
_NO_DEPTH = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr", "p", "li",
    "dt", "dd", "tr", "td", "th", "option", "optgroup", "tbody", "thead", "tfoot", "colgroup", "rt", "rp", "body",
    "html", "head",
}  # fmt: skip


def bounded_html(text: str) -> tuple[str, int]:
    """The page with tags nested deeper than `MAX_DEPTH` taken out (their text stays), and how many those were."""
    text = _LONG_TAG.sub(_few_attributes, text)
    if text.count("<") < _FEW_TAGS:
        return text, 0
    return _shallow(text)


def _few_attributes(match: re.Match[str]) -> str:
    return f"<{match[1]}>" if len(match[2].split(None, _MAX_ATTRIBUTES)) > _MAX_ATTRIBUTES else match[0]


def _shallow(text: str) -> tuple[str, int]:
    depth = cut = start = 0
    parts: list[str] = []
    for match in _TAG.finditer(text):
        if match[2].lower() in _NO_DEPTH or match[0].endswith("/>"):
            continue
        depth = max(0, depth - 1) if match[1] else depth + 1
        if depth > MAX_DEPTH or (match[1] and depth == MAX_DEPTH):
            parts.append(text[start : match.start()])
            start, cut = match.end(), cut + 1
    return "".join([*parts, text[start:]]), cut
