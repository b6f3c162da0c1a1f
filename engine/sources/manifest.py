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
        return in_key_order(map(self._listed, self._rows()))

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

    def _listed(self, row: dict[str, Any]) -> Listed:
        uri = str(row.get("uri") or "")
        if not uri:
            raise ConfigError(f"a row of manifest {self._file.name} has no 'uri'")
        if "://" not in uri:
            uri = local_uri(bytes(self._file.parent / uri))
        size, mtime = row.get("size"), row.get("mtime")
        key = str(row.get("key") or row["uri"])
        return Listed(key, uri, int(size) if size else 0, str(row.get("etag") or ""), float(mtime) if mtime else None)
