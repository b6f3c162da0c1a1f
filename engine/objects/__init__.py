"""Where the bytes of uploads, kept document trees and pictures live: a local folder or an S3 bucket.

Keys are `/`-separated paths of URL-safe segments (`valid_key`); no key is the folder of another.
`engine.objects.open.open_objects(settings)` gives the configured store; one conformance suite runs over both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from engine.errors import StorageError

MAX_KEY = 768  # bytes; S3 takes 1024, its prefix included
_SEGMENT = re.compile(r"(?!\.)[A-Za-z0-9._~@=+-]{1,200}")


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as listed: `modified` in seconds since the epoch."""

    key: str
    size: int
    modified: float


class Writer(Protocol):
    """An object being written. Nothing is to be seen under its key before `commit` returns; without `commit`
    nothing is left behind (`abort`, also by leaving the context). Used by one thread at a time."""

    def write(self, data: bytes) -> None: ...
    def commit(self) -> None: ...
    def abort(self) -> None: ...
    def __enter__(self) -> Writer: ...
    def __exit__(self, *_: object) -> None: ...


class ObjectStore(Protocol):
    """All calls block, hold a bounded amount of memory (`read` excepted: the object), and raise StorageError when
    the store refuses, ConfigError when it refuses us, SourceError when an object is not there. Writing under a key
    that is none is a StorageError; reading, a SourceError. Safe to use from many threads at once."""

    def writer(self, key: str) -> Writer:
        """Write an object piece by piece. On the disk (or acknowledged) when `commit` returns; it replaces what was
        there under the key."""
        ...

    def put(self, key: str, data: bytes) -> None: ...

    def open(self, key: str) -> BinaryIO:
        """The object's bytes as a stream. Raises SourceError when it is not there."""
        ...

    def read(self, key: str) -> bytes: ...

    def exists(self, key: str) -> bool: ...

    def list(self, prefix: str) -> Iterator[Stored]:
        """Objects whose key begins with `prefix`, a page at a time. Objects may be removed meanwhile."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object; nothing happens when it is not there."""
        ...

    def delete_prefix(self, prefix: str) -> int:
        """Remove every object below `prefix` (which ends in `/`); how many."""
        ...

    def sweep(self, older_than: float) -> int:
        """Remove what crashed writers left that began more than `older_than` seconds ago; how many. Choose it
        longer than any upload takes: a writer still at work would lose its object."""
        ...


def valid_key(key: str) -> bool:
    """Whether `key` can name an object: one to many non-empty segments of letters, digits and `._~@=+-`, none of
    which begins with a dot."""
    return len(key) <= MAX_KEY and all(_SEGMENT.fullmatch(segment) for segment in key.split("/"))


def check_key(key: str) -> str:
    """The key. Raises StorageError when it cannot name an object."""
    if not valid_key(key):
        raise StorageError(f"{key[:100]!r} cannot name an object")
    return key


def check_folder(prefix: str) -> str:
    """The prefix. Raises StorageError unless it names a folder (`a/b/`): never the whole store by mistake."""
    if not prefix.endswith("/") or not valid_key(prefix[:-1]):
        raise StorageError(f"{prefix[:100]!r} names no folder of objects")
    return prefix
