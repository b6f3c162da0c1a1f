"""A Ray head on this machine, for submitted jobs without a cluster: they outlive the notebook that submits them.

from jobs.local_head import use_local_head
head = use_local_head()          # http://127.0.0.1:8265, started unless it runs
...
head.stop()                      # or leave it running; `ray stop` ends it later
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from engine.errors import ConfigError
from jobs.submit import ADDRESS, UnreachableError, connect

START_SECONDS = 120.0
STOP_SECONDS = 30.0
RAY = (sys.executable, "-m", "ray.scripts.scripts")


@dataclass(slots=True)
class Head:
    """`address` of its dashboard; `process`: None when it was running before."""

    address: str
    process: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """End the head, and with it every job on it. One that was running before is left alone."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.terminate()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def use_local_head(address: str = ADDRESS, arguments: Sequence[str] = ()) -> Head:
    """The head whose dashboard is at `address` (loopback), started when none answers there.

    `arguments`: more of them for `ray start`. A started head asks for this account's token, which is made when there
    is none, and lives until it is stopped, also when this process ends. Raises ConfigError when it does not start.
    """
    try:
        connect(address)
    except UnreachableError:
        return _start(address, arguments)
    return Head(address)


def _start(address: str, arguments: Sequence[str]) -> Head:
    environment = _environment()
    subprocess.run([*RAY, "get-auth-token", "--generate"], env=environment, capture_output=True, check=True)
    log = Path(tempfile.mkdtemp(prefix="corpus-head-")) / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*RAY, "start", "--head", "--block", *_ports(address), *arguments], env=environment,
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    head = Head(address, process)
    try:
        _wait(head)
    except ConfigError as error:
        head.stop()
        raise ConfigError(f"{error.message}; Ray's own words are in {log}") from error
    return head


def _environment() -> dict[str, str]:
    """For the head, and so for its jobs: this interpreter's programs first, none of the variables of a cluster."""
    kept = {k: v for k, v in os.environ.items() if k not in ("RAY_ADDRESS", "RAY_API_SERVER_ADDRESS")}
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)))
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    at_once = {"RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0"}  # nothing can move from a cluster of one node
    return {**kept, **quiet, **at_once, "PATH": path, "RAY_AUTH_MODE": "token"}


def _ports(address: str) -> list[str]:
    """Every port that two heads on one machine would fight over: the dashboard's as given, the others free ones."""
    parts = urlsplit(address)
    gcs, agent, client = _free_ports(3)
    return [
        f"--dashboard-host={parts.hostname}", f"--dashboard-port={parts.port or 8265}", f"--port={gcs}",
        f"--dashboard-agent-listen-port={agent}", f"--ray-client-server-port={client}",
        "--min-worker-port=0", "--max-worker-port=0",
    ]  # fmt: skip


def _free_ports(count: int) -> list[int]:
    probes = [socket.socket() for _ in range(count)]
    try:
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _wait(head: Head) -> None:
    """Until the head takes jobs. Raises ConfigError when it ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    assert head.process is not None
    while time.monotonic() < deadline:
        if head.process.poll() is not None:
            raise ConfigError(f"Ray did not start (exit status {head.process.returncode})")
        try:
            connect(head.address)
            return
        except UnreachableError:
            time.sleep(0.5)
    raise ConfigError(f"Ray did not answer within {START_SECONDS:.0f} s")
