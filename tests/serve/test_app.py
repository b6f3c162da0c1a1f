"""The API on Ray Serve, as `corpus serve` runs it: one service for all tests of this module."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from corpora import text, write_texts

sys.path.insert(0, str(Path(__file__).parent))
from served import ROOT, Served, start

pytestmark = [pytest.mark.ray, pytest.mark.timeout(300)]
FILE_MB = 8


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = start(
        tmp_path_factory.mktemp("served") / "home",
        limits__file_mb=FILE_MB, serve__max_ongoing=4, serve__max_queued=8, serve__parse_per_minute=100_000,
        serve__upscale_seconds=600, serve__heartbeat_seconds=1, serve__poll_seconds=0.5,
    )  # fmt: skip
    yield running
    if running.process.poll() is None:
        running.stop()


@pytest.fixture(scope="module")
def project(served: Served) -> str:
    with served.client() as client:
        return client.post("/api/v1/projects", json={"slug": "demo"}).json()["id"]


def upload(client: httpx.Client, project: str, name: str, body: bytes) -> str:
    answer = client.post("/api/v1/documents/parse", data={"project_id": project}, files={"file": (name, body)})
    assert answer.status_code == 202, answer.text
    return answer.json()["document_id"]


def completed(client: httpx.Client, document: str, seconds: float = 60) -> dict[str, object]:
    deadline = time.monotonic() + seconds
    while (row := client.get(f"/api/v1/documents/{document}").json())["status"] in ("pending", "processing"):
        assert time.monotonic() < deadline, row
        time.sleep(0.2)
    return row


def find(client: httpx.Client, project: str, query: str) -> httpx.Response:
    return client.post("/api/v1/documents/search", json={"project_id": project, "query": query})


# ---------------------------------------------------------------- what it does
def test_an_upload_is_processed_and_found(served: Served, project: str) -> None:
    with served.client() as client:
        assert client.get("/readyz").json()["status"] == "ok"
        document = upload(client, project, "keeper.txt", b"The keeper wound the clockwork of the lamp at dusk.")
        assert completed(client, document)["status"] == "completed"
        found = find(client, project, "who winds the lamp").json()["results"]
    assert [hit["document_id"] for hit in found] == [document]


def test_one_request_id_and_no_steering_of_the_proxy(served: Served) -> None:
    headers = {"X-Request-ID": "mine-1", "X-Request-Timeout-Seconds": "0.000001", "Serve-Multiplexed-Model-Id": "x"}
    with served.client() as client:
        answer = client.get("/api/v1/projects", headers=headers)
        strange = client.get("/api/v1/projects", headers={"X-Request-ID": "{not an id}"})
    assert answer.status_code == 200
    assert answer.headers.get_list("x-request-id") == ["mine-1"]
    assert len(strange.headers.get_list("x-request-id")) == 1


def test_it_listens_where_it_was_told_and_nowhere_else(served: Served) -> None:
    port = int(served.url.rpartition(":")[2])
    (proxy,) = served.proxies()
    listening = [c.laddr for c in proxy.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert [tuple(address) for address in listening] == [("127.0.0.1", port)]
    http = [
        c.laddr.ip for p in served.replicas("Api") for c in p.net_connections("inet") if 30000 <= c.laddr.port < 31000
    ]
    assert set(http) == {"127.0.0.1"}
    folder = Path(next(word for word in proxy.cmdline() if word.endswith("haproxy.cfg"))).parent
    assert (folder / "admin.sock").stat().st_mode & 0o777 == 0o600
    assert folder.parent.stat().st_mode & 0o777 == 0o700


def test_every_process_reports_its_counts(served: Served) -> None:
    deadline = time.monotonic() + 30
    with served.client() as client:
        while time.monotonic() < deadline:
            lines = [line for line in client.get("/metrics").text.splitlines() if line.startswith("process_resident")]
            if len({line.partition("{")[2].partition("}")[0] for line in lines}) >= 3:
                return
            time.sleep(1)
    pytest.fail(f"not all processes report: {lines}")


# ---------------------------------------------------------------- bounds
def test_a_huge_upload_is_refused_while_it_streams_and_nobody_holds_it(served: Served, project: str) -> None:
    """A gigabyte in chunks: 413 soon after the limit, less than 50 MB in all processes on its way, nothing kept."""
    watched = [*served.replicas("Api"), *served.proxies()]
    watched += [p for p in served.family() if "ProxyActor" in p.name() or "HAProxyManager" in p.name()]
    objects = served.home / "objects"
    kept = {path for path in objects.rglob("*") if path.is_file()}
    base = {p.pid: p.memory_info().rss for p in watched}
    peaks = dict(base)
    ended = threading.Event()

    def watch() -> None:
        while not ended.wait(0.02):
            for p in watched:
                peaks[p.pid] = max(peaks[p.pid], p.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    status, sent = _send_chunks(served, project, 1 << 30)
    ended.set()
    watcher.join()
    assert status == 413
    assert sent < 200 << 20
    grown = sum(peaks.values()) - sum(base.values())
    assert grown < 50 << 20, f"{grown >> 20} MiB"
    assert {path for path in objects.rglob("*") if path.is_file()} == kept


def _send_chunks(served: Served, project: str, size: int) -> tuple[int, int]:
    """Status of the answer, and how much could be sent until it came."""
    host, port = served.url.removeprefix("http://").split(":")
    edge = b"--edge\r\nContent-Disposition: form-data; name="
    head = edge + b'"project_id"\r\n\r\n' + project.encode() + b"\r\n" + edge
    head += b'"file"; filename="big.txt"\r\nContent-Type: text/plain\r\n\r\n'
    piece, sent, answer = b"x" * 65_536, 0, b""
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        start_line = f"POST /api/v1/documents/parse HTTP/1.1\r\nHost: {host}:{port}\r\nTransfer-Encoding: chunked\r\n"
        connection.sendall(start_line.encode() + b"Content-Type: multipart/form-data; boundary=edge\r\n\r\n")
        connection.sendall(b"%x\r\n%s\r\n" % (len(head), head))
        connection.settimeout(0.0)
        try:
            while sent < size and not answer:
                try:
                    answer = connection.recv(65_536)
                except BlockingIOError:
                    connection.settimeout(30)
                    connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
                    connection.settimeout(0.0)
                    sent += len(piece)
        except (BrokenPipeError, ConnectionResetError):
            connection.settimeout(30)
            answer = connection.recv(65_536)
    return int(answer[9:12]), sent


def test_beyond_the_queue_the_answer_is_503_with_the_envelope_and_when_to_come_back(
    served: Served, project: str
) -> None:
    async def all_at_once() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(base_url=served.url, timeout=120, limits=limits) as client:
            body = {"project_id": project, "query": "a lamp"}
            return await asyncio.gather(*(client.post("/api/v1/documents/search", json=body) for _ in range(120)))

    answers = asyncio.run(all_at_once())
    statuses = Counter(answer.status_code for answer in answers)
    assert set(statuses) == {200, 503}, statuses
    assert statuses[200] >= 4 + 8
    for answer in answers:
        if answer.status_code == 503:
            error = answer.json()["error"]
            assert (error["code"], error["request_id"]) == ("OVERLOADED", answer.headers["x-request-id"])
            assert int(answer.headers["retry-after"]) >= 1
    with served.client() as client:
        assert client.get("/livez").status_code == 200


# ---------------------------------------------------------------- streams
def test_events_arrive_as_they_happen_and_a_client_that_goes_frees_its_place(served: Served, project: str) -> None:
    with served.client() as client:
        document = upload(client, project, "slow.txt", text(3, 400).encode())
        arrived: list[tuple[float, str]] = []
        with client.stream("GET", f"/api/v1/documents/{document}/events") as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            for line in answer.iter_lines():
                arrived.append((time.monotonic(), line))
                if line.startswith("event: document.completed"):
                    break
        kinds = [line for _, line in arrived if line.startswith("event:")]
        assert kinds[0] == "event: document.accepted"
        assert arrived[-1][0] - arrived[0][0] > 0.05  # not all in one piece at the end
        idle = _in_progress(client)
        other = upload(client, project, "other.txt", text(4, 3000).encode())
        with client.stream("GET", f"/api/v1/documents/{other}/events") as answer:
            next(answer.iter_lines())
        deadline = time.monotonic() + 15
        while _in_progress(client) > idle:
            assert time.monotonic() < deadline, "the replica did not notice that its client is gone"
            time.sleep(0.2)


def _in_progress(client: httpx.Client) -> float:
    lines = client.get("/metrics").text.splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith("corpus_http_requests_in_progress{"))


# ---------------------------------------------------------------- beside others, and through trouble
@pytest.mark.slow
def test_a_backfill_finds_room_beside_it_and_gives_way_to_searches(
    served: Served, project: str, tmp_path: Path
) -> None:
    docs = tmp_path / "docs"
    write_texts(docs, 60, sentences=12)
    command = [sys.executable, "-m", "jobs.cli", "--home", str(served.home), "backfill", str(docs), "-p", "archive"]
    running = subprocess.Popen(
        [*command, "-q", "--json"], cwd=ROOT, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    statuses: Counter[int] = Counter()
    niceness: dict[str, set[int]] = {"Fused": set(), "Api": set()}
    with served.client() as client:
        while running.poll() is None:
            statuses[find(client, project, "keeper").status_code] += 1
            for p in served.family():
                name = p.name() if p.is_running() else ""
                if "MapWorker" in name or "Fused" in " ".join(_words(p)):
                    niceness["Fused"].add(p.nice())
            niceness["Api"] |= {p.nice() for p in served.replicas("Api")}
            time.sleep(0.1)
        assert running.stdout is not None
        report = json.loads(running.stdout.read())
        assert running.returncode == 0
        assert report["totals"]["published"] == 60
        assert find(client, "archive", "harbour").json()["results"]
    assert set(statuses) == {200} and statuses[200] > 10, statuses
    assert 15 in niceness["Fused"]  # 0 for a moment, until its constructor runs
    assert niceness["Api"] == {0}


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.slow
def test_a_killed_replica_is_replaced_and_its_absence_is_said_politely(served: Served) -> None:
    (replica,) = served.replicas("Api")
    replica.send_signal(signal.SIGKILL)
    deadline, seen = time.monotonic() + 90, Counter[int]()
    with served.client() as client:
        while time.monotonic() < deadline:
            try:
                answer = client.get("/api/v1/projects")
            except httpx.TransportError:
                seen[0] += 1
                continue
            seen[answer.status_code] += 1
            if answer.status_code >= 400:
                assert answer.json()["error"]["code"] in ("OVERLOADED", "INTERNAL")
            elif served.replicas("Api") and served.replicas("Api")[0].pid != replica.pid:
                break
            time.sleep(0.1)
    print(dict(seen))
    assert seen[200] >= 1
    assert seen[0] <= 1  # the request that was under way when it died


@pytest.mark.slow
def test_it_drains_when_it_is_told_to_stop(served: Served, project: str) -> None:
    """The last test: what is under way when SIGTERM comes is answered; everything has ended afterwards."""
    with served.client() as client:
        document = upload(client, project, "late.txt", text(9, 2000).encode())
    family = served.family()
    assert served.stop() == 0
    gone, alive = psutil.wait_procs(family, timeout=15)
    assert not alive, [p.name() for p in alive]
    assert gone
    from engine.registry.queries import open_registry
    from engine.settings import load

    registry = open_registry(load({"home": served.home}, environ={}))
    row = registry.document(document)
    assert row is not None
    assert row.status == "completed" or registry.ingest(document) is not None  # done, or given back whole
