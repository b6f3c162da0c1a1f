"""A manifest as source: a Parquet, CSV or JSONL file whose rows name URIs.

Column `uri` is required; `key` (default: the URI), `size`, `etag` and `mtime` are optional. Relative
paths are taken from the manifest's own folder.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.errors import ConfigError, SourceError, Stage
from engine.settings import Settings
from engine.sources import Listed
from engine.sources.local import local_path, local_uri
from engine.sources.order import in_key_order


class ManifestSource:
    """Rows of a manifest file, in key order. Two rows with the same key stay two rows: the second is a
    duplicate for the backfill to report."""

    def __init__(self, uri: str, settings: Settings) -> None:
        self._file = Path(local_path(uri).decode("utf-8", "surrogateescape")).absolute()
        self.root = local_uri(bytes(self._file))

    def list(self) -> Iterator[Listed]:
        if not self._file.is_file():
            raise SourceError(f"there is no manifest {str(self._file)!r}", stage=Stage.LIST)
        return in_key_order(self._listed(row, number) for number, row in enumerate(self._read(), 1))

    def _read(self) -> Iterator[dict[str, Any]]:
        try:
            yield from self._rows()
        except (ValueError, OSError, csv.Error) as error:  # ValueError: broken JSON, Parquet, or text that is not UTF-8
            raise ConfigError(f"manifest {self._file.name} cannot be read: {error}") from error

    def _rows(self) -> Iterator[dict[str, Any]]:
        match self._file.suffix.lower():
            case ".parquet":
                import pyarrow.parquet as pq

                for batch in pq.ParquetFile(self._file).iter_batches(batch_size=4096):
                    yield from batch.to_pylist()
            case ".csv":
                with self._file.open(encoding="utf-8-sig", newline="") as lines:
                    yield from csv.DictReader(lines)
            case ".jsonl" | ".ndjson":
                with self._file.open(encoding="utf-8") as lines:
                    yield from (json.loads(line) for line in lines if line.strip())
            case other:
                raise ConfigError(f"a manifest is .parquet, .csv or .jsonl, not {other!r}")

    def _listed(self, row: object, number: int) -> Listed:
        if not isinstance(row, dict) or not row.get("uri"):
            raise ConfigError(f"row {number} of manifest {self._file.name} has no 'uri'")
        uri = str(row["uri"])
        if "://" not in uri:
            uri = local_uri(bytes(self._file.parent / uri))
        key = str(row.get("key") or row["uri"])
        try:
            size, mtime = int(row.get("size") or 0), float(row["mtime"]) if row.get("mtime") else None
        except (ValueError, TypeError, OverflowError) as error:
            return Listed(key, uri, 0, problem=f"the manifest gives no valid size or time: {error}")
        if not 0 <= size < 2**62:
            return Listed(key, uri, 0, problem=f"the manifest gives an impossible size: {size}")
        return Listed(key, uri, size, str(row.get("etag") or ""), mtime)
