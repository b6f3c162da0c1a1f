"""Numbers as office programs show them in lists and headings: roman, letters, circled, Chinese, ...

Format names are those of WordprocessingML (`ST_NumberFormat`); other formats map theirs onto them.
"""

from __future__ import annotations

from collections.abc import Callable

_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_HAN = "〇一二三四五六七八九"
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセス"
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_GANADA = "가나다라마바사아자차카타파하"
_CHOSUNG = "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ"
_GREEK = "αβγδεζηθικλμνξοπρστυφχψω"
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщыэюя"


def roman(number: int) -> str:
    """Lower-case roman numeral; decimal outside 1..3999."""
    if not 0 < number < 4000:
        return str(number)
    parts: list[str] = []
    for value, sign in _ROMAN:
        count, number = divmod(number, value)
        parts.append(sign * count)
    return "".join(parts)


def letters(number: int) -> str:
    """a … z, aa, bb, … as Word counts (the letter is repeated)."""
    if not 0 < number <= 780:
        return str(number)
    return chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)


def han(number: int) -> str:
    """Chinese counting numerals up to 9999."""
    if not 0 < number < 10_000:
        return str(number)
    text = ""
    for unit, sign in ((1000, "千"), (100, "百"), (10, "十")):
        digit, number = divmod(number, unit)
        if digit:
            text += ("" if digit == 1 and unit == 10 and not text else _HAN[digit]) + sign
        elif text and number and not text.endswith("〇"):
            text += "〇"
    return text + (_HAN[number] if number else "")


def _ordinal(number: int) -> str:
    suffix = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def _circled(number: int) -> str:
    return chr(0x2460 + number - 1) if 1 <= number <= 20 else str(number)


def _series(signs: str) -> Callable[[int], str]:
    return lambda number: signs[(number - 1) % len(signs)] if number > 0 else str(number)


_FORMATS: dict[str, Callable[[int], str]] = {
    "lowerRoman": roman,
    "upperRoman": lambda n: roman(n).upper(),
    "lowerLetter": letters,
    "upperLetter": lambda n: letters(n).upper(),
    "decimalZero": lambda n: f"{n:02d}",
    "ordinal": _ordinal,
    "numberInDash": lambda n: f"- {n} -",
    "decimalEnclosedCircle": _circled,
    "decimalEnclosedCircleChinese": _circled,
    "decimalFullWidth": lambda n: "".join(chr(0xFEE0 + ord(c)) for c in str(n)),
    "aiueoFullWidth": _series(_AIUEO),
    "aiueo": _series(_AIUEO),
    "iroha": _series(_IROHA),
    "irohaFullWidth": _series(_IROHA),
    "ideographTraditional": _series(_STEMS),
    "ganada": _series(_GANADA),
    "chosung": _series(_CHOSUNG),
    "russianLower": _series(_RUSSIAN),
    "russianUpper": lambda n: _series(_RUSSIAN)(n).upper(),
    **dict.fromkeys(
        (
            "chineseCounting", "chineseCountingThousand", "japaneseCounting", "taiwaneseCounting",
            "taiwaneseCountingThousand", "ideographDigital", "japaneseDigitalTenThousand",
        ),
        han,
    ),
    "none": lambda n: "",
    "bullet": lambda n: "",
}  # fmt: skip


def format_number(number: int, name: str) -> str:
    """`number` in the format called `name`; decimal for names not known.

    `like:001` or `like:α` is a format by example: that many digits, or the letters of that alphabet.
    """
    if name.startswith("like:"):
        return _like(number, name.removeprefix("like:"))
    return _FORMATS.get(name, str)(number)


def _like(number: int, first: str) -> str:
    if first.isdecimal():
        return f"{number:0{min(len(first), 12)}d}"
    alphabet = {"α": _GREEK, "Α": _GREEK.upper(), "а": _RUSSIAN, "А": _RUSSIAN.upper()}.get(first)
    return _series(alphabet)(number) if alphabet else str(number)
