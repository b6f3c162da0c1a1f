"""Text of PowerPoint shapes: paragraphs, bullets and numbers, line breaks, equations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.extract.flow import text_block
from engine.extract.omml import latex
from engine.extract.ooxml import A, chosen
from engine.extract.ordinals import format_number
from engine.extract.pptx.placeholders import Inherited
from engine.records import StructureElement
from engine.sanitize.safexml import Node, local_name, text_of

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_KINDS = {
    "arabic": "decimal",
    "arabicDb": "decimalFullWidth",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circleNumDb": "decimalEnclosedCircle",
    "circleNumWdWhite": "decimalEnclosedCircle",
    "circleNumWdBlack": "decimalEnclosedCircle",
    "ea1Chs": "chineseCounting",
    "ea1Cht": "taiwaneseCounting",
    "ea1JpnChs": "japaneseCounting",
    "ea1JpnKor": "japaneseCounting",
}
_PATTERNS = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}", "Minus": "{} -"}


def unescaped(text: str) -> str:
    """`_x000B_`-style escapes of characters that XML cannot hold; vertical tabs become line breaks."""
    text = _ESCAPE.sub(lambda m: chr(int(m[1], 16)), text) if "_x" in text else text
    return text.replace("\v", "\n")


def paragraph_text(paragraph: Node) -> str:
    """The text of an `a:p` in order; slide numbers and other fields as last shown."""
    return unescaped("".join(_pieces(paragraph))).strip()


def _pieces(element: Node) -> Iterator[str]:
    for child in element:
        match local_name(child):
            case "r" | "fld":
                yield "".join(text_of(t) for t in child.iterchildren(f"{A}t"))
            case "br":
                yield "\n"
            case "m":
                yield f"${''.join(latex(e) for e in child)}$"
            case "AlternateContent":
                branch = chosen(child)
                if branch is not None:
                    yield from _pieces(branch)
            case _:
                pass


def body_text(body: Node | None) -> str:
    """All paragraphs of a text body, one a line."""
    paragraphs = body.iter(f"{A}p") if body is not None else ()
    return "\n".join(filter(None, map(paragraph_text, paragraphs)))


def body_blocks(shape: Node, body: Node, inherited: Inherited) -> Iterator[StructureElement]:
    """A shape's paragraphs as list items where they show a bullet or number, else as paragraphs."""
    counters: dict[int, int] = {}
    for paragraph in body.iterchildren(f"{A}p"):
        text = paragraph_text(paragraph)
        if not text:
            continue
        level = _level(paragraph)
        bullet = inherited.bullet(shape, paragraph, level)
        counters = {depth: count for depth, count in counters.items() if depth <= level}
        kind = local_name(bullet) if bullet is not None else "buNone"
        if kind != "buAutoNum":
            counters.pop(level, None)
        if kind == "buNone":
            yield text_block("paragraph", text)
        elif kind == "buAutoNum":
            counters[level] = counters.get(level, _start(bullet) - 1) + 1
            yield text_block("list_item", text, level + 1, marker=_number(bullet, counters[level]))
        else:
            yield text_block("list_item", text, level + 1, marker="-")


def _level(paragraph: Node) -> int:
    properties = paragraph.find(f"{A}pPr")
    level = properties.get("lvl", "0") if properties is not None else "0"
    return min(int(level), 8) if level.isdigit() else 0


def _start(bullet: Node) -> int:
    start = bullet.get("startAt", "1")
    return int(start) if start.isdigit() else 1


def _number(bullet: Node, count: int) -> str:
    scheme = bullet.get("type", "arabicPeriod")
    ending = next((e for e in _PATTERNS if scheme.endswith(e)), "Period")
    kind = _KINDS.get(scheme.removesuffix(ending), "decimal")
    return _PATTERNS[ending].format(format_number(count, kind))
