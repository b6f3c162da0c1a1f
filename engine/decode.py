"""Bytes to text, whatever encoding they turn out to be in.

Order of trust: byte order mark; the byte pattern of UTF-16/32; strict UTF-8; ISO 2022 escapes; UTF-8 with a few
broken places; the declared charset where the bytes agree with it; the most plausible legacy charset.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from engine import charsets

_BOMS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# What labels mean in practice; the WHATWG Encoding Standard's table, as far as Python's own names differ.
_LABELS = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso-8859-1": "cp1252", "iso8859-1": "cp1252", "latin1": "cp1252",
    "latin-1": "cp1252", "l1": "cp1252", "iso-8859-9": "cp1254", "iso-8859-11": "cp874", "tis-620": "cp874",
    "windows-874": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "gb_2312-80": "gb18030",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932", "windows-31j": "cp932",
    "ks_c_5601-1987": "cp949", "euc-kr": "cp949", "ksc5601": "cp949", "big5": "big5hkscs", "big5-hkscs": "big5hkscs",
    "x-euc-jp": "euc_jp", "koi8": "koi8-r", "x-mac-cyrillic": "mac_cyrillic", "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman", "unicode-1-1-utf-8": "utf-8", "utf8": "utf-8", "x-user-defined": "cp1252",
    "iso-8859-8-i": "iso8859-8", "visual": "iso8859-8", "logical": "iso8859-8", "ansi": "cp1252", "dos-862": "cp862",
}  # fmt: skip
_BLOCK = 1 << 20
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
# A declared charset is believed unless another reading is better by this much.
_TRUST_DECLARED = 0.25


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text, the encoding it was read with, and how many places could not be read (U+FFFD stands there)."""

    text: str
    encoding: str
    replaced: int = 0


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """Text of `data`. `declared` is a label from a header or meta tag, believed only where the bytes allow it."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], encoding)
    wide = wide_encoding(data)
    if wide:
        return _decoded(data, wide)
    label = codec_name(declared)
    escapes = _iso2022(data)
    if escapes:
        return _decoded(data, escapes)
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    if _nearly_utf8(data):
        return _decoded(data, "utf-8")
    return _decoded(data, _legacy(data, label))


def file_encoding(path: Path) -> tuple[str, str]:
    """(codec, error handler) with which a file too big for memory can be read as a stream.

    By the same rules as `decode`. The codec takes a byte order mark off; the handler is "strict" when every byte
    fits, else "replace": the caller reports the loss.
    """
    with path.open("rb") as file:
        head = file.read(_BLOCK)
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            codec = "utf-8-sig" if encoding == "utf-8" else encoding[:6]
            return codec, "strict" if _fits(path, codec) else "replace"
    codec = wide_encoding(head) or _iso2022(head)
    if codec is None and _fits(path, "utf-8"):
        return "utf-8", "strict"
    if codec is None:
        sample = _telling(path)
        codec = "utf-8" if _nearly_utf8(sample) else _legacy(sample, None)
    return codec, "strict" if _fits(path, codec) else "replace"


def _telling(path: Path) -> bytes:
    """Lines with bytes above ASCII, from wherever in the file they are."""
    found = b""
    with path.open("rb") as file:
        while len(found) < charsets.SAMPLE_BYTES and (block := file.read(_BLOCK)):
            found += b"" if block.isascii() else charsets.sample(block)
    return found


def _fits(path: Path, codec: str) -> bool:
    """Whether every byte of a file fits the codec; reads in blocks."""
    decoder = codecs.getincrementaldecoder(codec)("strict")
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                decoder.decode(block)
            decoder.decode(b"", True)
    except UnicodeError:
        return False
    return True


def codec_name(label: str | None) -> str | None:
    """Python's codec for a charset label as found in the wild; None when unknown or not a text encoding."""
    if not label:
        return None
    cleaned = label.strip().strip("\"'").lower().removeprefix("charset=")
    name = _LABELS.get(cleaned, cleaned)
    try:
        info = codecs.lookup(name)
        b" ".decode(name)  # refuses codecs that are not text encodings, such as base64
    except UnicodeDecodeError:  # a text encoding of wider units
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        return None
    return info.name


def wide_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark, told by where its zero bytes stand; None when it is neither."""
    sample = data[:8192]
    if b"\0" not in sample or len(sample) < 4:
        return None
    for encoding, unit in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        if len(data) % unit == 0 or len(data) > len(sample):
            text = _strict(sample[: len(sample) // unit * unit], encoding, unit)
            if text is not None and _looks_written(text):
                return encoding
    return None


def looks_binary(data: bytes) -> bool:
    """No text in any encoding: control bytes all over a sample that is not UTF-16 or UTF-32."""
    sample = data[:8192]
    if not sample or sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or wide_encoding(data):
        return False
    controls = len(_CONTROL.findall(sample))
    if sample.count(0) > len(sample) // 1000 + 1 or controls > len(sample) // 50 + 1:
        return True
    return _high_noise(sample)


def _high_noise(sample: bytes) -> bool:
    """Bytes above ASCII that no character set makes sense of."""
    high = sum(b > 0x7F for b in sample)
    if high < 0.05 * len(sample) or decode_strict(sample):
        return False
    return charsets.guess(sample)[1] < -0.1


def decode_strict(data: bytes) -> bool:
    """Whether `data` is UTF-8, a character cut at the end forgiven."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False
    return True


def _strict(sample: bytes, encoding: str, unit: int) -> str | None:
    for cut in (0, unit):  # the sample may end between two surrogates
        try:
            return sample[: len(sample) - cut].decode(encoding)
        except UnicodeDecodeError:
            continue
    return None


def _looks_written(text: str) -> bool:
    """Real text in UTF-16/32: no NUL, next to no controls, private or unassigned characters, and some ASCII."""
    odd = sum(not (c.isprintable() or c in "\t\n\r\f\ufeff\u200e\u200f\u00a0\u3000") for c in text)
    plain = sum(c < "\x80" for c in text)
    return bool(text) and "\0" not in text and odd <= len(text) // 50 and plain >= max(1, len(text) // 50)


def _iso2022(data: bytes) -> str | None:
    """Seven-bit Japanese or Korean by its escape sequences (RFC 1468, RFC 1557)."""
    if b"\x1b" not in data or not data.isascii():
        return None
    if re.search(rb"\x1b\$[@B]|\x1b\(J", data):
        return "iso2022_jp_2"
    return "iso2022_kr" if b"\x1b$)C" in data else None


def _nearly_utf8(data: bytes) -> bool:
    """Mostly well-formed multi-byte sequences with a few broken places, as a cut or patched file has."""
    sample = data[:1_000_000]
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    good = sum(c > "\x7f" for c in text) - broken
    return good >= 4 and broken <= good // 10


def _legacy(data: bytes, label: str | None) -> str:
    best, score = charsets.guess(data)
    if label and label not in ("utf-8", "utf-16", "utf-32", "utf-7"):
        declared = charsets.plausibility(charsets.sample(data), label)
        if declared > -9 and declared >= score - _TRUST_DECLARED:
            return label
    return best if score > -9 else "cp1252"


def _decoded(data: bytes, encoding: str) -> Decoded:
    text = data.decode(encoding, "replace")
    return Decoded(text, encoding, max(0, text.count("\ufffd") - data.count(b"\xef\xbf\xbd")))
