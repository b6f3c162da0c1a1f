"""What takes long holds up nobody else: threads that wait for the inspector are not those of other requests."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

import httpx
import pytest
from fake_embedder import FakeEmbedder

from engine.inspector import Inspector
from engine.settings import load
from serve.local import running_server

UPLOADS = 45  # more than the threads that all requests share


class Stuck(Inspector):
    """Finds no format before it is let go on."""

    gate = threading.Event()

    def detect(self, path: Path, filename: str) -> str:
        self.gate.wait(30)
        return "md"


def test_uploads_that_wait_for_the_inspector_leave_other_requests_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("serve.assemble.Inspector", Stuck)
    settings = load({"home": tmp_path, "serve.max_ongoing": 2 * UPLOADS}, environ={})
    with running_server(settings, FakeEmbedder()) as url, ThreadPoolExecutor(UPLOADS) as pool:
        httpx.post(f"{url}/api/v1/projects", json={"slug": "demo"}).raise_for_status()
        sent = [pool.submit(_upload, url) for _ in range(UPLOADS)]
        try:
            time.sleep(2)  # until they have all arrived there
            assert httpx.get(f"{url}/api/v1/projects", timeout=5).status_code == 200
            assert not any(each.done() for each in sent)
        finally:
            Stuck.gate.set()
            wait(sent)
        assert {each.result() for each in sent} == {202}


def _upload(url: str) -> int:
    files = {"file": ("lamp.md", b"# Lamp\n\nThe keeper wound the clockwork.\n")}
    return httpx.post(f"{url}/api/v1/documents/parse", data={"project_id": "demo"}, files=files, timeout=60).status_code
