"""Raised digits as Unicode writes them: 10⁶ set as 10 and a raised 6 must not read 106."""

from __future__ import annotations

_RAISED = str.maketrans("0123456789+-−=()n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ")


def superscript(text: str) -> str:
    """`text` raised where every sign of it can be (digits, signs, n), else as it is."""
    raised = text.strip().translate(_RAISED)
    whole = bool(raised) and all(a != b for a, b in zip(text.strip(), raised, strict=True))
    return text.replace(text.strip(), raised) if whole else text
