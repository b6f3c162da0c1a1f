"""A Ray head of the tests' own, on free ports, with a token of its own."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Generator
from contextlib import contextmanager

import pytest

TOKEN = "d1" * 32


@contextmanager
def running_head() -> Generator[str]:
    """Address of a head's dashboard; the environment lets this process and its children in."""
    from jobs.local_head import use_local_head

    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # sockets lie in it: the path must stay short
    address = f"http://127.0.0.1:{_free_port()}"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("RAY_AUTH_MODE", "RAY_ADDRESS", "RAY_API_SERVER_ADDRESS"):
            patch.delenv(name, raising=False)
        patch.setenv("RAY_AUTH_TOKEN", TOKEN)
        head = use_local_head(address, [f"--temp-dir={folder}", "--num-cpus=2", "--object-store-memory=200000000"])
        try:
            yield address
        finally:
            head.stop()
            patch.delenv("RAY_AUTH_MODE", raising=False)
    shutil.rmtree(folder, ignore_errors=True)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
