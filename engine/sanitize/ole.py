"""Looks into OLE compound files: which document they hold, what a packaged object is called, macros."""

from __future__ import annotations

import io
import posixpath
import struct

import olefile

NATIVE = "\x01Ole10Native"
# The stream that tells a legacy Office document inside an OLE container, and its extension.
DOCUMENT_STREAMS = {"WordDocument": ".doc", "Workbook": ".xls", "Book": ".xls", "PowerPoint Document": ".ppt"}
_PAYLOAD_STREAMS = ("CONTENTS", "Package", "Contents")
_MAGIC = {b"PK\x03\x04": ".zip", b"%PDF": ".pdf", b"{\\rt": ".rtf"}
_PROGRAMS = {
    "word.document": ".docx",
    "word.documentmacroenabled": ".docm",
    "excel.sheet": ".xlsx",
    "excel.sheetmacroenabled": ".xlsm",
    "excel.sheetbinarymacroenabled": ".xlsb",
    "powerpoint.show": ".pptx",
    "powerpoint.slide": ".pptx",
}
_EXECUTABLE = {
    "exe", "dll", "com", "scr", "pif", "cpl", "msi", "msp", "bat", "cmd", "ps1", "psm1", "vbs", "vbe", "js", "jse",
    "wsf", "wsh", "hta", "lnk", "url", "jar", "reg", "sct", "inf", "chm", "gadget", "application", "scf",
    "settingcontent-ms",
}  # fmt: skip
# olefile raises these on damaged containers.
OLE_ERRORS = (OSError, ValueError, IndexError, RecursionError, struct.error)


def open_object(data: bytes, name: str) -> tuple[str, bytes] | None:
    """(file name, bytes) of the file in an OLE object; None when it holds none that can be named."""
    stem = posixpath.splitext(name)[0]
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            for stream, extension in DOCUMENT_STREAMS.items():
                if ole.exists(stream):
                    return stem + extension, data
            if ole.exists(NATIVE):
                return unwrap_native(ole.openstream(NATIVE).read())
            for stream in _PAYLOAD_STREAMS:
                if ole.exists(stream):
                    inner = ole.openstream(stream).read()
                    extension = extension_of("", inner)
                    return (stem + extension, inner) if extension != ".bin" else None
    except OLE_ERRORS:
        return None
    return None


def unwrap_native(stream: bytes) -> tuple[str, bytes] | None:
    """File name and bytes out of an `Ole10Native` stream ([MS-OLEDS] 2.3.6 and the packager's layout)."""
    try:
        label, offset = _text(stream, 6)
        source, offset = _text(stream, offset)
        (length,) = struct.unpack_from("<I", stream, offset + 4)
        offset += 8 + length
        (size,) = struct.unpack_from("<I", stream, offset)
    except (struct.error, ValueError):
        return None
    data = stream[offset + 4 : offset + 4 + size]
    name = (label or source).replace("\\", "/").rpartition("/")[2]
    return (name or "object", data) if data else None


def _text(stream: bytes, offset: int) -> tuple[str, int]:
    end = stream.index(b"\x00", offset)
    return stream[offset:end].decode("cp1252", "replace"), end + 1


def extension_of(program: str, data: bytes) -> str:
    """A file extension by the object's ProgID, else by its first bytes; ".bin" when neither tells."""
    known = _PROGRAMS.get(program.lower().rpartition(".")[0]) or _PROGRAMS.get(program.lower())
    return known or next((ext for magic, ext in _MAGIC.items() if data.startswith(magic)), ".bin")


def is_executable(name: str, data: bytes) -> bool:
    """Whether a packaged file is a program or script, by its name or first bytes."""
    return name.lower().rpartition(".")[2] in _EXECUTABLE or data[:2] == b"MZ" or data[:4] == b"\x7fELF"


def is_macro_stream(path: list[str]) -> bool:
    """Whether a stream belongs to a VBA project."""
    folders = {part.lower() for part in path}
    return bool(folders & {"macros", "_vba_project_cur", "vba", "_vba_project"})
