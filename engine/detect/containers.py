"""Looks inside ZIP and OLE files to tell which document format they hold."""

from __future__ import annotations

import re
import struct
import zipfile
from pathlib import Path

import olefile

ZIP_FAMILY = {"docx", "pptx", "xlsx", "xlsb", "ods", "odt", "odp", "epub", "zip"}
OLE_FAMILY = {"doc", "xls", "ppt", "msg"}
ENCRYPTABLE = {"docx", "pptx", "xlsx", "xlsb"}
_MAX_DIRECTORY = 32 * 1024 * 1024  # bytes of a ZIP's central directory that are worth reading
_MAX_PART = 1024 * 1024
# Content types of OOXML main parts, transitional and strict alike (ECMA-376 part 1, §15.2; MS-OFFMACRO).
_MAIN_PART = re.compile(
    rb"(wordprocessingml|spreadsheetml|presentationml|ms-word|ms-excel|ms-powerpoint)"
    rb"\.(document|template|sheet|presentation|slideshow|addin)[\w.]*main\+xml|(ms-excel\.sheet\.binary[\w.]*main)",
    re.IGNORECASE,
)
_OOXML = {
    b"wordprocessingml": "docx", b"ms-word": "docx", b"spreadsheetml": "xlsx", b"ms-excel": "xlsx",
    b"presentationml": "pptx", b"ms-powerpoint": "pptx",
}  # fmt: skip
_MIMETYPES = {  # first entry `mimetype` of ODF (part 2, §3.3) and EPUB (OCF, §4.3) packages
    b"application/epub+zip": "epub",
    b"application/vnd.oasis.opendocument.text": "odt",
    b"application/vnd.oasis.opendocument.spreadsheet": "ods",
    b"application/vnd.oasis.opendocument.presentation": "odp",
}
_OLE_STREAMS = (  # in order: a message may carry a Word file, not the other way round
    ("__properties_version1.0", "msg"),
    ("WordDocument", "doc"),
    ("Workbook", "xls"),
    ("Book", "xls"),
    ("PowerPoint Document", "ppt"),
    ("PP97_DUALSTORAGE", "ppt"),
)


def zip_format(path: Path, claimed: str | None) -> str | None:
    """Format of a ZIP file. A broken one keeps the family's format its name claims, else is a `zip`.

    None: it is something inside a ZIP that is no format of ours (a drawing, a Visio file).
    """
    fallback = claimed if claimed in ZIP_FAMILY else "zip"
    if directory_size(path) > _MAX_DIRECTORY:
        return fallback
    try:
        with zipfile.ZipFile(path) as archive:
            return _zip_content(archive, fallback)
    except (zipfile.BadZipFile, OSError, EOFError, ValueError, NotImplementedError, RuntimeError, struct.error):
        return fallback


def directory_size(path: Path) -> int:
    """Bytes of the central directory as the end record states them; 0 when there is none (APPNOTE 4.3.16)."""
    size = path.stat().st_size
    with path.open("rb") as file:
        file.seek(max(0, size - 65_557))
        tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or at + 22 > len(tail):
        return 0
    stated = struct.unpack_from("<I", tail, at + 12)[0]
    return min(stated, size) if stated != 0xFFFFFFFF else size


def _zip_content(archive: zipfile.ZipFile, fallback: str) -> str | None:
    names = set(archive.namelist())
    types = next((n for n in names if n.replace("\\", "/").lower() == "[content_types].xml"), None)
    if types is not None:
        found = _ooxml(_part(archive, types))
        if found:
            return found
        if fallback != "zip":
            return fallback  # damaged content types: let that format's extractor say so
        return None if any(n.startswith(("visio/", "_rels/")) for n in names) else "zip"
    if "mimetype" in names:
        return _package(_part(archive, "mimetype"))
    if "META-INF/container.xml" in names:
        return "epub"
    if "META-INF/manifest.xml" in names and "content.xml" in names:
        match = re.search(rb'full-path="/"[^>]*media-type="([^"]+)"', _part(archive, "META-INF/manifest.xml"))
        return _package(match[1]) if match else fallback
    return None if "Index/Document.iwa" in names else "zip"


def _part(archive: zipfile.ZipFile, name: str) -> bytes:
    with archive.open(name) as part:
        return part.read(_MAX_PART)


def _ooxml(content_types: bytes) -> str | None:
    match = _MAIN_PART.search(content_types)
    if match is None:
        return None
    return "xlsb" if match[3] else _OOXML[match[1].lower()]


def _package(mimetype: bytes) -> str | None:
    cleaned = mimetype.strip().removeprefix(b"\xef\xbb\xbf").removesuffix(b"-template").removesuffix(b"-master")
    return _MIMETYPES.get(cleaned)


def ole_format(path: Path, claimed: str | None) -> str | None:
    """Format of an OLE compound file; a broken one keeps what its name claims. None: nothing of ours.

    An encrypted OOXML document is an OLE file too ([MS-OFFCRYPTO] 2.3.4): it keeps its OOXML format, so
    that the extractor can try passwords.
    """
    family = claimed if claimed in OLE_FAMILY | ENCRYPTABLE else None
    try:
        with olefile.OleFileIO(str(path)) as ole:
            names = {"/".join(entry).lower() for entry in ole.listdir()}
    except (OSError, ValueError, IndexError, struct.error, RecursionError):  # olefile's signs of a broken file
        return family
    if "encryptedpackage" in names:
        return claimed if claimed in ENCRYPTABLE else "docx"
    for stream, name in _OLE_STREAMS:
        if stream.lower() in names:
            return name
    return family
