"""`corpus serve`: the online API on a local Ray, on a cluster, or (with --local) in this one process.

It says where it listens and whether callers must identify themselves, serves until SIGTERM or Ctrl-C, and then
drains: requests under way are answered, the upload in hand is finished or given back.
"""

from __future__ import annotations

import io
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from engine.settings import Settings
from serve.auth import check_binding

SPARE_CPUS = 0.5  # of the machine, promised to whatever else is to run beside the API (a backfill)
LAST_WORDS_SECONDS = 0.5
SHORT_FOLDER = "/tmp"


def serve(settings: Settings, local: bool, ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGTERM or SIGINT. `ready` is told the base URL once requests are answered.

    Raises ConfigError when it would listen beyond this machine without authentication, or machine and settings do
    not fit; StorageError when the store or the registry cannot be had.
    """
    check_binding(settings)
    signals = Signals()
    signals.install()

    def begin(url: str) -> None:
        announce(settings, url)
        signals.serving = True
        if ready is not None:
            ready(url)

    if local:
        from serve.local import run

        run(settings, begin)  # the HTTP server waits for the signals itself
        return
    with _on_ray(settings, signals):
        begin(url_of(settings))
        signals.asked.wait()
        sys.stderr.write("corpus: draining\n")


def url_of(settings: Settings) -> str:
    """Where to reach the API from this machine."""
    s = settings.serve
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(s.host, f"[{s.host}]" if ":" in s.host else s.host)
    return f"{'https' if s.tls_certificate else 'http'}://{host}:{s.port}"


def announce(settings: Settings, url: str) -> None:
    """Say on standard error where the API is, and who may use it."""
    auth = "callers need a bearer token" if settings.auth.configured else "no authentication: this machine only"
    sys.stderr.write(f"corpus: listening on {url} ({auth}); documentation at {url}/docs\n")


class Signals:
    """SIGTERM and SIGINT: while it serves the first one asks it to drain; any other one interrupts."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.serving = False

    def install(self) -> None:
        """Again after Ray has started: it brings handlers of its own, which end the process at once."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._received)

    def _received(self, number: int, frame: object) -> None:
        if not self.serving:
            raise KeyboardInterrupt
        self.serving = False
        self.asked.set()


@contextmanager
def _on_ray(settings: Settings, signals: Signals) -> Generator[None]:
    """The application, deployed and answering; gone again afterwards, and so is the Ray that was started for it."""
    from engine import pipeline

    if settings.pipeline.ray_address:
        if settings.serve.tls_certificate:
            raise ConfigError("TLS on a cluster ends in front of it, or in its image: see docs/deployment.md")
        pipeline.start_ray(settings)
        signals.install()
        with _deployed(settings, settings.serve.host):
            yield
        return
    folder = _private_folder()
    try:
        from serve.ray_environment import on_this_machine

        os.environ.update(on_this_machine(settings, folder))
        pipeline.start_ray(settings, _cpus(settings))
        signals.install()
        with _deployed(settings, "127.0.0.1"):  # replicas listen on loopback; the proxy where the settings say
            sys.stderr.write(f"corpus: the replicas' logs are in {_log_folder()}\n")
            yield
    finally:
        import ray

        with _last_words_held():
            ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


def _private_folder() -> Path:
    """A new folder for the proxy's files, named after this process; those of dead processes go."""
    for old in Path(SHORT_FOLDER).glob("corpus*-*"):
        owner = re.fullmatch(r"corpus([0-9a-f]{1,6})-\w{8}", old.name)
        if owner and not Path(f"/proc/{int(owner[1], 16)}").exists():
            shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"corpus{os.getpid():x}-", dir=SHORT_FOLDER))


@contextmanager
def _deployed(settings: Settings, host: str) -> Generator[None]:
    from ray import serve as ray_serve
    from ray.serve.config import HTTPOptions

    from engine.store import actor
    from engine.store.open import folder_of, open_store
    from serve.app import APPLICATION, build_app
    from serve.ray_limiter import stop_limiter
    from serve.ray_metrics import stop_metrics

    logging.getLogger("ray.serve").setLevel(logging.WARNING)
    open_store(settings, ray=True)  # a store that is held by somebody else is told here, not by a replica
    try:
        ray_serve.start(proxy_location="EveryNode", http_options=HTTPOptions(host=host, port=settings.serve.port))
        try:
            ray_serve.run(build_app(settings), name=APPLICATION, route_prefix="/")
        except RuntimeError as error:
            raise ConfigError(f"the API did not start: {_reason() or error}") from error
        yield
    finally:
        with _last_words_held():
            ray_serve.delete(APPLICATION)
            ray_serve.shutdown()
            stop_limiter()
            stop_metrics()
            if not settings.store.url:
                actor.stop(folder_of(settings))
            time.sleep(LAST_WORDS_SECONDS)


@contextmanager
def _last_words_held() -> Generator[None]:
    """Ray calls the end of its own controller a failure, in red, on standard output; nobody needs to read it."""
    from engine import pipeline

    with pipeline.chatter_held(), redirect_stdout(io.StringIO()):
        yield


def _reason() -> str:
    """What a replica said last before it gave up: the last line of its traceback."""
    from ray import serve as ray_serve

    told = [line.strip() for d in _deployments(ray_serve.status()) for line in str(d.message).splitlines()]
    errors = [line for line in told if re.match(r"[\w.]+(Error|Exception): ", line) and "RayTaskError" not in line]
    return errors[-1] if errors else ""


def _deployments(status: Any) -> list[Any]:
    return [deployment for one in status.applications.values() for deployment in one.deployments.values()]


def _log_folder() -> Path:
    from ray._private.worker import global_worker

    node: Any = global_worker.node
    return Path(node.get_session_dir_path()) / "logs"


def _cpus(settings: Settings) -> float:
    """CPUs that the local Ray is told of: those of the machine, or as many as the least replicas and a backfill
    beside them reserve. Reservations are how Ray places work; the kernel shares the cores."""
    s = settings.serve
    least = (
        s.api_replicas[0] * s.api_cpus + s.embedder_replicas[0] * s.embedder_cpus + s.ingest_replicas[0] * s.ingest_cpus
    )
    return max(float(os.cpu_count() or 1), float(int(least + SPARE_CPUS + 0.999)))
