"""Translation between this project's records and qdrant-client's models."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from qdrant_client import models

from engine.store import SPARSE_CHANNELS, Condition, Filter, Hit, Points, Query, Record

# Characters one number takes in a JSON request: a float32 as text, and an index beside it.
_FLOAT_BYTES = 12
_PAIR_BYTES = 24


def vector_params(vectors: Mapping[str, int]) -> dict[str, models.VectorParams]:
    return {n: models.VectorParams(size=s, distance=models.Distance.COSINE) for n, s in vectors.items()}


def sparse_params() -> dict[str, models.SparseVectorParams]:
    return {c: models.SparseVectorParams(modifier=models.Modifier.IDF) for c in SPARSE_CHANNELS}


def index_schema(kind: str) -> models.KeywordIndexParams | models.IntegerIndexParams:
    if kind == "integer":
        return models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=True)
    return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=kind == "tenant")


def batches(points: Points, count: int, size: int) -> Iterator[slice]:
    """Slices of `points` of at most `count` points and about `size` bytes as JSON; one point may exceed it alone."""
    start, used = 0, 0
    for i, weight in enumerate(_weights(points)):
        if i > start and (i - start >= count or used + weight > size):
            yield slice(start, i)
            start, used = i, 0
        used += weight
    if start < len(points):
        yield slice(start, len(points))


def _weights(points: Points) -> Iterator[int]:
    dense = sum(m.shape[1] for m in points.dense.values()) * _FLOAT_BYTES
    pairs = sum((np.diff(rows.indptr) for rows in points.sparse.values()), np.zeros(len(points), dtype=np.int64))
    for payload, count in zip(points.payloads, pairs.tolist(), strict=True):
        yield dense + count * _PAIR_BYTES + len(json.dumps(payload, allow_nan=False))


def to_points(points: Points, part: slice) -> list[models.PointStruct]:
    """The points of one slice. A sparse row without words is left out, so that it does not count in the rarity."""
    built: list[models.PointStruct] = []
    for i in range(part.start, part.stop):
        vector: dict[str, Any] = {name: matrix[i].tolist() for name, matrix in points.dense.items()}
        for channel, rows in points.sparse.items():
            indices, values = rows.row(i)
            if len(indices):
                vector[channel] = models.SparseVector(indices=indices.tolist(), values=values.tolist())
        built.append(models.PointStruct(id=points.ids[i], vector=vector, payload=points.payloads[i]))
    return built


def to_filter(where: Filter) -> models.Filter:
    return models.Filter(must=[_condition(c) for c in where.must], must_not=[_condition(c) for c in where.must_not])


def _condition(condition: Condition) -> models.FieldCondition:
    values: list[Any] = condition.values
    if condition.op == "range":
        return models.FieldCondition(key=condition.field, range=models.Range(gte=values[0], lt=values[1]))
    return models.FieldCondition(key=condition.field, match=models.MatchAny(any=values))


def to_query(
    query: Query, where: models.Filter, corpus: models.Filter | None, fields: Sequence[str] | None
) -> models.QueryRequest:
    """One channel's request; see `edge_types.to_query` for `corpus` and exactness."""
    if query.dense is not None:
        vector: Any = query.dense.tolist()
    else:
        assert query.sparse is not None
        vector = models.SparseVector(indices=query.sparse[0].tolist(), values=query.sparse[1].tolist())
    scoped = query.dense is None and corpus is not None
    idf = models.IdfCorpusParams(corpus=corpus) if scoped and corpus is not None else None
    return models.QueryRequest(
        query=vector,
        using=query.channel,
        filter=where,
        limit=query.limit,
        score_threshold=query.threshold,
        with_payload=selector(fields),
        with_vector=False,
        params=models.SearchParams(exact=corpus is None, idf=idf),
    )


def selector(fields: Sequence[str] | None) -> bool | list[str]:
    if fields is None:
        return True
    return list(fields) or False


def to_hit(point: models.ScoredPoint) -> Hit:
    return Hit(str(point.id), point.score, dict(point.payload or {}))


def to_record(record: models.Record, with_dense: Sequence[str]) -> Record:
    vectors: Any = record.vector or {}
    dense = {n: np.asarray(vectors[n], dtype=np.float32) for n in with_dense if n in vectors}
    return Record(str(record.id), dict(record.payload or {}), dense)
