"""Publishing over the real registry and the real embedded store: atomic swaps, lost races, failures alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_embedder import SIZE, FakeEmbedder

from engine.document import Builder
from engine.errors import StorageError
from engine.ids import child_id, chunk_id, content_hash, document_id_for
from engine.publish import Publisher, embed
from engine.records import Chunk, ChunkMetadata, Failure, Outcome, Prepared
from engine.registry import INCOMPLETE, Claim
from engine.registry.queries import Registry, open_registry
from engine.settings import Limits, load
from engine.store import Condition, Filter, Points
from engine.store.edge import EdgeStore
from engine.sweep import sweep


@dataclass
class Bench:
    registry: Registry
    store: EdgeStore
    project: str
    embedder: FakeEmbedder

    def claim(self, p: Prepared) -> Prepared:
        claim = Claim(p.document_id, p.project_id, p.source, p.key, p.uri, p.filename, p.size, parent_id=p.parent_id)
        p.generation = self.registry.claim([claim])[p.document_id]
        return p

    def prepared(self, key: str, *texts: str, parent: str | None = None) -> Prepared:
        identity = child_id(parent, key) if parent else document_id_for(self.project, "s", key)
        p = Prepared(identity, self.project, "s", key, f"file:///{key}", key, 10, parent_id=parent)
        builder = Builder("txt", Limits())
        p.document, p.fingerprint = builder.finish(), "f" * 64
        p.content_sha256 = content_hash("|".join(texts))
        for n, text in enumerate(texts):
            h = content_hash(text)
            meta = ChunkMetadata([], None, [], n, len(texts), "text", "text", "txt", "text", 0, len(text))
            p.chunks.append(Chunk(chunk_id(identity, h, 0), identity, text, h, 3, 5, meta))
        return p

    def publisher(self) -> Publisher:
        return Publisher(self.store, self.registry, "fake", "run", 64)

    def publish(self, *documents: Prepared, others: tuple[Prepared, ...] = ()) -> list[Outcome]:
        return self.publisher().publish(embed(documents, self.embedder, self.store), others)

    def texts(self) -> list[tuple[str, str]]:
        """(key, content) of every stored point."""
        where = Filter([Condition("project_id", "any", [self.project])])
        return sorted((str(r.payload["key"]), str(r.payload["content"])) for b in self.store.scroll(where) for r in b)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    registry = open_registry(load({"home": tmp_path}, environ={}))
    store = EdgeStore(tmp_path / "store")
    store.ensure({"fake": SIZE})
    yield Bench(registry, store, registry.project("p", create=True).id, FakeEmbedder())
    store.close()


def test_a_new_revision_replaces_the_old_one_and_embeds_only_what_is_new(bench: Bench) -> None:
    bench.publish(bench.claim(bench.prepared("a", "one", "two", "three")))
    (outcome,) = bench.publish(bench.claim(bench.prepared("a", "one", "four")))
    assert (outcome.status, outcome.embedded, outcome.reused) == ("published", 1, 1)
    assert bench.texts() == [("a", "four"), ("a", "one")]
    assert bench.embedder.embedded == ["one", "two", "three", "four"]


def test_going_back_to_an_earlier_revision_keeps_its_points(bench: Bench) -> None:
    for texts in (["one"], ["two"], ["one"]):
        bench.publish(bench.claim(bench.prepared("a", *texts)))
    assert bench.texts() == [("a", "one")]


def test_a_superseded_attempt_leaves_nothing_behind(bench: Bench) -> None:
    slow = bench.claim(bench.prepared("a", "old words"))
    quick = bench.claim(bench.prepared("a", "new words"))
    (won,) = bench.publish(quick)
    (lost,) = bench.publish(slow)
    assert (won.status, lost.status, lost.reason) == ("published", "skipped", "superseded")
    assert bench.texts() == [("a", "new words")]


def test_a_late_loser_with_the_same_bytes_does_not_take_the_winners_points(bench: Bench) -> None:
    slow, quick = bench.claim(bench.prepared("a", "same")), bench.claim(bench.prepared("a", "same"))
    embedded = embed([slow], bench.embedder, bench.store)
    bench.publish(quick)
    assert bench.publisher().publish(embedded, [])[0].status == "skipped"
    sweep(bench.store, bench.registry, 0)
    active = bench.registry.active([quick.document_id])
    assert active == {quick.document_id: quick.revision}
    assert bench.texts() == [("a", "same")]


def test_a_loser_between_the_winners_writes_and_its_flip_takes_nothing(bench: Bench) -> None:
    bench.publish(bench.claim(bench.prepared("a", "first")))
    slow, quick = bench.claim(bench.prepared("a", "same")), bench.claim(bench.prepared("a", "same"))
    winner, loser = bench.publisher(), bench.publisher()
    mine, theirs = embed([quick], bench.embedder, bench.store), embed([slow], bench.embedder, bench.store)
    winner._write(mine)
    assert loser.publish(theirs, [])[0].status == "skipped"  # overwrites, loses, and must not take them away
    assert winner.publish(mine, [])[0].status == "published"
    assert bench.texts() == [("a", "same")]


def test_delete_wins_over_work_in_flight(bench: Bench) -> None:
    p = bench.claim(bench.prepared("a", "never seen"))
    bench.registry.delete(p.document_id)
    (outcome,) = bench.publish(p)
    assert (outcome.status, bench.texts()) == ("skipped", [])


def test_a_text_the_model_refuses_fails_its_document_alone(bench: Bench) -> None:
    bench.embedder.refuse = "bad"
    good, bad = bench.claim(bench.prepared("a", "fine")), bench.claim(bench.prepared("b", "bad"))
    embedded = embed([good, bad], bench.embedder, bench.store)
    outcomes = bench.publisher().publish(embedded, [p for p in (good, bad) if p.failure])
    assert {o.key: (o.status, o.code) for o in outcomes} == {
        "a": ("published", ""),
        "b": ("failed", "EMBEDDING_FAILED"),
    }
    row = bench.registry.document(bad.document_id)
    assert row is not None and (row.status, row.error_code) == ("failed", "EMBEDDING_FAILED")


class RefusingStore(EdgeStore):
    """Refuses points of one document, as a server with a quota may."""

    def upsert(self, points: Points) -> None:
        if any("heavy" in str(p["content"]) for p in points.payloads):
            raise StorageError("no room for this point")
        super().upsert(points)


def test_points_the_store_refuses_fail_their_document_alone(bench: Bench, tmp_path: Path) -> None:
    store = RefusingStore(tmp_path / "other")
    store.ensure({"fake": SIZE})
    bench.store.close()
    bench.store = store
    outcomes = bench.publish(bench.claim(bench.prepared("a", "light")), bench.claim(bench.prepared("b", "heavy")))
    assert {o.key: (o.status, o.code) for o in outcomes} == {"a": ("published", ""), "b": ("failed", "STORAGE_FAILED")}
    assert bench.registry.active([document_id_for(bench.project, "s", "b")]) == {}
    store.close()


def test_a_failed_update_leaves_the_published_revision_visible(bench: Bench) -> None:
    bench.publish(bench.claim(bench.prepared("a", "stands")))
    broken = bench.claim(bench.prepared("a"))
    broken.failure = Failure("EXTRACTION_FAILED", "extract", "broken now")
    (outcome,) = bench.publish(others=(broken,))
    assert outcome.status == "failed"
    assert bench.registry.active([broken.document_id]) != {}
    assert bench.texts() == [("a", "stands")]


def test_a_document_that_became_empty_disappears(bench: Bench) -> None:
    bench.publish(bench.claim(bench.prepared("a", "soon gone")))
    empty = bench.claim(bench.prepared("a"))
    empty.skip_reason = "empty"
    bench.publish(others=(empty,))
    assert bench.texts() == [] and bench.registry.active([empty.document_id]) == {}


def test_children_of_an_earlier_revision_are_retired_with_their_points(bench: Bench) -> None:
    parent = bench.claim(bench.prepared("box", "listing"))
    child = bench.claim(bench.prepared("inner", "inside", parent=parent.document_id))
    parent.child_ids = [child.document_id]
    bench.publish(child, parent)
    again = bench.claim(bench.prepared("box", "another listing"))
    bench.publish(again)
    assert bench.texts() == [("box", "another listing")]
    assert bench.registry.active([child.document_id]) == {}


def test_a_parent_with_a_failure_inside_is_incomplete(bench: Bench) -> None:
    parent = bench.claim(bench.prepared("box", "listing"))
    broken = bench.claim(bench.prepared("inner", parent=parent.document_id))
    broken.failure = Failure("EXTRACTION_FAILED", "extract", "broken")
    parent.child_ids = [broken.document_id]
    bench.publish(parent, others=(broken,))
    row = bench.registry.document(parent.document_id)
    assert row is not None and (row.fingerprint, row.metadata["failed_inside"]) == (INCOMPLETE, 1)


def test_a_child_published_by_another_worker_stays_with_its_parent(bench: Bench) -> None:
    for _ in range(2):
        parent = bench.claim(bench.prepared("box", "listing"))
        child = bench.claim(bench.prepared("inner", "inside", parent=parent.document_id))
        parent.child_ids = [child.document_id]
        bench.publish(child)
        bench.publish(parent)
    assert bench.texts() == [("box", "listing"), ("inner", "inside")]
    row = bench.registry.document(parent.document_id)
    assert row is not None and row.fingerprint == parent.fingerprint


def test_a_child_the_store_refused_leaves_its_parent_incomplete(bench: Bench) -> None:
    bench.embedder.refuse = "bad"
    parent = bench.claim(bench.prepared("box", "listing"))
    child = bench.claim(bench.prepared("inner", "bad", parent=parent.document_id))
    parent.child_ids = [child.document_id]
    embedded = embed([child, parent], bench.embedder, bench.store)
    bench.publisher().publish(embedded, [child])
    row = bench.registry.document(parent.document_id)
    assert row is not None and row.fingerprint == INCOMPLETE


def test_an_overtaken_attempt_that_found_nothing_does_not_empty_the_winner(bench: Bench) -> None:
    bench.publish(bench.claim(bench.prepared("a", "stands")))
    slow = bench.claim(bench.prepared("a"))
    slow.skip_reason = "empty"
    bench.claim(bench.prepared("a", "newer"))
    (outcome,) = bench.publish(others=(slow,))
    assert (outcome.status, outcome.reason) == ("skipped", "superseded")
    assert bench.texts() == [("a", "stands")]


def test_an_attempt_ended_by_the_sweeper_cannot_flip_any_more(bench: Bench) -> None:
    slow = bench.claim(bench.prepared("a", "too late"))
    embedded = embed([slow], bench.embedder, bench.store)
    bench.publisher()._write(embedded)
    sweep(bench.store, bench.registry, 0)
    (outcome,) = bench.publisher().publish(embedded, [])
    assert (outcome.status, bench.texts()) == ("skipped", [])
    row = bench.registry.document(slow.document_id)
    assert row is not None and (row.status, row.error_code) == ("failed", "WORKER_LOST")


def test_the_sweeper_removes_what_a_crash_left(bench: Bench) -> None:
    crashed = bench.claim(bench.prepared("a", "half done"))
    bench.publisher()._write(embed([crashed], bench.embedder, bench.store))  # and then the process died
    bench.publish(bench.claim(bench.prepared("b", "whole")))
    assert len(bench.texts()) == 2
    sweep(bench.store, bench.registry, 0)
    assert bench.texts() == [("b", "whole")]
