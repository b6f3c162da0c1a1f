"""The embedded vector store: one Qdrant Edge shard in a folder, inside this process.

One process at a time may hold the folder. The engine holds the GIL while it works, so batches stay small and
building graphs (`optimize`) is left to moments when nobody searches.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import qdrant_edge as edge
from numpy.typing import NDArray

from engine.errors import CorpusError, StorageError
from engine.store import PAYLOAD_INDEXES, Condition, Filter, Hit, Points, Query, Record, edge_types, owner
from engine.store.checks import check_filter, check_matrix, check_points, check_queries, check_sizes

SHARD = "shard"
CONFIG = "edge_config.json"  # written by the engine, inside the shard
FLUSH_EVERY = 8192  # points written between flushes: bounds the log replayed after a kill (about 3 KB a point)


@contextmanager
def _engine_errors() -> Generator[None]:
    """Edge raises bare `Exception` for everything; give it our name."""
    try:
        yield
    except CorpusError:
        raise
    except Exception as error:
        raise StorageError(f"the embedded store refused: {error}") from error


class EdgeStore:
    """`engine.store.Store` over `folder`. Safe to share between threads.

    Raises StoreLockedError (a StorageError) at once when another process holds the folder. An
    acknowledged write survives SIGKILL; the write-ahead log is replayed on the next open.
    """

    def __init__(
        self,
        folder: Path,
        batch_points: int = 64,
        optimize_above: int = 50_000,
        actor: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = folder
        self._batch = batch_points
        self._optimize_above = optimize_above
        self._guard = threading.RLock()
        self._lock_file: TextIOWrapper | None = owner.take(folder, owner.this_process(actor))
        self._shard: edge.EdgeShard | None = None
        self._vectors: dict[str, int] = {}
        self._unflushed = 0
        try:
            self._load()
        except BaseException:
            self._lock_file.close()
            raise

    # ------------------------------------------------------------ schema
    def ensure(self, vectors: Mapping[str, int]) -> None:
        with self._guard, _engine_errors():
            check_sizes(vectors, self._vectors)
            if self._shard is None:
                self._open_check()
                self._shard = edge.EdgeShard.create(str(self.folder / SHARD), edge_types.config(vectors))
                self._vectors = dict(vectors)
            self._ensure_indexes(self._shard)
            for name in sorted(vectors.keys() - self._vectors.keys()):
                operation = edge.UpdateOperation.create_dense_vector(name, vectors[name], edge.Distance.Cosine)
                self._shard.update(operation)
                self._vectors = {**self._vectors, name: vectors[name]}

    def vectors(self) -> dict[str, int]:
        self._open_check()
        return dict(self._vectors)

    def _load(self) -> None:
        path = self.folder / SHARD
        # A kill during creation may leave either without the other; the engine restores its file from the segments.
        if (path / CONFIG).exists() or any(path.glob("segments/*")):
            with _engine_errors():
                self._shard = edge.EdgeShard.load(str(path))
                # The bindings offer no way to ask a shard for its vectors.
                config: dict[str, Any] = json.loads((path / CONFIG).read_text("utf-8"))
            self._vectors = {name: int(params["size"]) for name, params in config["vectors"].items()}

    def _ensure_indexes(self, shard: edge.EdgeShard) -> None:
        present = shard.info().payload_schema
        for field, kind in PAYLOAD_INDEXES.items():
            if field not in present:
                shard.update(edge.UpdateOperation.create_field_index(field, edge_types.index_schema(kind)))

    # ------------------------------------------------------------ writes
    def upsert(self, points: Points) -> None:
        shard = self._writable()
        check_points(points, self._vectors)
        with _engine_errors():
            built = edge_types.to_points(points)
            for start in range(0, len(built), self._batch):
                shard.update(edge.UpdateOperation.upsert_points(built[start : start + self._batch]))
            self._wrote(len(built))

    def delete(self, where: Filter) -> None:
        check_filter(where)
        self._open_check()
        if self._shard is not None:
            with _engine_errors():
                self._shard.update(edge.UpdateOperation.delete_points_by_filter(edge_types.to_filter(where)))
                self._wrote(1)

    def set_dense(self, name: str, ids: Sequence[str], matrix: NDArray[np.float32]) -> None:
        shard = self._writable()
        check_matrix(name, matrix, len(ids), self._vectors)
        with _engine_errors():
            for start in range(0, len(ids), self._batch):
                part = slice(start, start + self._batch)
                self._set_dense_batch(shard, name, dict(zip(ids[part], matrix[part].tolist(), strict=True)))

    def _set_dense_batch(self, shard: edge.EdgeShard, name: str, rows: dict[str, list[float]]) -> None:
        # An id that is gone fails the whole operation, after parts of it were applied: send living ones only.
        with self._guard:
            alive = {str(r.id) for r in shard.retrieve(list(rows), False, False)}
            vectors = [edge.PointVectors(id, {name: row}) for id, row in rows.items() if id in alive]
            if vectors:
                shard.update(edge.UpdateOperation.update_vectors(vectors))
                self._wrote(len(vectors))

    def drop_dense(self, name: str) -> None:
        with self._guard:
            self._open_check()
            if self._shard is not None and name in self._vectors:
                with _engine_errors():
                    self._shard.update(edge.UpdateOperation.delete_vector_name(name))
                self._vectors = {n: s for n, s in self._vectors.items() if n != name}

    def _wrote(self, points: int) -> None:
        with self._guard:
            self._unflushed += points
            due = self._unflushed >= FLUSH_EVERY
        if due:
            self.flush()

    # ------------------------------------------------------------ reads
    def search(
        self,
        queries: Sequence[Query],
        where: Filter,
        project_id: str | None,
        fields: Sequence[str] | None = None,
    ) -> list[list[Hit]]:
        self._open_check()
        check_filter(where)
        if self._shard is None or not queries:
            return [[] for _ in queries]
        check_queries(queries, self._vectors)
        corpus = None
        if project_id is not None:
            tenant = Condition("project_id", "any", [project_id])
            # what a reader may not see must not show in the rarity of words either
            corpus = edge_types.to_filter(Filter([tenant, *(c for c in where.must if c.field == "acl")]))
            where = Filter([tenant, *where.must], where.must_not)
        condition = edge_types.to_filter(where)
        requests = [edge_types.to_query(q, condition, corpus, fields) for q in queries]
        with _engine_errors():
            answers = self._shard.query_batch(edge.QueryBatchRequest(requests))
        return [[edge_types.to_hit(point, fields) for point in answer] for answer in answers]

    def fetch(
        self, ids: Sequence[str], with_dense: Sequence[str] = (), fields: Sequence[str] | None = None
    ) -> list[Record]:
        self._open_check()
        if self._shard is None or not ids:
            return []
        with _engine_errors():
            found = self._shard.retrieve(list(ids), edge_types.selector(fields), self._present(with_dense))
        records = {str(r.id): edge_types.to_record(r, with_dense, fields) for r in found}
        return [records[id] for id in ids if id in records]

    def count(self, where: Filter) -> int:
        self._open_check()
        check_filter(where)
        if self._shard is None:
            return 0
        with _engine_errors():
            return self._shard.count(edge.CountRequest(exact=True, filter=edge_types.to_filter(where)))

    def page(
        self,
        where: Filter,
        limit: int,
        after: str | None = None,
        with_dense: Sequence[str] = (),
        fields: Sequence[str] | None = None,
    ) -> tuple[list[Record], str | None]:
        """Up to `limit` matching points in id order from id `after` on, and where the next page starts."""
        self._open_check()
        check_filter(where)
        if self._shard is None:
            return [], None
        request = edge.ScrollRequest(
            offset=UUID(after) if after else None,
            limit=limit,
            filter=edge_types.to_filter(where),
            with_payload=edge_types.selector(fields),
            with_vector=self._present(with_dense),
        )
        with _engine_errors():
            found, following = self._shard.scroll(request)
        records = [edge_types.to_record(r, with_dense, fields) for r in found]
        return records, None if following is None else str(following)

    def scroll(
        self, where: Filter, with_dense: Sequence[str] = (), batch: int = 256, fields: Sequence[str] | None = None
    ) -> Iterator[list[Record]]:
        after: str | None = None
        while True:
            records, after = self.page(where, batch, after, with_dense, fields)
            if records:
                yield records
            if after is None:
                return

    def facet(self, field: str, where: Filter, limit: int = 100) -> dict[str, int]:
        self._open_check()
        check_filter(Filter([Condition(field, "any", [])]))
        check_filter(where)
        if self._shard is None:
            return {}
        request = edge.FacetRequest(field, limit=limit, exact=True, filter=edge_types.to_filter(where))
        with _engine_errors():
            return {str(hit.value): hit.count for hit in self._shard.facet(request).hits}

    def _present(self, with_dense: Sequence[str]) -> list[str] | bool:
        return [name for name in with_dense if name in self._vectors] or False

    # ------------------------------------------------------------ upkeep
    def optimize(self, force: bool = False) -> bool:
        """Build vector graphs and drop deleted points; True when something was done.

        Freezes this whole process for seconds to minutes, so only above `optimize_above` points (or by
        `force`) and only when nobody searches.
        """
        with self._guard:
            self._open_check()
            if self._shard is None or not (force or self._shard.info().points_count > self._optimize_above):
                return False
            with _engine_errors():
                return self._shard.optimize()

    def flush(self) -> None:
        with self._guard:
            if self._shard is not None:
                with _engine_errors():
                    self._shard.flush()
            self._unflushed = 0

    def close(self) -> None:
        with self._guard:
            if self._lock_file is None:
                return
            try:
                self.flush()
                if self._shard is not None:
                    with _engine_errors():
                        self._shard.close()
            finally:
                self._shard = None
                self._lock_file.close()
                self._lock_file = None

    def _open_check(self) -> None:
        if self._lock_file is None:
            raise StorageError(f"the store at {self.folder} is closed")

    def _writable(self) -> edge.EdgeShard:
        self._open_check()
        if self._shard is None:
            raise StorageError("the collection does not exist yet; call ensure first")
        return self._shard
