"""The online API on Ray Serve: three deployments, each scaled by its own load.

    Api            the HTTP application; many requests at once, waits for the others
    QueryEmbedder  one model per replica; queries that arrive together share a forward pass
    Ingest         works through the uploads the ledger holds, one at a time per replica

    serve run serve.app:app        or        serve deploy configs/serve.yaml        or        corpus serve

With the first two the cluster's own environment counts (see `serve.ray_environment`); `corpus serve` sets it up.
"""

from __future__ import annotations

import asyncio
import logging
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from ray import serve as ray_serve
from ray.exceptions import RayActorError, RayTaskError
from ray.serve.exceptions import BackPressureError, DeploymentUnavailableError

from engine.errors import Code, CorpusError, EmbeddingError
from engine.settings import Settings, load
from serve import logs, ray_http, tracing
from serve.admission import RETRY_SECONDS, admit, requests_at_once
from serve.ray_environment import check_cluster, check_exposure, check_proxy
from serve.ray_scaling import POLICY, WORK

if TYPE_CHECKING:
    from ray.serve import Application
    from starlette.types import ASGIApp

    from engine.embed import ModelInfo
    from engine.registry.queries import Registry
    from engine.store import Store

APPLICATION = "corpus"
EMBED_TRIES = 3  # a replica that dies takes its queries along; they are asked again
UNWELL_SECONDS = 120.0  # registry or store away for this long: a fresh replica may reach them again
DRAIN_SECONDS = 5.0  # beyond the longest request
EMBEDS_AHEAD = 4  # passes whose queries an embedder takes in at once
log = logging.getLogger(__name__)


class Api:
    """One API replica: the whole FastAPI application, and a bound on what it takes on at once."""

    def __init__(self, settings: Settings, embedder: Any, ingest: Any) -> None:
        check_proxy()
        check_exposure(settings)
        check_cluster(settings)
        from serve.assemble import make_deps
        from serve.ray_limiter import RayLimiter, limiter_actor

        metrics = _metrics(_begin(settings, "corpus-api"))
        registry, store, model = _stores(settings)
        limiter_actor()
        limiter = RayLimiter(metrics.limiter_unreachable)
        self._embedder, self._ingest = embedder, ingest
        self._deps = make_deps(settings, registry, store, model, self._embed_query, limiter, metrics, self._wake)
        self._well_at = time.monotonic()

    def __serve_build_asgi_app__(self) -> ASGIApp:
        from serve.api import build_api

        return admit(build_api(self._deps), self._deps.settings.serve)

    async def check_health(self) -> None:
        """Serve replaces a replica whose registry or store stayed out of reach; until then `/readyz` tells."""
        try:
            async with asyncio.timeout(10):
                await asyncio.to_thread(self._deps.registry.queue_depth)
                await asyncio.to_thread(self._deps.store.vectors)
            self._well_at = time.monotonic()
        except (CorpusError, TimeoutError):
            if time.monotonic() - self._well_at > UNWELL_SECONDS:
                raise

    async def _embed_query(self, text: str) -> NDArray[np.float32]:
        """A query's vector from the embedders. Raises EmbeddingError, and CorpusError (OVERLOADED) when they have
        as much waiting as they take."""
        for attempt in range(EMBED_TRIES):
            try:
                return await self._embedder.embed.remote(text)
            except BackPressureError as error:
                raise _overloaded("too many queries wait to be embedded") from error
            except (RayActorError, DeploymentUnavailableError) as error:
                if attempt + 1 == EMBED_TRIES:
                    raise _overloaded("no query embedder is ready") from error
                await asyncio.sleep(0.2 * (attempt + 1))
            except RayTaskError as error:
                raise _cause(error) from error
        raise AssertionError("unreachable")

    async def _wake(self) -> None:
        """Tell the workers. They look by themselves too, so nothing is lost when this does not reach one."""
        try:
            self._ingest.wake.remote()
        except Exception as error:  # noqa: BLE001 - the upload is accepted already, whatever this is
            log.warning("no worker was told of an upload", extra={"error": type(error).__name__})


class QueryEmbedder:
    """One model. Queries that are there together share a forward pass."""

    def __init__(self, settings: Settings) -> None:
        from engine.embed.make import make_embedder

        self._metrics = _metrics(_begin(settings, "corpus-embedder"))
        self._model = make_embedder(_with_threads(settings, settings.serve.embedder_cpus))
        batched: Any = self._batched
        batched.set_max_batch_size(settings.serve.embed_batch)
        batched.set_batch_wait_timeout_s(settings.serve.embed_wait_ms / 1000)
        self._model.embed_queries(["warm"])

    async def embed(self, text: str) -> NDArray[np.float32]:
        """The query's unit vector. Raises EmbeddingError."""
        return await self._batched(text)  # pyright: ignore[reportGeneralTypeIssues]

    @ray_serve.batch
    async def _batched(self, texts: list[str]) -> list[NDArray[np.float32]]:
        self._metrics.embedded(len(texts))
        return list(await asyncio.to_thread(self._model.embed_queries, texts))

    async def check_health(self) -> None:
        """The model answers."""
        async with asyncio.timeout(30):
            await self._batched("health")  # pyright: ignore[reportGeneralTypeIssues]


class Ingest:
    """One ingest worker in threads of its own; it finds its work in the ledger."""

    def __init__(self, settings: Settings) -> None:
        from engine.embed.make import make_embedder
        from engine.objects.open import open_objects
        from serve import worker

        metrics = _metrics(_begin(settings, "corpus-ingest"))
        registry, store, _ = _stores(settings)
        self._registry = registry
        embedder = make_embedder(_with_threads(settings, settings.serve.ingest_cpus))
        self._worker = worker.Ingest(settings, registry, store, open_objects(settings), embedder, metrics)
        self._worker.start()

    async def wake(self) -> None:
        """There is work."""
        self._worker.wake()

    async def record_autoscaling_stats(self) -> dict[str, float]:
        """The uploads to work on, for `serve.ray_scaling`."""
        waiting, leased = await asyncio.to_thread(self._registry.queue_depth)
        return {WORK: float(waiting + leased)}

    async def check_health(self) -> None:
        """The worker's threads are alive."""
        if not self._worker.alive():
            raise CorpusError("the ingest worker has ended")

    async def __del__(self) -> None:
        """Serve awaits this when the replica is to go: the upload in hand is finished, or given back."""
        worker = getattr(self, "_worker", None)
        if worker is not None:
            await asyncio.to_thread(worker.stop)


# ---------------------------------------------------------------- the application
def build_app(settings: Settings) -> Application:
    """The three deployments of the settings, bound together."""
    s = settings.serve
    deployment: Any = partial(ray_serve.deployment, logging_config=SERVES_LOG)
    embedder = deployment(
        QueryEmbedder,
        ray_actor_options={"num_cpus": s.embedder_cpus, "num_gpus": s.embedder_gpus},
        max_ongoing_requests=EMBEDS_AHEAD * s.embed_batch,
        max_queued_requests=s.max_ongoing + s.max_queued,
        autoscaling_config=_scaling(settings, s.embedder_replicas, 2 * s.embed_batch),
        health_check_period_s=10,
        health_check_timeout_s=40,
        graceful_shutdown_wait_loop_s=1,
        graceful_shutdown_timeout_s=s.request_seconds + DRAIN_SECONDS,
    ).bind(settings)
    ingest = deployment(
        Ingest,
        ray_actor_options={"num_cpus": s.ingest_cpus},
        max_ongoing_requests=1,
        max_queued_requests=s.max_queued,
        autoscaling_config={**_scaling(settings, s.ingest_replicas, 1), "policy": {"policy_function": POLICY}},
        health_check_period_s=10,
        health_check_timeout_s=30,
        graceful_shutdown_wait_loop_s=1,
        graceful_shutdown_timeout_s=s.lease_seconds + DRAIN_SECONDS,
    ).bind(settings)
    at_once = requests_at_once(s)
    return deployment(
        ray_serve.ingress()(Api),
        ray_actor_options={"num_cpus": s.api_cpus, "runtime_env": {"env_vars": API_ENVIRONMENT}},
        max_ongoing_requests=at_once,
        max_queued_requests=at_once,
        backpressure_config={"status_code": 503, "retry_after_s": RETRY_SECONDS},
        autoscaling_config=_scaling(settings, s.api_replicas, max(1, s.max_ongoing // 2)),
        health_check_period_s=10,
        health_check_timeout_s=30,
        graceful_shutdown_wait_loop_s=1,
        graceful_shutdown_timeout_s=s.request_seconds + 2 * DRAIN_SECONDS,
    ).bind(settings, embedder, ingest)


SERVES_LOG = {"encoding": "JSON", "log_level": "WARNING", "enable_access_log": False}  # the API writes its own
API_ENVIRONMENT = {
    "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH": ray_http.REPLICA,
    "RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD": "0",
}


def _scaling(settings: Settings, replicas: tuple[int, int], target: float) -> dict[str, Any]:
    """`target`: requests at work or waiting that one replica is meant to have."""
    s = settings.serve
    return {
        "min_replicas": replicas[0],
        "initial_replicas": replicas[0],
        "max_replicas": replicas[1],
        "target_ongoing_requests": target,
        "upscale_delay_s": s.upscale_seconds,
        "downscale_delay_s": s.downscale_seconds,
        "metrics_interval_s": 1,
        "look_back_period_s": min(30.0, max(2.0, s.upscale_seconds)),
    }


def app(arguments: dict[str, Any]) -> Application:
    """For `serve run serve.app:app` and `serve deploy`: the arguments are settings by dotted name (`store.url: ...`);
    the rest comes from the file and the environment, as always."""
    return build_app(load(arguments))


# ---------------------------------------------------------------- parts
def _begin(settings: Settings, service: str) -> str:
    """Logs and traces of this process; the replica's name in both."""
    replica = ray_serve.get_replica_context().replica_tag
    logs.configure(settings.telemetry, replica)
    tracing.setup(settings.telemetry, service, replica)
    return replica


def _stores(settings: Settings) -> tuple[Registry, Store, ModelInfo]:
    """Ledger and vector store, both of which know the model."""
    from engine.embed.make import model_info
    from engine.registry.queries import open_registry
    from engine.store.open import open_store
    from serve.assemble import introduce

    registry, store, model = open_registry(settings), open_store(settings, ray=True), model_info(settings)
    introduce(model, registry, store)
    return registry, store, model


def _metrics(replica: str) -> Any:
    from serve.ray_metrics import SharedMetrics

    return SharedMetrics(replica)


def _with_threads(settings: Settings, cpus: float) -> Settings:
    """Torch takes the cores the replica reserves, unless the settings say how many."""
    if settings.embedding.threads is not None:
        return settings
    embedding = settings.embedding.model_copy(update={"threads": max(1, int(cpus))})
    return settings.model_copy(update={"embedding": embedding})


def _overloaded(message: str) -> CorpusError:
    return CorpusError(message, Code.OVERLOADED, details={"retry_after": RETRY_SECONDS})


def _cause(error: RayTaskError) -> CorpusError:
    cause = error.cause
    return cause if isinstance(cause, CorpusError) else EmbeddingError(f"the query embedder failed: {cause!r}")
