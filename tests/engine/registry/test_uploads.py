"""An upload's way through the ledger: accepted, leased, kept alive, superseded, given back, lost, settled, deleted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa

from engine.errors import Code, InputError, StorageError
from engine.records import Failure
from engine.registry import Project, Skip, Touch
from engine.registry.models import DOCUMENTS
from engine.registry.online import Ingest
from engine.registry.queries import Registry

from .ledger import child, document_id, ingest
from .upload_ledger import accept, finish, last, lease, only, published, refused, run_out, types, upload

A = document_id("a")


def _status(registry: Registry, key: str = "a") -> tuple[str, int]:
    row = registry.document(document_id(key))
    assert row is not None
    return row.status, row.generation


# ---------------------------------------------------------------- accept
def test_an_accepted_upload_is_pending_and_waits(registry: Registry, project: Project) -> None:
    assert registry.accept([upload(project, "a", traceparent="00-1-2-03")]) == {A: 1}
    row = registry.document(A, project.id)
    assert row is not None
    assert (row.status, row.source, row.key, row.uri, row.filename) == ("pending", "uploads", "a", "upload:a", "a.pdf")
    assert (row.size, row.source_format, row.active_revision, row.content_sha256) == (11, "pdf", None, "")
    waiting = registry.ingest(A)
    assert waiting is not None
    options = {"strategy": "fixed"}
    assert waiting == Ingest(A, 1, "waiting", "", 0, "uploads/a/1", options, None, waiting.created_at)
    assert abs(datetime.now(UTC) - waiting.created_at) < timedelta(minutes=1)
    (event,) = registry.events(A)
    assert (event.type, event.project_id, event.document_id) == ("document.accepted", project.id, A)
    assert event.data == {
        "document_id": A, "status": "pending", "source_id": "a", "filename": "a.pdf", "batch_id": None,
    }  # fmt: skip
    assert registry.queue_depth() == (1, 0)
    assert list(registry.unswept(-1)) == [], "accepting writes no points"
    assert registry.accept([]) == {}


def test_an_upload_without_key_of_its_own_tells_no_source_id(registry: Registry, project: Project) -> None:
    id_ = str(uuid4())
    registry.accept([upload(project, id_, document_id=id_)])
    assert registry.events(id_)[0].data["source_id"] is None


def test_a_new_upload_leaves_the_visible_revision_alone(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    finish(registry, only(registry))
    version = registry.index_version(project.id)
    registry.accept([upload(project, "a", 2, source_format="docx")])
    row = registry.document(A)
    assert row is not None
    assert (row.status, row.active_revision, row.chunk_count, row.source_format) == ("pending", "r1", 3, "pdf")
    assert (row.content_sha256, row.size, row.generation) == ("sha-a-1", 12, 3)
    assert registry.active([A]) == {A: "r1"}
    assert registry.index_version(project.id) == version


def test_an_upload_revives_a_tombstone(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    finish(registry, only(registry))
    registry.delete(A)
    assert accept(registry, project, "a", n=2) == [4]
    finish(registry, only(registry), "r2")
    assert registry.active([A]) == {A: "r2"}
    assert _status(registry) == ("completed", 5)


def test_a_refused_upload_fails_at_once(registry: Registry, project: Project) -> None:
    assert registry.accept([refused(project, "a")]) == {A: 1}
    row = registry.document(A)
    assert row is not None
    assert (row.status, row.error_code, row.error_stage) == ("failed", "ENCRYPTED_DOCUMENT", "detect")
    assert registry.ingest(A) is None
    assert types(registry, "a") == ["document.accepted", "document.failed"]
    assert last(registry, "a").data["error"] == {
        "code": "ENCRYPTED_DOCUMENT", "stage": "detect", "message": "needs a password",
    }  # fmt: skip
    accept(registry, project, "a")
    row = registry.document(A)
    assert row is not None
    assert (row.status, row.error_code, row.error_message) == ("pending", "", "")


def test_a_refused_upload_supersedes_one_that_waits(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    held = only(registry)
    registry.accept([refused(project, "a", 2)])
    assert registry.publish([published(held)]) == set()
    assert not registry.settle(A, held.generation)
    assert registry.ingest(A) is None
    assert registry.orphaned_objects() == ["uploads/a/1"]
    assert types(registry, "a") == ["document.accepted", "document.accepted", "document.failed"]


def test_a_newer_upload_supersedes_one_in_work(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    older = only(registry)
    assert accept(registry, project, "a", n=2) == [3]
    assert not registry.renew(A, older.generation, 60)
    assert registry.publish([published(older, "old")]) == set()
    assert not registry.settle(A, older.generation)
    assert registry.orphaned_objects() == ["uploads/a/1"]
    newer = only(registry)
    assert (newer.generation, newer.attempt, newer.object_key) == (4, 1, "uploads/a/2")
    assert finish(registry, newer, "new")
    assert types(registry, "a") == ["document.accepted", "document.accepted", "document.completed"]
    registry.forget_orphans(["uploads/a/1", "unknown"])
    assert registry.orphaned_objects() == []


def test_accepting_the_same_object_again_changes_nothing(registry: Registry, project: Project) -> None:
    """A transaction whose commit was not acknowledged is repeated."""
    batch = str(uuid4())
    assert accept(registry, project, "a", "b", batch=batch) == [1, 1]
    held = only(registry)
    assert registry.accept([upload(project, "a"), upload(project, "b")], batch) == {A: 2, document_id("b"): 1}
    assert registry.renew(A, held.generation, 60)
    assert registry.orphaned_objects() == []
    assert types(registry, "a") == ["document.accepted"]


def test_of_two_uploads_of_one_document_in_a_call_the_last_counts(registry: Registry, project: Project) -> None:
    batch = str(uuid4())
    registry.accept([upload(project, "a", 1), upload(project, "b"), upload(project, "a", 2)], batch)
    found = registry.batch(batch)
    assert found is not None
    assert found.document_ids == [A, document_id("b"), A]
    assert registry.orphaned_objects() == ["uploads/a/1"]
    assert types(registry, "a") == ["document.accepted"]
    assert {held.object_key for held in lease(registry, 9)} == {"uploads/a/2", "uploads/b/1"}


def test_what_cannot_be_accepted(registry: Registry, project: Project) -> None:
    with pytest.raises(InputError) as caught:
        registry.accept([upload(project, "nul\0", document_id=A)])
    assert caught.value.code == Code.INVALID_REQUEST
    with pytest.raises(InputError):
        registry.accept([upload(project, "a", document_id="no uuid")])
    with pytest.raises(InputError) as caught:
        registry.accept([upload(project, "a", project_id=str(uuid4()))])
    assert caught.value.code == Code.PROJECT_NOT_FOUND
    accept(registry, project, "a")
    other = registry.project("other", create=True)
    with pytest.raises(StorageError, match="another project"):
        registry.accept([upload(other, "b"), upload(other, "a", 2)])
    assert registry.document(document_id("b")) is None, "all or nothing"
    assert _status(registry) == ("pending", 1)
    registry.accept([upload(project, "c", filename="n\0\ud800.pdf", options={"x": float("nan")})])
    assert registry.events(document_id("c"))[0].data["filename"] == "n\ufffd\ufffd.pdf"


# ---------------------------------------------------------------- lease
def test_a_lease_opens_an_attempt(registry: Registry, project: Project) -> None:
    run = registry.start_run(project.id, "files", "u", {})
    ingest(registry, project, "other")
    registry.accept([upload(project, "a", traceparent="00-1-2-03")])
    held = only(registry)
    assert (held.document_id, held.project_id, held.generation, held.attempt) == (A, project.id, 2, 1)
    assert (held.key, held.filename, held.size, held.content_sha256) == ("a", "a.pdf", 11, "sha-a-1")
    assert (held.object_key, held.options, held.batch_id) == ("uploads/a/1", {"strategy": "fixed"}, None)
    assert held.traceparent == "00-1-2-03"
    assert _status(registry) == ("processing", 2)
    assert lease(registry, 5) == []
    assert registry.queue_depth() == (0, 1)
    found = registry.ingest(A)
    assert found is not None
    assert (found.state, found.attempt, found.generation) == ("leased", 1, 2)
    assert list(registry.processing_ids(project.id, run)) == []


def test_leases_go_round_between_projects(registry: Registry) -> None:
    big, small, late = (registry.project(slug, create=True) for slug in ("big", "small", "late"))
    accept(registry, big, *(f"big{n}" for n in range(10)))
    accept(registry, small, "small0", "small1")
    accept(registry, late, "late0")
    first = lease(registry, 5)
    assert [held.key for held in first] == ["big0", "small0", "late0", "big1", "small1"]
    accept(registry, late, "late1")
    assert [held.key for held in lease(registry)] == ["late1"], "one live lease against two"
    assert {held.project_id for held in lease(registry, 20)} == {big.id}
    assert registry.queue_depth() == (0, 14)


def test_within_a_project_the_oldest_comes_first(registry: Registry, project: Project) -> None:
    for key in "cab":
        accept(registry, project, key)
    assert [held.key for held in lease(registry, 3)] == ["c", "a", "b"]


def test_a_lease_that_ran_out_is_given_again(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    first = only(registry)
    run_out(registry)
    assert registry.queue_depth() == (1, 0)
    found = registry.ingest(A)
    assert found is not None
    assert found.state == "waiting"
    second = only(registry)
    assert (second.generation, second.attempt) == (3, 2)
    assert not registry.renew(A, first.generation, 60)
    assert registry.publish([published(first, "late")]) == set()
    assert registry.fail([(A, first.generation, Failure("INTERNAL", "embed", ""))]) == set()
    assert not registry.settle(A, first.generation)
    assert finish(registry, second)
    assert types(registry, "a") == ["document.accepted", "document.completed"]


def test_a_worker_killer_fails_as_lost(registry: Registry, project: Project) -> None:
    accept(registry, project, "a", "b")
    for attempt in (1, 2):
        held = only(registry)
        assert (held.key, held.attempt) == ("a", attempt)
        run_out(registry)
    (held,) = lease(registry, 1, attempts=2)
    assert held.key == "b", "the next one comes in the same call"
    row = registry.document(A)
    assert row is not None
    assert (row.status, row.error_code) == ("failed", "WORKER_LOST")
    assert registry.publish([published(held)]) == {document_id("b")}
    assert types(registry, "a") == ["document.accepted", "document.failed"]
    error = last(registry, "a").data["error"]
    assert error == {"code": "WORKER_LOST", "stage": "", "message": "every worker that took it was lost"}
    assert registry.ingest(A) is None
    assert registry.orphaned_objects() == ["uploads/a/1"]


def test_a_lost_worker_cannot_publish_after_the_failure(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    held = only(registry)
    run_out(registry)
    assert lease(registry, attempts=1) == []
    assert registry.publish([published(held)]) == set()
    assert _status(registry)[0] == "failed"


def test_what_ended_without_being_settled_is_settled_by_the_next_lease(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    held = only(registry)
    registry.publish([published(held)])
    run_out(registry)
    assert lease(registry, attempts=1) == []
    assert types(registry, "a") == ["document.accepted", "document.completed"]
    assert registry.original(A) == "uploads/a/1"
    assert not registry.settle(A, held.generation)


def test_an_upload_whose_document_was_taken_elsewhere_is_dropped(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    registry.write(lambda c: c.execute(sa.update(DOCUMENTS).values(generation=7)))
    assert not registry.renew(A, 1, 60)
    assert lease(registry) == []
    assert registry.ingest(A) is None
    assert types(registry, "a") == ["document.accepted"]
    assert registry.orphaned_objects() == ["uploads/a/1"]


def test_renewing_keeps_the_lease_and_tells_new_stages(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    assert not registry.renew(A, 1, 60, "fetch"), "not leased"
    held = only(registry, seconds=0.2)
    assert registry.renew(A, held.generation, 60, "extract")
    assert registry.renew(A, held.generation, 60, "extract")
    assert registry.renew(A, held.generation, 60)
    assert registry.renew(A, held.generation, 60, "embed")
    assert not registry.renew(A, held.generation - 1, 60, "chunk")
    assert not registry.renew("no uuid", 1, 60, "chunk")
    stages = [e.data["stage"] for e in registry.events(A) if e.type == "document.stage"]
    assert stages == ["extract", "embed"]
    found = registry.ingest(A)
    assert found is not None
    assert (found.stage, found.state) == ("embed", "leased")
    run_out(registry)
    assert registry.renew(A, held.generation, 60), "nobody else took it"
    assert lease(registry) == []
    registry.delete(A)
    assert not registry.renew(A, held.generation, 60)


def test_a_released_upload_waits_at_its_old_place(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    accept(registry, project, "b")
    held = only(registry)
    registry.release(A, held.generation - 1)
    assert registry.queue_depth() == (1, 1)
    registry.release(A, held.generation)
    assert registry.queue_depth() == (2, 0)
    assert _status(registry) == ("pending", 3)
    assert not registry.renew(A, held.generation, 60, "embed")
    assert registry.publish([published(held, "late")]) == set(), "nothing of the attempt is heard any more"
    assert registry.fail([(A, held.generation, Failure("EXTRACTION_FAILED", "extract", "the child is gone"))]) == set()
    registry.release(A, held.generation)
    again = only(registry)
    assert (again.key, again.attempt, again.generation) == ("a", 1, 4)
    registry.publish([published(again)])
    registry.release(A, again.generation)
    assert _status(registry)[0] == "completed"
    assert registry.settle(A, again.generation)


# ---------------------------------------------------------------- settle
def test_settling_tells_the_end_once(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    held = only(registry)
    assert not registry.settle(A, held.generation), "not ended yet"
    assert finish(registry, held)
    assert not registry.settle(A, held.generation)
    assert registry.ingest(A) is None
    assert registry.queue_depth() == (0, 0)
    event = last(registry, "a")
    assert event.type == "document.completed"
    assert event.data == {
        "document_id": A, "status": "completed", "source_id": "a", "filename": "a.pdf", "batch_id": None,
        "chunk_count": 3,
    }  # fmt: skip
    assert types(registry, "a") == ["document.accepted", "document.completed"]


def test_a_failure_is_told_with_its_error(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    held = only(registry)
    registry.fail([(A, held.generation, Failure("OCR_FAILED", "ocr", "nobody can read page 3"))])
    assert registry.settle(A, held.generation)
    event = last(registry, "a")
    assert (event.type, event.data["status"], event.data["chunk_count"]) == ("document.failed", "failed", 0)
    assert event.data["error"] == {"code": "OCR_FAILED", "stage": "ocr", "message": "nobody can read page 3"}


def test_an_empty_document_completes_without_chunks(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    held = only(registry)
    registry.skip([Skip(A, held.generation, "empty", "sha", "fp", "txt")])
    assert registry.settle(A, held.generation)
    event = last(registry, "a")
    assert (event.type, event.data["status"]) == ("document.completed", "completed")
    assert (event.data["chunk_count"], event.data["skip_reason"]) == (0, "empty")


def test_a_project_without_uploads_has_no_events(registry: Registry, project: Project) -> None:
    ingest(registry, project, "a")
    assert not registry.settle(A, 1)
    registry.delete(A)
    assert registry.events(A) == []
    assert registry.ingest(A) is None


# ---------------------------------------------------------------- objects
def test_the_original_is_of_the_visible_revision(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    assert registry.original(A) is None
    assert registry.held_objects(["uploads/a/1", "uploads/x"]) == {"uploads/a/1"}
    finish(registry, only(registry))
    assert registry.original(A) == "uploads/a/1"
    accept(registry, project, "a", n=2)
    held = only(registry)
    registry.fail([(A, held.generation, Failure("OCR_FAILED", "ocr", ""))])
    registry.settle(A, held.generation)
    assert (registry.original(A), registry.orphaned_objects()) == ("uploads/a/1", ["uploads/a/2"])
    accept(registry, project, "a", n=3)
    assert registry.held_objects([f"uploads/a/{n}" for n in range(5)]) == {"uploads/a/1", "uploads/a/3"}
    finish(registry, only(registry), "r3")
    assert registry.original(A) == "uploads/a/3"
    assert registry.orphaned_objects() == ["uploads/a/2", "uploads/a/1"]
    accept(registry, project, "a", n=4)
    held = only(registry)
    registry.skip([Skip(A, held.generation, "empty", "sha", "fp")])
    registry.settle(A, held.generation)
    assert registry.original(A) is None
    assert set(registry.orphaned_objects()) == {f"uploads/a/{n}" for n in range(1, 5)}
    assert registry.held_objects([f"uploads/a/{n}" for n in range(5)]) == set()
    assert registry.orphaned_objects(limit=1) == ["uploads/a/2"]


@pytest.mark.parametrize("by", ["settle", "lease"])
def test_an_original_that_must_not_stay_is_orphaned(registry: Registry, project: Project, by: str) -> None:
    accept(registry, project, "a")
    held = only(registry)
    registry.publish([published(held)])
    if by == "settle":
        assert registry.settle(A, held.generation, keep_original=False)
    else:
        run_out(registry)
        assert registry.lease("w", 60, keep_originals=False) == []
    assert registry.original(A) is None
    assert registry.orphaned_objects() == ["uploads/a/1"]
    assert types(registry, "a")[-1] == "document.completed"


def test_unchanged_bytes_replace_the_original(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    finish(registry, only(registry))
    accept(registry, project, "a", n=2)
    held = only(registry)
    registry.touch([Touch(A, held.generation, 12, "", None)])
    assert registry.settle(A, held.generation)
    assert (registry.original(A), registry.orphaned_objects()) == ("uploads/a/2", ["uploads/a/1"])
    assert last(registry, "a").data["chunk_count"] == 3


# ---------------------------------------------------------------- deletion
@pytest.mark.parametrize("state", ["waiting", "leased", "completed", "failed"])
def test_deleting_ends_an_upload(registry: Registry, project: Project, state: str) -> None:
    accept(registry, project, "a")
    held = only(registry) if state != "waiting" else None
    if held and state == "completed":
        finish(registry, held)
    if held and state == "failed":
        registry.fail([(A, held.generation, Failure("OCR_FAILED", "ocr", "a.pdf is odd"))])
        registry.settle(A, held.generation)
    assert registry.delete(A, project.id) == [A]
    assert registry.delete(A) == [A]
    assert registry.ingest(A) is None
    assert lease(registry, 5) == []
    assert types(registry, "a").count("document.deleted") == 1
    assert last(registry, "a").data == {
        "document_id": A, "status": "deleted", "source_id": "a", "filename": "", "batch_id": None,
    }  # fmt: skip
    assert registry.orphaned_objects() == ["uploads/a/1"]
    assert registry.original(A) is None
    assert "a.pdf" not in repr(registry.events(A)), "the log keeps no name of what is deleted"
    if held:
        assert not registry.renew(A, held.generation, 60)
        assert registry.publish([published(held, "late")]) == set()
        assert not registry.settle(A, held.generation)
    assert registry.events(A)[-1].type == "document.deleted"


def test_an_upload_after_a_deletion_is_told_anew(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    registry.delete(A)
    accept(registry, project, "a", n=2)
    finish(registry, only(registry))
    expected = ["document.accepted", "document.deleted", "document.accepted", "document.completed"]
    assert types(registry, "a") == expected
    registry.delete(A)
    assert types(registry, "a") == [*expected, "document.deleted"]


def test_another_project_deletes_nothing(registry: Registry, project: Project) -> None:
    accept(registry, project, "a")
    assert registry.delete(A, registry.project("other", create=True).id) == []
    assert registry.ingest(A) is not None
    assert types(registry, "a") == ["document.accepted"]


# ---------------------------------------------------------------- batches
def test_a_batch_completes_with_its_last_document(registry: Registry, project: Project) -> None:
    webhook = registry.add_webhook(project.id, "https://example.com/hook", ["batch.completed"])
    batch = str(uuid4())
    given = [upload(project, "a"), upload(project, "b"), refused(project, "c"), upload(project, "d")]
    registry.accept(given, batch)
    found = registry.batch(batch, project.id)
    assert found is not None
    assert (found.batch_id, found.project_id) == (batch, project.id)
    assert found.document_ids == [document_id(k) for k in "abcd"]
    a, b, _ = lease(registry, 3)
    assert (a.batch_id, registry.events(A)[0].data["batch_id"]) == (batch, batch)
    finish(registry, a)
    registry.fail([(b.document_id, b.generation, Failure("OCR_FAILED", "ocr", ""))])
    registry.settle(b.document_id, b.generation)
    assert registry.deliveries(webhook.webhook_id) == []
    registry.delete(document_id("d"))
    (delivery,) = registry.deliveries(webhook.webhook_id)
    assert delivery.event_type == "batch.completed"
    (sent,) = registry.lease_deliveries("w", 60, 5)
    assert sent.event.document_id is None
    assert sent.event.data == {
        "batch_id": batch, "status": "completed", "document_ids": found.document_ids,
        "counts": {"completed": 1, "failed": 2, "deleted": 1},
    }  # fmt: skip
    assert not registry.settle(A, a.generation)
    registry.delete(A)
    assert len(registry.deliveries(webhook.webhook_id)) == 1


def test_superseding_the_last_document_completes_its_batch(registry: Registry, project: Project) -> None:
    webhook = registry.add_webhook(project.id, "https://example.com/hook", ["batch.completed"])
    first, second = str(uuid4()), str(uuid4())
    accept(registry, project, "a", batch=first)
    accept(registry, project, "a", "b", n=2, batch=second)

    def completed() -> list[object]:
        sent = registry.lease_deliveries("w", 60, 9)
        return [(s.event.data["batch_id"], s.event.data["counts"]) for s in sent]

    assert completed() == [(first, {"pending": 1})]
    for held in lease(registry, 2):
        finish(registry, held)
    assert completed() == [(second, {"completed": 2})]
    assert webhook.events == ["batch.completed"]


def test_a_batch_of_refused_files_completes_at_once(registry: Registry, project: Project) -> None:
    registry.add_webhook(project.id, "https://example.com/hook", [])
    batch = str(uuid4())
    registry.accept([refused(project, "a"), refused(project, "b")], batch)
    sent = registry.lease_deliveries("w", 60, 9)
    told = ["document.accepted", "document.failed"] * 2
    assert [s.event.type for s in sorted(sent, key=lambda s: s.event.id)] == [*told, "batch.completed"]


def test_a_lost_worker_completes_the_batch_too(registry: Registry, project: Project) -> None:
    registry.add_webhook(project.id, "https://example.com/hook", ["batch.completed"])
    accept(registry, project, "a", batch=str(uuid4()))
    lease(registry)
    run_out(registry)
    assert lease(registry, attempts=1) == []
    assert len(registry.lease_deliveries("w", 60, 9)) == 1


def test_batches_are_their_projects_own(registry: Registry, project: Project) -> None:
    batch = str(uuid4())
    accept(registry, project, "a", batch=batch)
    assert registry.batch(batch, registry.project("other", create=True).id) is None
    assert registry.batch("no uuid") is None
    assert registry.batch(str(uuid4())) is None


# ---------------------------------------------------------------- the sweeper
def test_the_sweeper_leaves_uploads_and_what_is_inside_them_alone(registry: Registry, project: Project) -> None:
    accept(registry, project, "zip")
    held = only(registry)
    registry.claim([child(project, "zip", "zip/1", held.generation)])
    registry.claim([child(project, "zip/1", "zip/1/deep")])
    registry.claim([child(project, "zip/1/deep", "zip/1/deep/er")])
    ingest(registry, project, "box")
    registry.claim([child(project, "box", "box/1")])
    inside = [document_id(k) for k in ("zip/1", "zip/1/deep", "zip/1/deep/er")]
    assert [a.document_id for a in registry.stale(-1)] == [document_id("box/1")]
    attempts = [(held.document_id, held.generation), *((id_, 1) for id_ in inside), (document_id("box/1"), 1)]
    assert registry.expire(attempts) == {document_id("box/1")}
    finish(registry, held)
    assert {a.document_id for a in registry.stale(-1)} == set(inside), "nobody answers for them any more"
    assert registry.expire([(inside[2], 1)]) == {inside[2]}
