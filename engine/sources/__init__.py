"""Sources: where documents come from. `open_source(uri)` gives a listing and a way to fetch each object.

A source is a local folder, file or glob; `s3://bucket/prefix`; any other URI that fsspec knows; or a
manifest of URIs (`.parquet`, `.csv`, `.jsonl` given with `--manifest`). Listings stream in key order
(by UTF-8 bytes, as S3 and the registry sort), so that millions of objects pass in constant memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import urlsplit, urlunsplit

from engine.errors import ConfigError
from engine.settings import Settings


@dataclass(slots=True)
class Listed:
    """One object of a listing. `key` is relative to the source's root; `problem` says why it cannot be
    read when that is known already (a dangling link, no permission)."""

    key: str
    uri: str
    size: int
    etag: str = ""
    mtime: float | None = None  # seconds since the epoch
    problem: str = ""


class Source(Protocol):
    root: str  # the URI that names this source when no name is given

    def list(self) -> Iterator[Listed]:
        """Objects in ascending key order. Raises SourceError when the source itself cannot be read."""
        ...


def open_source(uri: str, settings: Settings, manifest: bool = False) -> Source:
    """The source behind `uri`; `manifest`: it is a file that lists URIs.

    Raises ConfigError for a scheme nobody knows.
    """
    if manifest:
        from engine.sources.manifest import ManifestSource

        return ManifestSource(uri, settings)
    scheme = _scheme(uri)
    if scheme in ("", "file"):
        from engine.sources.local import LocalSource

        return LocalSource(uri)
    if scheme == "s3":
        from engine.sources.s3 import S3Source

        return S3Source(uri, settings)
    from engine.sources.remote import RemoteSource

    return RemoteSource(uri)


def open_object(uri: str, settings: Settings) -> BinaryIO:
    """Open one object for reading, whatever its scheme. Raises SourceError."""
    scheme = _scheme(uri)
    if scheme in ("", "file"):
        from engine.sources.local import open_local

        return open_local(uri)
    if scheme == "s3":
        from engine.sources.s3 import open_s3

        return open_s3(uri, settings)
    from engine.sources.remote import open_remote

    return open_remote(uri)


def _scheme(uri: str) -> str:
    scheme = urlsplit(uri).scheme if "://" in uri else ""
    if scheme and not scheme.replace("+", "").replace("-", "").isalnum():
        raise ConfigError(f"cannot tell what kind of source {uri!r} is")
    return scheme


def filename_of(key: str) -> str:
    """The last part of a key: the name that detection and readers see."""
    return Path(key).name or key


def public_uri(uri: str) -> str:
    """The URI without user, password and query: what may be stored and shown."""
    try:
        parts = urlsplit(uri)
    except ValueError:  # no URI at all, so nobody can read it either: show what cannot hold a password
        return uri.partition("://")[0] + "://…"
    if not parts.netloc or parts.scheme in ("file", "s3", "memory"):
        return uri
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
