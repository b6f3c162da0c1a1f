"""Opens zip-based documents (OOXML, OpenDocument) under limits and reads their parts.

Bounds: number of members, declared and actually unpacked bytes, packing ratio of large members. Part names
are matched as OPC asks, without regard to case, a leading slash or the wrong kind of slash.
"""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import unquote

from engine.errors import Code, InputError, Stage
from engine.sanitize import safexml
from engine.sanitize.safexml import Node
from engine.settings import Limits

Warn = Callable[[str, str, str], None]  # code, message, place

MAX_MEMBERS = 50_000
RATIO_FLOOR_BYTES = 32 << 20  # below this a high packing ratio is harmless, and common in XML
TREE_BYTES = 96 << 20  # largest part parsed into one tree (about six times that in memory)
OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def part_key(name: str) -> str:
    """The form under which part names are compared."""
    return posixpath.normpath(name.replace("\\", "/").lstrip("/")).lower()


class Package:
    """An open zip-based document. Use as a context manager.

    Raises InputError: EXTRACTION_FAILED when it is no readable zip file, LIMIT_EXCEEDED past a bound.
    """

    def __init__(self, path: Path, limits: Limits, warn: Warn, what: str = "document") -> None:
        self.limits, self.warn, self.what = limits, warn, what
        self._unpacked = 0
        self.picture_bytes = 0  # kept so far by whoever reads the pictures
        self._warned: set[str] = set()
        try:
            self.file = zipfile.ZipFile(path)
        except _ZIP_ERRORS as error:
            raise _unreadable(path, what, error) from error
        self._members = {part_key(i.filename): i for i in self.file.infolist() if not i.is_dir()}
        self._check()

    def __enter__(self) -> Package:
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def _check(self) -> None:
        if len(self._members) > MAX_MEMBERS:
            raise _over(f"the {self.what} has more than {MAX_MEMBERS} parts", "members")
        total = sum(i.file_size for i in self._members.values())
        if total > self.limits.container_mb << 20:
            raise _over(f"the {self.what} unpacks to more than {self.limits.container_mb} MiB", "container_mb")
        for info in self._members.values():
            if info.file_size > max(RATIO_FLOOR_BYTES, info.compress_size * self.limits.container_ratio):
                raise _over(f"part {info.filename} unpacks to {info.file_size} bytes", "container_ratio")

    def names(self) -> list[str]:
        """Names of all parts, as stored."""
        return [i.filename for i in self._members.values()]

    def __contains__(self, name: str) -> bool:
        return part_key(name) in self._members

    def size(self, name: str) -> int:
        """Declared unpacked bytes of a part; 0 when it is not there."""
        info = self._members.get(part_key(name))
        return info.file_size if info else 0

    def read(self, name: str) -> bytes:
        """The bytes of a part. Raises InputError when it is missing, damaged or over the limits."""
        info = self._members.get(part_key(unquote(name))) or self._members.get(part_key(name))
        if info is None:
            raise InputError(f"the {self.what} lacks its part {name}", stage=Stage.EXTRACT)
        if info.flag_bits & 1:
            raise InputError(f"part {name} is encrypted", Code.ENCRYPTED_DOCUMENT, Stage.EXTRACT)
        self._unpacked += info.file_size
        if self._unpacked > 4 * (self.limits.container_mb << 20):
            raise _over(f"the {self.what} was read more than four times over", "container_mb")
        try:
            return self.file.read(info)
        except _ZIP_ERRORS as error:
            raise InputError(f"part {name} of the {self.what} is damaged: {error}", stage=Stage.EXTRACT) from error

    def xml_bytes(self, name: str) -> bytes:
        """A part's XML, with strict names made transitional; a DTD is reported, a bomb refused."""
        data = safexml.transitional(self.read(name))
        if safexml.has_doctype(data) and name not in self._warned:
            safexml.refuse_entity_bomb(data, name)
            self._warned.add(name)
            self.warn("entity_ignored", "an XML document type declaration was ignored, no entity expanded", name)
        return data

    def xml(self, name: str) -> Node:
        """The root element of a part. Malformed XML is read as far as it goes, with a warning."""
        if self.size(name) > TREE_BYTES:
            raise _over(f"part {name} has more than {TREE_BYTES >> 20} MiB of XML", "part")
        root, malformed = safexml.parse(self.xml_bytes(name), name)
        if malformed:
            self._malformed(name, "recovered")
        return root

    def stream(self, name: str, tags: tuple[str, ...]) -> Iterator[Node]:
        """Elements of a large part as they are complete; see `safexml.stream`."""
        yield from safexml.stream(self.xml_bytes(name), name, tags, lambda why: self._malformed(name, why))

    def _malformed(self, name: str, why: str) -> None:
        self.warn("malformed_xml", f"malformed XML was read as far as possible: {why}"[:300], name)

    def optional_xml(self, name: str) -> Node | None:
        """As `xml`, but None with a warning where the part is missing or unreadable."""
        if name not in self:
            return None
        try:
            return self.xml(name)
        except InputError as error:
            if error.code is Code.LIMIT_EXCEEDED:
                raise
            self.warn("part_unreadable", error.message, name)
            return None


def _unreadable(path: Path, what: str, error: BaseException) -> InputError:
    if not path.exists():
        return InputError(f"the {what} is not there to read", Code.SOURCE_UNAVAILABLE, Stage.EXTRACT)
    return InputError(f"this is not a readable {what}: no valid zip archive ({error})", stage=Stage.EXTRACT)


def _over(message: str, limit: str) -> InputError:
    return InputError(message, Code.LIMIT_EXCEEDED, Stage.EXTRACT, {"limit": limit})
