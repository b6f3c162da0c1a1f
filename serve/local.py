"""The same API in one process under uvicorn, without Ray: `corpus serve --local`, and tests.

The embedded store is opened here, queries are embedded in a thread, uploads are worked through in another (their
parsing, as everywhere, in an isolated child).
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from engine.embed import Embedder
from engine.embed.make import make_embedder
from engine.errors import ConfigError
from engine.registry.queries import Registry, open_registry
from engine.settings import Settings
from engine.store import Store
from engine.store.open import open_store
from serve import logs, tracing
from serve.admission import admit
from serve.api import build_api
from serve.assemble import introduce, make_deps
from serve.batching import Batcher
from serve.deps import Deps
from serve.limiter import MemoryLimiter
from serve.metrics import Metrics
from serve.worker import Ingest

START_SECONDS = 60.0
KEEP_ALIVE_SECONDS = 90


@dataclass(slots=True)
class Parts:
    """What one process serves with."""

    deps: Deps
    ingest: Ingest


def run(settings: Settings, ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT, then drain. `ready` is told the base URL once requests are answered.

    Raises ConfigError when it cannot listen or settings do not fit, StorageError when a store cannot be had.
    """
    logs.configure(settings.telemetry, "local")
    tracing.setup(settings.telemetry, "corpus-api", "local")
    with _parts(settings) as parts, _listening(settings) as (listener, url):
        server = _server(settings, parts.deps)
        watcher = threading.Thread(target=_tell, args=(server, url, ready), daemon=True)
        watcher.start()
        server.run([listener])


@contextmanager
def running_server(settings: Settings, embedder: Embedder | None = None) -> Generator[str]:
    """A server in threads of this process for as long as the block runs; its base URL. It listens on a free port.

    `embedder`: used for queries and documents instead of the configured model; it must bear several threads.
    """
    chosen = settings.model_copy(update={"serve": settings.serve.model_copy(update={"port": 0})})
    with _parts(chosen, embedder) as parts, _listening(chosen) as (listener, url):
        server = _server(chosen, parts.deps)
        thread = threading.Thread(target=server.run, args=([listener],), name="corpus-serve", daemon=True)
        thread.start()
        try:
            _await_start(server, thread)
            yield url
        finally:
            server.should_exit = True
            thread.join(timeout=START_SECONDS)


@contextmanager
def _parts(settings: Settings, embedder: Embedder | None = None) -> Generator[Parts]:
    registry = open_registry(settings)
    store = open_store(settings, ray=False)
    try:
        # a model is not for two threads at once, and a query must not wait behind a document's chunks
        queries, documents = embedder or make_embedder(settings), embedder or make_embedder(settings)
        yield from _with_store(settings, registry, store, queries, documents)
    finally:
        store.close()


def _with_store(
    settings: Settings, registry: Registry, store: Store, queries: Embedder, documents: Embedder
) -> Generator[Parts]:
    metrics, bounds = Metrics(), settings.serve
    batcher = Batcher(queries.embed_queries, bounds.embed_batch, bounds.embed_wait_ms / 1000, metrics.embedded)

    async def wake() -> None:
        ingest.wake()

    introduce(queries.info, registry, store)
    deps = make_deps(settings, registry, store, queries.info, batcher, MemoryLimiter(), metrics, wake)
    ingest = Ingest(settings, registry, store, deps.objects, documents, metrics)
    ingest.start()
    try:
        yield Parts(deps, ingest)
    finally:
        ingest.stop()
        deps.inspector.close()


def _server(settings: Settings, deps: Deps) -> uvicorn.Server:
    s = settings.serve
    return uvicorn.Server(
        uvicorn.Config(
            admit(build_api(deps), s),
            access_log=False,
            log_config=None,
            lifespan="on",
            server_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=int(s.request_seconds),
            ssl_certfile=s.tls_certificate,
            ssl_keyfile=s.tls_key,
        )
    )


@contextmanager
def _listening(settings: Settings) -> Generator[tuple[socket.socket, str]]:
    """A bound socket and its URL, before the server starts: a taken port is told at once. Raises ConfigError."""
    s = settings.serve
    family = socket.AF_INET6 if ":" in s.host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((s.host, s.port))
        except OSError as error:
            raise ConfigError(f"cannot listen on {s.host} port {s.port}: {error.strerror}") from error
        host = f"[{s.host}]" if family == socket.AF_INET6 else s.host
        yield listener, f"{'https' if s.tls_certificate else 'http'}://{host}:{listener.getsockname()[1]}"


def _await_start(server: uvicorn.Server, thread: threading.Thread) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not server.started:
        if not thread.is_alive() or time.monotonic() > deadline:
            raise ConfigError("the server did not start")
        time.sleep(0.01)


def _tell(server: uvicorn.Server, url: str, ready: Callable[[str], None] | None) -> None:
    while not server.started:
        time.sleep(0.05)
    if ready is not None:
        ready(url)
