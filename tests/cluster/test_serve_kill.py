"""kill -9 of what serves, with 30 documents in flight: no accepted upload is lost, none half-visible, and the end
equals a clean run.

Slow: about a minute a round. `SERVE_KILL_ROUNDS` (default 20) and `SERVE_KILL_SEED` (default 1) choose which.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil
import pytest
from corpora import text
from snapshots import Snapshot, equal, snapshot, twin_home

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(3600)]
ROUNDS = int(os.environ.get("SERVE_KILL_ROUNDS", "20"))
SEED = int(os.environ.get("SERVE_KILL_SEED", "1"))
TARGETS = ("ingest worker", "api replica", "everything")
DOCUMENTS = 30
ROOT = Path(__file__).resolve().parents[2]
TITLES = {"ingest worker": "Ingest", "api replica": "Api"}


@dataclass
class Server:
    """One `corpus serve`, and all processes that ever belonged to it."""

    home: Path
    port: int = 0
    process: subprocess.Popen[bytes] | None = None
    known: dict[int, psutil.Process] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        quick = ["serve.lease_seconds=6", "serve.poll_seconds=0.5", "serve.attempts=10"]
        quick += ["serve.parse_per_minute=100000", "serve.ingest_replicas=[1,2]", "serve.api_replicas=[2,2]"]
        command = [sys.executable, "-m", "jobs.cli", "--home", str(self.home)]
        for setting in quick:
            command += ["--set", setting]
        log = (self.home.parent / f"{self.home.name}.log").open("ab")
        environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
        self.process = subprocess.Popen(
            [*command, "serve", "--port", str(self.port)], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        deadline = time.monotonic() + 180
        while not self._ready():
            assert self.process.poll() is None, Path(log.name).read_text()[-4000:]
            assert time.monotonic() < deadline, Path(log.name).read_text()[-4000:]
            time.sleep(0.5)

    def _ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def members(self) -> list[psutil.Process]:
        assert self.process is not None
        try:
            root = psutil.Process(self.process.pid)
            found = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            found = []
        self.known.update({p.pid: p for p in found})
        return found

    def replicas(self, title: str) -> list[psutil.Process]:
        return [p for p in self.members() if title in _title(p)]

    def kill(self, target: str, draw: random.Random) -> int:
        """SIGKILL what the target names; how many processes."""
        members = self.members()
        if target != "everything":
            chosen = self.replicas(f":{TITLES[target]}")
            members = [draw.choice(chosen)] if chosen else []
        for process in members:
            try:
                process.send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                continue
        return len(members)

    def stop(self) -> None:
        assert self.process is not None
        self.members()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=90)
        finally:
            self.gone()

    def gone(self) -> None:
        """Wait until nothing of the server is left."""
        _, alive = psutil.wait_procs(list(self.known.values()), timeout=20)
        for process in alive:
            process.kill()
        psutil.wait_procs(alive, timeout=10)
        self.known.clear()


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


class Uploader(threading.Thread):
    """Sends 30 documents one after the other; a request without an answer is sent again with its Idempotency-Key."""

    def __init__(self, server: Server) -> None:
        super().__init__(daemon=True)
        self.server = server
        self.accepted: dict[str, str] = {}
        self.problems: list[str] = []

    def run(self) -> None:
        for n in range(DOCUMENTS):
            self._send(n, uuid.uuid4().hex)

    def _send(self, n: int, key: str) -> None:
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            try:
                answer = httpx.post(
                    f"{self.server.url}/api/v1/documents/parse",
                    data={"project_id": "demo", "source_id": f"doc-{n}"},
                    files={"file": (f"doc-{n}.txt", text(n, 14).encode())},
                    headers={"Idempotency-Key": key},
                    timeout=30,
                )
            except httpx.TransportError:
                time.sleep(0.3)
                continue
            if answer.status_code == 202:
                self.accepted[f"doc-{n}"] = answer.json()["document_id"]
                return
            if answer.status_code not in (409, 500, 502, 503):
                self.problems.append(f"doc-{n}: {answer.status_code} {answer.text[:200]}")
                return
            time.sleep(0.3)
        self.problems.append(f"doc-{n}: no answer")


def drained(server: Server, accepted: dict[str, str]) -> None:
    """Wait until every accepted document ended, all of them completed."""
    deadline = time.monotonic() + 300
    waiting = set(accepted.values())
    while waiting:
        assert time.monotonic() < deadline, f"{len(waiting)} accepted documents never ended"
        for document in sorted(waiting):
            try:
                answer = httpx.get(f"{server.url}/api/v1/documents/{document}", timeout=30)
            except httpx.TransportError:
                break
            if answer.status_code >= 500:
                break
            assert answer.status_code == 200, f"an accepted document is lost: {answer.text}"
            found = answer.json()
            assert found["status"] != "failed", found
            if found["status"] == "completed":
                waiting.discard(document)
        time.sleep(0.5)


def worked(home: Path) -> tuple[Server, Uploader]:
    server = Server(home)
    server.start()
    uploader = Uploader(server)
    uploader.start()
    return server, uploader


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Snapshot, float]]:
    """A run that nobody disturbed, and how long its documents took."""
    folder = tmp_path_factory.mktemp("serve-kill")
    home = twin_home(folder / "template", folder / "clean")
    begun = time.monotonic()
    server, uploader = worked(home)
    begun = time.monotonic()
    uploader.join(timeout=300)
    drained(server, uploader.accepted)
    seconds = time.monotonic() - begun
    server.stop()
    yield folder, snapshot(home), seconds


@pytest.mark.parametrize("number", range(ROUNDS))
def test_no_accepted_document_is_lost(clean: tuple[Path, Snapshot, float], number: int) -> None:
    folder, expected, seconds = clean
    draw = random.Random(SEED * 1000 + number)
    target, delay = TARGETS[number % len(TARGETS)], draw.uniform(0.05, 0.9) * seconds
    home = twin_home(folder / "template", folder / f"round-{number}")
    server, uploader = worked(home)
    time.sleep(delay)
    killed = server.kill(target, draw)
    print(f"round {number} (seed {SEED * 1000 + number}): {target}, {killed} processes, after {delay:.1f} s")
    assert killed
    if target == "everything":
        server.gone()
        server.start()
    uploader.join(timeout=600)
    assert not uploader.problems and len(uploader.accepted) == DOCUMENTS
    drained(server, uploader.accepted)
    server.stop()
    equal(snapshot(home), expected)
