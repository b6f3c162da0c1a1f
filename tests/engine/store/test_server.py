"""How the server adapter behaves when the server is busy, broken, slow or full: a real HTTP server that plays it."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from qdrant_client import QdrantClient

from engine.errors import StorageError
from engine.settings import Store as StoreSettings
from engine.store import Filter, Points
from engine.store.retry import Backoff
from engine.store.server import ServerStore, connect
from engine.store.server_types import batches

OK = {"result": {"operation_id": 1, "status": "completed"}, "status": "ok", "time": 0.0}
INFO = {
    "result": {
        "status": "green",
        "optimizer_status": "ok",
        "segments_count": 1,
        "config": {
            "params": {"vectors": {"d": {"size": 3, "distance": "Cosine"}}},
            "hnsw_config": {"m": 0, "ef_construct": 100, "full_scan_threshold": 10000},
            "optimizer_config": {
                "deleted_threshold": 0.2,
                "vacuum_min_vector_number": 1000,
                "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
            "wal_config": {"wal_capacity_mb": 32, "wal_segments_ahead": 0},
        },
        "payload_schema": {},
    },
    "status": "ok",
    "time": 0.0,
}
EXISTS = {"result": {"exists": True}, "status": "ok", "time": 0.0}


class Script:
    """What the stub answers to writes, in order: (status, headers); the last one for ever. Counts what it got."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str]]] = [(200, {})]
        self.writes: list[dict] = []
        self.queries: list[str] = []
        self.stall = threading.Event()

    def next(self) -> tuple[int, dict[str, str]]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def url(script: Script) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self, status: int, body: dict, headers: dict[str, str] | None = None) -> None:
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", **(headers or {})}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.answer(200, EXISTS if self.path.endswith("/exists") else INFO)

        def do_PUT(self) -> None:
            script.writes.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            script.queries.append(self.path)
            status, headers = script.next()
            if status == 0:
                script.stall.wait(10)
                return
            self.answer(status, OK if status == 200 else {"status": {"error": "no"}, "time": 0.0}, headers)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    script.stall.set()
    server.shutdown()
    thread.join()
    server.server_close()


def make_store(url: str, slept: list[float], timeout: int = 5, **options: object) -> ServerStore:
    client = QdrantClient(url=url, timeout=timeout, check_compatibility=False)
    return ServerStore(client, backoff=Backoff(attempts=4, sleep=slept.append), **options)


def points(count: int, text: str = "x") -> Points:
    ids = [f"00000000-0000-0000-0000-{i:012x}" for i in range(count)]
    return Points(ids, {"d": np.ones((count, 3), dtype=np.float32)}, {}, [{"content": text} for _ in ids])


def test_writes_wait_for_the_acknowledgement(url, script):
    make_store(url, []).upsert(points(3))
    assert "wait=true" in script.queries[0]
    assert len(script.writes[0]["points"]) == 3


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again_with_growing_waits(url, script, status):
    script.answers = [(status, {}), (status, {}), (200, {})]
    slept: list[float] = []
    make_store(url, slept).upsert(points(1))
    assert len(script.writes) == 3
    assert len(slept) == 2
    assert 0 <= slept[0] <= 0.5
    assert 0 <= slept[1] <= 1.0


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_a_floor(url, script, status):
    script.answers = [(status, {"Retry-After": "7"}), (200, {})]
    slept: list[float] = []
    make_store(url, slept).upsert(points(1))
    assert len(slept) == 1
    assert 7 <= slept[0] <= 7.5


def test_retry_after_as_a_date_still_counts_as_busy(url, script):
    script.answers = [(429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}), (200, {})]
    slept: list[float] = []
    make_store(url, slept).upsert(points(1))
    assert len(slept) == 1


def test_it_gives_up_in_the_end(url, script):
    script.answers = [(503, {})]
    slept: list[float] = []
    with pytest.raises(StorageError, match="could not write points in 4 attempts: 503"):
        make_store(url, slept).upsert(points(1))
    assert len(script.writes) == 4


def test_a_used_up_quota_is_an_error_at_once(url, script):
    script.answers = [(507, {})]
    slept: list[float] = []
    with pytest.raises(StorageError, match="507, its storage quota is used up"):
        make_store(url, slept).upsert(points(1))
    assert slept == []


@pytest.mark.parametrize("status", [400, 401, 403, 413])
def test_a_refusal_is_an_error_at_once(url, script, status):
    script.answers = [(status, {})]
    with pytest.raises(StorageError, match=f"refused to write points: {status}"):
        make_store(url, []).upsert(points(1))
    assert len(script.writes) == 1


def test_a_timeout_is_repeated(url, script):
    script.answers = [(0, {}), (200, {})]
    slept: list[float] = []
    make_store(url, slept, timeout=1).upsert(points(1))
    assert len(script.writes) == 2
    assert len(slept) == 1


def test_no_server_at_all_is_a_storage_error():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    slept: list[float] = []
    with pytest.raises(StorageError, match="in 4 attempts"):
        make_store(f"http://127.0.0.1:{port}", slept).count(Filter())
    assert len(slept) == 3


def test_requests_are_capped_in_points_and_bytes(url, script):
    make_store(url, [], batch_points=4).upsert(points(10))
    assert [len(w["points"]) for w in script.writes] == [4, 4, 2]
    script.writes.clear()
    make_store(url, [], batch_bytes=5000).upsert(points(6, text="y" * 2000))
    assert [len(w["points"]) for w in script.writes] == [2, 2, 2]
    assert all(len(json.dumps(w)) < 5500 for w in script.writes)


def test_one_point_over_the_cap_goes_alone():
    big = points(3, text="z" * 10_000)
    assert list(batches(big, 64, 1000)) == [slice(0, 1), slice(1, 2), slice(2, 3)]
    assert list(batches(points(0), 64, 1000)) == []


def test_settings_reach_the_client():
    client = connect(StoreSettings(url="https://qdrant.example:7443/prefix", api_key="secret", grpc=True))
    options = client.init_options
    assert options["url"] == "https://qdrant.example:7443/prefix"
    assert options["api_key"] == "secret"
    assert options["prefer_grpc"] is True
    client.close()
