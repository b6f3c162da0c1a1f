r"""MathML as linear LaTeX, like Office Math: signs stay Unicode, only structure becomes commands.

After MathML Core and the presentation elements of MathML 3. Content MathML is read as its bare text.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from selectolax.lexbor import LexborNode

MAX_DEPTH = 60
_TEX = ("application/x-tex", "tex", "latex")
_LARGE = {"∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint", "⋃": r"\bigcup",
          "⋂": r"\bigcap", "lim": r"\lim", "max": r"\max", "min": r"\min"}  # fmt: skip
_OVER = {"^": "hat", "\u0302": "hat", "~": "tilde", "˜": "tilde", "¯": "bar", "‾": "overline", "―": "overline",
         "_": "overline", "→": "vec", "⃗": "vec", "˙": "dot", "¨": "ddot", "ˇ": "check", "⏞": "overbrace"}  # fmt: skip
_COMMAND = re.compile(r"\\[a-z]+(?:[_^]\{[^{}]*\})*\Z")
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064"))  # applied function, invisible times, comma, plus


def latex(node: LexborNode) -> str:
    """A formula (`<math>` or a part of one): the TeX it was made from where it says so, else built from its parts."""
    for annotation in node.css("annotation"):
        if (annotation.attributes.get("encoding") or "").lower() in _TEX:
            return " ".join(annotation.text(deep=True).split())
    return " ".join(_row(node, 0).split())


def _row(node: LexborNode, depth: int) -> str:
    if depth > MAX_DEPTH:
        return node.text(deep=True)
    parts = [_convert(child, depth + 1) for child in _parts(node)]
    text = ""
    for part in parts:
        # A command's name, and the scripts of a sign, must not run into a letter after them.
        glued = part[:1].isalpha() and bool(_COMMAND.search(text))
        text += f" {part}" if glued else part
    return text


def _convert(node: LexborNode, depth: int) -> str:
    tag = (node.tag or "").rpartition(":")[2]
    if tag in ("annotation", "annotation-xml", "mphantom", "none", "mprescripts"):
        return ""
    handler = _HANDLERS.get(tag)
    if handler is not None:
        return handler(node, depth)
    if tag in ("mi", "mn", "mo", "ms"):
        return _sign(" ".join(node.text(deep=True).translate(_INVISIBLE).split()))
    if tag == "mtext":
        return node.text(deep=True)
    if tag == "mspace":
        return " "
    return _row(node, depth) if _parts(node) else node.text(deep=True).strip()


def _sign(text: str) -> str:
    return _LARGE.get(text, text)


def _parts(node: LexborNode) -> list[LexborNode]:
    found: list[LexborNode] = []
    child = node.child
    while child is not None:
        if child.is_element_node:
            found.append(child)
        child = child.next
    return found


def _at(node: LexborNode, number: int, depth: int) -> str:
    parts = _parts(node)
    return _convert(parts[number], depth + 1).strip() if number < len(parts) and depth <= MAX_DEPTH else ""


def _fraction(node: LexborNode, depth: int) -> str:
    return rf"\frac{{{_at(node, 0, depth)}}}{{{_at(node, 1, depth)}}}"


def _root(node: LexborNode, depth: int) -> str:
    return rf"\sqrt[{_at(node, 1, depth)}]{{{_at(node, 0, depth)}}}"


def _square_root(node: LexborNode, depth: int) -> str:
    return rf"\sqrt{{{_row(node, depth)}}}"


def _scripts(below: int | None, above: int | None) -> Callable[[LexborNode, int], str]:
    def read(node: LexborNode, depth: int) -> str:
        low = _at(node, below, depth) if below else ""
        high = _at(node, above, depth) if above else ""
        return _at(node, 0, depth) + (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "")

    return read


def _over(node: LexborNode, depth: int) -> str:
    accent = _OVER.get(_at(node, 1, depth))
    return rf"\{accent}{{{_at(node, 0, depth)}}}" if accent else _scripts(None, 1)(node, depth)


def _under(node: LexborNode, depth: int) -> str:
    line = _at(node, 1, depth) in ("_", "‾", "¯", "\u0332")
    return rf"\underline{{{_at(node, 0, depth)}}}" if line else _scripts(1, None)(node, depth)


def _fenced(node: LexborNode, depth: int) -> str:
    attributes = node.attributes
    opening, closing = attributes.get("open") or "(", attributes.get("close") or ")"
    separator = (attributes.get("separators") or ",")[:1]
    return opening + separator.join(_convert(p, depth + 1) for p in _parts(node)) + closing


def _matrix(node: LexborNode, depth: int) -> str:
    rows = [" & ".join(_row(cell, depth + 2) for cell in _parts(row)) for row in _parts(node)]
    body = r" \\ ".join(rows)
    return rf"\begin{{matrix}}{body}\end{{matrix}}"


_HANDLERS: dict[str, Callable[[LexborNode, int], str]] = {
    "mfrac": _fraction,
    "msqrt": _square_root,
    "mroot": _root,
    "msub": _scripts(1, None),
    "msup": _scripts(None, 1),
    "msubsup": _scripts(1, 2),
    "munder": _under,
    "mover": _over,
    "munderover": _scripts(1, 2),
    "mfenced": _fenced,
    "mtable": _matrix,
}
