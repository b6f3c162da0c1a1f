"""A document's way through the ledger: claimed, published, failed, skipped, touched, revived."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from engine.errors import Code, InputError, StorageError
from engine.records import Failure
from engine.registry import Known, Project, Skip, Touch
from engine.registry.models import DOCUMENTS
from engine.registry.queries import Registry

from .ledger import child, claim, document_id, ingest, publication

A = document_id("a")


def _known(registry: Registry, project: Project, key: str) -> Known:
    return next(k for k in registry.known(project.id, "files") if k.key == key)


def test_a_claim_makes_a_row_and_counts_generations(registry: Registry, project: Project) -> None:
    assert registry.claim([claim(project, "a"), claim(project, "b")]) == {A: 1, document_id("b"): 1}
    assert registry.claim([claim(project, "a")]) == {A: 2}
    row = registry.document(A)
    assert row is not None
    assert (row.status, row.generation, row.active_revision, row.source, row.key) == (
        "processing",
        2,
        None,
        "files",
        "a",
    )
    assert row.created_at.tzinfo == UTC
    assert abs(datetime.now(UTC) - row.created_at) < timedelta(minutes=1)
    assert row.updated_at > row.created_at
    assert registry.claim([]) == {}
    assert registry.active([A]) == {}


def test_of_two_claims_in_one_batch_the_last_counts(registry: Registry, project: Project) -> None:
    assert registry.claim([claim(project, "a", etag="old"), claim(project, "a", etag="new")]) == {A: 1}
    assert _known(registry, project, "a").etag == "new"


def test_publishing_makes_the_revision_visible(registry: Registry, project: Project) -> None:
    before = registry.index_version(project.id)
    generation = registry.claim([claim(project, "a")])[A]
    assert registry.index_version(project.id) == before, "a claim changes nothing for readers"
    assert registry.publish([publication(project, "a", generation)]) == {A}
    assert registry.index_version(project.id) == before + 1
    assert registry.active([A, document_id("b"), "no uuid"]) == {A: "r1"}
    row = registry.document(A, project.id)
    assert row is not None
    assert (row.status, row.chunk_count, row.word_count, row.page_count, row.language) == ("completed", 3, 30, 2, "en")
    assert (row.title, row.author, row.source_format, row.parse_seconds) == ("Title", None, "pdf", 0.5)
    assert row.warnings == [{"code": "image_skipped", "count": 1}]
    assert row.metadata == {"extra": "x"}
    known = _known(registry, project, "a")
    assert known == Known(A, "a", 10, "e1", 1.5, "sha-r1", "fp1", "completed", 1)


def test_publishing_again_is_the_same_write(registry: Registry, project: Project) -> None:
    ingest(registry, project, "a")
    assert registry.publish([publication(project, "a", 1)]) == {A}
    assert registry.stats(project.id) == {
        "completed": 1, "pending": 0, "processing": 0, "failed": 0, "skipped": 0, "visible": 1, "chunks": 3,
    }  # fmt: skip


def test_a_claim_leaves_the_visible_revision_alone(registry: Registry, project: Project) -> None:
    ingest(registry, project, "a")
    registry.claim([claim(project, "a", etag="e2", size=11)])
    assert registry.active([A]) == {A: "r1"}
    known = _known(registry, project, "a")
    assert (known.status, known.etag, known.size, known.content_sha256) == ("processing", "e2", 11, "sha-r1")
    row = registry.document(A)
    assert row is not None
    assert (row.chunk_count, row.title) == (3, "Title")


def test_only_the_newest_generation_publishes(registry: Registry, project: Project) -> None:
    old = registry.claim([claim(project, "a")])[A]
    new = registry.claim([claim(project, "a")])[A]
    assert registry.publish([publication(project, "a", old, "old")]) == set()
    assert registry.active([A]) == {}
    assert registry.publish([publication(project, "a", new, "new"), publication(project, "a", old, "old")]) == {A}
    assert registry.publish([publication(project, "a", old, "old")]) == set()
    assert registry.active([A]) == {A: "new"}


def test_a_failure_keeps_what_was_visible_and_is_not_done(registry: Registry, project: Project) -> None:
    ingest(registry, project, "a")
    version = registry.index_version(project.id)
    generation = registry.claim([claim(project, "a", etag="e2")])[A]
    failure = Failure(Code.OCR_FAILED, "ocr", "page 3 \0 broke \ud800" + "x" * 9000)
    assert registry.fail([(A, generation - 1, failure)]) == set(), "an old attempt says nothing"
    assert registry.fail([(A, generation, failure)]) == {A}
    row = registry.document(A)
    assert row is not None
    assert (row.status, row.error_code, row.error_stage, row.active_revision) == ("failed", "OCR_FAILED", "ocr", "r1")
    assert row.error_message.startswith("page 3 \ufffd broke \ufffdxxx")
    assert len(row.error_message) == 4000
    assert row.error_message.endswith("…")
    assert registry.active([A]) == {A: "r1"}
    assert registry.index_version(project.id) == version
    assert _known(registry, project, "a").status == "failed"
    assert registry.stats(project.id)["failed"] == 1
    assert registry.stats(project.id)["completed"] == 0
    generation = registry.claim([claim(project, "a")])[A]
    registry.publish([publication(project, "a", generation, "r2")])
    row = registry.document(A)
    assert row is not None
    assert (row.error_code, row.error_stage, row.error_message, row.status) == ("", "", "", "completed")


def test_a_skip_takes_the_old_revision_away(registry: Registry, project: Project) -> None:
    ingest(registry, project, "a")
    version = registry.index_version(project.id)
    generation = registry.claim([claim(project, "a")])[A]
    assert registry.skip([Skip(A, generation - 1, "empty", "sha0", "fp1")]) == set()
    assert registry.skip([Skip(A, generation, "empty", "sha0", "fp1", "txt")]) == {A}
    assert registry.active([A]) == {}
    assert registry.index_version(project.id) == version + 1
    known = _known(registry, project, "a")
    assert (known.status, known.content_sha256, known.fingerprint) == ("skipped", "sha0", "fp1")
    assert registry.stats(project.id) == {
        "completed": 0, "pending": 0, "processing": 0, "failed": 0, "skipped": 1, "visible": 0, "chunks": 0,
    }  # fmt: skip


def test_touch_ends_a_claim_on_unchanged_bytes(registry: Registry, project: Project) -> None:
    ingest(registry, project, "a")
    version = registry.index_version(project.id)
    generation = registry.claim([claim(project, "a", etag="e2")])[A]
    assert registry.touch([Touch(A, generation, 12, "e2", None)]) == {A}
    assert registry.touch([Touch(A, generation - 1, 99, "e0", None)]) == set()
    known = _known(registry, project, "a")
    assert (known.status, known.size, known.etag, known.mtime) == ("completed", 12, "e2", None)
    assert registry.active([A]) == {A: "r1"}
    assert registry.index_version(project.id) == version
    registry.skip([Skip(A, generation, "empty", "s", "f")])
    again = registry.claim([claim(project, "a")])[A]
    registry.touch([Touch(A, again, 12, "e3", 2.0)])
    assert _known(registry, project, "a").status == "skipped"


def test_deleting_wins_over_work_in_flight(registry: Registry, project: Project) -> None:
    ingest(registry, project, "a")
    generation = registry.claim([claim(project, "a")])[A]
    version = registry.index_version(project.id)
    assert registry.delete(A) == [A]
    assert registry.index_version(project.id) == version + 1
    assert registry.document(A) is None
    assert registry.active([A]) == {}
    assert registry.publish([publication(project, "a", generation)]) == set()
    assert registry.publish([publication(project, "a", generation + 1)]) == set(), "not even with the right number"
    assert registry.fail([(A, generation + 1, Failure("INTERNAL", "embed", ""))]) == set()
    assert registry.skip([Skip(A, generation + 1, "empty", "", "")]) == set()
    assert registry.touch([Touch(A, generation + 1, 1, "", None)]) == set()
    assert list(registry.known(project.id, "files")) == []
    assert registry.delete(A) == [A], "repeating answers the same, so that removal can be finished"
    assert registry.index_version(project.id) == version + 1
    assert registry.stats(project.id)["visible"] == 0


def test_a_reupload_revives_a_tombstone(registry: Registry, project: Project) -> None:
    late = ingest(registry, project, "a")["a"]
    registry.delete(A)
    generation = registry.claim([claim(project, "a")])[A]
    assert generation == late + 2
    assert registry.publish([publication(project, "a", late, "late")]) == set()
    assert registry.publish([publication(project, "a", generation, "new")]) == {A}
    assert registry.active([A]) == {A: "new"}
    assert _known(registry, project, "a").key == "a"
    assert registry.visible(project.id) == (1, 3)


def test_a_tombstone_keeps_nothing_of_the_content(registry: Registry, project: Project) -> None:
    registry.claim([claim(project, "secret/name.pdf")])
    row = publication(project, "secret/name.pdf", 1, title="secret title", author="secret author")
    row.metadata = {"k": "secret"}
    row.warnings = [{"message": "secret"}]
    registry.publish([row])
    registry.delete(document_id("secret/name.pdf"))
    rows = registry.read(lambda c: c.exec_driver_sql("SELECT * FROM documents").mappings().all())
    assert len(rows) == 1
    assert "secret" not in repr(dict(rows[0]))
    assert rows[0]["status"] == "deleted"


def test_another_project_cannot_see_delete_or_take_a_document(registry: Registry, project: Project) -> None:
    other = registry.project("other", create=True)
    ingest(registry, project, "a")
    assert registry.document(A, other.id) is None
    assert registry.delete(A, other.id) == []
    assert registry.delete(A, "no uuid") == []
    with pytest.raises(StorageError, match="another project"):
        registry.claim([claim(other, "a"), claim(other, "b")])
    assert registry.active([A]) == {A: "r1"}
    row = registry.document(A)
    assert row is not None
    assert (row.project_id, row.generation) == (project.id, 1)
    assert registry.index_version(other.id) == 0


def test_what_cannot_be_stored_is_refused_or_cleaned(registry: Registry, project: Project) -> None:
    for key in ("nul\0", "surrogate\udcff", "x" * 2001):
        with pytest.raises(InputError) as caught:
            registry.claim([claim(project, key, document_id=A)])
        assert caught.value.code == Code.INVALID_REQUEST
        assert caught.value.details == {"document_id": A}
    with pytest.raises(InputError):
        registry.claim([claim(project, "a", document_id="not-a-uuid")])
    registry.claim([claim(project, "a", filename="n\0ame", inner_path="\ud83d", uri="u\0")])
    strange = publication(project, "a", 1, title="t\0\udcff", metadata={"nan": math.nan, "deep": [{"inf": math.inf}]})
    strange.warnings = [{"message": "\0 and \ud800"}]
    assert registry.publish([strange]) == {A}
    row = registry.document(A)
    assert row is not None
    assert (row.filename, row.title) == ("n\ufffdame", "t\ufffd\ufffd")
    assert row.metadata == {"nan": None, "deep": [{"inf": None}]}
    assert row.warnings == [{"message": "\0 and \ud800"}]


def test_keys_up_to_two_thousand_bytes_fit_the_index(registry: Registry, project: Project) -> None:
    letters = "".join(random.Random(7).choices([chr(c) for c in range(0x4E00, 0x9FFF)], k=666))  # incompressible
    ingest(registry, project, letters)
    assert [k.key for k in registry.known(project.id, "files")] == [letters]


def test_children_live_and_die_with_their_parent(registry: Registry, project: Project) -> None:
    ingest(registry, project, "mail")
    assert registry.claim([child(project, "mail", "mail/1"), child(project, "mail", "mail/2")]).keys() == {
        document_id("mail/1"),
        document_id("mail/2"),
    }
    registry.claim([child(project, "mail/1", "mail/1/x")])
    registry.publish([publication(project, k, 1) for k in ("mail/1", "mail/2", "mail/1/x")])
    assert [row.key for row in registry.children(document_id("mail"))] == ["mail/1", "mail/2"]
    assert [k.key for k in registry.known(project.id, "files")] == ["mail"], "children come from no listing"
    assert registry.visible(project.id) == (4, 12)
    everything = {document_id(k) for k in ("mail", "mail/1", "mail/2", "mail/1/x")}
    assert set(registry.delete(document_id("mail"))) == everything
    assert registry.active(list(everything)) == {}
    assert registry.visible(project.id) == (0, 0)
    assert set(registry.delete(document_id("mail"))) == everything
    assert registry.children(document_id("mail")) == []


def test_children_of_a_deleted_superseded_or_unknown_parent_are_not_taken(registry: Registry, project: Project) -> None:
    generation = registry.claim([claim(project, "mail")])[document_id("mail")]
    assert registry.claim([child(project, "mail", "mail/1", generation)]) == {document_id("mail/1"): 1}
    newer = registry.claim([claim(project, "mail")])[document_id("mail")]
    assert registry.claim([child(project, "mail", "mail/1", generation)]) == {}
    assert registry.claim([child(project, "mail", "mail/1", newer)]) == {document_id("mail/1"): 2}
    registry.delete(document_id("mail"))
    assert registry.claim([child(project, "mail", "mail/1"), child(project, "nowhere", "x")]) == {}
    assert registry.publish([publication(project, "mail/1", 2)]) == set()


def test_children_a_new_revision_lacks_are_retired(registry: Registry, project: Project) -> None:
    ingest(registry, project, "zip")
    registry.claim([child(project, "zip", k) for k in ("zip/1", "zip/2", "zip/3")])
    registry.claim([child(project, "zip/3", "zip/3/deep")])
    registry.publish([publication(project, k, 1) for k in ("zip/1", "zip/2", "zip/3", "zip/3/deep")])
    newer = registry.claim([claim(project, "zip")])[document_id("zip")]
    keep = {document_id("zip/1"), document_id("zip/2")}
    assert registry.retire_children(document_id("zip"), keep, newer - 1) == []
    gone = registry.retire_children(document_id("zip"), keep, newer)
    assert set(gone) == {document_id("zip/3"), document_id("zip/3/deep")}
    assert [row.key for row in registry.children(document_id("zip"))] == ["zip/1", "zip/2"]
    assert registry.visible(project.id) == (3, 9)
    assert registry.retire_children(document_id("nowhere"), set()) == []
    assert set(registry.retire_children(document_id("zip"), set())) >= keep
    assert registry.visible(project.id) == (1, 3)


def test_the_sweeper_sees_crashed_attempts_of_dead_runs_only(registry: Registry, project: Project) -> None:
    run = registry.start_run(project.id, "files", "file:///files", {})
    registry.claim([claim(project, "a")], run)
    registry.claim([claim(project, "b")])
    assert list(registry.stale(60)) == []
    assert [a.document_id for a in registry.stale(-1)] == [A, document_id("b")]
    row = next(a for a in registry.stale(-1))
    assert (row.project_id, row.generation, row.status, row.run_id) == (project.id, 1, "processing", run)
    _age_claims(registry)
    assert [a.document_id for a in registry.stale(60)] == [document_id("b")], "the run of `a` is alive"
    registry.finish_run(run, "interrupted", {})
    assert {a.document_id for a in registry.stale(60)} == {A, document_id("b")}
    assert list(registry.processing_ids(project.id, run)) == [A]
    assert list(registry.processing_ids(project.id)) == [A, document_id("b")]


def _age_claims(registry: Registry) -> None:
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    registry.write(lambda c: c.execute(sa.update(DOCUMENTS).values(claimed_at=long_ago)))


def test_leftovers_are_listed_until_swept(registry: Registry, project: Project) -> None:
    def leftovers() -> dict[str, tuple[int, str, str | None]]:
        return {a.document_id: (a.generation, a.status, a.active_revision) for a in registry.unswept(-1)}

    ingest(registry, project, "a", "b", "c")
    assert leftovers() == {}, "a first publication leaves nothing behind"
    registry.claim([claim(project, "a"), claim(project, "b")])
    assert leftovers() == {}, "work in flight is not swept"
    registry.publish([publication(project, "a", 2, "r2")])
    registry.touch([Touch(document_id("b"), 2, 10, "e9", None)])
    registry.delete(document_id("c"))
    registry.claim([claim(project, "d")])
    registry.fail([(document_id("d"), 1, Failure("EMBEDDING_FAILED", "embed", "down"))])
    expected = {
        A: (2, "completed", "r2"),
        document_id("c"): (2, "deleted", None),
        document_id("d"): (1, "failed", None),
    }
    assert leftovers() == expected
    registry.swept([(A, 1), (document_id("c"), 2)])
    assert set(leftovers()) == {A, document_id("d")}, "a generation that moved on is still to be swept"
    registry.swept([(A, 2), (document_id("d"), 1), (document_id("nowhere"), 1)])
    assert leftovers() == {}


def test_tombstones_are_told_with_their_generation(registry: Registry, project: Project) -> None:
    registry.claim([claim(project, "kept"), claim(project, "gone")])
    gone = registry.delete(document_id("gone"))
    (attempt,) = registry.tombstones([*gone, document_id("kept"), document_id("never")])
    assert (attempt.document_id, attempt.generation, attempt.status) == (document_id("gone"), 2, "deleted")
