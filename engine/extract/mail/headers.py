"""Header fields of a message as text: encoded words, raw 8-bit bytes, folded lines, dates and file names."""

from __future__ import annotations

import base64
import binascii
import quopri
import re
from datetime import datetime
from email.message import Message
from email.utils import collapse_rfc2231_value

from engine.decode import codec_name, decode
from engine.extract.html.head import parse_date

_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?([^?]*)\?=")
_BETWEEN_WORDS = re.compile(r"(\?=)[ \t\r\n]+(=\?)")
SHOWN = ("From", "To", "Cc", "Bcc", "Reply-To", "Date")


def header(message: Message, name: str) -> str:
    """The first field of this name, decoded and unfolded; empty when there is none."""
    for key, value in message.raw_items():  # `get` would replace bytes beyond ASCII
        if key.lower() == name.lower():
            return text_of(str(value))
    return ""


def text_of(raw: str) -> str:
    """A raw field body as text: RFC 2047 words decoded, bytes beyond ASCII by the most plausible charset."""
    data = raw.encode("utf-8", "surrogateescape")
    plain = decode(data).text if not data.isascii() else raw
    joined = _BETWEEN_WORDS.sub(r"\1\2", plain)
    return " ".join(_decode_words(joined).split())


def _decode_words(text: str) -> str:
    """Encoded words of one charset in a row are decoded together: some mailers cut inside a character."""
    parts: list[str] = []
    end = 0
    pending, charset = b"", ""
    for match in _WORD.finditer(text):
        if match.start() > end or match[1].lower() != charset.lower():
            parts.append(_bytes_to_text(pending, charset))
            pending = b""
            parts.append(text[end : match.start()])
        pending += _word_bytes(match[2], match[3])
        charset, end = match[1], match.end()
    return "".join([*parts, _bytes_to_text(pending, charset), text[end:]])


def _word_bytes(encoding: str, body: str) -> bytes:
    raw = body.encode("ascii", "ignore")
    if encoding in "qQ":
        return quopri.decodestring(raw.replace(b"_", b" "), header=False)
    try:
        return base64.b64decode(raw + b"=" * (-len(raw) % 4))
    except binascii.Error:
        return raw


def _bytes_to_text(data: bytes, charset: str) -> str:
    if not data:
        return ""
    codec = codec_name(charset.split("*", 1)[0])  # RFC 2231 allows `charset*language`
    if codec and codec.startswith(("utf-7", "iso2022", "hz")):
        return data.decode(codec, "replace")
    return decode(data, charset.split("*", 1)[0]).text


def filename_of(part: Message) -> str:
    """The file name a part gives, of either header, in RFC 2231 or RFC 2047 form; empty when it gives none."""
    for name, field in (("filename", "content-disposition"), ("name", "content-type")):
        try:
            value = part.get_param(name, None, field)
        except (ValueError, TypeError):  # malformed RFC 2231 continuations
            continue
        if value is None:
            continue
        if isinstance(value, tuple):
            return text_of(collapse_rfc2231_value(value))
        return text_of(str(value))
    return ""


def date_of(message: Message) -> datetime | None:
    return parse_date(header(message, "Date"))
