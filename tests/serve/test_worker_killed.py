"""A worker that dies by SIGKILL, wherever it is, leaves its upload to the next, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import text

from engine.object_sweep import sweep_objects
from engine.store.edge import EdgeStore
from engine.sweep import sweep
from serve.worker import Ingest
from tests.engine.uploads import Bench, benches, box

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with benches(tmp_path, **{"serve.lease_seconds": 1}) as bench:
        yield bench


def worker(bench: Bench) -> Ingest:
    return Ingest(bench.settings, bench.registry, bench.store, bench.objects, bench.embedder)


def until_idle(bench: Bench, ingest: Ingest) -> None:
    deadline = time.monotonic() + 15
    while bench.registry.queue_depth() != (0, 0):
        assert time.monotonic() < deadline
        if not ingest.run_once():
            time.sleep(0.05)


@pytest.mark.parametrize(
    "point",
    [
        "during upsert", "after publish", *(
            pytest.param(point, marks=pytest.mark.slow)
            for point in (
                "after lease", "before claim", "before publish", "before settle", "after settle",
                "before forget_orphans",
            )
        ),
    ],
)  # fmt: skip
def test_a_worker_killed_at_any_point_leaves_its_upload_to_the_next(bench: Bench, tmp_path: Path, point: str) -> None:
    first = bench.upload(b"The text before about lamps.", source_id="a")
    bench.process()
    document = bench.upload(text(7).encode() * 3, source_id="a")
    if point == "before claim":  # only what is inside a document is claimed
        document = bench.upload(box(a_txt=text(1), b_txt=text(2)), "box.zip", source_id="a")
    assert document == first
    kill(bench, tmp_path, point)
    ingest = worker(bench)
    try:
        until_idle(bench, ingest)
        row = bench.row(document)
        assert row.status == "completed"
        assert bench.terminal_events(document) == ["document.completed"] * 2
        sweep(bench.store, bench.registry, 0)
        sweep_objects(bench.objects, bench.registry, 0)
        assert {p["revision"] for p in bench.points(document)} == {row.active_revision}
        assert len(bench.points(document)) == row.chunk_count
        assert bench.keys("uploads/") == [row.metadata["source_object"]]
        kept = {tuple(key.split("/")[2:4]) for key in bench.keys("artifacts/") if key.split("/")[2] == document}
        assert kept == {(document, row.active_revision)}
    finally:
        ingest.close()


def kill(bench: Bench, tmp_path: Path, point: str) -> None:
    """Run a worker that dies there, then wait for its lease to run out."""
    bench.store.close()
    command = [sys.executable, str(TESTS / "serve" / "killed_worker.py"), str(tmp_path / "home"), point]
    environment = {**os.environ, "PYTHONPATH": f"{TESTS.parent}:{TESTS}"}
    done = subprocess.run(command, env=environment, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    bench.store = EdgeStore(tmp_path / "home" / "store")
    time.sleep(1.1)


@pytest.mark.slow
def test_an_upload_that_kills_every_worker_is_given_up(bench: Bench, tmp_path: Path) -> None:
    document = bench.upload(text(1).encode())
    for _ in range(3):
        kill(bench, tmp_path, "before publish")
    ingest = worker(bench)
    assert ingest.run_once() is False
    row = bench.row(document)
    assert (row.status, row.error_code) == ("failed", "WORKER_LOST")
    assert bench.terminal_events(document) == ["document.failed"]
