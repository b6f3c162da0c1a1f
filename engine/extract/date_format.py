"""Spreadsheet dates: serial numbers to calendar dates, and their text.

A format that shows year, month and day gives the ISO date, which is unambiguous and the same in every
locale; a format that shows less ("mmm yyyy", "dddd", "h:mm AM/PM", "[h]:mm") gives what it would show.
"""

from __future__ import annotations

from datetime import datetime, timedelta

Token = tuple[str, str]  # kind, text; kinds: date, literal and those of number_format

_MONTHS = [
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
]  # fmt: skip
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_LAST_SERIAL = 2_958_466  # 10000-01-01


def from_serial(serial: float, epoch_1904: bool = False) -> datetime | None:
    """The moment a serial number stands for, to the millisecond; None outside the years 1900-9999.

    The 1900 system counts a 29 February 1900 that never was, so days before 1 March are one off.
    """
    if not 0 <= serial < _LAST_SERIAL:
        return None
    if epoch_1904:
        base = datetime(1904, 1, 1)
    else:
        base = datetime(1899, 12, 31) if serial < 60 else datetime(1899, 12, 30)
    try:
        return base + timedelta(milliseconds=round(serial * 86_400_000))
    except OverflowError:
        return None


def minutes_resolved(tokens: list[Token]) -> list[Token]:
    """Tokens with `m` after hours or before seconds marked as minutes (`n`)."""
    places = [i for i, (kind, _) in enumerate(tokens) if kind == "date"]
    result = list(tokens)
    for position, index in enumerate(places):
        text = tokens[index][1]
        if text.strip("[]").lower() not in {"m", "mm"}:
            continue
        before = tokens[places[position - 1]][1].strip("[]")[:1] if position else ""
        after = tokens[places[position + 1]][1].strip("[]")[:1] if position + 1 < len(places) else ""
        if before in {"h", "H"} or after in {"s", "S"} or text.startswith("["):
            result[index] = ("date", text.lower().replace("m", "n"))
    return result


def show(serial: float, tokens: list[Token], epoch_1904: bool) -> str | None:
    """The text of a date under a format's tokens (minutes resolved); None when it is no date."""
    fraction = next((text for kind, text in tokens if kind == "fraction"), "")
    step = 10 ** len(fraction.lstrip("."))
    shown_as_duration = any(kind == "date" and text.startswith("[") for kind, text in tokens)
    if shown_as_duration:
        return _duration(serial, tokens, step)
    moment = from_serial(round(serial * 86_400 * step) / (86_400 * step), epoch_1904)
    if moment is None:
        return None
    fields = {
        text.lower()[0] for kind, text in tokens if kind == "date" and not text.lower().startswith(("ddd", "aaa"))
    }
    if {"y", "m", "d"} <= fields or {"e", "m", "d"} <= fields:
        return _iso_as_shown(moment, fields)
    twelve = any(kind == "ampm" for kind, _ in tokens)
    return "".join(_shown(kind, text, moment, twelve) for kind, text in tokens).strip()


def _iso_as_shown(moment: datetime, fields: set[str]) -> str:
    text = moment.date().isoformat()
    if (moment.hour, moment.minute, moment.second) == (0, 0, 0):
        return text  # a date that a program stored as a moment
    if "s" in fields:
        return f"{text} {moment:%H:%M:%S}"
    return f"{text} {moment:%H:%M}" if fields & {"h", "n"} else text


def _shown(kind: str, text: str, moment: datetime, twelve: bool) -> str:
    if kind == "date":
        return _field(text.lower(), moment, twelve)
    if kind == "ampm":
        first, _, second = (text.upper() if len(text) > 3 else text).partition("/")  # only a/p keeps its case
        return first if moment.hour < 12 else second
    if kind == "fraction":
        return f".{moment.microsecond:06d}"[: len(text)]
    return text


def _field(field: str, moment: datetime, twelve: bool) -> str:
    hour = (moment.hour - 1) % 12 + 1 if twelve else moment.hour
    size = len(field)
    match field[0]:
        case "y":
            return f"{moment.year % 100:02d}" if size <= 2 else f"{moment.year:04d}"
        case "e":
            return str(moment.year)
        case "m" if size >= 3:
            name = _MONTHS[moment.month - 1]
            return {3: name[:3], 5: name[:1]}.get(size, name)
        case "d" | "a" if size >= 3:
            name = _DAYS[moment.weekday()]
            return name[:3] if size == 3 else name
        case "g":
            return ""
        case first:
            number = {"m": moment.month, "d": moment.day, "h": hour, "n": moment.minute, "s": moment.second}
            return f"{number.get(first, 0):0{min(size, 2)}d}"


def _duration(serial: float, tokens: list[Token], step: int) -> str:
    total = round(abs(serial) * 86_400 * step) / step
    seconds = int(total)
    parts = {"h": seconds // 3600 % 24, "n": seconds // 60 % 60, "s": seconds % 60}
    whole = {"h": seconds // 3600, "n": seconds // 60, "s": seconds}
    out: list[str] = ["-" if serial < 0 else ""]
    for kind, text in tokens:
        name = text.strip("[]").lower()
        if kind == "date" and name[:1] in parts:
            number = (whole if text.startswith("[") else parts)[name[0]]
            out.append(f"{number:0{len(name)}d}")
        elif kind == "fraction":
            out.append(f"{total - seconds:.{len(text) - 1}f}"[1:])
        else:
            out.append(text if kind in {"literal", "digit", "point"} else "")
    return "".join(out).strip()
