"""Files embedded in office documents (packages and OLE objects) as child documents in scratch."""

from __future__ import annotations

import io
import posixpath
import struct
from pathlib import Path

import olefile

from engine.document import Builder
from engine.errors import Code, InputError
from engine.extract import Context
from engine.records import ChildDocument
from engine.sanitize.package import OLE_MAGIC, Package

NATIVE = "\x01Ole10Native"
# The stream that tells a legacy Office document inside an OLE container, and its extension.
_DOCUMENT_STREAMS = {"WordDocument": ".doc", "Workbook": ".xls", "Book": ".xls", "PowerPoint Document": ".ppt"}
_DOCUMENT_BYTES = {b"PK\x03\x04": ".zip", b"%PDF": ".pdf", b"{\\rt": ".rtf"}
_EXTENSIONS = {
    "word.document": ".docx",
    "word.documentmacroenabled": ".docm",
    "excel.sheet": ".xlsx",
    "excel.sheetmacroenabled": ".xlsm",
    "excel.sheetbinarymacroenabled": ".xlsb",
    "powerpoint.show": ".pptx",
    "powerpoint.slide": ".pptx",
}


def attach_part(package: Package, part: str, program: str, builder: Builder, context: Context) -> None:
    """Attach the file in a part of an OOXML package. `program`: the object's ProgID, for its extension."""
    try:
        data = package.read(part)
    except InputError as error:
        if error.code is Code.LIMIT_EXCEEDED:
            raise
        builder.warn("embedded_unreadable", error.message, place=part)
        return
    name = posixpath.basename(part)
    if data.startswith(OLE_MAGIC):
        opened = open_object(data, name)
        if opened is None:
            builder.warn("ole_object_skipped", f"an embedded {program or 'OLE'} object holds no document", place=part)
            return
        name, data = opened
    elif not posixpath.splitext(name)[1] or name.lower().endswith(".bin"):
        name = posixpath.splitext(name)[0] + _extension(program, data)
    attach(part, name, data, builder, context)


def attach(inner_path: str, name: str, data: bytes, builder: Builder, context: Context) -> None:
    """Write a child's bytes to scratch and list it; over the limits it is listed with its error."""
    limits = context.settings.limits
    children = sum(1 for child in builder.attached if child.inner_path.split("#")[0] == inner_path)
    inner_path = f"{inner_path}#{children + 1}" if children else inner_path
    spent = sum(Path(child.path).stat().st_size for child in builder.attached if child.path)
    over = (
        f"more than {limits.container_members} embedded files" if len(builder.attached) >= limits.container_members
        else f"embedded files of more than {limits.container_mb} MiB" if spent + len(data) > limits.container_mb << 20
        else ""
    )  # fmt: skip
    if over:
        builder.warn("embedded_skipped", over)
        builder.attached.append(ChildDocument(inner_path, name, "", Code.LIMIT_EXCEEDED, over))
        return
    folder = context.scratch / "embedded"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{len(builder.attached):04d}{posixpath.splitext(name)[1][:12]}"
    target.write_bytes(data)
    builder.attached.append(ChildDocument(inner_path, name, str(target)))


def open_object(data: bytes, name: str) -> tuple[str, bytes] | None:
    """(file name, bytes) of the document in an OLE object; None when it holds none."""
    stem = posixpath.splitext(name)[0]
    try:
        with olefile.OleFileIO(io.BytesIO(data)) as ole:
            for stream, extension in _DOCUMENT_STREAMS.items():
                if ole.exists(stream):
                    return stem + extension, data
            if ole.exists(NATIVE):
                return unwrap_native(ole.openstream(NATIVE).read())
            for stream in ("CONTENTS", "Package", "Contents"):
                if ole.exists(stream):
                    inner = ole.openstream(stream).read()
                    return (stem + _extension("", inner), inner) if _extension("", inner) != ".bin" else None
    except (OSError, ValueError, IndexError, struct.error):  # olefile on damaged containers
        return None
    return None


def unwrap_native(stream: bytes) -> tuple[str, bytes] | None:
    """File name and bytes out of an `Ole10Native` stream ([MS-OLEDS] 2.3.6 and the packager's layout)."""
    try:
        offset = 6
        label, offset = _text(stream, offset)
        source, offset = _text(stream, offset)
        offset += 4
        (length,) = struct.unpack_from("<I", stream, offset)
        offset += 4 + length
        (size,) = struct.unpack_from("<I", stream, offset)
    except (struct.error, ValueError):
        return None
    data = stream[offset + 4 : offset + 4 + size]
    name = (label or source).replace("\\", "/").rpartition("/")[2]
    return (name or "object", data) if data else None


def _text(stream: bytes, offset: int) -> tuple[str, int]:
    end = stream.index(b"\x00", offset)
    return stream[offset:end].decode("cp1252", "replace"), end + 1


def _extension(program: str, data: bytes) -> str:
    known = _EXTENSIONS.get(program.lower().rpartition(".")[0]) or _EXTENSIONS.get(program.lower())
    return known or next((ext for magic, ext in _DOCUMENT_BYTES.items() if data.startswith(magic)), ".bin")
