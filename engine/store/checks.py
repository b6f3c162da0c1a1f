"""What every store adapter refuses before it bothers an engine: the two engines would differ, or stay silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from engine.errors import ConfigError, StorageError
from engine.store import PAYLOAD_INDEXES, SPARSE_CHANNELS, Filter, Points, Query


def check_points(points: Points, vectors: Mapping[str, int]) -> None:
    """Raise ConfigError for an unknown vector name or another size, StorageError for uneven or non-finite data.

    Edge takes NaN vectors without a word, and they poison every score after.
    """
    count = len(points.ids)
    if len(points.payloads) != count:
        raise StorageError(f"{count} ids came with {len(points.payloads)} payloads")
    for name, matrix in points.dense.items():
        check_matrix(name, matrix, count, vectors)
    for channel, rows in points.sparse.items():
        if channel not in SPARSE_CHANNELS:
            raise StorageError(f"there is no sparse channel {channel!r}")
        if len(rows) != count:
            raise StorageError(f"{count} ids came with {len(rows)} rows in channel {channel}")
        if not np.isfinite(rows.values).all():
            raise StorageError(f"a weight in channel {channel} is not finite")


def check_matrix(name: str, matrix: NDArray[np.float32], count: int, vectors: Mapping[str, int]) -> None:
    """The same for one dense matrix, which must be (count, size)."""
    if name not in vectors:
        raise _no_such_vector(name, vectors)
    if matrix.shape != (count, vectors[name]):
        raise ConfigError(f"vector {name} needs shape ({count}, {vectors[name]}), got {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise StorageError(f"a value of vector {name} is not finite")


def check_queries(queries: Sequence[Query], vectors: Mapping[str, int]) -> None:
    """Raise ConfigError when a dense query does not fit the collection, StorageError when it is malformed."""
    for query in queries:
        if query.dense is not None:
            check_matrix(query.channel, query.dense.reshape(1, -1), 1, vectors)
        elif query.sparse is None or query.channel not in SPARSE_CHANNELS:
            raise StorageError(f"the query for channel {query.channel!r} carries no vector that fits it")
        if query.limit < 1:
            raise StorageError("a query's limit must be at least 1")


def check_filter(where: Filter) -> None:
    """Raise StorageError for a field without an index: on a big collection such a filter reads every point."""
    for condition in (*where.must, *where.must_not):
        if condition.field not in PAYLOAD_INDEXES:
            raise StorageError(f"cannot filter by {condition.field!r}: it has no index")
        if condition.op == "range" and (PAYLOAD_INDEXES[condition.field] != "integer" or len(condition.values) != 2):
            raise StorageError(f"a range over {condition.field!r} needs an integer field and two bounds")
        if condition.op == "any" and None in condition.values:
            raise StorageError(f"a value of the condition on {condition.field!r} is missing")


def check_sizes(wanted: Mapping[str, int], present: Mapping[str, int]) -> None:
    """Raise ConfigError when a vector name exists with another size."""
    for name, size in wanted.items():
        if present.get(name, size) != size:
            raise ConfigError(
                f"the collection holds vectors {name!r} of size {present[name]}, the model makes {size}; "
                "use another vector name or re-embed"
            )


def _no_such_vector(name: str, vectors: Mapping[str, int]) -> ConfigError:
    there = ", ".join(sorted(vectors)) or "none"
    return ConfigError(f"the collection has no vectors named {name!r} (there: {there}); embed it with this model first")
