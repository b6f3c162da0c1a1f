"""Takes the message out of an opaquely signed S/MIME part (CMS SignedData, RFC 5652), without checking signatures."""

from __future__ import annotations

_SIGNED_DATA = bytes.fromhex("06092a864886f70d010702")  # OID 1.2.840.113549.1.7.2
_DATA = bytes.fromhex("06092a864886f70d010701")  # OID 1.2.840.113549.1.7.1, the content's type
_OCTETS, _OCTETS_PARTS = 0x04, 0x24
_MAX_DEPTH = 8


def signed_content(data: bytes) -> bytes | None:
    """The signed message's bytes; None when `data` is not SignedData with its content inside."""
    head = data[:64]
    if data[:1] != b"\x30" or _SIGNED_DATA not in head:
        return None
    at = data.find(_DATA, 0, 400)
    if at < 0:
        return None
    content = _octets(data, at + len(_DATA), 0)
    return content[0] if content is not None and content[0] else None


def _octets(data: bytes, at: int, depth: int) -> tuple[bytes, int] | None:
    """The octet string at `at` and the place after it: DER or BER, wrapped, in pieces, of indefinite length."""
    header = _header(data, at)
    if header is None or depth > _MAX_DEPTH:
        return None
    tag, start, length = header
    end = len(data) if length is None else start + length
    if tag == _OCTETS and length is not None:
        return data[start:end], end
    if tag not in (0xA0, _OCTETS_PARTS):
        return None
    pieces: list[bytes] = []
    while start < end and data[start : start + 2] != b"\0\0":
        inner = _octets(data, start, depth + 1)
        if inner is None or inner[1] <= start:
            return None
        pieces.append(inner[0])
        start = inner[1]
    return b"".join(pieces), (start + 2 if length is None else end)


def _header(data: bytes, at: int) -> tuple[int, int, int | None] | None:
    """Tag, where the contents begin, and their length (None: indefinite)."""
    if at + 2 > len(data):
        return None
    tag, first = data[at], data[at + 1]
    if first < 0x80:
        return tag, at + 2, first
    if first == 0x80:
        return tag, at + 2, None
    count = first & 0x7F
    if count > 4 or at + 2 + count > len(data):
        return None
    return tag, at + 2 + count, int.from_bytes(data[at + 2 : at + 2 + count], "big")
