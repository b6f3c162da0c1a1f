"""Objects as files of one private folder. A file is written under `.partial/` first and renamed when it is whole
and on the disk, so nobody sees half an object, and what a crashed writer leaves is found by looking there."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from engine.errors import SourceError, StorageError
from engine.objects import Stored, check_folder, check_key, valid_key

PARTIAL = ".partial"  # no key's segment begins with a dot
_TRIES = 10  # to make an object's folder while deletions remove empty ones
_GONE = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class LocalObjects:
    """The object store of one machine, or of several that share a file system. Folders 0700, files 0600."""

    def __init__(self, folder: Path) -> None:
        """Raises StorageError when the folder cannot be made."""
        self._folder = folder
        with _explained("make", str(folder)):
            (folder / PARTIAL).mkdir(mode=0o700, parents=True, exist_ok=True)

    def writer(self, key: str) -> LocalWriter:
        return LocalWriter(self._folder, check_key(key))

    def put(self, key: str, data: bytes) -> None:
        with self.writer(key) as writer:
            writer.write(data)
            writer.commit()

    def open(self, key: str) -> BinaryIO:
        if not valid_key(key):
            raise _absent(key)
        with _explained("read", key):
            try:
                return (self._folder / key).open("rb")
            except _GONE as error:
                raise _absent(key) from error

    def read(self, key: str) -> bytes:
        with self.open(key) as stream, _explained("read", key):
            return stream.read()

    def exists(self, key: str) -> bool:
        return valid_key(key) and (self._folder / key).is_file()

    def list(self, prefix: str) -> Iterator[Stored]:
        """In the order of the keys' bytes; one folder's names are held at a time."""
        above = prefix.rpartition("/")[0]
        if not above or valid_key(above):
            yield from _walk(self._folder, above, prefix)

    def delete(self, key: str) -> None:
        if not valid_key(key):
            return
        path = self._folder / key
        with _explained("delete", key):
            try:
                path.unlink()
            except _GONE:
                return
            self._prune(path.parent)

    def delete_prefix(self, prefix: str) -> int:
        removed, emptied = 0, self._folder
        for stored in self.list(check_folder(prefix)):
            path = self._folder / stored.key
            with _explained("delete", stored.key):
                if path.parent != emptied:
                    self._prune(emptied)
                    emptied = path.parent
                path.unlink(missing_ok=True)
            removed += 1
        with _explained("delete", prefix):
            self._prune(emptied)
        return removed

    def sweep(self, older_than: float) -> int:
        limit, swept = time.time() - older_than, 0
        with _explained("sweep", PARTIAL):
            for entry in sorted((self._folder / PARTIAL).iterdir()):
                try:
                    if entry.stat().st_mtime <= limit:
                        entry.unlink()
                        swept += 1
                except FileNotFoundError:  # its writer ended meanwhile
                    continue
        return swept

    def _prune(self, folder: Path) -> None:
        """Remove empty folders upwards, and put the removal on the disk."""
        while folder != self._folder:
            try:
                folder.rmdir()
            except FileNotFoundError:  # another deletion was first
                pass
            except OSError:  # not empty
                break
            folder = folder.parent
        _sync(folder)


class LocalWriter:
    """A file on its way. `abort` after `commit` does nothing."""

    def __init__(self, folder: Path, key: str) -> None:
        self._folder, self._key = folder, key
        with _explained("write", key):
            handle, name = tempfile.mkstemp(dir=folder / PARTIAL)  # mode 0600
        self._temporary: Path | None = Path(name)
        self._file = os.fdopen(handle, "wb", buffering=0)

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        with _explained("write", self._key):
            while view:
                view = view[self._file.write(view) :]

    def commit(self) -> None:
        if self._temporary is None:
            raise StorageError(f"object {self._key} was ended already")
        with _explained("write", self._key):
            os.fsync(self._file.fileno())
            self._file.close()
            self._rename(self._temporary, self._folder / self._key)
            self._temporary = None
            for above in (self._folder / self._key).relative_to(self._folder).parents:  # new ones, and the file's name
                _sync(self._folder / above)

    def _rename(self, temporary: Path, target: Path) -> None:
        for left in reversed(range(_TRIES)):
            try:
                _make_folders(self._folder, target.parent)
                temporary.replace(target)
                return
            # a deletion took the folder for empty: before the file came, or between mkdir's look and its second one
            except (FileNotFoundError, FileExistsError):
                if not left or not temporary.exists():
                    raise

    def abort(self) -> None:
        if self._temporary is not None:
            temporary, self._temporary = self._temporary, None
            with _explained("abort", self._key):
                temporary.unlink(missing_ok=True)
                self._file.close()

    def __enter__(self) -> LocalWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()


def _make_folders(root: Path, folder: Path) -> None:
    """Like `mkdir(parents=True)`, but with every folder private (Path gives parents the umask's mode)."""
    for part in (*reversed(folder.relative_to(root).parents), folder.relative_to(root)):
        (root / part).mkdir(mode=0o700, exist_ok=True)


def _walk(root: Path, folder: str, prefix: str) -> Iterator[Stored]:
    """Files below `root`/`folder` whose key begins with `prefix`."""
    base = f"{folder}/" if folder else ""
    for name in _names(root / folder, base):
        key = base + name
        if not _meets(key, prefix):
            continue
        if name.endswith("/"):
            yield from _walk(root, key[:-1], prefix)
            continue
        try:
            found = (root / key).stat()
        except _GONE:  # removed meanwhile
            continue
        yield Stored(key, found.st_size, found.st_mtime)


def _meets(key: str, prefix: str) -> bool:
    """Whether `key` begins with `prefix`, or is a folder on the way to it."""
    return key.startswith(prefix) or (key.endswith("/") and prefix.startswith(key))


def _names(folder: Path, base: str) -> list[str]:
    """Names that are keys' segments, folders with a slash, in the order of the keys."""
    with _explained("list", base):
        try:
            with os.scandir(folder) as entries:
                found = [_name(entry) for entry in entries]
        except _GONE:
            return []
    return sorted(name for name in found if valid_key(name.rstrip("/")))


def _name(entry: os.DirEntry[str]) -> str:
    """The name of a file, a folder's with a slash, nothing for what we did not make (links, devices)."""
    if entry.is_dir(follow_symlinks=False):
        return entry.name + "/"
    return entry.name if entry.is_file(follow_symlinks=False) else ""


def _sync(folder: Path) -> None:
    """Put a folder's entries on the disk."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:  # removed as empty meanwhile, so there is nothing to keep
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _absent(key: str) -> SourceError:
    return SourceError(f"object {key[:100]} is not there")


@contextmanager
def _explained(what: str, key: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot {what} object {key[:100]}: {error.strerror or error}") from error
