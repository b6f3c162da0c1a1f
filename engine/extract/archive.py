"""ZIP archives: each member a child document; the archive's own text is the list of its members."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from pathlib import Path

from engine import charsets
from engine.detect.containers import directory_size
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.children import Children
from engine.extract.zip_flags import without_false_flags
from engine.records import ExtractedDocument

MAX_DIRECTORY = 64 * 1024 * 1024
MAX_LISTED = 5000  # member names shown in the archive's own text
_UTF8_FLAG, _ENCRYPTED_FLAG = 0x800, 0x1
_NAME_CHARSETS = ("gb18030", "cp932", "cp866", "big5hkscs", "cp949", "cp1251", "cp850", "cp437")
_SYSTEM = re.compile(r"(?:^|/)(?:__MACOSX/.*|\.DS_Store|Thumbs\.db|desktop\.ini|\._[^/]*)$", re.IGNORECASE)
_ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError, struct.error,
)  # fmt: skip


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Take the members of a ZIP file out. Raises InputError when the file itself cannot be read as one."""
    if directory_size(path) > MAX_DIRECTORY:
        raise InputError("the archive lists far too many members", Code.LIMIT_EXCEEDED, Stage.EXTRACT)
    try:
        archive = _opened(path, context)
        infos = archive.infolist()
    except _ZIP_ERRORS as error:
        raise InputError(f"the ZIP archive is damaged: {error}", Code.EXTRACTION_FAILED, Stage.EXTRACT) from error
    with archive:
        return _members(archive, infos, context)


def _opened(path: Path, context: Context) -> zipfile.ZipFile:
    """The archive; one with a name that is falsely declared UTF-8 is opened without that claim."""
    try:
        return zipfile.ZipFile(path)
    except UnicodeDecodeError:
        return zipfile.ZipFile(without_false_flags(path, context.scratch))


def _members(archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo], context: Context) -> ExtractedDocument:
    builder = context.builder()
    children = Children(builder, context)
    names = member_names(infos)
    builder.list_block([(1, "-", name) for name in list(names.values())[:MAX_LISTED] if not name.endswith("/")])
    if len(infos) > MAX_LISTED:
        builder.warn("names_left_out", "the list of members was cut", count=len(infos) - MAX_LISTED)
    for info in infos:
        name = names[id(info)]
        if info.is_dir():
            continue
        if _SYSTEM.search(name):
            builder.warn("system_file_skipped", "files of the operating system were left out")
            continue
        _member(archive, info, name, children)
    children.close()
    return builder.finish()


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, children: Children) -> None:
    if info.flag_bits & _ENCRYPTED_FLAG:
        _encrypted(archive, info, name, children)
        return
    try:
        with archive.open(info) as source:
            children.add_stream(name, source, info.compress_size)  # pyright: ignore[reportArgumentType]
    except _ZIP_ERRORS as error:
        children.refuse(name, Code.EXTRACTION_FAILED, f"the member is damaged: {error}")


def _encrypted(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, children: Children) -> None:
    """Try the passwords given; only the old ZIP encryption can be opened."""
    for password in children.context.passwords:
        try:
            with archive.open(info, pwd=password.encode()) as source:
                children.add_stream(name, source, info.compress_size)  # pyright: ignore[reportArgumentType]
        except _ZIP_ERRORS:
            continue
        return
    children.refuse(name, Code.ENCRYPTED_DOCUMENT, "the member is encrypted and no password given opens it")


def member_names(infos: list[zipfile.ZipInfo]) -> dict[int, str]:
    """Names by `id(info)`. Without the UTF-8 flag the charset is anyone's guess, so all names vote together."""
    flagged = [i for i in infos if i.flag_bits & _UTF8_FLAG]
    legacy = {id(i): _raw(i) for i in infos if not i.flag_bits & _UTF8_FLAG}
    charset = _charset([raw for raw in legacy.values() if not raw.isascii()])
    names = {id(i): i.filename for i in flagged}
    names.update({key: raw.decode(charset, "replace") for key, raw in legacy.items()})
    by_field = {id(i): found for i in infos if (found := _unicode_field(i))}
    return {id(i): by_field.get(id(i), names[id(i)]) for i in infos}


def _raw(info: zipfile.ZipInfo) -> bytes:
    """The name's bytes: zipfile has read them as cp437, which maps every byte."""
    return info.orig_filename.encode("cp437", "replace")


def _charset(names: list[bytes]) -> str:
    joined = b"\n".join(names)[: charsets.SAMPLE_BYTES]
    if not joined:
        return "cp437"
    try:
        joined.decode("utf-8")
    except UnicodeDecodeError:
        return max(_NAME_CHARSETS, key=lambda name: charsets.plausibility(joined, name))
    return "utf-8"


def _unicode_field(info: zipfile.ZipInfo) -> str | None:
    """Info-ZIP's Unicode path extra field (0x7075), valid while its CRC matches the stored name."""
    extra, at = info.extra, 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        body = extra[at + 4 : at + 4 + size]
        if kind == 0x7075 and len(body) > 5 and struct.unpack_from("<I", body, 1)[0] == zlib.crc32(_raw(info)):
            return body[5:].decode("utf-8", "replace")
        at += 4 + size
    return None
