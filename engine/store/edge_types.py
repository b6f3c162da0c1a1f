"""Translation between this project's records and Qdrant Edge's types, which do not pickle and fit no other client.

A stored payload keeps the indexed fields as they are and everything else as one JSON string (`BODY`): the
engine converts nested payloads field by field, which cost three times as much on every write and read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import qdrant_edge as edge
from numpy.typing import NDArray

from engine.store import (
    PAYLOAD_INDEXES,
    SPARSE_CHANNELS,
    Condition,
    Filter,
    Hit,
    Payload,
    Points,
    Query,
    Record,
    Sparse,
)

BODY = "body"
# One appendable segment takes the writes; these bound what `optimize` makes of it, in KiB of vectors.
MAX_SEGMENT_KB = 50_000
INDEXING_THRESHOLD_KB = 20_000


def config(vectors: Mapping[str, int]) -> edge.EdgeConfig:
    """The shard's configuration. The write-ahead log is never off: without it a killed process loses everything.

    Graphs are built inside a project only (m=0, payload_m): no query crosses projects, and building costs a third.
    """
    return edge.EdgeConfig(
        vectors={n: edge.EdgeVectorParams(size=s, distance=edge.Distance.Cosine) for n, s in vectors.items()},
        sparse_vectors={c: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf) for c in SPARSE_CHANNELS},
        hnsw_config=edge.HnswIndexConfig(m=0, ef_construct=100, full_scan_threshold=10_000, payload_m=16),
        optimizers=edge.EdgeOptimizersConfig(
            max_segment_size=MAX_SEGMENT_KB, indexing_threshold=INDEXING_THRESHOLD_KB, default_segment_number=1
        ),
        wal_enabled=True,
    )


def index_schema(kind: str) -> edge.KeywordIndexParams | edge.IntegerIndexParams:
    """Index parameters of a kind in PAYLOAD_INDEXES; only the tenant field shapes vector graphs."""
    if kind == "integer":
        return edge.IntegerIndexParams(lookup=True, range=True, enable_hnsw=False)
    tenant = kind == "tenant"
    return edge.KeywordIndexParams(is_tenant=tenant, enable_hnsw=tenant)


def to_points(points: Points) -> list[edge.Point]:
    """Edge points of a batch. Lists, not arrays: the binding converts them two to three times faster.

    A sparse row without words is left out, so that it does not count in the rarity of words.
    """
    dense = {name: matrix.tolist() for name, matrix in points.dense.items()}
    sparse = {channel: _sparse_vectors(rows) for channel, rows in points.sparse.items()}
    built: list[edge.Point] = []
    for i, (id, payload) in enumerate(zip(points.ids, points.payloads, strict=True)):
        vectors: dict[str, Any] = {name: rows[i] for name, rows in dense.items()}
        vectors.update({channel: row for channel, rows in sparse.items() if (row := rows[i]) is not None})
        built.append(edge.Point(id, vectors, pack(payload)))
    return built


def _sparse_vectors(rows: Sparse) -> list[edge.SparseVector | None]:
    bounds, indices, values = rows.indptr.tolist(), rows.indices.tolist(), rows.values.tolist()
    return [edge.SparseVector(indices[a:b], values[a:b]) if b > a else None for a, b in pairwise(bounds)]


def pack(payload: Payload) -> Payload:
    """Indexed fields as they are, the rest as JSON under BODY. Raises ValueError or TypeError for non-JSON values."""
    packed = {k: v for k, v in payload.items() if k in PAYLOAD_INDEXES}
    packed[BODY] = json.dumps({k: v for k, v in payload.items() if k not in PAYLOAD_INDEXES}, allow_nan=False)
    return packed


def unpack(packed: Payload | None, fields: Sequence[str] | None) -> Payload:
    """The payload as it was given, cut down to `fields`."""
    payload = dict(packed or {})
    body = payload.pop(BODY, None)
    if isinstance(body, str):
        payload.update(json.loads(body))
    return payload if fields is None else {k: payload[k] for k in fields if k in payload}


def selector(fields: Sequence[str] | None) -> bool | list[str]:
    """What to read of a packed payload so that `unpack` can give `fields`."""
    if fields is None:
        return True
    indexed = [f for f in fields if f in PAYLOAD_INDEXES]
    return indexed if len(indexed) == len(fields) else [*indexed, BODY]


def to_filter(where: Filter) -> edge.Filter:
    return edge.Filter(must=[_condition(c) for c in where.must], must_not=[_condition(c) for c in where.must_not])


def _condition(condition: Condition) -> edge.FieldCondition:
    values: list[Any] = condition.values
    if condition.op == "range":
        return edge.FieldCondition(key=condition.field, range=edge.RangeFloat(gte=values[0], lt=values[1]))
    return edge.FieldCondition(key=condition.field, match=edge.MatchAny(values))


def to_query(
    query: Query, where: edge.Filter, corpus: edge.Filter | None, fields: Sequence[str] | None
) -> edge.QueryRequest:
    """One channel's request. `corpus`: the points over which a sparse channel's word rarity is counted; without
    one the search crosses projects, for which no graph exists, so that it must be exact."""
    vector = _query_vector(query)
    idf = edge.IdfParams(corpus=corpus) if query.dense is None and corpus is not None else None
    return edge.QueryRequest(
        limit=query.limit,
        query=edge.Query.Nearest(vector, query.channel),
        filter=where,
        score_threshold=query.threshold,
        with_payload=selector(fields),
        with_vector=False,
        params=edge.SearchParams(exact=corpus is None, idf=idf),
    )


def _query_vector(query: Query) -> list[float] | edge.SparseVector:
    if query.dense is not None:
        return query.dense.tolist()
    assert query.sparse is not None
    indices, values = query.sparse
    return edge.SparseVector(indices.tolist(), values.tolist())


def to_hit(point: edge.ScoredPoint, fields: Sequence[str] | None) -> Hit:
    return Hit(str(point.id), point.score, unpack(point.payload, fields))


def to_record(record: edge.Record, with_dense: Sequence[str], fields: Sequence[str] | None) -> Record:
    vectors: Any = record.vector or {}
    dense = {name: _array(vectors[name]) for name in with_dense if name in vectors}
    return Record(str(record.id), unpack(record.payload, fields), dense)


def _array(values: list[float]) -> NDArray[np.float32]:
    return np.asarray(values, dtype=np.float32)
