"""The API under load on this machine: searches by 1, 8 and 32 clients, beside what they cost without the service.

    python -m benchmarks.serve_load [--chunks 3000] [--seconds 10] [--clients 1 8 32]
    python -m benchmarks.serve_load --autoscale      # replicas rise under load and fall after it, no request lost

Each client sends its next request when the last is answered. "bare" is the same embedding and the same query in one
process, called by as many threads; "livez" is a route of the same service that does nothing. Everything, the clients
too, shares the machine's cores. Floor: with 8 clients p50(search) ≤ p50(bare) + p50(livez) + 10 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from corpora import sentence

from benchmarks.search_latency import fill
from engine.embed.make import make_embedder
from engine.registry.queries import open_registry
from engine.search.classic import search
from engine.search.records import SearchRequest
from engine.settings import Settings, load
from engine.store.open import open_store

ROOT = Path(__file__).resolve().parents[1]
PORT = 8316
FLOOR_MS = 10.0
UNLIMITED = 10**9
SCALING = {
    "serve.upscale_seconds": 2,
    "serve.downscale_seconds": 5,
    "serve.max_ongoing": 8,
    "serve.api_replicas": [1, 3],
    "serve.embedder_replicas": [1, 2],
    "serve.api_cpus": 0.1,
    "serve.embedder_cpus": 0.2,
    "serve.ingest_cpus": 0.1,
}


@dataclass
class Figures:
    """Seconds of every request, and how often each status was answered (0: no answer)."""

    seconds: list[float] = field(default_factory=lambda: list[float]())
    statuses: Counter[int] = field(default_factory=lambda: Counter[int]())

    def at(self, share: float) -> float:
        """Milliseconds within which that share was answered."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(len(self.seconds) * share))] * 1000

    def line(self, name: str, clients: int, during: float) -> str:
        told = " ".join(f"{status}×{count}" for status, count in sorted(self.statuses.items()))
        rate = len(self.seconds) / during
        return (
            f"{name:8} {clients:3} clients  {rate:7.0f}/s  p50 {self.at(0.5):7.1f}  p99 {self.at(0.99):7.1f} ms  {told}"
        )


# ---------------------------------------------------------------- the clients
def ask(method: str, path: str, bodies: Sequence[bytes], clients: int, seconds: float) -> Figures:
    """Closed-loop load on the service; raw sockets, because a comfortable client costs as much as the service."""
    figures = Figures()
    asyncio.run(_all(method, path, bodies, clients, time.monotonic() + seconds, figures))
    return figures


async def _all(method: str, path: str, bodies: Sequence[bytes], clients: int, until: float, figures: Figures) -> None:
    requests = [_request(method, path, body) for body in bodies]
    await asyncio.gather(*(_client(requests[n:] + requests[:n], until, figures) for n in range(clients)))


def _request(method: str, path: str, body: bytes) -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


async def _client(requests: list[bytes], until: float, figures: Figures) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    sent = 0
    while time.monotonic() < until:
        begun = time.perf_counter()
        try:
            writer.write(requests[sent % len(requests)])
            status, stays = await _answer(reader)
        except (OSError, asyncio.IncompleteReadError):
            status, stays = 0, False
        figures.statuses[status] += 1
        figures.seconds.append(time.perf_counter() - begun)
        sent += 1
        if not stays:
            writer.close()
            reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    writer.close()


async def _answer(reader: asyncio.StreamReader) -> tuple[int, bool]:
    """Status of the next answer, and whether the connection stays open after it."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    for line in head.split(b"\r\n"):
        if line.startswith(b"content-length:"):
            await reader.readexactly(int(line[15:]))
        elif line.startswith(b"transfer-encoding:"):
            while size := int(await reader.readline(), 16):
                await reader.readexactly(size + 2)
            await reader.readline()
    return int(head[9:12]), b"\r\nconnection: close" not in head


# ---------------------------------------------------------------- without the service
def bare(settings: Settings, project: str, questions: Sequence[str], clients: int, seconds: float) -> Figures:
    """The same searches by threads of one process. The model is not for several threads at once: they take turns."""
    registry, store = open_registry(settings), open_store(settings, ray=False)
    model = make_embedder(_one_thread(settings))
    embedder, figures = _InTurn(model), Figures()
    until = time.monotonic() + seconds

    def client(number: int) -> None:
        sent = number
        while time.monotonic() < until:
            begun = time.perf_counter()
            search(SearchRequest(project, questions[sent % len(questions)]), store, registry, embedder)
            figures.seconds.append(time.perf_counter() - begun)
            sent += 1

    threads = [threading.Thread(target=client, args=(n,)) for n in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    store.close()
    return figures


class _InTurn:
    """A model that one thread after the other uses."""

    def __init__(self, model: Any) -> None:
        self.info, self._model, self._lock = model.info, model, threading.Lock()

    def embed_queries(self, texts: list[str]) -> Any:
        with self._lock:
            return self._model.embed_queries(texts)


def _one_thread(settings: Settings) -> Settings:
    return settings.model_copy(update={"embedding": settings.embedding.model_copy(update={"threads": 1})})


# ---------------------------------------------------------------- the service
@contextmanager
def service(home: Path, overrides: dict[str, Any], local: bool) -> Generator[None]:
    """`corpus serve` in processes of its own, answering; drained afterwards."""
    values = {"home": str(home), "serve.port": PORT, "serve.search_per_minute": UNLIMITED, **overrides}
    code = (
        "import json, sys; from engine.settings import load; from jobs.serve import serve; "
        "serve(load(json.loads(sys.argv[1])), sys.argv[2] == 'local', lambda url: print(url, flush=True))"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(values), "local" if local else "ray"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=(home.parent / "serve.log").open("wb"),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert running.stdout is not None
    try:
        if not running.stdout.readline():
            raise SystemExit(f"the service did not start:\n{(home.parent / 'serve.log').read_text('utf-8')}")
        yield
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(timeout=120)


def bodies_of(project: str, questions: Sequence[str]) -> list[bytes]:
    """Search requests."""
    return [json.dumps({"query": question, "project_id": project}).encode() for question in questions]


def compare(home: Path, project: str, questions: list[str], a: argparse.Namespace) -> bool:
    """Print the table; whether the floor holds."""
    settings = load({"home": str(home)}, environ={})
    plain = {clients: bare(settings, project, questions, clients, a.seconds) for clients in a.clients}
    path, bodies, holds = "/api/v1/documents/search", bodies_of(project, questions), True
    with service(home, {}, a.local):
        ask("POST", path, bodies, 8, 3)  # caches fill, code is loaded
        for clients in a.clients:
            nothing = ask("GET", "/livez", [b""], clients, a.seconds / 2)
            found = ask("POST", path, bodies, clients, a.seconds)
            print(plain[clients].line("bare", clients, a.seconds))
            print(nothing.line("livez", clients, a.seconds / 2))
            print(found.line("search", clients, a.seconds), flush=True)
            over = found.at(0.5) - plain[clients].at(0.5) - nothing.at(0.5)
            print(f"{'':8} search − bare − livez at p50: {over:+.1f} ms\n")
            if clients == 8:
                holds = over <= FLOOR_MS and set(found.statuses) <= {200, 503}
    return holds


def autoscale(home: Path, project: str, questions: list[str], a: argparse.Namespace) -> bool:
    """Print replicas over time; whether they rose and fell and every request was answered."""
    counts: list[tuple[float, int]] = []
    stop, begun = threading.Event(), time.monotonic()

    def watch() -> None:
        while not stop.wait(1.0):
            counts.append((time.monotonic() - begun, _api_replicas()))

    with service(home, SCALING, False):
        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        path, bodies = "/api/v1/documents/search", bodies_of(project, questions)
        loud = ask("POST", path, bodies, 32, a.seconds * 3)
        print(loud.line("search", 32, a.seconds * 3), flush=True)
        quiet = ask("POST", path, bodies, 1, a.seconds * 3 + 20)  # one client goes on while replicas leave
        print(quiet.line("search", 1, a.seconds * 3 + 20), flush=True)
        stop.set()
    print("API replicas:", " ".join(f"{at:.0f}s:{count}" for at, count in counts))
    figures = [count for _, count in counts]
    lost = sum(count for status, count in (loud.statuses + quiet.statuses).items() if status != 200)
    print(f"most replicas {max(figures)}, at the end {figures[-1]}, requests not answered with 200: {lost}")
    return max(figures) > 1 and figures[-1] == 1 and lost == 0


def _api_replicas() -> int:
    done = subprocess.run(["pgrep", "-fc", "ServeReplica:corpus:Api"], capture_output=True, text=True, check=False)
    return int(done.stdout or 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=3000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--local", action="store_true", help="the one-process service instead of Ray Serve")
    parser.add_argument("--autoscale", action="store_true")
    a = parser.parse_args()
    draw = random.Random(2)
    questions = [sentence(draw, 6) for _ in range(200)]
    with tempfile.TemporaryDirectory(prefix="corpus-bench-") as folder:
        home = Path(folder) / "home"
        project = fill(load({"home": str(home)}, environ={}), a.chunks)
        holds = (autoscale if a.autoscale else compare)(home, project, questions, a)
    if not holds:
        sys.exit("the floor does not hold")


if __name__ == "__main__":
    main()
