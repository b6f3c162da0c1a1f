"""A document as one caller may see it, read while it is being replaced."""

from __future__ import annotations

import threading
from datetime import UTC, datetime

import pytest

from engine.errors import Code, InputError
from engine.registry import DocumentRow
from engine.search.view import DocumentView, shows_asset, shows_page, view_document

THEN = datetime(2026, 1, 2, tzinfo=UTC)


def row_of(document_id: str, revision: str | None, facts: dict[str, object]) -> DocumentRow:
    return DocumentRow(
        document_id=document_id, project_id="p", parent_id=None, source="s", key="k", uri="file:///k",
        filename="k", status="completed", source_format="txt", size=1, page_count=None, word_count=1, chunk_count=1,
        language="en", title=None, author=None, content_sha256="", fingerprint="", active_revision=revision,
        generation=1, skip_reason="", error_code="", error_stage="", error_message="", parse_seconds=0.0,
        warnings=[], metadata=facts, created_at=THEN, updated_at=THEN,
    )  # fmt: skip


class Ledger:
    """The world's registry with rows."""

    def __init__(self, world, **facts: object) -> None:
        self.world, self.facts = world, facts

    def __getattr__(self, name: str):
        return getattr(self.world.registry, name)

    def document(self, document_id: str, project_id: str | None = None) -> DocumentRow | None:
        revision = self.world.registry.active([document_id]).get(document_id)
        return None if document_id == "gone" else row_of(document_id, revision, self.facts)


def test_chunks_come_in_order_and_by_principal(world) -> None:
    document = world.publish("a", [f"text number {n}" for n in range(12)], acl=["ann"])
    view = view_document(world.store, Ledger(world), document, None)
    assert [p["chunk_index"] for p in view.chunks] == list(range(12))
    assert view.whole
    assert view_document(world.store, Ledger(world), document, ["ann", "x"]).whole
    stranger = view_document(world.store, Ledger(world), document, ["x"])
    assert (stranger.chunks, len(stranger.withheld), stranger.whole) == ([], 12, False)
    open_one = world.publish("b", ["for everybody"])
    assert view_document(world.store, Ledger(world), open_one, []).whole


def test_vectors_come_along_when_asked_for(world) -> None:
    document = world.publish("a", ["one", "two"])
    view = view_document(world.store, Ledger(world), document, None, ["bag"])
    assert {len(v["bag"]) for v in view.vectors.values()} == {48}
    assert view_document(world.store, Ledger(world), document, None).vectors == {}


def test_what_is_not_published_or_not_there(world) -> None:
    with pytest.raises(InputError) as found:
        view_document(world.store, Ledger(world), "gone", None)
    assert found.value.code is Code.DOCUMENT_NOT_FOUND
    document, _ = world.upload("a", ["one"], "r1")
    with pytest.raises(InputError) as found:
        view_document(world.store, Ledger(world), document, None)
    assert found.value.code is Code.CONFLICT


def test_a_document_for_others_is_closed_even_without_chunks(world) -> None:
    document = world.publish("a", ["one"])
    view = view_document(world.store, Ledger(world, acl=["ann"]), document, ["x"])
    assert not view.whole
    assert not shows_page(view, 1)
    assert not shows_asset(view, "table-1")
    assert view_document(world.store, Ledger(world, acl=["ann"]), document, ["ann"]).whole
    assert view_document(world.store, Ledger(world, acl=["ann"]), document, None).whole


def test_a_view_is_of_one_revision_while_revisions_change(world) -> None:
    texts = {r: [f"{r} part {n}" for n in range(r_size)] for r, r_size in (("r1", 7), ("r2", 3), ("r3", 11))}
    document = world.publish("a", texts["r1"], "r1")
    stop = threading.Event()

    def replace_it() -> None:
        while not stop.is_set():
            for revision, parts in texts.items():
                world.publish("a", parts, revision)

    thread = threading.Thread(target=replace_it)
    thread.start()
    try:
        for _ in range(60):
            view = view_document(world.store, Ledger(world), document, None)
            assert [p["content"] for p in view.chunks] == texts[view.revision]
    finally:
        stop.set()
        thread.join()


def page(*numbers: int, refers: str = "") -> dict:
    relations = [{"target": refers, "relation": "embeds", "ref": refers, "position": 0}] if refers else []
    return {"page_numbers": list(numbers), "connect_to": relations}


@pytest.mark.parametrize(
    ("seen", "withheld", "shown"),
    [
        ([page(1), page(2)], [], {1, 2, 3, 4}),
        ([page(1), page(2), page(3), page(4)], [page(2)], {1, 4}),
        ([page(1), page(4)], [page(1, 2)], {4}),
        ([page(1), page(2)], [page()], set()),
        ([page(1)], [page(3)], {1}),
        ([], [page(3)], set()),
    ],
)
def test_pages_beside_withheld_text(seen: list, withheld: list, shown: set[int]) -> None:
    view = DocumentView(row_of("d", "r", {}), "r", seen, withheld)
    assert {number for number in range(1, 5) if shows_page(view, number)} == shown


def test_assets_beside_withheld_text() -> None:
    row = row_of("d", "r", {})
    view = DocumentView(row, "r", [page(1, refers="table-1"), page(1, refers="table-2")], [page(2, refers="table-2")])
    assert [shows_asset(view, f"table-{n}") for n in (1, 2, 3)] == [True, False, False]
    assert shows_asset(DocumentView(row, "r", [], []), "image-9")


def test_only_what_matters_is_read_for_one_who_may_see_everything(world) -> None:
    document = world.publish("a", [f"text number {n}" for n in range(5)], acl=["ann"])
    ledger = Ledger(world)
    chosen = view_document(world.store, ledger, document, None).chunks[3]["chunk_id"]
    assert [p["chunk_index"] for p in view_document(world.store, ledger, document, None, only=[chosen]).chunks] == [3]
    assert view_document(world.store, ledger, document, None, only=[]).chunks == []
    assert len(view_document(world.store, ledger, document, ["x"], only=[]).withheld) == 5  # these decide
