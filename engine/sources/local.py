"""Local folders, files and globs.

Symbolic links to files are followed; links to folders are not walked when they lead back into a folder
already being walked. Names that are not UTF-8 keep their bytes in the URI (percent-encoded) and show them
as `\\xNN` in the key.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote_from_bytes, unquote_to_bytes

from engine.errors import SourceError, Stage
from engine.sources import Listed
from engine.sources.order import in_key_order


def local_path(uri: str) -> bytes:
    """The file system path, as bytes, of a `file://` URI or a plain path."""
    if uri.startswith("file://"):
        return unquote_to_bytes(uri.removeprefix("file://"))
    return os.fsencode(Path(uri).expanduser())


def local_uri(path: bytes) -> str:
    return "file://" + quote_from_bytes(path)


def open_local(uri: str) -> BinaryIO:
    try:
        descriptor = os.open(local_path(uri), os.O_RDONLY | os.O_NONBLOCK)  # O_NONBLOCK: a pipe must not hang us
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise SourceError("not a regular file", stage=Stage.FETCH)
        return os.fdopen(descriptor, "rb")
    except OSError as error:
        raise SourceError(f"cannot read the file: {error.strerror}", stage=Stage.FETCH) from error


class LocalSource:
    """A folder (walked), a single file, or a glob pattern (`**` walks folders)."""

    def __init__(self, uri: str) -> None:
        path = os.path.abspath(local_path(uri))  # noqa: PTH100 - bytes
        self._pattern = path if glob.has_magic(path) and not os.path.lexists(path) else b""
        self._base = _fixed_part(path) if self._pattern else path
        self.root = local_uri(path)

    def list(self) -> Iterator[Listed]:
        base = self._base
        if not os.path.lexists(base):
            raise SourceError(f"there is no file or folder {os.fsdecode(base)!r}", stage=Stage.LIST)
        if self._pattern:
            found = glob.iglob(self._pattern, recursive=True)  # noqa: PTH207 - bytes
            yield from in_key_order(entry for path in found if (entry := _look(path, base)) is not None)
        elif os.path.isdir(base):  # noqa: PTH112 - bytes
            yield from _walk(base)
        else:
            entry = _look(base, os.path.dirname(base))  # noqa: PTH120 - bytes
            if entry is not None:
                yield entry


def _fixed_part(pattern: bytes) -> bytes:
    parts = pattern.split(b"/")
    first = next(i for i, part in enumerate(parts) if glob.has_magic(part))
    return b"/".join(parts[:first]) or b"/"


def _key(path: bytes, base: bytes) -> str:
    relative = os.path.relpath(path, base)
    return relative.decode("utf-8", "backslashreplace")


def _walk(base: bytes) -> Iterator[Listed]:
    """Depth first with an explicit stack; entries sorted so that whole keys come out in order.

    A folder sorts by its name with a slash, since that is how its keys begin.
    """
    stack: list[tuple[bytes, bool, frozenset[tuple[int, int]]]] = [(base, True, frozenset())]
    while stack:
        path, folder, above = stack.pop()
        if not folder:
            entry = _look(path, base)
            if entry is not None:
                yield entry
            continue
        try:
            here = os.stat(path)  # noqa: PTH116 - bytes
            identity = (here.st_dev, here.st_ino)
            inner = above | {identity}
            if identity in above:  # a symbolic link back to a folder above
                continue
            entries = _entries(path, base)
        except OSError as error:
            if path == base:
                raise SourceError(f"cannot read {os.fsdecode(base)!r}: {error.strerror}", stage=Stage.LIST) from error
            yield Listed(_key(path, base) + "/", local_uri(path), 0, problem=f"cannot list: {error.strerror}")
            continue
        stack.extend((p, f, inner) for p, f in reversed(entries))


def _entries(path: bytes, base: bytes) -> list[tuple[bytes, bool]]:
    with os.scandir(path) as scan:
        found = [(entry.path, entry.is_dir()) for entry in scan]
    return sorted(found, key=lambda e: _key(e[0], base).encode() + (b"/" if e[1] else b""))


def _look(path: bytes, base: bytes) -> Listed | None:
    key, uri = _key(path, base), local_uri(path)
    try:
        status = os.stat(path)  # noqa: PTH116 - bytes
    except OSError as error:
        return Listed(key, uri, 0, problem=f"cannot read the file: {error.strerror}")
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        return Listed(key, uri, 0, problem="not a regular file")
    return Listed(key, uri, status.st_size, etag=f"{status.st_mtime_ns:x}-{status.st_size:x}", mtime=status.st_mtime)
