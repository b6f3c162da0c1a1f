"""Uploads, processed for real: parity with a backfill, options, replacement, what is kept and what goes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import text
from fake_embedder import FakeEmbedder

from engine.artifacts import load_tree
from engine.errors import Stage, StorageError
from engine.ingest import Again, IngestWorker, Over
from engine.leased import LeasedLedger
from engine.registry.online import Lease
from engine.store import Points
from engine.store.edge import EdgeStore
from engine.sweep import sweep
from tests.engine.uploads import Bench, benches, box

PARAGRAPHS = "\n\n".join(f"Paragraph {n}: {text(n)}" for n in range(8)).encode()


@pytest.fixture(scope="module")
def shared_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with benches(tmp_path_factory.mktemp("bench"), **{"security.pii_entities": ["EMAIL"]}) as bench:
        yield bench


@pytest.fixture
def bench(shared_bench: Bench) -> Iterator[Bench]:
    """One bench, and so one child process, for all tests; each has a project of its own."""
    shared_bench.renew()
    yield shared_bench
    scratch = shared_bench.settings.scratch
    assert scratch is not None and list(scratch.glob("*")) == [], "scratch is left behind"


# ---------------------------------------------------------------- options
def test_an_upload_is_processed_published_and_settled(bench: Bench) -> None:
    document = bench.upload(PARAGRAPHS, source_id="contract-7")
    stages: list[str] = []
    lease = bench.lease()
    (outcome,) = bench.worker.process(lease, {}, stages.append)
    assert stages == ["fetch", "extract", "embed", "publish"]
    assert (outcome.status, outcome.document_id, outcome.chunks) == ("published", document, 4)
    row = bench.row(document)
    assert (row.status, row.generation, row.key, row.source) == ("completed", lease.generation, "contract-7", "uploads")
    assert row.metadata["source_object"] == lease.object_key
    assert bench.registry.settle(document, lease.generation)
    assert bench.registry.original(document) == lease.object_key
    tree = load_tree(bench.objects, bench.project, document, str(row.active_revision))
    assert tree is not None and "Paragraph 7" in tree.content


def test_options_of_the_request_reach_the_chunks(bench: Bench) -> None:
    document = bench.upload(
        PARAGRAPHS,
        chunking_strategy="fixed",
        max_tokens=40,
        overlap_tokens=0,
        language="fr",
        acl=["user:ann", "group:x"],
    )
    bench.process(chunking={"max_tokens": 300, "include_headings": False})
    points = bench.points(document)
    assert len(points) > 10
    assert all(int(str(p["token_count"])) <= 40 for p in points)
    assert {str(p["language"]) for p in points} == {"fr"}
    assert {tuple(p["acl"]) for p in points} == {("group:x", "user:ann")}  # type: ignore[arg-type]
    assert bench.row(document).metadata["acl"] == ["group:x", "user:ann"]


def test_an_access_list_holds_for_everything_inside(bench: Bench) -> None:
    bench.upload(box(a_txt=text(1), b_txt=text(2)), "box.zip", acl=["user:ann"])
    outcomes = bench.process()
    assert len(outcomes) == 3
    for outcome in outcomes:
        points = bench.points(outcome.document_id)
        assert points and all(p["acl"] == ["user:ann"] for p in points)
        assert bench.row(outcome.document_id).metadata["acl"] == ["user:ann"]


def test_options_that_no_longer_hold_fail_the_document(bench: Bench) -> None:
    document = bench.upload(PARAGRAPHS)
    (outcome,) = bench.process(chunking={"strategy": "a plug-in that is gone"})
    assert (outcome.status, outcome.code) == ("failed", "INVALID_REQUEST")
    assert bench.terminal_events(document) == ["document.failed"]


# ---------------------------------------------------------------- new revisions
def test_an_unchanged_upload_publishes_and_embeds_nothing(bench: Bench) -> None:
    document = bench.upload(PARAGRAPHS, source_id="a")
    bench.process()
    before, embedded = bench.points(document), len(bench.embedder.embedded)
    bench.upload(PARAGRAPHS, source_id="a")
    key = bench.registry.ingest(document).object_key  # type: ignore[union-attr]
    (outcome,) = bench.process()
    assert (outcome.status, outcome.reason) == ("skipped", "unchanged")
    assert (bench.points(document), len(bench.embedder.embedded)) == (before, embedded)
    row = bench.row(document)
    assert (row.status, row.chunk_count, row.metadata["source_object"]) == ("completed", 4, key)
    assert bench.registry.original(document) == key
    assert bench.terminal_events(document) == ["document.completed"] * 2


@pytest.mark.parametrize("again", [{"acl": ["user:bo"]}, {"filename": "b.txt"}, {"max_tokens": 60}, {"language": "de"}])
def test_whatever_changes_the_points_publishes_anew(bench: Bench, again: dict[str, object]) -> None:
    document = bench.upload(PARAGRAPHS, source_id="a")
    bench.process()
    first = bench.row(document).active_revision
    bench.upload(PARAGRAPHS, source_id="a", **again)  # type: ignore[arg-type]
    (outcome,) = bench.process()
    row = bench.row(document)
    assert outcome.status == "published" and row.active_revision != first
    assert {p["revision"] for p in bench.points(document)} == {row.active_revision}
    assert len({key.split("/")[3] for key in bench.keys("artifacts/")}) == 1


def test_an_old_revision_is_seen_until_the_new_one_is_and_then_nothing_is_left_of_it(bench: Bench) -> None:
    document = bench.upload(b"The first text about lamps.", source_id="a")
    bench.process()
    first_objects = bench.keys("artifacts/") + bench.keys("uploads/")
    bench.upload(b"The second text about tides.", source_id="a")
    assert [p["content"] for p in bench.points(document)] == ["The first text about lamps."]
    assert bench.row(document).active_revision is not None
    bench.process()
    assert [p["content"] for p in bench.points(document)] == ["The second text about tides."]
    assert bench.registry.orphaned_objects() == [k for k in first_objects if k.startswith("uploads/")]
    left = bench.keys("artifacts/")
    assert not set(left) & set(first_objects)
    assert load_tree(bench.objects, bench.project, document, str(bench.row(document).active_revision)) is not None


def test_what_was_inside_goes_with_all_that_was_kept_of_it(bench: Bench) -> None:
    bench.upload(box(a_txt=text(1), b_txt=text(2)), "box.zip", source_id="a")
    outcomes = {o.key: o.document_id for o in bench.process()}
    assert len({key.split("/")[2] for key in bench.keys("artifacts/")}) == 3
    bench.upload(box(a_txt=text(1)), "box.zip", source_id="a")
    bench.process()
    kept = {key.split("/")[2] for key in bench.keys("artifacts/")}
    assert kept == {outcomes["a"], outcomes["a!/a.txt"]}
    assert bench.points(outcomes["a!/b.txt"]) == []


def test_a_text_that_became_empty_is_gone(bench: Bench) -> None:
    document = bench.upload(PARAGRAPHS, source_id="a")
    bench.process()
    bench.upload(b"   \n", source_id="a")
    (outcome,) = bench.process()
    assert (outcome.status, outcome.reason) == ("skipped", "empty")
    assert (bench.points(document), bench.keys("artifacts/")) == ([], [])


def test_a_failed_revision_leaves_the_one_before_visible(bench: Bench) -> None:
    document = bench.upload(PARAGRAPHS, "a.pdf.txt", source_id="a")
    bench.process()
    kept = bench.keys("artifacts/")
    bench.upload(b"%PDF-1.4 nothing here", "a.pdf", source_id="a")
    (outcome,) = bench.process()
    assert (outcome.status, bench.row(document).status) == ("failed", "failed")
    assert len(bench.points(document)) == 4 and bench.keys("artifacts/") == kept
    bench.upload(PARAGRAPHS, "a.pdf.txt", source_id="a")
    (outcome,) = bench.process()
    row = bench.row(document)
    assert (outcome.reason, row.status, row.error_code) == ("unchanged", "completed", "")


# ---------------------------------------------------------------- personal data
def test_with_redaction_neither_the_upload_nor_its_words_are_kept(bench: Bench) -> None:
    document = bench.upload(b"Write to ann@example.org about the lamp.", source_id="a")
    bench.process(pii_redaction=True)
    assert [p["content"] for p in bench.points(document)] == ["Write to [EMAIL_REDACTED] about the lamp."]
    row = bench.row(document)
    assert (row.metadata["source_object"], bench.registry.original(document)) == ("", None)
    assert bench.registry.orphaned_objects() == bench.keys("uploads/")
    tree = load_tree(bench.objects, bench.project, document, str(row.active_revision))
    assert tree is not None and "ann@" not in tree.content


# ---------------------------------------------------------------- ends of an attempt
def test_a_deleted_document_is_not_published(bench: Bench) -> None:
    document = bench.upload(PARAGRAPHS)
    lease = bench.lease()
    ledger = deleting(bench, lease)
    (outcome,) = ledger.process(lease, {})
    assert (outcome.status, outcome.reason) == ("skipped", "superseded")
    sweep(bench.store, bench.registry, 0)
    assert (bench.registry.document(document), bench.points(document)) == (None, [])
    assert bench.terminal_events(document) == ["document.deleted"]


def deleting(bench: Bench, lease: Lease) -> IngestWorker:
    """A worker whose document is deleted while it embeds."""

    class Late(FakeEmbedder):
        def embed_documents(self, texts: list[str]):
            bench.registry.delete(lease.document_id)
            return super().embed_documents(texts)

    bench.worker.embedder = Late()
    return bench.worker


def test_a_lease_that_is_over_does_nothing(bench: Bench) -> None:
    bench.upload(PARAGRAPHS, source_id="a")
    old = bench.lease(seconds=0)
    time.sleep(0.01)
    new = bench.lease()
    assert new.generation > old.generation
    with pytest.raises(Over):
        bench.worker.process(old, {})
    assert bench.worker.process(new, {})[0].status == "published"


def test_an_interrupted_attempt_stops_within_moments_and_leaves_the_worker_usable(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[1]))
    settings = bench.settings.model_copy(
        update={"extractors": {"poison": "poison_extractor:extract"}, "formats": {"poison": [".poison"]}}
    )
    bench.worker.settings = settings
    bench.upload(b"loop\nnever read", "loop.poison")
    lease = bench.lease()

    def stop(stage: Stage) -> None:
        if stage == Stage.EXTRACT:
            threading.Timer(1.0, bench.worker.interrupt).start()

    start = time.monotonic()
    with pytest.raises(Over):
        bench.worker.process(lease, {}, stop)
    assert time.monotonic() - start < 20
    assert bench.row(lease.document_id).status == "processing", "nothing was recorded"
    bench.registry.release(lease.document_id, lease.generation)
    bench.registry.delete(lease.document_id)
    bench.upload(PARAGRAPHS)
    assert bench.process()[0].status == "published"


def test_an_interruption_while_the_child_starts_is_heeded(bench: Bench) -> None:
    worker = IngestWorker(bench.settings, bench.registry, bench.store, bench.objects, bench.embedder)
    bench.upload(PARAGRAPHS)
    lease = bench.lease()

    def stop_when_started() -> None:
        while worker.slot.pid is None:
            time.sleep(0.001)
        worker.interrupt()

    threading.Thread(target=stop_when_started).start()
    with pytest.raises(Over):
        worker.process(lease, {})
    assert bench.row(lease.document_id).status == "processing", "nothing was recorded"
    worker.close()


class Away(EdgeStore):
    """A vector store that is away while told to be."""

    away = False

    def upsert(self, points: Points) -> None:
        if self.away:
            raise StorageError("away")
        super().upsert(points)


def test_a_failure_that_may_mend_is_recorded_at_the_last_attempt_only(bench: Bench, tmp_path: Path) -> None:
    store = Away(tmp_path / "other")
    store.ensure({"fake": 16})
    bench.worker.store, store.away = store, True
    document = bench.upload(PARAGRAPHS)
    lease = bench.lease(seconds=0)
    with pytest.raises(Again) as told:
        bench.worker.process(lease, {})
    assert (told.value.failure.code, bench.row(document).status) == ("STORAGE_FAILED", "processing")
    again = bench.lease()
    assert (again.document_id, again.attempt) == (document, 2)
    (outcome,) = bench.worker.process(again, {}, last=True)
    assert (outcome.code, bench.row(document).error_code) == ("STORAGE_FAILED", "STORAGE_FAILED")
    store.close()


def test_a_text_the_model_refuses_is_not_tried_again_a_dead_model_is(bench: Bench) -> None:
    bench.embedder.refuse = "Paragraph"
    bench.upload(PARAGRAPHS)
    (outcome,) = bench.process()
    assert (outcome.status, outcome.code) == ("failed", "EMBEDDING_FAILED")
    bench.embedder.refuse = "r"
    bench.upload(PARAGRAPHS)
    with pytest.raises(Again):
        bench.worker.process(bench.lease(), {})


def test_an_object_that_is_gone_or_changed_fails_for_good(bench: Bench) -> None:
    bench.upload(PARAGRAPHS)
    lease = bench.lease()
    bench.objects.delete(lease.object_key)
    (outcome,) = bench.worker.process(lease, {})
    assert (outcome.status, outcome.code, outcome.stage) == ("failed", "SOURCE_UNAVAILABLE", "fetch")
    bench.upload(PARAGRAPHS)
    lease = bench.lease()
    bench.objects.put(lease.object_key, b"other bytes")
    (outcome,) = bench.worker.process(lease, {}, last=True)
    assert (outcome.status, outcome.code) == ("failed", "SOURCE_UNAVAILABLE")
    assert "not those that were received" in outcome.message


def test_a_stored_file_over_the_limit_is_refused(tmp_path: Path) -> None:
    with benches(tmp_path, **{"limits.file_mb": 1}) as bench:
        bench.upload(b"x" * ((1 << 20) + 1))
        (outcome,) = bench.process()
        assert (outcome.status, outcome.code) == ("failed", "FILE_TOO_LARGE")


def test_the_ledger_of_a_lease_claims_only_what_is_inside(bench: Bench) -> None:
    document = bench.upload(PARAGRAPHS)
    lease = bench.lease()
    over = threading.Event()
    ledger = LeasedLedger(bench.registry, lease, over, lambda failure: False)
    assert ledger.claim([]) == {}
    over.set()
    for call in (
        lambda: ledger.publish([]),
        lambda: ledger.fail([]),
        lambda: ledger.skip([]),
        lambda: ledger.claim([]),
    ):
        with pytest.raises(Over):
            call()
    assert bench.row(document).generation == lease.generation
