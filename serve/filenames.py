"""Names out of a form part's Content-Disposition: the field's, and the file's as it is safe to keep and show.

RFC 7578 (multipart/form-data) sends names as UTF-8 in quotes; browsers write `"`, CR and LF as %22, %0D, %0A (HTML
standard, "multipart/form-data encoding algorithm"); RFC 6266 clients send `filename*` (RFC 8187) as well.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote_to_bytes

from engine.errors import Code, InputError

MAX_NAME = 255  # characters
_FORM_DATA = re.compile(rb"[ \t]*form-data[ \t]*", re.IGNORECASE)
_PARAMETER = re.compile(rb';[ \t]*([\w!#$%&\'*+.^`|~-]+)[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^;" \t]*))[ \t]*')
_ESCAPE = re.compile(rb'\\(["\\])')
_PERCENT = {b"%22": b'"', b"%0D": b"\r", b"%0A": b"\n"}
# Joiners that Persian, Indic scripts and emoji need; other invisible characters only deceive.
_JOINERS = "\u200c\u200d"
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


@dataclass(frozen=True, slots=True)
class Disposition:
    """`filename` is as sent (see `clean`), None for a text field."""

    name: str
    filename: str | None


def disposition(header: bytes) -> Disposition:
    """Read a part's Content-Disposition. Raises InputError (INVALID_REQUEST) when it is none of form data."""
    values = _parameters(header)
    if not values.get(b"name"):
        raise invalid("a part of the form has no name")
    filename = values.get(b"filename")
    plain = None if filename is None else _text(_unpercented(filename))
    return Disposition(_text(_unpercented(values[b"name"])), _extended(values.get(b"filename*")) or plain)


def clean(filename: str) -> str:
    """The last part of a path, without control and other invisible characters, in NFC. Raises InputError
    (INVALID_REQUEST) when nothing is left, or too much."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", filename))[-1]
    name = "".join(c for c in last if c in _JOINERS or unicodedata.category(c) not in _INVISIBLE).strip()
    if name.strip(". " + _JOINERS) == "":
        raise invalid("a file has no name")
    if len(name) > MAX_NAME:
        raise invalid(f"a file's name is longer than {MAX_NAME} characters")
    return name


def invalid(message: str, **details: object) -> InputError:
    """The request is at fault."""
    return InputError(message, Code.INVALID_REQUEST, details=details)


def _parameters(header: bytes) -> dict[bytes, bytes]:
    start = _FORM_DATA.match(header)
    if start is None:
        raise invalid("a part of the form is not form-data")
    found: dict[bytes, bytes] = {}
    place = start.end()
    while header[place:].strip(b"; \t"):
        parameter = _PARAMETER.match(header, place)
        if parameter is None:
            raise invalid("a part's Content-Disposition cannot be read")
        name, quoted, bare = parameter[1].lower(), parameter[2], parameter[3]
        if name in found:
            raise invalid("a part's Content-Disposition names something twice")
        found[name] = bare if quoted is None else _ESCAPE.sub(rb"\1", quoted)
        place = parameter.end()
    return found


def _unpercented(value: bytes) -> bytes:
    for written, meant in _PERCENT.items():
        value = value.replace(written, meant)
    return value


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:  # an old client; nothing says which charset, and every byte is a letter in this one
        return value.decode("latin-1")


def _extended(value: bytes | None) -> str | None:
    """`charset'language'percent-encoded` (RFC 8187); None when it cannot be read."""
    charset, *rest = (value or b"").split(b"'", 2)
    if len(rest) != 2 or charset.lower() not in (b"utf-8", b"iso-8859-1"):
        return None
    try:
        return unquote_to_bytes(rest[1]).decode(charset.decode("ascii"))
    except UnicodeDecodeError:
        return None
