"""Where the bytes of uploads, kept document trees and pictures live: a local folder or an S3 bucket.

Keys are `/`-separated paths of URL-safe segments. `engine.objects.open.open_objects(settings)` gives the
configured store; one conformance suite runs over both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as listed: `modified` in seconds since the epoch."""

    key: str
    size: int
    modified: float


class Writer(Protocol):
    """An object being written. Nothing is to be seen under its key before `commit` returns; without `commit`
    nothing is left behind (`abort`, also by leaving the context)."""

    def write(self, data: bytes) -> None: ...
    def commit(self) -> None: ...
    def abort(self) -> None: ...
    def __enter__(self) -> Writer: ...
    def __exit__(self, *_: object) -> None: ...


class ObjectStore(Protocol):
    """All calls block, hold a bounded amount of memory, and raise StorageError when the store refuses,
    SourceError when an object is not there."""

    def writer(self, key: str) -> Writer:
        """Write an object piece by piece. On the disk (or acknowledged) when `commit` returns."""
        ...

    def put(self, key: str, data: bytes) -> None: ...

    def open(self, key: str) -> BinaryIO:
        """The object's bytes as a stream. Raises SourceError when it is not there."""
        ...

    def read(self, key: str) -> bytes: ...

    def exists(self, key: str) -> bool: ...

    def list(self, prefix: str) -> Iterator[Stored]:
        """Objects whose key begins with `prefix`, a page at a time."""
        ...

    def delete(self, key: str) -> None:
        """Remove an object; nothing happens when it is not there."""
        ...

    def delete_prefix(self, prefix: str) -> int:
        """Remove every object below `prefix` (which ends in `/`); how many."""
        ...
