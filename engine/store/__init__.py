"""The vector store's interface: ids, float32 matrices, CSR sparse rows and plain payload dicts.

Adapters: `engine.store.edge` (Qdrant Edge in this process), `engine.store.actor` (the same inside one
named Ray actor), `engine.store.server` (a Qdrant server). One conformance suite runs over all of them.
Point ids are UUID strings. A point carries one dense vector per embedding model (named vectors) and the
sparse channels `content`, `path` and `term`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

SPARSE_CHANNELS = ("content", "path", "term")
# payload field → kind of index; made before the first point is written
PAYLOAD_INDEXES: Mapping[str, Literal["tenant", "keyword", "integer"]] = {
    "project_id": "tenant",
    "document_id": "keyword",
    "chunk_id": "keyword",
    "revision": "keyword",
    "generation": "integer",
    "embed_hash": "keyword",
    "content_hash": "keyword",
    "source_format": "keyword",
    "element_type": "keyword",
    "chunk_type": "keyword",
    "chunk_index": "integer",
    "acl": "keyword",
    "filename": "keyword",
}

Payload = dict[str, object]


@dataclass(slots=True)
class Sparse:
    """Rows of a sparse matrix (CSR): row i has `indices[indptr[i]:indptr[i+1]]` (uint32, ascending, unique)
    and the same slice of `values` (float32)."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    values: NDArray[np.float32]

    def row(self, i: int) -> tuple[NDArray[np.uint32], NDArray[np.float32]]:
        a, b = int(self.indptr[i]), int(self.indptr[i + 1])
        return self.indices[a:b], self.values[a:b]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def cut(self, start: int, stop: int) -> Sparse:
        """Rows `start` to `stop`."""
        pointers = self.indptr[start : stop + 1]
        first, last = int(pointers[0]), int(pointers[-1])
        return Sparse(pointers - first, self.indices[first:last], self.values[first:last])

    @staticmethod
    def joined(parts: Sequence[Sparse]) -> Sparse:
        """The rows of all parts, one after the other."""
        lengths = np.concatenate([np.diff(part.indptr) for part in parts])
        pointers = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Sparse(pointers, np.concatenate([p.indices for p in parts]), np.concatenate([p.values for p in parts]))


@dataclass(slots=True)
class Points:
    """A batch to write. `dense[name]`: float32 (n, dim); `sparse[channel]`: n rows; `payloads`: JSON values."""

    ids: list[str]
    dense: dict[str, NDArray[np.float32]]
    sparse: dict[str, Sparse]
    payloads: list[Payload]

    def __len__(self) -> int:
        return len(self.ids)

    def cut(self, start: int, stop: int) -> Points:
        """Points `start` to `stop`, views of the same arrays."""
        return Points(
            self.ids[start:stop],
            {name: matrix[start:stop] for name, matrix in self.dense.items()},
            {name: rows.cut(start, stop) for name, rows in self.sparse.items()},
            self.payloads[start:stop],
        )

    @staticmethod
    def joined(parts: Sequence[Points]) -> Points:
        """One batch out of several with the same channels."""
        if len(parts) == 1:
            return parts[0]
        return Points(
            [i for part in parts for i in part.ids],
            {name: np.concatenate([part.dense[name] for part in parts]) for name in parts[0].dense},
            {name: Sparse.joined([part.sparse[name] for part in parts]) for name in parts[0].sparse},
            [payload for part in parts for payload in part.payloads],
        )


@dataclass(slots=True)
class Condition:
    """`field` compared with `values`: `any` (one of them), `range` (values = [gte, lt], None is open)."""

    field: str
    op: Literal["any", "range"]
    values: list[str | int | None]


@dataclass(slots=True)
class Filter:
    """All of `must`, none of `must_not`."""

    must: list[Condition] = field(default_factory=lambda: list[Condition]())
    must_not: list[Condition] = field(default_factory=lambda: list[Condition]())


@dataclass(slots=True)
class Query:
    """One channel of a search: a dense vector (`channel` = vector name) or a sparse one (`channel` of
    SPARSE_CHANNELS). `threshold` cuts this channel's own score."""

    channel: str
    limit: int
    dense: NDArray[np.float32] | None = None
    sparse: tuple[NDArray[np.uint32], NDArray[np.float32]] | None = None
    threshold: float | None = None


@dataclass(slots=True)
class Hit:
    id: str
    score: float
    payload: Payload


@dataclass(slots=True)
class Record:
    """A stored point as scrolled: payload, and the dense vectors asked for."""

    id: str
    payload: Payload
    dense: dict[str, NDArray[np.float32]] = field(default_factory=lambda: dict[str, NDArray[np.float32]]())


class Store(Protocol):
    """All calls are synchronous, safe to repeat, and raise StorageError when the engine refuses.

    Writes have reached the disk (or the server's acknowledgement) when they return.
    """

    def ensure(self, vectors: Mapping[str, int]) -> None:
        """Create what is missing: the collection with these dense vectors (name → size, cosine), the sparse
        channels with the IDF modifier, and every payload index. Raises ConfigError on another size."""
        ...

    def vectors(self) -> dict[str, int]:
        """Dense vector names and sizes of the collection; empty when there is none yet."""
        ...

    def upsert(self, points: Points) -> None: ...

    def delete(self, where: Filter) -> None: ...

    def search(
        self,
        queries: Sequence[Query],
        where: Filter,
        project_id: str | None,
        fields: Sequence[str] | None = None,
    ) -> list[list[Hit]]:
        """One hit list per query, best first, from one look at the data. Sparse channels weigh words by
        their rarity inside `project_id` (tenant-scoped IDF), and only that project's points are found.
        `fields`: only these payload fields. Raises ConfigError when a dense channel is not in the collection."""
        ...

    def fetch(
        self, ids: Sequence[str], with_dense: Sequence[str] = (), fields: Sequence[str] | None = None
    ) -> list[Record]:
        """The points with these ids, in the order asked; those that are gone are left out."""
        ...

    def count(self, where: Filter) -> int: ...

    def scroll(
        self, where: Filter, with_dense: Sequence[str] = (), batch: int = 256, fields: Sequence[str] | None = None
    ) -> Iterator[list[Record]]:
        """Every matching point, in batches, in id order. `fields`: only these payload fields. A name in
        `with_dense` that the collection lacks is left out, here and in `fetch`."""
        ...

    def facet(self, field: str, where: Filter, limit: int = 100) -> dict[str, int]:
        """Counts per value of an indexed keyword field."""
        ...

    def set_dense(self, name: str, ids: Sequence[str], matrix: NDArray[np.float32]) -> None:
        """Give existing points another model's vectors; points that are gone meanwhile are left alone."""
        ...

    def drop_dense(self, name: str) -> None:
        """Remove a dense vector name with all its vectors; nothing happens when it is not there."""
        ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


@runtime_checkable
class Upkeep(Protocol):
    """A store that has its index built when nothing searches, instead of in the background."""

    def optimize(self, force: bool = False) -> bool:
        """Build the index if the store is large enough for it to pay; True when it did."""
        ...
