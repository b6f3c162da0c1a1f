"""Finds text that a page keeps in its flow but makes invisible: by colour, size, place, or a rule of its own style.

Such text is where instructions to machines hide, and also where honest pages keep text for screen readers: it is
kept and counted, never rewritten. What markup plainly hides (`hidden`, `display: none`) is taken out elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

_MAX_STYLE = 200_000  # characters of style sheets looked at
_MAX_RULES = 200
_DECLARATION = re.compile(r"([\w-]+)\s*:\s*([^;]+)")
_RULE = re.compile(r"([^{}@;]{1,300})\{([^{}]{0,2000})\}")
_AT_BLOCK = re.compile(r"@[^{};]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}")  # rules under a condition: print, narrow screens
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_SIMPLE = re.compile(r"(?:[a-z][\w-]*)?(?:[.#][\w-]+)+", re.IGNORECASE)
_LENGTH = re.compile(r"\s*(-?\d*\.?\d+)\s*(px|pt|em|rem|%|vw|vh)?", re.IGNORECASE)
_WHITE = re.compile(r"(?:white|snow|#f{3}|#f{6}|#f{8}|rgba?\(\s*255\s*,\s*255\s*,\s*255.*\)|transparent|#\w{6}00)")
_FAR = 500.0  # pixels beyond the edge


def invisible_places(tree: LexborHTMLParser) -> int:
    """How many elements with text of their own are made invisible."""
    found = {node.mem_id for node in tree.css("[style]") if _is_invisible(node, node.attributes.get("style") or "")}
    found |= {node.mem_id for node in tree.css("font[color]") if _is_white(node, node.attributes.get("color") or "")}
    for selector, style in _rules(tree):
        found |= {node.mem_id for node in tree.css(selector) if _is_invisible(node, style, "display" in style)}
    return len(found)


def _rules(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    """Rules of the page's own style sheets whose selectors are plain classes and ids."""
    sheets = "\n".join(node.text(deep=True) for node in tree.css("style"))[:_MAX_STYLE]
    sheets = _AT_BLOCK.sub("", _COMMENT.sub("", sheets))
    count = 0
    for match in _RULE.finditer(sheets):
        for selector in match[1].split(","):
            if _SIMPLE.fullmatch(selector.strip()) and count < _MAX_RULES and _may_hide(match[2]):
                count += 1
                yield selector.strip(), match[2]


def _may_hide(style: str) -> bool:
    return bool(re.search(r"none|hidden|color|opacity|font|text-indent|position|clip", style, re.IGNORECASE))


def _is_invisible(node: LexborNode, style: str, by_display: bool = False) -> bool:
    facts = {name.lower(): value.strip().lower() for name, value in _DECLARATION.findall(style)}
    if not facts or not node.text(strip=True):
        return False
    if by_display and (facts.get("display") == "none" or facts.get("visibility") == "hidden"):
        return True
    return (
        _is_tiny(facts)
        or _number(facts.get("opacity")) == 0
        or _is_off_screen(facts)
        or ("color" in facts and _is_white(node, facts["color"], facts))
    )


def _is_tiny(facts: dict[str, str]) -> bool:
    size = facts.get("font-size", "")
    limit = 1.0 if "px" in size or "pt" in size else 0.1 if "em" in size else 1.0
    number = _number(size)
    if number is not None and 0 <= number <= limit:
        return True
    flat = any(_number(facts.get(side)) == 0 for side in ("height", "width", "max-height", "max-width"))
    return flat and facts.get("overflow") == "hidden"


def _is_off_screen(facts: dict[str, str]) -> bool:
    if facts.get("clip", "").replace(" ", "").startswith(("rect(0", "rect(1px")) or "inset(100%" in facts.get(
        "clip-path", ""
    ):
        return True
    sides = ["text-indent", *(("left", "top", "right") if facts.get("position") in ("absolute", "fixed") else ())]
    return any((_number(facts.get(side)) or 0.0) <= -_FAR for side in sides)


def _is_white(node: LexborNode, colour: str, facts: dict[str, str] | None = None) -> bool:
    """White or transparent text with nothing but white behind it, as far as the markup tells."""
    if not _WHITE.fullmatch(colour.strip().lower()) or not node.text(strip=True):
        return False
    own = _background(facts or {}, node)
    if own:
        return bool(_WHITE.fullmatch(own))
    parent = node.parent
    while parent is not None:
        style = (parent.attributes or {}).get("style") or ""
        behind = _background(dict(_DECLARATION.findall(style.lower())), parent)
        if behind:
            return bool(_WHITE.fullmatch(behind))
        parent = parent.parent
    return True


def _background(facts: dict[str, str], node: LexborNode) -> str:
    """The background an element gives itself, "" for none."""
    value = facts.get("background-color") or facts.get("background") or (node.attributes or {}).get("bgcolor") or ""
    return value.strip().lower()


def _number(value: str | None) -> float | None:
    match = _LENGTH.match(value or "")
    return float(match[1]) if match else None
