"""What the embedded engine alone must hold: durability against SIGKILL, one owner per folder, upkeep."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from engine.errors import StorageError
from engine.store import Condition, Filter, Points, Query
from engine.store import edge as edge_module
from engine.store.edge import EdgeStore
from engine.store.owner import StoreLockedError, read

ROOT = Path(__file__).resolve().parents[3]

WRITER = """
import sys, uuid
from pathlib import Path
import numpy as np
from engine.store import Condition, Filter, Points
from engine.store.edge import EdgeStore

store = EdgeStore(Path(sys.argv[1]))
store.ensure({"d": 8})
store.upsert(Points([str(uuid.UUID(int=10**9))], {}, {}, [{"project_id": "p", "document_id": "old"}]))
store.delete(Filter([Condition("document_id", "any", ["old"])]))
rng = np.random.default_rng(0)
for start in range(0, 10**6, 20):
    ids = [str(uuid.UUID(int=i + 1)) for i in range(start, start + 20)]
    payloads = [{"project_id": "p", "chunk_index": i} for i in range(start, start + 20)]
    store.upsert(Points(ids, {"d": rng.random((20, 8), dtype=np.float32)}, {}, payloads))
    print(start + 20, flush=True)
"""


def start_writer(folder: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", WRITER, str(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def test_every_acknowledged_point_survives_sigkill(tmp_path):
    folder = tmp_path / "store"
    writer = start_writer(folder)
    assert writer.stdout is not None
    acknowledged = 0
    for line in writer.stdout:
        acknowledged = int(line)
        if acknowledged >= 600:
            break
    writer.send_signal(signal.SIGKILL)
    rest = writer.communicate()[0].split()
    acknowledged = max([acknowledged, *map(int, rest)])
    assert writer.returncode == -signal.SIGKILL

    store = EdgeStore(folder)
    found = {r.payload["chunk_index"] for batch in store.scroll(Filter()) for r in batch}
    assert set(range(acknowledged)) <= found
    assert store.vectors() == {"d": 8}
    [hits] = store.search([Query("d", 5, dense=np.ones(8, dtype=np.float32))], Filter(), "p")
    assert len(hits) == 5
    store.upsert(Points([], {}, {}, []))
    store.close()


def test_a_second_process_is_told_who_holds_the_folder(tmp_path):
    folder = tmp_path / "store"
    writer = start_writer(folder)
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(StoreLockedError, match=f"in use by process {writer.pid} on ") as caught:
            EdgeStore(folder)
        assert caught.value.details["pid"] == writer.pid
        assert caught.value.owner is not None
    finally:
        writer.kill()
        writer.communicate()
    store = EdgeStore(folder)  # the lock went with its process; the note does not matter
    note = read(folder)
    assert note is not None
    assert note.pid == os.getpid()
    store.close()


def test_the_folder_is_locked_before_the_first_point_and_free_after_close(tmp_path):
    first = EdgeStore(tmp_path)
    with pytest.raises(StoreLockedError):
        EdgeStore(tmp_path)
    first.close()
    first.close()
    second = EdgeStore(tmp_path)
    second.close()
    for call in (first.vectors, first.optimize, lambda: first.count(Filter()), lambda: first.ensure({"d": 3})):
        with pytest.raises(StorageError, match="closed"):
            call()


def test_a_broken_folder_is_a_storage_error_and_leaves_no_lock(tmp_path):
    store = EdgeStore(tmp_path)
    store.ensure({"d": 3})
    store.close()
    config = tmp_path / "shard" / "edge_config.json"
    good = config.read_text()
    config.write_text("{")
    with pytest.raises(StorageError, match="refused"):
        EdgeStore(tmp_path)
    config.write_text(good)
    EdgeStore(tmp_path).close()


def test_a_lost_configuration_file_is_restored_from_the_segments(tmp_path, make):
    store = EdgeStore(tmp_path)
    store.ensure({"d": 3})
    store.upsert(make.points([{"id": 1, "project_id": "p"}]))
    store.close()
    (tmp_path / "shard" / "edge_config.json").unlink()
    store = EdgeStore(tmp_path)
    assert (store.vectors(), store.count(Filter())) == ({"d": 3}, 1)
    store.close()


def test_a_folder_that_cannot_be_made_is_a_storage_error(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot use"):
        EdgeStore(tmp_path / "file" / "store")


def test_reopening_keeps_points_indexes_and_added_vectors(tmp_path, make):
    store = EdgeStore(tmp_path)
    store.ensure({"d": 3})
    store.upsert(make.points([{"id": 1, "project_id": "p", "acl": ["*"], "content": "x", "content_row": {5: 1}}]))
    store.ensure({"e": 2})
    store.close()
    store = EdgeStore(tmp_path)
    assert store.vectors() == {"d": 3, "e": 2}
    assert store.facet("acl", Filter()) == {"*": 1}
    assert store.fetch([make.id(1)])[0].payload["content"] == "x"
    store.close()


def test_optimize_waits_for_size_and_keeps_answers(tmp_path):
    store = EdgeStore(tmp_path, batch_points=512, optimize_above=1000)
    store.ensure({"d": 32})
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(1500, 32)).astype(np.float32)
    ids = [f"00000000-0000-0000-0000-{i:012x}" for i in range(1500)]
    payloads = [{"project_id": "p", "document_id": f"d{i % 10}"} for i in range(1500)]
    store.upsert(Points(ids[:900], {"d": matrix[:900]}, {}, payloads[:900]))
    assert store.optimize() is False
    store.upsert(Points(ids[900:], {"d": matrix[900:]}, {}, payloads[900:]))
    store.delete(Filter([Condition("document_id", "any", ["d1", "d2", "d3"])]))
    query = Query("d", 10, dense=matrix[0])
    before = store.search([query], Filter(), "p")
    assert store.optimize(force=True) is True
    after = store.search([query], Filter(), "p")
    assert [h.id for h in after[0]] == [h.id for h in before[0]]
    assert store.count(Filter()) == 1050
    store.close()


def test_the_log_is_flushed_now_and_then(tmp_path, monkeypatch, make):
    store = EdgeStore(tmp_path)
    store.ensure({"d": 3})
    monkeypatch.setattr(edge_module, "FLUSH_EVERY", 10)
    flushed = []
    monkeypatch.setattr(store, "flush", lambda: flushed.append(store._unflushed))
    store.upsert(make.points([{"id": i} for i in range(1, 5)]))
    assert flushed == []
    store.upsert(make.points([{"id": i} for i in range(1, 8)]))
    assert flushed == [11]
    monkeypatch.undo()
    store.close()


def test_reading_while_another_thread_writes(tmp_path, make):
    import threading

    store = EdgeStore(tmp_path)
    store.ensure({"d": 3})
    errors: list[Exception] = []
    stop = threading.Event()

    def write() -> None:
        try:
            for i in range(1, 60):
                store.upsert(make.points([{"id": i * 10 + j, "project_id": "p"} for j in range(10)]))
        except StorageError as error:
            errors.append(error)
        finally:
            stop.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = []
    while not stop.is_set():
        seen.append(store.count(Filter()))
        time.sleep(0.001)
    writer.join()
    assert errors == []
    assert seen == sorted(seen)
    assert store.count(Filter()) == 590
    store.close()
