"""The pipeline on Ray Data: manifest blocks → workers → outcomes. The only engine module that knows Ray Data.

Ray retries a lost task for ever by default and knows no poison row; here a lost block is not retried by Ray.
Its documents simply have no outcome, and `run` offers them again in smaller blocks until the one that kills
its worker is alone.
"""

from __future__ import annotations

import logging
import os
import signal
import tempfile
import threading
import time
import warnings
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import ray
import ray.data
from ray._raylet import Config  # pyright: ignore[reportAttributeAccessIssue] - native code without stubs
from ray.data.exceptions import ExecutionTimeoutError
from ray.data.read_api import from_blocks
from ray.exceptions import RayError
from ray.util.annotations import RayDeprecationWarning

from engine.errors import Code
from engine.layout import Layout
from engine.prepare import Preparer, Run
from engine.records import Failure, Outcome, SourceItem
from engine.schema import items_of, items_table, outcomes_of, outcomes_table, prepared_of, prepared_table
from engine.settings import Settings
from engine.store.owner import Owner, holder
from engine.worker import Finisher, Worker

BATCH_NICENESS = 15  # of a backfill's workers and their children; the online API and the store run at 0
SETTLE_SECONDS = 1.0  # until Ray has noticed that what ended lately gave its resources back
SERVE_CONTROLLER = ("SERVE_CONTROLLER_ACTOR", "serve")  # name and namespace, in a cluster that runs the API


def start_ray(settings: Settings, num_cpus: float | None = None) -> None:
    """Connect to the configured cluster, or to the one of a running `corpus serve` that holds the store, or start a
    local Ray (of `num_cpus`, default all of this machine); does nothing when connected already."""
    if ray.is_initialized():
        return
    logging.getLogger("ray").setLevel(logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)  # it tells every lost block with its traceback
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    if settings.pipeline.ray_address:
        _connect(address=settings.pipeline.ray_address)
    elif not _joined_server(settings):
        os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's own 15 would put searches and backfills on a par
        _connect(address="local", include_dashboard=False, num_cpus=num_cpus)


def _connect(**options: Any) -> None:
    with chatter_held(), _sigterm_kept():
        ray.init(log_to_driver=False, configure_logging=False, namespace="corpus", **options)


def _joined_server(settings: Settings) -> bool:
    """Join the cluster of a `corpus serve` that holds this store, if there is one.

    Not that of another backfill: it ends with its driver, and takes its guests with it.
    """
    from engine.store.actor import reachable
    from engine.store.open import folder_of

    owner = None if settings.store.url else holder(folder_of(settings))
    if owner is None or not owner.actor or not reachable(owner.ray_address):
        return False
    _authenticate_as(owner)
    try:
        _connect(address=owner.ray_address)
        ray.get_actor(*SERVE_CONTROLLER)
    except ValueError:  # no such actor
        ray.shutdown()
    except (RayError, ConnectionError, RuntimeError) as error:
        logging.getLogger("corpus").warning("cannot join the cluster at %s: %s", owner.ray_address, error)
    return ray.is_initialized()


def _authenticate_as(owner: Owner) -> None:
    """Speak to a cluster the way its workers do. Ray reads the mode when it is imported, and again only here."""
    if owner.ray_auth and "RAY_AUTH_MODE" not in os.environ:
        os.environ["RAY_AUTH_MODE"] = owner.ray_auth
        Config.initialize("")


@contextmanager
def _sigterm_kept() -> Generator[None]:
    """Ray takes SIGTERM for itself when it connects; whoever had it gets it back, so that a run can end well."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextmanager
def chatter_held() -> Generator[None]:
    """Keep what Ray's native code writes to standard error while it starts; show it only when that fails."""
    kept = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(kept, held.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def cluster_size() -> tuple[float, float, bool]:
    """(CPUs, GPUs, guest) that the connected cluster has left; `guest`: others hold a part of it, as
    `engine.layout.plan_layout` takes them."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        whole, free = ray.cluster_resources(), ray.available_resources()
        guest = any(free.get(name, 0.0) < whole.get(name, 0.0) - 0.001 for name in ("CPU", "GPU"))
        if not guest or time.monotonic() > deadline:
            return float(free.get("CPU", 0)), float(free.get("GPU", 0)), guest
        time.sleep(0.1)


def yield_to_online_work() -> None:
    """Lower this process's priority, and that of all it starts from now on: searches go first."""
    os.nice(max(0, BATCH_NICENESS - os.nice(0)))


def node_count() -> int:
    """Nodes alive in the connected cluster."""
    return sum(bool(node["Alive"]) for node in ray.nodes())


@dataclass(frozen=True, slots=True)
class Job:
    """What every worker of a run is made from; travels to the actors once."""

    settings: Settings
    run: Run


def _worker_parts(job: Job) -> tuple[Any, Any, Any]:
    from engine.embed.make import make_embedder
    from engine.registry.queries import Registry, registry_url
    from engine.store.open import open_store

    registry = Registry(registry_url(job.settings))
    return registry, open_store(job.settings, ray=True), make_embedder(job.settings)


class FusedStage:
    """A worker as a Ray actor: manifest rows in, outcome rows out, group by group."""

    def __init__(self, job: Job) -> None:
        yield_to_online_work()
        registry, store, embedder = _worker_parts(job)
        self._worker = Worker(job.settings, job.run, registry, store, embedder)

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        for outcomes in self._worker.work(items_of(block)):
            yield outcomes_table(outcomes)


class PrepareStage:
    """The preparing half as a Ray actor: manifest rows in, prepared documents out."""

    def __init__(self, job: Job) -> None:
        from engine.registry.queries import Registry, registry_url

        yield_to_online_work()
        self._preparer = Preparer(job.settings, job.run, Registry(registry_url(job.settings)))

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        for document in self._preparer.prepare(items_of(block)):
            yield prepared_table([document])


class FinishStage:
    """The embedding and publishing half as a Ray actor."""

    def __init__(self, job: Job) -> None:
        yield_to_online_work()
        registry, store, embedder = _worker_parts(job)
        self._finisher = Finisher(job.settings, job.run, registry, store, embedder)

    def __call__(self, block: pa.Table) -> Iterator[pa.Table]:
        for outcomes in self._finisher.finish(prepared_of(block)):
            yield outcomes_table(outcomes)


def run(items: Sequence[SourceItem], job: Job, layout: Layout) -> Iterator[list[Outcome]]:
    """Work through one manifest shard. Every item's document gets exactly one outcome; documents found
    inside others come on top. The order is that of completion."""
    job = Job(_with_threads(job.settings, layout.threads), job.run)
    waiting = {item.key: item for item in items}
    size = job.settings.pipeline.block_documents
    # coarse blocks are cheap, but every worker should see several, so that none idles at the end
    per_block = max(1, min(size, len(items) // (layout.workers * 4)))
    for attempt in range(job.settings.pipeline.loss_retries):
        for outcomes in _pass(list(waiting.values()), per_block, job, layout):
            yield [o for o in outcomes if o.parent_id or waiting.pop(o.key, None)]
        if not waiting:
            return
        per_block = 1 if attempt else max(1, per_block // 8)
    yield [_lost(item, job) for item in waiting.values()]


def _with_threads(settings: Settings, threads: int) -> Settings:
    embedding = settings.embedding.model_copy(update={"threads": threads})
    return settings.model_copy(update={"embedding": embedding})


def _pass(items: list[SourceItem], per_block: int, job: Job, layout: Layout) -> Iterator[list[Outcome]]:
    context = ray.data.DataContext.get_current()
    context.max_errored_blocks = -1
    # Ray must not give up while one big document is at work: each has a deadline of its own. What still runs into
    # this bound is offered again like any lost block.
    context.execution_no_progress_timeout_s = int(max(3600, 200 * job.settings.limits.document_seconds))
    context.enable_progress_bars = False
    tables = [items_table(items[start : start + per_block]) for start in range(0, len(items), per_block)]
    # from_arrow would run a task of one whole CPU per block to count its rows, and wait for ever for that CPU in a
    # cluster that is nearly full
    data = _stages(from_blocks(tables), job, layout, len(tables))
    try:
        for table in data.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
            yield outcomes_of(table)
    except ExecutionTimeoutError as error:
        logging.getLogger("corpus").warning("no progress, starting over with what is left: %s", error)


def _stages(data: Any, job: Job, layout: Layout, blocks: int) -> Any:
    # An actor that dies is replaced, but the block it had is not run again by Ray.
    finite = {"max_restarts": -1, "max_task_retries": 0}
    # Ray 2.60 offers no other way to say so, and warns that there will be one; the version is pinned.
    warnings.filterwarnings("ignore", category=RayDeprecationWarning, message=".*ray_remote_args.*")
    common: dict[str, Any] = {"batch_size": None, "batch_format": "pyarrow", "fn_constructor_kwargs": {"job": job}}
    workers = ray.data.ActorPoolStrategy(size=min(layout.workers, blocks), max_tasks_in_flight_per_actor=2)
    if layout.kind == "fused":
        return data.map_batches(FusedStage, compute=workers, num_cpus=layout.worker_cpus, **common, **finite)
    embedders = ray.data.ActorPoolStrategy(size=layout.embedders, max_tasks_in_flight_per_actor=2)
    data = data.map_batches(PrepareStage, compute=workers, num_cpus=layout.worker_cpus, **common, **finite)
    return data.map_batches(
        FinishStage,
        compute=embedders,
        num_cpus=layout.embedder_cpus,
        num_gpus=layout.embedder_gpus or None,
        **common,
        **finite,
    )


def _lost(item: SourceItem, job: Job) -> Outcome:
    """The document that no worker survived: recorded as failed, like any other failure."""
    from engine.prepare import claim_of, new_document
    from engine.publish import outcome_of
    from engine.registry.queries import Registry, registry_url

    registry = Registry(registry_url(job.settings))
    p = new_document(item, job.run)
    p.generation = registry.claim([claim_of(p)], job.run.run_id)[p.document_id]
    p.failure = Failure(Code.WORKER_LOST, "extract", "the worker died each time it had this document")
    registry.fail([(p.document_id, p.generation, p.failure)])
    return outcome_of(p, job.run.run_id)
