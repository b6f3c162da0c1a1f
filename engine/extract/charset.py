"""Finds the encoding of a text file: byte order marks, UTF-16/32 without one, UTF-8, then statistics."""

from __future__ import annotations

import codecs
from pathlib import Path

from charset_normalizer import from_bytes

SAMPLE_BYTES = 256 << 10
_BLOCK = 1 << 20
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def find_encoding(path: Path) -> tuple[str, str]:
    """(codec, error handler) with which the whole file can be decoded.

    The handler is "strict" when every byte fits, else "replace": the caller reports the loss.
    """
    with path.open("rb") as file:
        sample = file.read(SAMPLE_BYTES)
    for candidate in _candidates(sample, path):
        if decodes(path, candidate):
            return candidate, "strict"
    return next(iter(_candidates(sample, path)), "utf-8"), "replace"


def _candidates(sample: bytes, path: Path) -> list[str]:
    marked = next((name for mark, name in _MARKS if sample.startswith(mark)), None)
    if marked:
        return [marked]
    wide = _wide_without_mark(sample)
    if wide:
        return [wide]
    return ["utf-8"] if decodes(path, "utf-8") else [*_by_statistics(sample), "cp1252", "latin-1"]


def _wide_without_mark(sample: bytes) -> str | None:
    """UTF-16 or UTF-32 by where the zero bytes of ASCII characters lie."""
    length = len(sample) // 4 * 4
    if length < 4 or b"\0" not in sample:
        return None
    zeros = [sample[offset:length:4].count(0) / (length // 4) for offset in range(4)]
    if min(zeros[1:]) > 0.7 and zeros[0] < 0.3:
        return "utf-32-le"
    if min(zeros[:3]) > 0.7 and zeros[3] < 0.3:
        return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd > 0.3 and even < 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > 0.3 and odd < 0.1 else None


def _by_statistics(sample: bytes) -> list[str]:
    """Candidates by charset-normalizer, Western before Central European where nothing tells them apart."""
    cut = sample.rfind(b"\n") if len(sample) == SAMPLE_BYTES else len(sample)
    matches = list(from_bytes(sample[:cut] if cut > 0 else sample))
    if not matches:
        return []
    best = matches[0]
    western = next((m for m in matches if m.encoding == "cp1252" and m.chaos <= best.chaos), None)
    is_latin = best.encoding in {"cp1250", "cp1257", "iso8859_10", "iso8859_2", "mac_iceland"}
    return ([western.encoding] if western is not None and is_latin else []) + [m.encoding for m in matches[:3]]


def decodes(path: Path, encoding: str) -> bool:
    """Whether every byte of the file fits the codec; reads in blocks."""
    try:
        decoder = codecs.getincrementaldecoder(encoding)("strict")
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                decoder.decode(block)
            decoder.decode(b"", True)
    except (UnicodeError, LookupError):
        return False
    return True
