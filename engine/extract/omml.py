"""Office Math (OMML) as linear LaTeX. Signs stay Unicode; only structure becomes commands."""

from __future__ import annotations

from collections.abc import Callable

from engine.sanitize.safexml import Node, local_name, text_of

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline", "\u0307": "dot",
    "\u0308": "ddot", "\u030c": "check", "\u0306": "breve", "\u20d7": "vec",
    "^": "hat", "~": "tilde", "¯": "bar", "→": "vec",
}  # fmt: skip
_OPERATORS = {
    "∑": r"\sum",
    "∏": r"\prod",
    "∫": r"\int",
    "∬": r"\iint",
    "∭": r"\iiint",
    "∮": r"\oint",
    "⋃": r"\bigcup",
    "⋂": r"\bigcap",
}
_FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp", "lim", "max", "min", "sup", "inf", "det",
    "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "gcd", "dim", "ker", "arg",
}  # fmt: skip


def latex(element: Node) -> str:
    """The math below `element` (`m:oMath`, `m:oMathPara` or any part of one)."""
    return "".join(map(_convert, element)).strip()


def _convert(element: Node) -> str:
    handler = _HANDLERS.get(local_name(element))
    return handler(element) if handler else ""


def _part(element: Node, name: str) -> str:
    child = element.find(f"{M}{name}")
    return "" if child is None else latex(child)


def _property(element: Node, name: str) -> str | None:
    child = element.find(f"{M}{local_name(element)}Pr/{M}{name}")
    return None if child is None else child.get(f"{M}val", "")


def _run(element: Node) -> str:
    return "".join(text_of(t) for t in element if local_name(t) == "t")


def _fraction(element: Node) -> str:
    top, bottom = _part(element, "num"), _part(element, "den")
    return f"{top}/{bottom}" if _property(element, "type") == "lin" else rf"\frac{{{top}}}{{{bottom}}}"


def _script(element: Node) -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    base = _part(element, "e")
    scripts = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    return f"{{}}{scripts}{base}" if local_name(element) == "sPre" else f"{base}{scripts}"


def _radical(element: Node) -> str:
    degree = _part(element, "deg")
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_part(element, 'e')}}}"


def _nary(element: Node) -> str:
    sign = _property(element, "chr") or "∫"
    below, above = _part(element, "sub"), _part(element, "sup")
    scripts = (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")
    return f"{_OPERATORS.get(sign, sign)}{scripts} {_part(element, 'e')}"


def _delimited(element: Node) -> str:
    opening, closing, between = (_property(element, n) for n in ("begChr", "endChr", "sepChr"))
    inner = (between or "|").join(latex(e) for e in element.iterchildren(f"{M}e"))
    return f"{'(' if opening is None else opening}{inner}{')' if closing is None else closing}"


def _function(element: Node) -> str:
    name = _part(element, "fName")
    return f"{_command(name)} {_part(element, 'e')}"


def _command(name: str) -> str:
    return f"\\{name}" if name in _FUNCTIONS else name


def _accent(element: Node) -> str:
    sign = _property(element, "chr") or "\u0302"
    return rf"\{_ACCENTS.get(sign, 'hat')}{{{_part(element, 'e')}}}"


def _bar(element: Node) -> str:
    return rf"\{'overline' if _property(element, 'pos') == 'top' else 'underline'}{{{_part(element, 'e')}}}"


def _matrix(element: Node) -> str:
    rows = (" & ".join(latex(e) for e in row.iterchildren(f"{M}e")) for row in element.iterchildren(f"{M}mr"))
    body = r" \\ ".join(rows)
    return rf"\begin{{matrix}}{body}\end{{matrix}}"


def _equations(element: Node) -> str:
    return r" \\ ".join(latex(e) for e in element.iterchildren(f"{M}e"))


def _limit(element: Node) -> str:
    sign = "_" if local_name(element) == "limLow" else "^"
    return f"{_command(_part(element, 'e'))}{sign}{{{_part(element, 'lim')}}}"


def _base(element: Node) -> str:
    return _part(element, "e")


_HANDLERS: dict[str, Callable[[Node], str]] = {
    "r": _run,
    "f": _fraction,
    "sSup": _script,
    "sSub": _script,
    "sSubSup": _script,
    "sPre": _script,
    "rad": _radical,
    "nary": _nary,
    "d": _delimited,
    "func": _function,
    "acc": _accent,
    "bar": _bar,
    "m": _matrix,
    "eqArr": _equations,
    "limLow": _limit,
    "limUpp": _limit,
    "groupChr": _base,
    "box": _base,
    "borderBox": _base,
    "phant": _base,
    "oMath": latex,
    "oMathPara": latex,
    "sdt": latex,
    "sdtContent": latex,
    "ins": latex,
}
