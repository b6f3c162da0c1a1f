"""The adapters under test, each empty, and small ways to make points."""

import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from qdrant_client import QdrantClient

from engine.settings import Store as StoreSettings
from engine.store import Points, Sparse, Store
from engine.store.edge import EdgeStore
from engine.store.server import ServerStore, connect


def _csr(rows: Sequence[dict[int, float]]) -> Sparse:
    ordered = [sorted(row.items()) for row in rows]
    indptr = np.cumsum([0, *map(len, ordered)])
    flat = [pair for row in ordered for pair in row]
    indices = np.array([i for i, _ in flat], dtype=np.uint32)
    values = np.array([v for _, v in flat], dtype=np.float32)
    return Sparse(indptr.astype(np.int64), indices, values)


def _unit(*values: float) -> np.ndarray:
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def _points(rows: Sequence[dict]) -> Points:
    """Rows: id (int), dense (list or None), content/path/term ({index: value}), and payload fields."""
    payloads = [{k: v for k, v in r.items() if k not in {"id", "d", "content_row", "path_row"}} for r in rows]
    dense = np.array([r.get("d", [1, 0, 0]) for r in rows], dtype=np.float32).reshape(len(rows), 3)
    return Points(
        [str(uuid.UUID(int=r["id"])) for r in rows],
        {"d": dense},
        {
            "content": _csr([r.get("content_row", {}) for r in rows]),
            "path": _csr([r.get("path_row", {}) for r in rows]),
        },
        payloads,
    )


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    return SimpleNamespace(points=_points, csr=_csr, unit=_unit, id=lambda n: str(uuid.UUID(int=n)))


def _edge(tmp_path: Path) -> Iterator[Store]:
    store = EdgeStore(tmp_path / "store")
    yield store
    store.close()


def _memory(tmp_path: Path) -> Iterator[Store]:
    store = ServerStore(QdrantClient(":memory:"))
    yield store
    store.close()


def _server(tmp_path: Path) -> Iterator[Store]:
    client = connect(StoreSettings(url=os.environ["QDRANT_URL"]))
    store = ServerStore(client, f"corpus-test-{uuid.uuid4().hex[:8]}")
    yield store
    client.delete_collection(store._name)
    store.close()


def _actor(tmp_path: Path) -> Iterator[Store]:
    from engine.store import actor

    actor_store = actor.connect(tmp_path / "store", StoreSettings(), lifetime=None)
    yield actor_store
    actor_store.close()
    actor.stop(tmp_path / "store")


ADAPTERS: dict[str, Callable[[Path], Iterator[Store]]] = {"edge": _edge, "memory": _memory, "server": _server}


SERVER = ["server"] if os.environ.get("QDRANT_URL") else []


@pytest.fixture(params=["edge", "memory", *SERVER, pytest.param("actor", marks=pytest.mark.ray)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "actor":
        request.getfixturevalue("local_ray")
        yield from _actor(tmp_path)
    else:
        yield from ADAPTERS[request.param](tmp_path)


@pytest.fixture(scope="session")
def local_ray() -> Iterator[None]:
    import ray  # noqa: TID251 - a fixture for the tests marked `ray`

    root = str(Path(__file__).resolve().parents[3])
    ray.init(
        address="local",  # never a cluster that somebody else left on this machine
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env={"env_vars": {"PYTHONPATH": root}},
        _metrics_export_port=0,
    )
    yield
    ray.shutdown()
