"""The ingest loop over real stores: ends, drains, lost leases, stores that go away, workers that are killed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from corpora import text
from fake_embedder import FakeEmbedder
from standardwebhooks.webhooks import Webhook

from engine.errors import EmbeddingError, StorageError
from engine.store import Points
from engine.store.edge import EdgeStore
from serve.metrics import Metrics
from serve.worker import Ingest
from tests.engine.uploads import Bench, benches
from tests.serve.webhooks.receiver import receiving

TESTS = Path(__file__).resolve().parents[1]
QUICK = {
    "serve.lease_seconds": 1.5,
    "serve.poll_seconds": 0.1,
    "webhooks.allow_private": True,
    "webhooks.allow_http": True,
    "webhooks.backoff_seconds": 0.1,
    "extractors": {"poison": "poison_extractor:extract"},
    "formats": {"poison": [".poison"]},
    "security.pii_entities": ["EMAIL"],  # none of the kinds that need a model for names
}
ENDLESS = b"loop\nnever read"


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setenv("PYTHONPATH", str(TESTS))
    with benches(tmp_path, **QUICK) as bench:
        yield bench


@pytest.fixture
def ingest(bench: Bench) -> Iterator[Ingest]:
    made = worker(bench)
    yield made
    made.close()


def worker(bench: Bench, **other: object) -> Ingest:
    parts = {"settings": bench.settings, "store": bench.store, "embedder": bench.embedder, **other}
    return Ingest(registry=bench.registry, objects=bench.objects, **parts)  # type: ignore[arg-type]


def until(condition: Callable[[], object], seconds: float = 15) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def types(bench: Bench, document: str) -> list[str]:
    return [event.type.removeprefix("document.") for event in bench.registry.events(document)]


# ---------------------------------------------------------------- one after the other
def test_an_upload_is_seen_to_its_end(bench: Bench, ingest: Ingest) -> None:
    assert ingest.run_once() is False
    document = bench.upload(text(1).encode())
    assert ingest.run_once() is True
    assert bench.row(document).status == "completed"
    assert bench.registry.ingest(document) is None
    assert types(bench, document) == ["accepted", *["stage"] * 4, "completed"]
    stages = [e.data["stage"] for e in bench.registry.events(document) if e.type == "document.stage"]
    assert stages == ["fetch", "extract", "embed", "publish"]
    assert bench.registry.original(document) in bench.keys("uploads/")
    assert ingest.run_once() is False


def test_a_failed_upload_is_told_and_its_bytes_go(bench: Bench, ingest: Ingest) -> None:
    document = bench.upload(b"%PDF-1.4 nothing here", "a.pdf")
    ingest.run_once()
    *_, last = bench.registry.events(document)
    assert (last.type, last.data["error"]["code"]) == ("document.failed", "EXTRACTION_FAILED")  # type: ignore[index]
    assert (bench.keys("uploads/"), bench.keys("artifacts/")) == ([], [])


def test_with_redaction_the_upload_is_gone_when_the_document_is_there(bench: Bench, ingest: Ingest) -> None:
    bench.registry.update_project_settings(bench.project, lambda kept: {"pii_redaction": True})
    document = bench.upload(b"Write to ann@example.org about the lamp.")
    ingest.run_once()
    assert bench.row(document).status == "completed"
    assert bench.keys("uploads/") == []


def test_the_new_revisions_bytes_replace_the_old_ones(bench: Bench, ingest: Ingest) -> None:
    for n in range(3):
        document = bench.upload(text(n).encode(), source_id="a")
        ingest.run_once()
    assert bench.keys("uploads/") == [bench.registry.original(document)]


# ---------------------------------------------------------------- the loop
def test_it_works_in_the_background_and_tells_webhooks(bench: Bench) -> None:
    metrics = Metrics()
    with receiving() as receiver:
        receiver.answers = [503, 200]
        hook = bench.registry.add_webhook(bench.project, f"http://127.0.0.1:{receiver.port}/hook", [])
        ingest = worker(bench, metrics=metrics)
        ingest.start()
        try:
            documents = [bench.upload(text(n).encode()) for n in range(3)]
            ingest.wake()
            until(lambda: all(bench.row(d).status == "completed" for d in documents))
            until(lambda: len(receiver.requests) >= 7)
            until(lambda: all(d.status == "delivered" for d in bench.registry.deliveries(hook.webhook_id)))
            assert ingest.alive()
        finally:
            ingest.stop(5)
        assert not ingest.alive()
        told = [Webhook(hook.secret).verify(body, headers) for _, headers, body in receiver.requests]
    completed = {t["data"]["document_id"] for t in told if t["type"] == "document.completed"}
    assert completed == set(documents)
    assert all(t["data"]["project_id"] == bench.project for t in told)
    counted = metrics.text().decode()
    assert 'corpus_ingested_total{code="completed",replica="local"} 3.0' in counted
    assert 'corpus_webhook_deliveries_total{outcome="retried",replica="local"} 1.0' in counted


@pytest.fixture(params=["sqlite", "postgresql"])
def either_bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Bench]:
    """Over both kinds of registry."""
    url = {} if request.param == "sqlite" else {"registry.url": request.getfixturevalue("postgres_url")}
    with benches(tmp_path, **QUICK, **url) as bench:
        yield bench


def test_two_workers_share_the_work_and_end_each_upload_once(either_bench: Bench) -> None:
    bench = either_bench
    documents = [bench.upload(text(n).encode()) for n in range(12)]
    pair = [worker(bench), worker(bench)]
    for one in pair:
        one.start()
    try:
        until(lambda: bench.registry.queue_depth() == (0, 0), 40)
    finally:
        for one in pair:
            one.stop(10)
    for document in documents:
        assert bench.terminal_events(document) == ["document.completed"]
        assert len({p["revision"] for p in bench.points(document)}) == 1


def test_a_lease_is_kept_alive_as_long_as_the_work_takes(bench: Bench) -> None:
    slow = threading.Event()

    class Slow(FakeEmbedder):
        def embed_documents(self, texts: list[str]):
            slow.wait(3)  # well over the lease
            return super().embed_documents(texts)

    document = bench.upload(text(1).encode())
    ingest = worker(bench, embedder=Slow())
    ingest.start()
    until(lambda: bench.registry.queue_depth() == (0, 1))
    try:
        for _ in range(20):
            assert bench.registry.lease("thief", 10) == []
            time.sleep(0.1)
        slow.set()
        until(lambda: bench.row(document).status == "completed")
    finally:
        ingest.stop(5)


def test_deleting_a_document_ends_the_work_on_it(bench: Bench, ingest: Ingest) -> None:
    document = bench.upload(ENDLESS, "loop.poison")
    threading.Timer(1.0, bench.registry.delete, [document]).start()
    start = time.monotonic()
    ingest.run_once()
    assert time.monotonic() - start < 15
    assert types(bench, document)[-1] == "deleted"
    after = bench.upload(text(1).encode())
    ingest.run_once()
    assert bench.row(after).status == "completed"


def test_a_newer_upload_takes_over_from_the_one_being_worked_on(bench: Bench, ingest: Ingest) -> None:
    document = bench.upload(ENDLESS, "loop.poison", source_id="a")
    threading.Timer(1.0, lambda: bench.upload(text(2).encode(), "a.txt", source_id="a")).start()
    ingest.run_once()
    ingest.run_once()
    assert bench.row(document).status == "completed"
    assert bench.terminal_events(document) == ["document.completed"]


# ---------------------------------------------------------------- the end of a worker
def test_stopping_lets_the_upload_in_hand_finish(bench: Bench) -> None:
    first, second = (bench.upload(text(n).encode()) for n in range(2))
    ingest = worker(bench)
    ingest.start()
    until(lambda: bench.registry.queue_depth()[1] == 1)
    ingest.stop(20)
    assert [bench.row(d).status for d in (first, second)] == ["completed", "pending"]
    assert bench.terminal_events(first) == ["document.completed"]


def test_what_cannot_finish_in_time_is_given_back_uncounted(bench: Bench) -> None:
    document = bench.upload(ENDLESS, "loop.poison")
    ingest = worker(bench)
    ingest.start()
    until(lambda: (bench.registry.ingest(document) or 0) and bench.registry.ingest(document).stage == "extract")  # type: ignore[union-attr]
    ingest.stop(0.2)
    waiting = bench.registry.ingest(document)
    assert waiting is not None and (waiting.state, waiting.attempt) == ("waiting", 0)
    assert bench.row(document).status == "pending"


# ---------------------------------------------------------------- what is not the document's fault
class Away(EdgeStore):
    """A vector store that is away while told to be."""

    away = True

    def upsert(self, points: Points) -> None:
        self._check()
        super().upsert(points)

    def count(self, where: object) -> int:
        self._check()
        return super().count(where)  # type: ignore[arg-type]

    def _check(self) -> None:
        if self.away:
            raise StorageError("away")


@pytest.mark.slow
def test_while_the_store_is_away_the_queue_is_left_alone(bench: Bench, tmp_path: Path) -> None:
    store = Away(tmp_path / "other")
    store.ensure({"fake": 16})
    documents = [bench.upload(text(n).encode()) for n in range(4)]
    ingest = worker(bench, store=store)
    ingest.start()
    try:
        time.sleep(2)
        attempts = [bench.registry.ingest(d).attempt for d in documents]  # type: ignore[union-attr]
        assert sum(attempts) <= 2, "attempts are burnt on a store that is away"
        assert {bench.row(d).error_code for d in documents} == {""}
        store.away = False
        until(lambda: all(bench.row(d).status == "completed" for d in documents), 40)
    finally:
        ingest.stop(5)
        store.close()


@pytest.mark.slow
def test_what_goes_wrong_after_the_flip_does_not_undo_it(bench: Bench, tmp_path: Path) -> None:
    class Stuck(EdgeStore):
        def delete(self, where: object) -> None:
            raise StorageError("away")

    store = Stuck(tmp_path / "other")
    store.ensure({"fake": 16})
    document = bench.upload(text(1).encode())
    for _ in range(2):
        bench.registry.lease("dead", 0)
        time.sleep(0.01)
    ingest = worker(bench, store=store)
    assert ingest.run_once()  # the last attempt
    assert (bench.row(document).status, bench.row(document).error_code) == ("completed", "")
    assert bench.terminal_events(document) == ["document.completed"]
    ingest.close()
    store.close()


def test_an_outage_costs_no_attempts_however_many_workers_meet_it(bench: Bench) -> None:
    class Gateway(FakeEmbedder):
        away = True

        def embed_documents(self, texts: list[str]):
            if self.away:
                raise EmbeddingError("away")
            return super().embed_documents(texts)

    gateway = Gateway()
    document = bench.upload(text(1).encode())
    workers = [worker(bench, embedder=gateway) for _ in range(4)]
    for ingest in workers:
        assert ingest.run_once()
        waiting = bench.registry.ingest(document)
        assert waiting is not None and waiting.attempt == 0
    gateway.away = False
    assert workers[0].run_once()
    assert bench.row(document).status == "completed"
    assert bench.terminal_events(document) == ["document.completed"]
    for ingest in workers:
        ingest.close()


@pytest.mark.slow
def test_a_defect_is_tried_by_others_and_recorded_in_the_end(bench: Bench) -> None:
    class Broken(FakeEmbedder):
        def embed_documents(self, texts: list[str]):
            raise TypeError("the words of the document")

    document = bench.upload(text(1).encode())
    ingest = worker(bench, embedder=Broken())
    for attempt in range(1, 4):
        until(lambda: ingest.run_once(), 5)
        waiting = bench.registry.ingest(document)
        assert waiting is None or waiting.attempt == attempt
    row = bench.row(document)
    assert (row.status, row.error_code, row.error_message) == ("failed", "INTERNAL", "internal error (TypeError)")
    assert bench.terminal_events(document) == ["document.failed"]
    ingest.close()
