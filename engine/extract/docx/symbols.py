"""Signs of the Symbol and Wingdings fonts, which have code points of their own, as Unicode."""

from __future__ import annotations

_SYMBOL = dict(
    zip(
        range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True
    )
) | dict(
    zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)
) | {
    0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB3: "≥",
    0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xC5: "⊕",
    0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xCC: "⊂", 0xCE: "∈", 0xCF: "∉", 0xD0: "∠", 0xD1: "∇", 0xD5: "∏", 0xD6: "√",
    0xD7: "⋅", 0xD8: "¬", 0xD9: "∧", 0xDA: "∨", 0xDB: "⇔", 0xDE: "⇒", 0xE5: "∑", 0xF2: "∫", 0x22: "∀", 0x24: "∃",
}  # fmt: skip
_WINGDINGS = {
    0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6D: "❍", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x72: "❒", 0x75: "◆", 0x76: "❖",
    0x9F: "•", 0xA1: "○", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓", 0xE8: "➔",
    0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☒", 0x22: "✂", 0x28: "☎", 0x2A: "✉",
}  # fmt: skip
_WINGDINGS_2 = {0x50: "✓", 0x4F: "✗", 0x51: "☒", 0x52: "☒", 0x53: "☒", 0x54: "☒", 0xA3: "☐", 0x97: "●"}
_FONTS = {"symbol": _SYMBOL, "wingdings": _WINGDINGS, "wingdings 2": _WINGDINGS_2}


def symbol(font: str, code: str) -> str | None:
    """The Unicode sign for a hexadecimal code in a font; None when it has none known."""
    try:
        point = int(code, 16)
    except ValueError:
        return None
    if 0xF000 <= point <= 0xF0FF:
        point -= 0xF000
    table = _FONTS.get(font.lower())
    if table is not None:
        return table.get(point) or (chr(point) if 0x20 <= point < 0x40 else None)
    return chr(point) if 0x20 <= point < 0xD800 else None


def from_symbol_font(font: str, text: str) -> str:
    """Text set in a symbol font, whose characters stand in the private area; other text as it is."""
    if font.lower() not in _FONTS or not any("\uf000" <= c <= "\uf0ff" for c in text):
        return text
    return "".join(symbol(font, f"{ord(c):x}") or c if "\uf000" <= c <= "\uf0ff" else c for c in text)
