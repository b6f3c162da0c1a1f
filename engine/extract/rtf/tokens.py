"""RTF as a stream of tokens, and the code pages of its fonts."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    rb"""\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})?\x20?
    | \\'(?P<hex>[0-9a-fA-F]{2})
    | \\(?P<symbol>[^a-zA-Z])
    | (?P<open>\{) | (?P<close>\})
    | (?P<text>[^\\{}\r\n]+)""",
    re.VERBOSE | re.DOTALL,
)

# \fcharsetN → Python codec (RTF 1.9.1, font table).
CHARSETS = {
    0: "cp1252", 77: "mac_roman", 78: "cp932", 80: "gbk", 81: "big5", 82: "mac_greek", 128: "cp932", 129: "cp949",
    130: "johab", 134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256",
    186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
SYMBOL_CHARSET = 2
DOUBLE_BYTE = {"cp932", "cp949", "johab", "gbk", "cp950", "big5", "gb18030"}


@dataclass(slots=True)
class Token:
    """`kind`: word (a control word, `name` and `number`), symbol, hex, open, close, text (`data`)."""

    kind: str
    name: str = ""
    number: int | None = None
    data: bytes = b""


def tokens(data: bytes) -> Iterator[Token]:
    """Tokens of an RTF file; raw binary data after \\bin is stepped over."""
    position = 0
    while (match := _TOKEN.search(data, position)) is not None:
        position = match.end()
        kind = match.lastgroup or ""
        if match["word"] is not None:
            number = int(match["number"]) if match["number"] is not None else None
            name = match["word"].decode("ascii")
            if name == "bin" and number:
                position += min(max(number, 0), len(data) - position)
            yield Token("word", name, number)
        elif kind == "hex":
            yield Token("hex", data=bytes([int(match["hex"], 16)]))
        elif kind == "symbol":
            yield Token("symbol", match["symbol"].decode("latin-1"))
        else:
            yield Token(kind, data=match[0])


def codepage(number: int) -> str:
    """Python codec of a Windows code page; cp1252 for one not known."""
    name = {
        932: "cp932",
        936: "gbk",
        949: "cp949",
        950: "cp950",
        1361: "johab",
        10000: "mac_roman",
        65001: "utf-8",
    }.get(number, f"cp{number}")
    try:
        codecs.lookup(name)
    except LookupError:
        return "cp1252"
    return name
