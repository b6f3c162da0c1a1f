"""Replicas follow the load: ingest workers the ledger's queue, API replicas the requests. A service of its own, with
short delays; minutes long."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from corpora import text

sys.path.insert(0, str(Path(__file__).parent))
from served import Served, start

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(600)]
SECONDS = 240


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = start(
        tmp_path_factory.mktemp("scaled") / "home",
        serve__upscale_seconds=1, serve__downscale_seconds=3, serve__ingest_replicas=[1, 2], serve__ingest_cpus=0.3,
        serve__parse_per_minute=100_000, serve__poll_seconds=0.5,
    )  # fmt: skip
    yield running
    running.stop()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def test_workers_come_with_the_queue_and_go_with_it_and_no_upload_is_lost(served: Served) -> None:
    with served.client() as client:
        project = client.post("/api/v1/projects", json={"slug": "demo"}).json()["id"]
        sent: list[str] = []
        for n in range(24):
            file = {"file": (f"{n}.txt", text(n, 150).encode())}
            answer = client.post("/api/v1/documents/parse", data={"project_id": project}, files=file)
            assert answer.status_code == 202, answer.text
            sent.append(answer.json()["document_id"])
        until(lambda: len(served.replicas("Ingest")) == 2)
        left = set(sent)

        def done() -> bool:
            for document in list(left):
                row = client.get(f"/api/v1/documents/{document}").json()
                if row["status"] not in ("pending", "processing"):
                    assert row["status"] == "completed", row
                    left.discard(document)
            return not left

        until(done)
    until(lambda: len(served.replicas("Ingest")) == 1)
