"""What a spreadsheet shows for a number under a number format (ECMA-376 part 1, 18.8.30-31).

Covers sections and conditions, digit places, thousands and scaling, percent, exponents, fractions, currency
and other literals, text places, and dates (see `date_format`). Colours, fill and widths show nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

from engine.extract import date_format
from engine.extract.date_format import Token

BUILTIN: dict[int, str] = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
    5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);("$"#,##0)',
    7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);("$"#,##0.00)',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    14: "m/d/yyyy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM",
    20: "h:mm", 21: "h:mm:ss", 22: "m/d/yyyy h:mm",
    37: "#,##0_);(#,##0)", 38: "#,##0_);(#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);(#,##0.00)",
    41: '_(* #,##0_);_(* (#,##0);_(* "-"_);_(@_)', 42: '_("$"* #,##0_);_("$"* (#,##0);_("$"* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_);_(@_)',
    44: '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
    **dict.fromkeys((27, 28, 29, 30, 31, 34, 35, 36, *range(50, 59)), "yyyy-mm-dd"),  # East Asian dates
    32: "h:mm", 33: "h:mm:ss",
}  # fmt: skip

_TOKEN = re.compile(
    r"""(?P<quoted>"[^"]*"?)
    | (?P<escaped>\\.)
    | (?P<skip>_.|\*.)
    | (?P<elapsed>\[(?:h+|m+|s+)\])
    | (?P<bracket>\[[^\]]*\])
    | (?P<general>General)
    | (?P<ampm>AM/PM|A/P|上午/下午|午前/午後)
    | (?P<exponent>E[+-])
    | (?P<fraction>(?<=s)\.0+ | (?<=\])\.0+)
    | (?P<date>y+|m+|d+|h+|s+|e+|g+|aaaa?)
    | (?P<digit>[0\#?])
    | (?P<point>\.) | (?P<comma>,) | (?P<percent>%) | (?P<slash>/) | (?P<text>@)
    | (?P<literal>.)""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
_CONDITION = re.compile(r"\[(<=|>=|<>|<|>|=)(-?[\d.]+)\]")
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")


@dataclass(slots=True)
class Section:
    tokens: list[Token]
    condition: tuple[str, float] | None = None
    is_date: bool = False
    percent: int = 0
    scale: int = 0  # trailing commas: divided by a thousand each
    grouped: bool = False
    places: list[str] = field(default_factory=lambda: list[str]())


def display(value: float, code: str, epoch_1904: bool = False) -> str:
    """The text shown for a number. Dates that show year, month and day come out in ISO form."""
    if code in {"General", ""}:
        return general(value)
    sections = _sections(code)
    section, own_sign = _pick(sections, value)
    if section is None:
        return general(value)
    try:
        if section.is_date:
            shown = date_format.show(value, section.tokens, epoch_1904)
            return general(value) if shown is None else shown
        return _number(value, section, own_sign)
    except (InvalidOperation, OverflowError, ValueError):
        return general(value)


def display_text(value: str, code: str) -> str:
    """The text shown for a text: formats may put words around it."""
    last = _sections(code)[-1] if "@" in code else None
    if last is None or not _is_text_only(last):
        return value
    return "".join(
        value if kind == "text" else text for kind, text in last.tokens if kind in {"text", "literal"}
    ).strip()


def general(value: float) -> str:
    """The General format: integers whole, others to eleven significant digits, no exponent where avoidable."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    text = f"{value:.11g}"
    if "e" in text and 1e-9 < abs(value) < 1e15:
        text = f"{Decimal(text):f}"
    return text.replace("e", "E")


@lru_cache(maxsize=4096)
def _sections(code: str) -> tuple[Section, ...]:
    parts: list[list[Token]] = [[]]
    conditions: list[tuple[str, float] | None] = [None]
    for match in _TOKEN.finditer(code[:1000]):
        kind, text = match.lastgroup or "literal", match[0]
        if kind == "literal" and text == ";":
            parts.append([])
            conditions.append(None)
        elif kind == "bracket" and (condition := _CONDITION.fullmatch(text)):
            conditions[-1] = (condition[1], float(condition[2]))
        elif token := _token(kind, text):
            parts[-1].append(token)
    return tuple(_section(tokens, condition) for tokens, condition in zip(parts, conditions, strict=True))


def _token(kind: str, text: str) -> Token | None:
    match kind:
        case "quoted":
            return "literal", text.strip('"')
        case "escaped":
            return "literal", text[1]
        case "skip":
            return ("literal", " ") if text[0] == "_" else None
        case "bracket":
            currency = _CURRENCY.fullmatch(text)
            return ("literal", currency[1]) if currency and currency[1] else None
        case "elapsed":
            return "date", text
        case _:
            return kind, text


def _section(tokens: list[Token], condition: tuple[str, float] | None) -> Section:
    kinds = [kind for kind, _ in tokens]
    if "date" in kinds or "ampm" in kinds:
        return Section(date_format.minutes_resolved(tokens), condition, is_date=True)
    section = Section([], condition, percent=kinds.count("percent"))
    end = kinds.index("point") if "point" in kinds else len(kinds)
    integer_places = [i for i, kind in enumerate(kinds[:end]) if kind == "digit"]
    last = integer_places[-1] if integer_places else -1
    for index, (kind, text) in enumerate(tokens):
        if kind == "comma" and integer_places and integer_places[0] < index < last:
            section.grouped = True
        elif kind == "comma" and _is_scaling(kinds, index, last, end):
            section.scale += 1
        else:
            section.tokens.append((kind, text))
    return section


def _is_scaling(kinds: list[str], index: int, last: int, end: int) -> bool:
    """Whether a comma stands behind the last digit place, of the number or of its integer part."""
    return (index > last >= 0 and index < end) or ("digit" in kinds[:index] and "digit" not in kinds[index:])


def _pick(sections: Sequence[Section], value: float) -> tuple[Section | None, bool]:
    """The section that applies, and whether it brings its own sign."""
    if any(s.condition for s in sections[:2]):
        for section in sections[:3]:
            if section.condition is None or _holds(section.condition, value):
                return section, False
        return None, False
    if len(sections) == 1:
        return (sections[0] if not _is_text_only(sections[0]) else None), False
    if value < 0:
        return sections[1], True
    if value == 0 and len(sections) > 2:
        return sections[2], True
    return sections[0], False


def _is_text_only(section: Section) -> bool:
    return any(kind == "text" for kind, _ in section.tokens)


def _holds(condition: tuple[str, float], value: float) -> bool:
    sign, bound = condition
    return {
        "<": value < bound,
        ">": value > bound,
        "=": value == bound,
        "<=": value <= bound,
        ">=": value >= bound,
        "<>": value != bound,
    }[sign]


def _number(value: float, section: Section, own_sign: bool) -> str:
    kinds = [kind for kind, _ in section.tokens]
    magnitude = Decimal(repr(abs(value))) * 100**section.percent / 1000**section.scale
    if "general" in kinds:
        text = "".join(general(float(magnitude)) if k == "general" else t for k, t in section.tokens)
    elif "exponent" in kinds:
        text = _scientific(magnitude, section.tokens)
    elif "slash" in kinds and "digit" in kinds:
        text = _fraction(magnitude, section.tokens)
    else:
        text = _fixed(magnitude, section)
    negative = value < 0 and not own_sign and any(c in "123456789" for c in text)
    return " ".join((("-" if negative else "") + text).split(" ")).strip()


def _fixed(magnitude: Decimal, section: Section) -> str:
    tokens = section.tokens
    point = next((i for i, (kind, _) in enumerate(tokens) if kind == "point"), len(tokens))
    head, tail = tokens[:point], tokens[point + 1 :]
    decimals = sum(kind == "digit" for kind, _ in tail)
    rounded = magnitude.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole, _, part = f"{rounded:f}".partition(".")
    text = _integer(whole.lstrip("0"), head, section.grouped)
    if point == len(tokens):
        return text
    return text + _decimals(part, tail)


def _integer(digits: str, tokens: list[Token], grouped: bool) -> str:
    """Digits put into their places from the right; the leftmost place takes all that are left."""
    places = sum(kind == "digit" for kind, _ in tokens)
    out: list[str] = []
    emitted = 0
    for kind, text in reversed(tokens):
        if kind != "digit":
            out.append(text)
            continue
        places -= 1
        take = digits if places == 0 else digits[-1:]
        digits = "" if places == 0 else digits[:-1]
        for sign in reversed(take or {"0": "0", "?": " "}.get(text, "")):
            if grouped and emitted and emitted % 3 == 0 and sign != " ":
                out.append(",")
            out.append(sign)
            emitted += 1
    return "".join(reversed(out))


def _decimals(digits: str, tokens: list[Token]) -> str:
    wanted = [text for kind, text in tokens if kind == "digit"]
    keep = len(digits)
    while keep and digits[keep - 1] == "0" and wanted[keep - 1] != "0":
        keep -= 1
    out: list[str] = []
    index = 0
    for kind, text in tokens:
        if kind == "digit":
            out.append(digits[index] if index < keep else "")
            index += 1
        else:
            out.append(text)
    return ("." if keep else "") + "".join(out)


def _scientific(magnitude: Decimal, tokens: list[Token]) -> str:
    cut = next(i for i, (kind, _) in enumerate(tokens) if kind == "exponent")
    mantissa, tail = tokens[:cut], tokens[cut + 1 :]
    point = next((i for i, (kind, _) in enumerate(mantissa) if kind == "point"), len(mantissa))
    whole_places = max(sum(kind == "digit" for kind, _ in mantissa[:point]), 1)
    exponent = magnitude.adjusted() if magnitude else 0
    exponent -= exponent % whole_places if whole_places > 1 else 0
    scaled = magnitude.scaleb(-exponent)
    decimals = sum(kind == "digit" for kind, _ in mantissa[point:])
    if scaled.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP) >= 10**whole_places:
        exponent += whole_places
        scaled = magnitude.scaleb(-exponent)
    body = _fixed(scaled, Section(mantissa))
    width = sum(kind == "digit" for kind, _ in tail)
    sign = "-" if exponent < 0 else ("+" if tokens[cut][1].endswith("+") else "")
    rest = "".join(text for kind, text in tail if kind == "literal")
    return f"{body}E{sign}{abs(exponent):0{width}d}{rest}"


def _fraction(magnitude: Decimal, tokens: list[Token]) -> str:
    cut = next(i for i, (kind, _) in enumerate(tokens) if kind == "slash")
    after = "".join(text for _, text in tokens[cut + 1 :])
    before = "".join(text if kind == "digit" else " " for kind, text in tokens[:cut])
    mixed = len(before.split()) > 1
    whole = int(magnitude) if mixed else 0
    rest = Fraction(magnitude) - whole
    fixed = re.match(r"\s*(\d*[1-9]\d*)", after)
    if fixed:
        denominator = int(fixed[1])
        numerator = round(rest * denominator)
    else:
        digits = max(sum(c in "0#?" for c in after), 1)
        best = rest.limit_denominator(10 ** min(digits, 7) - 1)
        numerator, denominator = best.numerator, best.denominator
    if mixed and numerator == denominator:
        whole, numerator = whole + 1, 0
    if mixed and numerator == 0:
        return str(whole)
    return f"{whole} {numerator}/{denominator}" if whole else f"{numerator}/{denominator}"
