"""Tells a document's format: by its bytes first, by its name only where bytes cannot.

Own looks at signatures and inside ZIP and OLE files settle the formats known here; libmagic names what is
refused. A name never turns bytes into a format they are not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from engine.decode import decode, looks_binary
from engine.detect.containers import ole_format, zip_format
from engine.detect.names import BINARY, MIMES, extension_of, format_by_name, known_formats, own_format
from engine.detect.text import text_format
from engine.errors import Code, InputError, Stage
from engine.settings import Settings

HEAD_BYTES = 1024 * 1024
_TEXT_BYTES = 256 * 1024
_PDF_MARKS = (b" obj", b"endobj", b"/Type", b"startxref", b"/Catalog")
_HEIF_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")


@dataclass(frozen=True, slots=True)
class Detected:
    """A format id of the table of extractors (or of the user's own), and a MIME type."""

    format: str
    mime: str


def detect(path: Path, filename: str, settings: Settings) -> Detected:
    """Format of the file at `path`, called `filename` where it came from. Reads at most a few MB.

    Raises InputError: UNSUPPORTED_FORMAT when the bytes are no format known here, EXTRACTION_FAILED when a
    file is named as a binary format (.docx, .pdf, ...) but holds plain text.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES)
    own = own_format(filename, settings)
    claimed = format_by_name(filename)
    if size == 0:
        return _found(own or claimed or "txt")
    signed = _signed(path, head, claimed)
    if signed is not None and not (own and signed in ("zip", "txt", "xml")):
        return _found(signed)
    if own:
        return _found(own)
    if _is_text(head):
        return _found(_text(head, filename, claimed, size <= _TEXT_BYTES))
    if claimed == "pdf" and sum(mark in head for mark in _PDF_MARKS) >= 2:
        return _found("pdf")
    raise _refused(head, filename, claimed, settings)


def _found(name: str) -> Detected:
    return Detected(name, MIMES.get(name, "application/octet-stream"))


def _signed(path: Path, head: bytes, claimed: str | None) -> str | None:
    """The format by its signature; None when there is none of ours."""
    if head[:4] in (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08"):
        return zip_format(path, claimed)
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return ole_format(path, claimed)
    if b"%PDF-" in head[:1024]:
        return None if _mentions_pdf(head, claimed) else "pdf"
    if head[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rt"):
        return "rtf"
    return _picture(head)


def _mentions_pdf(head: bytes, claimed: str | None) -> bool:
    """A text that only talks of `%PDF-`: it is not named so, and does not begin with it."""
    at = head.find(b"%PDF-")
    return at > 0 and claimed != "pdf" and b" obj" not in head[at : at + 4096]


def _picture(head: bytes) -> str | None:
    for signature, name in (
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"\xff\xd8\xff", "jpg"),
        (b"GIF87a", "gif"),
        (b"GIF89a", "gif"),
        (b"II*\0", "tiff"),
        (b"MM\0*", "tiff"),
        (b"II+\0", "tiff"),
        (b"MM\0+", "tiff"),
    ):
        if head.startswith(signature):
            return name
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "webp"
    if head[4:8] == b"ftyp" and head[8:12] in _HEIF_BRANDS:
        return "heic"
    # BMP: "BM", then reserved zeros and a known header size.
    if head[:2] == b"BM" and head[6:10] == b"\0\0\0\0" and head[14:18] in _BMP_HEADERS:
        return "bmp"
    return None


_BMP_HEADERS = {n.to_bytes(4, "little") for n in (12, 16, 40, 52, 56, 64, 108, 124)}


def _is_text(head: bytes) -> bool:
    return not looks_binary(head)


def _text(head: bytes, filename: str, claimed: str | None, whole: bool) -> str:
    text = decode(head[:_TEXT_BYTES]).text
    name = text_format(text, filename, whole)
    if claimed in BINARY and name not in ("html", "xml", "eml", "mbox"):
        extension = extension_of(filename)
        raise InputError(
            f"the file is named {extension} but its bytes are plain text",
            Code.EXTRACTION_FAILED,
            Stage.DETECT,
            {"detected_format": "txt", "extension": extension},
        )
    return name


def _refused(head: bytes, filename: str, claimed: str | None, settings: Settings) -> InputError:
    mime = _libmagic(head)
    extension = extension_of(filename)
    if claimed in BINARY:
        return InputError(
            f"the file is named {extension} but its bytes are not ({mime})",
            Code.EXTRACTION_FAILED,
            Stage.DETECT,
            {"detected_format": mime, "extension": extension},
        )
    return InputError(
        f"the format of this file is not supported ({mime})",
        Code.UNSUPPORTED_FORMAT,
        Stage.DETECT,
        {"detected_format": mime, "supported_formats": known_formats(settings)},
    )


def _libmagic(head: bytes) -> str:
    import magic

    try:
        mime = str(magic.from_buffer(head[:65_536], mime=True))
    except magic.MagicException:
        return "application/octet-stream"
    return mime if re.fullmatch(r"[\w.+-]+/[\w.+-]+", mime) else "application/octet-stream"
