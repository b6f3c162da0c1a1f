"""The vector store on a Qdrant server (1.19 or later), over REST or gRPC.

Requests are capped in points and bytes, acknowledged writes only (`wait`), and repeated by `engine.store.retry`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import UnexpectedResponse

from engine.errors import StorageError
from engine.settings import Store as StoreSettings
from engine.store import PAYLOAD_INDEXES, Condition, Filter, Hit, Points, Query, Record, retry
from engine.store import server_types as types
from engine.store.checks import check_filter, check_matrix, check_points, check_queries, check_sizes

T = TypeVar("T")

BATCH_BYTES = 8 * 2**20  # the server refuses requests over 32 MiB unless told otherwise
TIMEOUT_SECONDS = 60


def connect(settings: StoreSettings) -> QdrantClient:
    """A client for `settings.url`; nothing is asked of the server yet."""
    key = settings.api_key.get_secret_value() or None
    return QdrantClient(
        url=settings.url,
        api_key=key,
        prefer_grpc=settings.grpc,
        timeout=TIMEOUT_SECONDS,
        check_compatibility=False,
    )


class ServerStore:
    """`engine.store.Store` over one collection of a server. Safe to share between threads.

    Graphs are built inside a project only (m=0, payload_m=16), since no query crosses projects.
    """

    def __init__(
        self,
        client: QdrantClient,
        collection: str = "corpus",
        batch_points: int = 64,
        batch_bytes: int = BATCH_BYTES,
        backoff: retry.Backoff | None = None,
    ) -> None:
        self._client = client
        self._name = collection
        self._batch_points = batch_points
        self._batch_bytes = batch_bytes
        self._backoff = backoff or retry.Backoff()
        self._vectors: dict[str, int] = {}
        self._exists = False

    # ------------------------------------------------------------ schema
    def ensure(self, vectors: Mapping[str, int]) -> None:
        present = self.vectors()
        check_sizes(vectors, present)
        if not self._exists:
            self._create(vectors)
            present = self.vectors()
            check_sizes(vectors, present)  # another process may have been first, with another model
        for field, kind in PAYLOAD_INDEXES.items():
            schema = types.index_schema(kind)
            self._call("make an index", lambda f=field, s=schema: self._client.create_payload_index(self._name, f, s))
        for name in sorted(vectors.keys() - present.keys()):
            self._add_vector(name, vectors[name])

    def _create(self, vectors: Mapping[str, int]) -> None:
        def create() -> None:
            try:
                self._client.create_collection(
                    self._name,
                    vectors_config=types.vector_params(vectors),
                    sparse_vectors_config=types.sparse_params(),
                    hnsw_config=models.HnswConfigDiff(m=0, payload_m=16),
                    timeout=TIMEOUT_SECONDS,
                )
            except Exception:
                # A timed-out first attempt, or another process, may have made it: then there is nothing left to do.
                if not self._client.collection_exists(self._name):
                    raise

        self._call("create the collection", create)

    def _add_vector(self, name: str, size: int) -> None:
        params = models.DenseVectorConfig(size=size, distance=models.Distance.COSINE)
        config = models.DenseVectorNameConfig(dense=params)

        def add() -> None:
            try:
                self._client.create_vector_name(self._name, name, config)
            except Exception:
                if self.vectors().get(name) != size:
                    raise

        self._call(f"add the vector {name}", add)
        self._vectors = {**self._vectors, name: size}

    def vectors(self) -> dict[str, int]:
        self._exists = self._call("look for the collection", lambda: self._client.collection_exists(self._name))
        if not self._exists:
            return {}
        info = self._call("read the collection", lambda: self._client.get_collection(self._name))
        params = info.config.params.vectors
        named: Mapping[str, models.VectorParams] = params if isinstance(params, dict) else {}
        self._vectors = {name: vector.size for name, vector in named.items()}
        return dict(self._vectors)

    def _known(self, names: Sequence[str]) -> dict[str, int]:
        """The collection's vectors, asked again when one of `names` is not among those seen last."""
        if not self._exists or any(name not in self._vectors for name in names):
            return self.vectors()
        return self._vectors

    # ------------------------------------------------------------ writes
    def upsert(self, points: Points) -> None:
        vectors = self._writable(list(points.dense))
        check_points(points, vectors)
        try:
            parts = list(types.batches(points, self._batch_points, self._batch_bytes))
        except (ValueError, TypeError) as error:
            raise StorageError(f"a payload holds a value JSON cannot: {error}") from error
        for part in parts:
            built = types.to_points(points, part)
            self._call("write points", lambda built=built: self._client.upsert(self._name, built, wait=True))

    def delete(self, where: Filter) -> None:
        check_filter(where)
        if self._there():
            chosen = models.FilterSelector(filter=types.to_filter(where))
            self._call("delete points", lambda: self._client.delete(self._name, chosen, wait=True))

    def set_dense(self, name: str, ids: Sequence[str], matrix: NDArray[np.float32]) -> None:
        check_matrix(name, matrix, len(ids), self._writable([name]))
        for start in range(0, len(ids), self._batch_points):
            part = slice(start, start + self._batch_points)
            rows = dict(zip(ids[part], matrix[part].tolist(), strict=True))
            self._call("write vectors", lambda rows=rows: self._set_dense_batch(name, rows))

    def _set_dense_batch(self, name: str, rows: dict[str, list[float]]) -> None:
        # The server applies what it can, then answers 404 for an id that is gone: send living ones only, and
        # look again when one went away in between.
        while True:
            alive = {str(r.id) for r in self._client.retrieve(self._name, list(rows), with_payload=False)}
            vectors = [models.PointVectors(id=id, vector={name: row}) for id, row in rows.items() if id in alive]
            if not vectors:
                return
            try:
                self._client.update_vectors(self._name, vectors, wait=True)
                return
            except Exception as error:
                if not _is_missing(error) or len(alive) == self._count_alive(list(rows)):
                    raise

    def _count_alive(self, ids: list[str]) -> int:
        return len(self._client.retrieve(self._name, ids, with_payload=False))

    def drop_dense(self, name: str) -> None:
        if name in self.vectors():
            self._call("drop a vector", lambda: self._client.delete_vector_name(self._name, name))
            self._vectors = {n: s for n, s in self._vectors.items() if n != name}

    # ------------------------------------------------------------ reads
    def search(
        self,
        queries: Sequence[Query],
        where: Filter,
        project_id: str | None,
        fields: Sequence[str] | None = None,
    ) -> list[list[Hit]]:
        check_filter(where)
        vectors = self._known([q.channel for q in queries if q.dense is not None])
        if not self._exists:
            return [[] for _ in queries]
        check_queries(queries, vectors)
        corpus = None
        if project_id is not None:
            tenant = Condition("project_id", "any", [project_id])
            # what a reader may not see must not show in the rarity of words either
            corpus = types.to_filter(Filter([tenant, *(c for c in where.must if c.field == "acl")]))
            where = Filter([tenant, *where.must], where.must_not)
        condition = types.to_filter(where)
        # A query without a known word finds nothing, and the server rejects it.
        asked = [i for i, q in enumerate(queries) if q.sparse is None or len(q.sparse[0])]
        requests = [types.to_query(queries[i], condition, corpus, fields) for i in asked]
        answers = self._call("search", lambda: self._client.query_batch_points(self._name, requests)) if asked else []
        found: list[list[Hit]] = [[] for _ in queries]
        for i, answer in zip(asked, answers, strict=True):
            found[i] = [types.to_hit(point) for point in answer.points]
        return found

    def fetch(
        self, ids: Sequence[str], with_dense: Sequence[str] = (), fields: Sequence[str] | None = None
    ) -> list[Record]:
        if not ids or not self._there():
            return []
        vectors = self._present(with_dense)
        found = self._call(
            "fetch points",
            lambda: self._client.retrieve(self._name, list(ids), types.selector(fields), vectors),
        )
        records = {str(r.id): types.to_record(r, with_dense) for r in found}
        return [records[id] for id in ids if id in records]

    def count(self, where: Filter) -> int:
        check_filter(where)
        if not self._there():
            return 0
        condition = types.to_filter(where)
        return self._call("count", lambda: self._client.count(self._name, condition, exact=True)).count

    def scroll(
        self, where: Filter, with_dense: Sequence[str] = (), batch: int = 256, fields: Sequence[str] | None = None
    ) -> Iterator[list[Record]]:
        check_filter(where)
        if not self._there():
            return
        condition, selector = types.to_filter(where), types.selector(fields)
        vectors = self._present(with_dense)
        after: Any = None
        while True:
            found, after = self._call(
                "scroll",
                lambda after=after: self._client.scroll(self._name, condition, batch, None, after, selector, vectors),
            )
            if found:
                yield [types.to_record(r, with_dense) for r in found]
            if after is None:
                return

    def facet(self, field: str, where: Filter, limit: int = 100) -> dict[str, int]:
        check_filter(Filter([Condition(field, "any", [])]))
        check_filter(where)
        if not self._there():
            return {}
        condition = types.to_filter(where)
        answer = self._call("count values", lambda: self._client.facet(self._name, field, condition, limit, True))
        return {str(hit.value): hit.count for hit in answer.hits}

    # ------------------------------------------------------------ the rest
    def flush(self) -> None:
        """Nothing to do: every write waited for the server's acknowledgement."""

    def close(self) -> None:
        self._client.close()

    def _there(self) -> bool:
        self._known([])
        return self._exists

    def _present(self, with_dense: Sequence[str]) -> list[str] | bool:
        known = self._known(with_dense)
        return [name for name in with_dense if name in known] or False

    def _writable(self, names: Sequence[str]) -> dict[str, int]:
        vectors = self._known(names)
        if not self._exists:
            raise StorageError("the collection does not exist yet; call ensure first")
        return vectors

    def _call(self, what: str, action: Callable[[], T]) -> T:
        return retry.call(action, self._backoff, what)


def _is_missing(error: Exception) -> bool:
    if isinstance(error, UnexpectedResponse):
        return error.status_code == 404
    return getattr(retry.status_of(error), "name", "") == "NOT_FOUND" or isinstance(error, ValueError)
