"""Swaps under readers: an answer is never empty, short or mixed because a document is being replaced."""

import threading

import pytest

from engine.errors import StorageError
from engine.search import active
from engine.search.classic import SearchRequest, search
from engine.store import Condition, Filter, Query

A = [f"alpha revision passage {n} turbines" for n in range(4)]
B = [f"beta revision passage {n} turbines" for n in range(7)]


def dense(world, text: str, limit: int) -> list[Query]:
    return [Query("bag", limit, dense=world.embedder.embed_queries([text])[0])]


def test_points_of_a_revision_not_yet_active_are_invisible(world):
    world.publish("doc", A, "a")
    world.publish("other", ["something else entirely"])
    world.upload("doc", B, "b")
    found = active.look(world.store, world.registry, "p", dense(world, "beta revision passage", 3), Filter(), [])
    assert {h.payload["revision"] for h in found.lists[0]} <= {"a", "r1"}
    assert len(found.lists[0]) == 3  # looked deeper than the stale ones
    records = active.read(world.store, world.registry, "p", Filter())
    assert {r.payload["revision"] for r in records} == {"a", "r1"}
    assert len(records) == 5
    assert active.count(world.store, world.registry, "p", Filter()) == 5
    assert active.values(world.store, world.registry, "p", Filter(), "filename") == {"doc": 4, "other": 1}
    assert active.values(world.store, world.registry, "p", Filter(), "section_path") == {}


def test_many_stale_points_do_not_push_active_ones_out(world):
    world.publish("doc", ["the turbines were inspected yesterday morning"], "a")
    for n in range(40):
        world.upload(f"stale-{n}", ["the turbines were inspected yesterday"], "never")
    found = active.look(world.store, world.registry, "p", dense(world, "the turbines were inspected", 5), Filter())
    assert [h.payload["revision"] for h in found.lists[0]] == ["a"]


def test_a_deleted_document_is_gone_before_its_points_are(world):
    document = world.publish("doc", A, "a")
    world.publish("other", ["something else"])
    world.registry.flip(document, None)
    records = active.read(world.store, world.registry, "p", Filter())
    assert [r.payload["filename"] for r in records] == ["other"]


def test_equal_revisions_of_other_documents_stay(world):
    """A revision is named after bytes and options: two documents with equal bytes share its name."""
    gone = world.publish("one", A, "same")
    world.publish("two", A, "same")
    world.registry.flip(gone, None)
    found = active.look(world.store, world.registry, "p", dense(world, A[0], 10), Filter())
    assert len(found.lists[0]) == 4


class Restless:
    """A registry whose index never stands still, and whose document changes at every look when told to."""

    def __init__(self, inner, flipping: str | None = None) -> None:
        self.inner = inner
        self.flipping = flipping
        self.ticks = 0

    def index_version(self, project_id):
        self.ticks += 1
        return self.ticks

    def active(self, documents):
        found = self.inner.active(documents)
        if self.flipping in found:
            self.ticks += 1
            found[self.flipping] = f"r{self.ticks}"
        return found

    def visible(self, project_id):
        return self.inner.visible(project_id)


def test_a_project_that_is_always_published_to_can_still_be_read(world):
    world.publish("doc", A, "a")
    world.upload("doc", B, "b")
    restless = Restless(world.registry)
    found = active.look(world.store, restless, "p", dense(world, "turbines", 10), Filter())
    assert {h.payload["revision"] for h in found.lists[0]} == {"a"}
    assert len(active.read(world.store, restless, "p", Filter())) == 4


def test_a_document_that_never_stands_still_is_an_error_not_an_empty_answer(world):
    document = world.publish("doc", A, "a")
    restless = Restless(world.registry, flipping=document)
    with pytest.raises(StorageError, match="kept changing"):
        active.look(world.store, restless, "p", dense(world, "turbines", 10), Filter())


@pytest.mark.parametrize("rounds", [1500, pytest.param(8000, marks=pytest.mark.slow)])
def test_thousands_of_searches_during_swaps_are_whole(world, rounds):
    """One thread replaces the document's revision by another one, over and over, while this one searches."""
    document = world.publish("doc", A, "a")
    for n in range(12):
        world.publish(f"filler-{n}", [f"filler {n} turbines of another kind"])
    stop = threading.Event()
    swaps = 0

    def swap() -> None:
        nonlocal swaps
        while not stop.is_set():
            world.publish("doc", *((B, "b") if swaps % 2 == 0 else (A, "a")))
            swaps += 1

    publisher = threading.Thread(target=swap)
    publisher.start()
    seen: set[str] = set()
    try:
        for n in range(rounds):
            mode, top_k = (("hybrid", 10), ("content", 10), ("hybrid", 30))[n % 3]
            request = SearchRequest("p", "revision passage turbines", mode=mode, top_k=top_k)
            response = search(request, world.store, world.registry, world.embedder)
            mine = [r for r in response.results if r.document_id == document]
            revisions = {r.revision for r in mine}
            assert len(revisions) == 1, f"mixed or missing at search {n}"
            [revision] = revisions
            assert len(mine) == {"a": 4, "b": 7}[revision]
            assert len(response.results) >= (10 if top_k == 10 else 16)
            seen |= revisions
    finally:
        stop.set()
        publisher.join()
    assert seen == {"a", "b"}
    assert swaps > 20


def test_reads_during_swaps_are_whole(world, monkeypatch):
    document = world.publish("doc", A, "a")
    # Pages of two points, so that a swap can fall between the pages of one read.
    whole = world.store.scroll
    monkeypatch.setattr(world.store, "scroll", lambda where, with_dense=(), **kw: whole(where, with_dense, 2, **kw))
    stop = threading.Event()

    def swap() -> None:
        n = 0
        while not stop.is_set():
            world.publish("doc", *((B, "b") if n % 2 == 0 else (A, "a")))
            n += 1

    publisher = threading.Thread(target=swap)
    publisher.start()
    try:
        for _ in range(300):
            records = active.read(
                world.store, world.registry, "p", Filter([Condition("document_id", "any", [document])])
            )
            revisions = {str(r.payload["revision"]) for r in records}
            assert len(revisions) == 1
            assert len(records) == {"a": 4, "b": 7}[revisions.pop()]
    finally:
        stop.set()
        publisher.join()
