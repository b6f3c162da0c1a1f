"""The embedded store for many processes: one named Ray actor owns the folder, everybody else calls it.

The actor outlives the driver (detached), stays on the node that has the folder, and is restarted when it dies;
the store's log gives every acknowledged point back, so that calls in flight are simply repeated.
"""

from __future__ import annotations

import hashlib
import os
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import ray
from numpy.typing import NDArray
from ray.exceptions import GetTimeoutError, RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from engine.errors import CorpusError, StorageError
from engine.settings import Store as StoreSettings
from engine.store import Filter, Hit, Points, Query, Record
from engine.store.edge import EdgeStore
from engine.store.owner import Owner, StoreLockedError

NAMESPACE = "corpus"
READERS = 4  # threads for reads, so that none waits behind the queue of writes
REACH_SECONDS = 2.0
CALL_SECONDS = 300.0
TAKEOVER_SECONDS = 10.0
Lifetime = Literal["detached"] | None


def actor_name(folder: Path) -> str:
    """The name of the actor owning `folder`, the same from every process."""
    return f"corpus-store-{hashlib.blake2b(str(folder.absolute()).encode(), digest_size=6).hexdigest()}"


class _StoreActor:
    """Runs inside the actor. The store is opened by the first call, so that a refusal reaches the caller as
    itself and not as a dead actor."""

    def __init__(self, folder: str, batch_points: int, optimize_above: int) -> None:
        self._arguments = (Path(folder), batch_points, optimize_above)
        self._opening = threading.Lock()
        self._store: EdgeStore | None = None

    @ray.method(concurrency_group="write")
    def write(self, method: str, *arguments: Any) -> Any:
        return getattr(self._opened(), method)(*arguments)

    @ray.method(concurrency_group="read")
    def read(self, method: str, *arguments: Any) -> Any:
        return getattr(self._opened(), method)(*arguments)

    @ray.method(concurrency_group="write")
    def close(self) -> None:
        with self._opening:
            if self._store is not None:
                self._store.close()
                self._store = None

    def _opened(self) -> EdgeStore:
        with self._opening:
            if self._store is None:
                self._store = self._take_folder()
            return self._store

    def _take_folder(self) -> EdgeStore:
        folder, batch_points, optimize_above = self._arguments
        address = ray.get_runtime_context().gcs_address
        auth = os.environ.get("RAY_AUTH_MODE", "")
        who = {"ray_address": address, "namespace": NAMESPACE, "actor": actor_name(folder), "ray_auth": auth}
        deadline = time.monotonic() + TAKEOVER_SECONDS
        while True:
            try:
                return EdgeStore(folder, batch_points, optimize_above, actor=who)
            except StoreLockedError as error:
                # A restarted actor may meet its own predecessor, still dying.
                mine = error.owner is not None and error.owner.actor == who["actor"]
                if not mine or time.monotonic() > deadline:
                    raise
                time.sleep(0.1)


class ActorStore:
    """`engine.store.Store` as a proxy to the actor. Safe to share between threads, and to send to Ray tasks."""

    def __init__(self, handle: Any, batch_points: int = 64) -> None:
        self._handle = handle
        self._batch = batch_points

    def ensure(self, vectors: Mapping[str, int]) -> None:
        self._write("ensure", dict(vectors))

    def vectors(self) -> dict[str, int]:
        return self._read("vectors")

    def upsert(self, points: Points) -> None:
        """In calls of at most `batch_points`, one after the other: searches get their turn in between."""
        for start in range(0, len(points), self._batch):
            self._write("upsert", points.cut(start, start + self._batch))

    def delete(self, where: Filter) -> None:
        self._write("delete", where)

    def set_dense(self, name: str, ids: Sequence[str], matrix: NDArray[np.float32]) -> None:
        for start in range(0, len(ids), self._batch):
            part = slice(start, start + self._batch)
            self._write("set_dense", name, list(ids[part]), matrix[part])

    def drop_dense(self, name: str) -> None:
        self._write("drop_dense", name)

    def search(
        self,
        queries: Sequence[Query],
        where: Filter,
        project_id: str | None,
        fields: Sequence[str] | None = None,
    ) -> list[list[Hit]]:
        return self._read("search", list(queries), where, project_id, fields)

    def fetch(
        self, ids: Sequence[str], with_dense: Sequence[str] = (), fields: Sequence[str] | None = None
    ) -> list[Record]:
        return self._read("fetch", list(ids), with_dense, fields)

    def count(self, where: Filter) -> int:
        return self._read("count", where)

    def scroll(
        self, where: Filter, with_dense: Sequence[str] = (), batch: int = 256, fields: Sequence[str] | None = None
    ) -> Iterator[list[Record]]:
        after: str | None = None
        while True:
            records, after = self._read("page", where, batch, after, with_dense, fields)
            if records:
                yield records
            if after is None:
                return

    def facet(self, field: str, where: Filter, limit: int = 100) -> dict[str, int]:
        return self._read("facet", field, where, limit)

    def optimize(self, force: bool = False) -> bool:
        """See `EdgeStore.optimize`: freezes the actor, searches included, until it is done."""
        return _result(self._handle.write.remote("optimize", force), None)

    def flush(self) -> None:
        self._write("flush")

    def close(self) -> None:
        """Nothing: the store belongs to the actor and to everyone who uses it. See `stop`."""

    def _read(self, method: str, *arguments: Any) -> Any:
        return _result(self._handle.read.remote(method, *arguments))

    def _write(self, method: str, *arguments: Any) -> Any:
        return _result(self._handle.write.remote(method, *arguments))


def _result(reference: Any, seconds: float | None = CALL_SECONDS) -> Any:
    try:
        return ray.get(reference, timeout=seconds)
    except RayTaskError as error:
        if isinstance(error.cause, CorpusError):
            raise error.cause from error
        raise StorageError(f"the embedded store failed: {error.cause!r}") from error
    except GetTimeoutError as error:
        raise StorageError(f"the embedded store's actor gave no answer in {seconds} s") from error
    except RayError as error:
        raise StorageError(f"the embedded store's actor is gone: {error}") from error


# ---------------------------------------------------------------- finding the actor
def connect(folder: Path, settings: StoreSettings, lifetime: Lifetime = "detached", num_cpus: float = 0) -> ActorStore:
    """The store in `folder` through its actor in the connected cluster, started on this node if there is none.

    `lifetime`: "detached" outlives this driver; None ends with it. Raises StorageError when Ray is not
    connected or another process holds the folder.
    """
    if not ray.is_initialized():
        raise StorageError("connect to Ray before opening the store through it")
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    remote: Any = ray.remote
    remote = remote(concurrency_groups={"read": READERS, "write": 1})(_StoreActor)
    handle = remote.options(
        name=actor_name(folder),
        namespace=NAMESPACE,
        get_if_exists=True,
        lifetime=lifetime,
        num_cpus=num_cpus,
        max_restarts=-1,
        max_task_retries=-1,
        scheduling_strategy=here,
    ).remote(str(folder.absolute()), settings.batch_points, settings.optimize_above)
    store = ActorStore(handle, settings.batch_points)
    store.vectors()  # opens the folder now: a refusal belongs here
    return store


def connect_to(owner: Owner, batch_points: int) -> ActorStore:
    """The store held by a running actor, in the cluster it lives in; connects to that cluster if need be.

    Raises StorageError when the cluster or the actor cannot be reached.
    """
    if not ray.is_initialized():
        if not reachable(owner.ray_address):
            raise StorageError(f"the cluster at {owner.ray_address} cannot be reached")
        try:
            ray.init(address=owner.ray_address, namespace=NAMESPACE, log_to_driver=False, configure_logging=False)
        except (RayError, ConnectionError, RuntimeError, ValueError) as error:
            raise StorageError(f"cannot join the cluster at {owner.ray_address}: {error}") from error
    try:
        handle = ray.get_actor(owner.actor, owner.namespace)
    except ValueError as error:
        raise StorageError(f"there is no actor {owner.actor} in the connected cluster") from error
    store = ActorStore(handle, batch_points)
    store.vectors()
    return store


def reachable(address: str) -> bool:
    """Whether something listens at host:port; joining a dead cluster takes Ray half a minute to notice."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=REACH_SECONDS):
            return True
    except (OSError, ValueError):
        return False


def stop(folder: Path) -> None:
    """Close the store in `folder` and end its actor; nothing happens when there is none."""
    try:
        handle: Any = ray.get_actor(actor_name(folder), NAMESPACE)
    except ValueError:
        return
    _result(handle.close.remote())
    ray.kill(handle, no_restart=True)
