"""Any other URI that fsspec has a file system for (`gs://`, `abfs://`, `hdfs://`, `memory://`, ...)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO, cast

from engine.errors import ConfigError, SourceError, Stage
from engine.sources import Listed, public_uri
from engine.sources.order import in_key_order


def _filesystem(uri: str) -> tuple[Any, str]:
    import fsspec  # pyright: ignore[reportMissingTypeStubs]

    try:
        filesystem, path = fsspec.core.url_to_fs(uri)
    except Exception as error:
        raise ConfigError(f"cannot open source {uri!r}: {error}") from error
    return filesystem, str(path)


class RemoteSource:
    """Every file under a URI, listed recursively by the file system's own `find`."""

    def __init__(self, uri: str) -> None:
        self._filesystem, self._path = _filesystem(uri)
        self._uri = uri
        self.root = public_uri(uri)

    def list(self) -> Iterator[Listed]:
        return in_key_order(self._walk())

    def _walk(self) -> Iterator[Listed]:
        try:
            if self._filesystem.isfile(self._path):
                yield self._listed(self._path, self._filesystem.info(self._path))
                return
            for _, _, files in self._filesystem.walk(self._path, detail=True, on_error="raise"):
                for info in files.values():
                    yield self._listed(str(info["name"]), info)
        except OSError as error:
            raise SourceError(f"cannot list {self.root}: {error}", stage=Stage.LIST) from error

    def _listed(self, path: str, info: dict[str, Any]) -> Listed:
        relative = path.removeprefix(self._path.rstrip("/")).lstrip("/")  # empty when the source is this one file
        changed = info.get("mtime") or info.get("LastModified") or info.get("last_modified") or info.get("created")
        stamp = changed.timestamp() if isinstance(changed, datetime) else changed
        etag = str(info.get("ETag") or info.get("etag") or info.get("md5Hash") or "")
        uri = f"{self._uri.rstrip('/')}/{relative}" if relative else self._uri
        return Listed(relative or path.rsplit("/", 1)[-1], uri, int(info.get("size") or 0), etag.strip('"'), stamp)


def open_remote(uri: str) -> BinaryIO:
    filesystem, path = _filesystem(uri)
    try:
        return cast("BinaryIO", filesystem.open(path, "rb"))
    except OSError as error:
        raise SourceError(f"cannot read {uri}: {error}", stage=Stage.FETCH) from error
