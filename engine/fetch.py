"""One object's bytes into scratch, the size limit enforced on the way.

The copy cannot change while it is being parsed, and the isolated child that parses it needs no network.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from engine.errors import Code, InputError, SourceError, Stage
from engine.objects import ObjectStore
from engine.records import SourceItem
from engine.settings import Settings
from engine.sources import open_object

_COPY_BYTES = 1 << 20


def fetch(item: SourceItem, target: Path, settings: Settings) -> tuple[int, str]:
    """Copy the object to `target`; (size, SHA-256 hex) of what was read.

    Raises SourceError when it cannot be read, InputError(FILE_TOO_LARGE) past limits.file_mb.
    """
    if item.problem:
        raise SourceError(item.problem, stage=Stage.FETCH)
    return _fetch(lambda: open_object(item.uri, settings), item, target, settings)


def fetch_upload(objects: ObjectStore, item: SourceItem, target: Path, settings: Settings) -> tuple[int, str]:
    """Like `fetch`, out of the object store, where `item.uri` is the object's key."""
    return _fetch(lambda: objects.open(item.uri), item, target, settings)


def _fetch(opened: Callable[[], BinaryIO], item: SourceItem, target: Path, settings: Settings) -> tuple[int, str]:
    limit = settings.limits.file_mb << 20
    if item.size > limit:
        raise _too_large(item.size, limit)
    with opened() as source, target.open("wb") as copy:
        return _copy(source, copy, limit)


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _too_large(size: int, limit: int) -> InputError:
    return InputError(
        f"{size} bytes pass the limit of {limit} (setting limits.file_mb)",
        Code.FILE_TOO_LARGE,
        Stage.FETCH,
        {"size": size, "limit": limit},
    )


def _copy(source: BinaryIO, target: BinaryIO, limit: int) -> tuple[int, str]:
    size, digest = 0, hashlib.sha256()
    try:
        while piece := source.read(_COPY_BYTES):
            size += len(piece)
            if size > limit:
                raise _too_large(size, limit)
            digest.update(piece)
            target.write(piece)
    except OSError as error:
        raise SourceError(f"reading broke off after {size} bytes: {error}", stage=Stage.FETCH) from error
    return size, digest.hexdigest()
