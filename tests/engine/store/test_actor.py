"""The embedded store behind its Ray actor: one owner, many callers, back after a kill."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from engine.errors import StorageError
from engine.settings import Store as StoreSettings
from engine.settings import load
from engine.store import Filter, Points, Query
from engine.store.edge import EdgeStore
from engine.store.open import open_store
from engine.store.owner import StoreLockedError, read

pytestmark = pytest.mark.ray
ROOT = Path(__file__).resolve().parents[3]


def batch(start: int, count: int) -> Points:
    ids = [f"00000000-0000-0000-0000-{i:012x}" for i in range(start, start + count)]
    dense = np.random.default_rng(start).random((count, 16), dtype=np.float32)
    return Points(ids, {"d": dense}, {}, [{"project_id": "p", "chunk_index": i} for i in range(start, start + count)])


@pytest.fixture
def opened(local_ray, tmp_path):
    from engine.store import actor

    settings = load({"home": str(tmp_path)}, environ={})
    store = open_store(settings, ray=True)
    store.ensure({"d": 16})
    yield settings, store
    actor.stop(tmp_path / "store")


def test_a_killed_actor_comes_back_with_every_point(opened, tmp_path):
    _, store = opened
    store.upsert(batch(1, 200))
    note = read(tmp_path / "store")
    assert note is not None
    os.kill(note.pid, signal.SIGKILL)
    store.upsert(batch(201, 50))
    assert store.count(Filter()) == 250
    after = read(tmp_path / "store")
    assert after is not None
    assert after.pid != note.pid


def test_another_process_uses_the_store_through_the_actor(opened, tmp_path):
    _, store = opened
    store.upsert(batch(1, 10))
    code = f"""
from engine.settings import load
from engine.store import Filter
from engine.store.open import open_store
store = open_store(load({{"home": {str(tmp_path)!r}}}, environ={{}}), ray=False)
print(type(store).__name__, store.count(Filter()))
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["ActorStore", "10"], done.stderr


def test_a_second_caller_gets_the_same_actor_and_the_folder_is_refused_to_others(opened, tmp_path):
    settings, store = opened
    store.upsert(batch(1, 5))
    again = open_store(settings, ray=True)
    assert again.count(Filter()) == 5
    with pytest.raises(StoreLockedError, match="Ray actor corpus-store-"):
        EdgeStore(tmp_path / "store")


def test_a_folder_held_by_a_plain_process_is_refused_as_such(local_ray, tmp_path):
    from engine.store import actor

    held = EdgeStore(tmp_path / "store")
    with pytest.raises(StorageError, match=f"in use by process {os.getpid()} on"):
        actor.connect(tmp_path / "store", StoreSettings(), lifetime=None)
    held.close()


def test_a_search_does_not_wait_behind_the_queue_of_writes(opened):
    _, store = opened
    store.upsert(batch(1, 64))
    done: list[float] = []

    def write(offset: int) -> None:
        store.upsert(batch(offset, 1024))
        done.append(time.monotonic())

    writers = [threading.Thread(target=write, args=(10_000 * n,)) for n in range(1, 5)]
    for writer in writers:
        writer.start()
    answers: list[float] = []
    while any(w.is_alive() for w in writers):
        began = time.monotonic()
        [hits] = store.search([Query("d", 10, dense=np.ones(16, dtype=np.float32))], Filter(), "p", ["chunk_index"])
        answers.append(time.monotonic() - began)
        assert len(hits) == 10
    for writer in writers:
        writer.join()
    assert store.count(Filter()) == 64 + 4 * 1024
    assert len(answers) > 5  # several searches got through while 64 writes were queued
