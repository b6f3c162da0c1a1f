"""`corpus serve` in a process of its own, for tests and only for them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120


@dataclass
class Served:
    """A running service: its home, its URL, its process."""

    home: Path
    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def client(self, **options: Any) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=60, **options)

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def replicas(self, deployment: str) -> list[psutil.Process]:
        return [p for p in self.family() if f"ServeReplica:corpus:{deployment}" in _title(p)]

    def proxies(self) -> list[psutil.Process]:
        return [p for p in self.family() if _title(p).split(" ")[0].endswith("/haproxy")]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=120)


def start(home: Path, *flags: str, **overrides: Any) -> Served:
    """`corpus serve` at a free port, answering. `overrides`: settings, `__` for the dot."""
    port = free_port()
    values = {"serve.search_per_minute": 10**6, **{name.replace("__", "."): v for name, v in overrides.items()}}
    home.mkdir(parents=True, exist_ok=True)
    config = home.parent / f"{home.name}.yaml"
    config.write_text(json.dumps(_nested(values)), "utf-8")
    log = home.parent / f"{home.name}.log"
    command = [
        sys.executable,
        "-m",
        "jobs.cli",
        "--config",
        str(config),
        "--home",
        str(home),
        "serve",
        "--port",
        str(port),
    ]
    process = subprocess.Popen(
        [*command, *flags], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=log.open("wb"),
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    scheme = "https" if "serve__tls_certificate" in overrides else "http"
    served = Served(home, f"{scheme}://127.0.0.1:{port}", process, log)
    deadline = time.monotonic() + START_SECONDS
    while b"corpus: listening" not in log.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(log.read_text("utf-8"))
        time.sleep(0.1)
    return served


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _nested(values: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for dotted, value in values.items():
        *groups, leaf = dotted.split(".")
        branch = tree
        for group in groups:
            branch = branch.setdefault(group, {})
        branch[leaf] = value
    return tree


def _title(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
