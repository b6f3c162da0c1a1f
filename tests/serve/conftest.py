"""A served API with a model-free embedder, one for all tests of a module, and a client of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import httpx
import pytest
from fake_embedder import FakeEmbedder

from engine.settings import load
from serve.local import running_server


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Base URL of a server without authentication; it has the project `demo`."""
    settings = load(
        {
            "home": tmp_path_factory.mktemp("served"),
            "limits.file_mb": 1,
            "serve.max_batch_size": 3,
            "serve.poll_seconds": 0.1,
            "serve.heartbeat_seconds": 1,
        },
        environ={},
    )
    with running_server(settings, FakeEmbedder()) as url:
        httpx.post(f"{url}/api/v1/projects", json={"slug": "demo"}).raise_for_status()
        yield url


@pytest.fixture(scope="module")
def api(served: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{served}/api/v1", timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def ended(api: httpx.Client) -> Callable[[str], dict[str, object]]:
    """Waits for a document to end; its state then."""

    def wait(document_id: str) -> dict[str, object]:
        deadline = time.monotonic() + 30
        while True:
            found = api.get(f"/documents/{document_id}").json()
            if found["status"] in ("completed", "failed"):
                return found
            assert time.monotonic() < deadline, found
            time.sleep(0.05)

    return wait
