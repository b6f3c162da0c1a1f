"""Office Math (OMML) as linear LaTeX. Signs stay Unicode; only structure becomes commands."""

from __future__ import annotations

from collections.abc import Callable

from engine.sanitize.safexml import Node, local_name, text_of

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline", "\u0307": "dot",
    "\u0308": "ddot", "\u030c": "check", "\u0306": "breve", "\u20d7": "vec",
    "\u0301": "acute", "\u0300": "grave", "\u030a": "mathring", "\u0331": "underline", "\u20db": "dddot",
    "^": "hat", "~": "tilde", "¯": "bar", "→": "vec",
}  # fmt: skip
_OPERATORS = {
    "∑": r"\sum", "∏": r"\prod", "∐": r"\coprod", "∫": r"\int", "∬": r"\iint", "∭": r"\iiint", "∮": r"\oint",
    "∯": r"\oiint", "∰": r"\oiiint", "⋃": r"\bigcup", "⋂": r"\bigcap", "⋀": r"\bigwedge", "⋁": r"\bigvee",
    "⨁": r"\bigoplus", "⨂": r"\bigotimes",
}  # fmt: skip
_BRACES = {"⏟": "underbrace", "⏞": "overbrace", "→": "overrightarrow", "←": "overleftarrow"}
_MATRICES = {"()": "pmatrix", "[]": "bmatrix", "{}": "Bmatrix", "||": "vmatrix", "‖‖": "Vmatrix"}
_ESCAPES = str.maketrans({c: f"\\{c}" for c in "{}%&#$"})
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
    text = "".join(text_of(t) for t in element if local_name(t) == "t").translate(_ESCAPES)
    plain = element.find(f"{M}rPr/{M}nor")
    is_text = plain is not None and plain.get(f"{M}val", "1") not in {"0", "off", "false"}
    return rf"\text{{{text}}}" if is_text and len(text.strip()) > 2 else text


def _fraction(element: Node) -> str:
    top, bottom = _part(element, "num"), _part(element, "den")
    match _property(element, "type"):
        case "lin" | "skw":
            return f"{top}/{bottom}"
        case "noBar":
            return rf"{{{top} \atop {bottom}}}"
        case _:
            return rf"\frac{{{top}}}{{{bottom}}}"


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
    opening, closing = "(" if opening is None else opening, ")" if closing is None else closing
    only = _only_child(element)
    if only is not None and (framed := _framed(only, opening, closing)):
        return framed
    inner = (between or "|").join(latex(e) for e in element.iterchildren(f"{M}e"))
    return f"{opening.translate(_ESCAPES)}{inner}{closing.translate(_ESCAPES)}"


def _only_child(element: Node) -> Node | None:
    """What stands alone between a pair of delimiters."""
    parts = [child for e in element.iterchildren(f"{M}e") for child in e if local_name(child) not in {"", "ctrlPr"}]
    return parts[0] if len(parts) == 1 else None


def _framed(element: Node, opening: str, closing: str) -> str:
    """Structures for which LaTeX has a form with its delimiters: binomials, matrices, cases; "" for others."""
    name = local_name(element)
    if name == "f" and _property(element, "type") == "noBar" and opening + closing == "()":
        return rf"\binom{{{_part(element, 'num')}}}{{{_part(element, 'den')}}}"
    if name == "m" and opening + closing in _MATRICES:
        return _matrix(element, _MATRICES[opening + closing])
    if name in {"eqArr", "m"} and opening == "{" and not closing:
        return rf"\begin{{cases}}{_rows(element)}\end{{cases}}"
    return ""


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


def _matrix(element: Node, kind: str = "matrix") -> str:
    return rf"\begin{{{kind}}}{_rows(element)}\end{{{kind}}}"


def _rows(element: Node) -> str:
    """Rows of a matrix, or the lines of an equation array."""
    if local_name(element) == "eqArr":
        return r" \\ ".join(latex(e) for e in element.iterchildren(f"{M}e"))
    rows = (" & ".join(latex(e) for e in row.iterchildren(f"{M}e")) for row in element.iterchildren(f"{M}mr"))
    return r" \\ ".join(rows)


def _equations(element: Node) -> str:
    lines = _rows(element)
    return rf"\begin{{aligned}}{lines}\end{{aligned}}" if r" \\ " in lines else lines


def _grouped(element: Node) -> str:
    """A base with a brace or arrow over or under it."""
    name = _BRACES.get(_property(element, "chr") or "⏟")
    if name == "underbrace" and _property(element, "pos") == "top":
        name = "overbrace"
    return rf"\{name}{{{_base(element)}}}" if name else _base(element)


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
    "groupChr": _grouped,
    "box": _base,
    "borderBox": lambda element: rf"\boxed{{{_base(element)}}}",
    "phant": _base,
    "oMath": latex,
    "oMathPara": latex,
    "sdt": latex,
    "sdtContent": latex,
    "ins": latex,
    "moveTo": latex,
    "hyperlink": latex,
}
