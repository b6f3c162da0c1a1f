"""One suite over every adapter: what a store promises must not depend on the engine behind it."""

import numpy as np
import pytest

from engine.errors import ConfigError, StorageError
from engine.store import Condition, Filter, Query

EVERYTHING = Filter()


def only(field: str, *values: str | int) -> Filter:
    return Filter([Condition(field, "any", list(values))])


@pytest.fixture
def filled(store, make):
    """Four points of project p, one of project q; word 7 is everywhere in p and rare in q."""
    store.ensure({"d": 3})
    store.upsert(
        make.points(
            [
                {
                    "id": 3,
                    "d": [1, 0, 0],
                    "content_row": {7: 1, 8: 2},
                    "project_id": "p",
                    "document_id": "a",
                    "generation": 1,
                    "acl": ["*"],
                    "source_format": "pdf",
                    "content": "first",
                    "boxes": [{"page": 1, "x0": 1.5}],
                    "section_path": ["A", "B"],
                    "summary": None,
                },
                {
                    "id": 1,
                    "d": [0.8, 0.6, 0],
                    "content_row": {7: 1},
                    "project_id": "p",
                    "document_id": "a",
                    "generation": 2,
                    "acl": ["u1", "u2"],
                    "source_format": "pdf",
                },
                {
                    "id": 2,
                    "d": [0, 1, 0],
                    "content_row": {7: 1, 9: 1},
                    "project_id": "p",
                    "document_id": "b",
                    "generation": 3,
                    "acl": ["u1"],
                    "source_format": "docx",
                },
                {
                    "id": 4,
                    "d": [0, 0, 1],
                    "content_row": {7: 1},
                    "project_id": "p",
                    "document_id": "c",
                    "generation": 3,
                    "acl": [],
                    "source_format": "docx",
                },
                {
                    "id": 5,
                    "d": [1, 0, 0],
                    "content_row": {7: 1},
                    "project_id": "q",
                    "document_id": "z",
                    "generation": 1,
                    "acl": ["*"],
                    "source_format": "pdf",
                },
                {"id": 6, "d": [0, 0, 1], "content_row": {11: 1}, "project_id": "q", "document_id": "y"},
            ]
        )
    )
    return store


def numbers(hits):
    return [int(h.id[-4:], 16) for h in hits]


# ---------------------------------------------------------------- schema
def test_before_ensure_reads_are_empty_and_writes_refused(store, make):
    assert store.vectors() == {}
    assert store.count(EVERYTHING) == 0
    assert list(store.scroll(EVERYTHING)) == []
    assert store.fetch([make.id(1)]) == []
    assert store.facet("document_id", EVERYTHING) == {}
    assert store.search([Query("d", 5, dense=make.unit(1, 0, 0))], EVERYTHING, "p") == [[]]
    store.delete(only("document_id", "a"))
    with pytest.raises(StorageError, match="ensure"):
        store.upsert(make.points([{"id": 1}]))


def test_ensure_is_repeatable_and_adds_a_model_to_a_filled_collection(filled, make):
    filled.ensure({"d": 3})
    filled.ensure({"d": 3, "e": 2})
    assert filled.vectors() == {"d": 3, "e": 2}
    point = make.points([{"id": 9, "d": [0, 1, 0], "project_id": "p"}])
    point.dense["e"] = np.array([[0.6, 0.8]], dtype=np.float32)
    filled.upsert(point)
    [hits] = filled.search([Query("e", 10, dense=make.unit(0.6, 0.8))], EVERYTHING, "p")
    assert numbers(hits) == [9]
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
    assert filled.count(EVERYTHING) == 7


def test_another_size_under_the_same_name_is_a_configuration_error(filled):
    with pytest.raises(ConfigError, match="size 3"):
        filled.ensure({"d": 4})


def test_another_models_vectors_join_existing_points_and_leave_again(filled, make):
    filled.ensure({"d": 3, "e": 2})
    matrix = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    filled.set_dense("e", [make.id(1), make.id(77), make.id(3)], matrix)  # 77 is gone
    [hits] = filled.search([Query("e", 10, dense=make.unit(1, 0.1))], EVERYTHING, "p")
    assert sorted(numbers(hits)) == [1, 3]
    [record] = filled.fetch([make.id(3)], with_dense=["d", "e"])
    assert record.payload["content"] == "first"
    np.testing.assert_allclose(record.dense["d"], [1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(record.dense["e"], [1, 0], atol=1e-6)
    filled.drop_dense("e")
    filled.drop_dense("e")
    assert filled.vectors() == {"d": 3}
    assert filled.count(EVERYTHING) == 6


# ---------------------------------------------------------------- writes
def test_payload_comes_back_as_it_was_given(filled, make):
    [record] = filled.fetch([make.id(3)])
    assert record.payload == {
        "project_id": "p",
        "document_id": "a",
        "generation": 1,
        "acl": ["*"],
        "source_format": "pdf",
        "content": "first",
        "boxes": [{"page": 1, "x0": 1.5}],
        "section_path": ["A", "B"],
        "summary": None,
    }


def test_upsert_is_idempotent_and_replaces_the_whole_point(filled, make):
    filled.upsert(make.points([{"id": 3, "d": [0, 1, 0], "project_id": "p", "document_id": "new"}]))
    assert filled.count(EVERYTHING) == 6
    [record] = filled.fetch([make.id(3)], with_dense=["d"])
    assert record.payload == {"project_id": "p", "document_id": "new"}
    np.testing.assert_allclose(record.dense["d"], [0, 1, 0], atol=1e-6)
    [hits] = filled.search([Query("content", 10, sparse=words(8))], EVERYTHING, "p")
    assert hits == []  # its old sparse row is gone with it


def test_an_empty_batch_is_nothing(filled, make):
    filled.upsert(make.points([]))
    assert filled.count(EVERYTHING) == 6


def test_more_points_than_one_batch(store, make):
    store.ensure({"d": 3})
    store.upsert(make.points([{"id": i, "project_id": "p"} for i in range(1, 301)]))
    assert store.count(only("project_id", "p")) == 300


BROKEN = [
    (lambda p: p.dense.update(d=np.full((2, 3), np.nan, dtype=np.float32)), StorageError),
    (lambda p: p.dense.update(d=np.ones((2, 4), dtype=np.float32)), ConfigError),
    (lambda p: p.dense.update(other=np.ones((2, 3), dtype=np.float32)), ConfigError),
    (lambda p: p.payloads.pop(), StorageError),
    (lambda p: p.sparse.update(nonsense=p.sparse["content"]), StorageError),
    (lambda p: p.payloads[0].update(x=float("nan")), StorageError),
    (lambda p: p.payloads[0].update(x={1, 2}), StorageError),
    (lambda p: p.ids.__setitem__(0, "not-a-uuid"), StorageError),
]


def test_broken_points_are_refused_whole(store, make):
    store.ensure({"d": 3})
    for spoil, error in BROKEN:
        points = make.points([{"id": 1}, {"id": 2}])
        spoil(points)
        with pytest.raises(error):
            store.upsert(points)
        assert store.count(EVERYTHING) == 0


def test_delete_by_filter(filled):
    filled.delete(Filter([Condition("document_id", "any", ["a"]), Condition("generation", "range", [None, 2])]))
    assert filled.count(EVERYTHING) == 5
    filled.delete(Filter([Condition("project_id", "any", ["p"])], [Condition("document_id", "any", ["b"])]))
    assert filled.count(only("project_id", "p")) == 1
    filled.delete(only("document_id", "never-there"))
    assert filled.count(EVERYTHING) == 3


# ---------------------------------------------------------------- reads
def words(*indices: int):
    return np.array(indices, dtype=np.uint32), np.ones(len(indices), dtype=np.float32)


def test_dense_search_orders_by_cosine_inside_the_project(filled, make):
    [hits] = filled.search([Query("d", 3, dense=make.unit(1, 0, 0))], EVERYTHING, "p")
    assert numbers(hits) == [3, 1, 2] or numbers(hits) == [3, 1, 4]
    assert [h.score for h in hits] == pytest.approx([1.0, 0.8, 0.0], abs=1e-5)
    [everyone] = filled.search([Query("d", 10, dense=make.unit(1, 0, 0))], EVERYTHING, None)
    assert set(numbers(everyone)) == {1, 2, 3, 4, 5, 6}


def test_several_channels_in_one_call_each_with_its_threshold_and_limit(filled, make):
    dense, content, nothing, path = filled.search(
        [
            Query("d", 10, dense=make.unit(1, 0, 0), threshold=0.5),
            Query("content", 2, sparse=words(7)),
            Query("content", 10, sparse=(np.array([], dtype=np.uint32), np.array([], dtype=np.float32))),
            Query("path", 10, sparse=words(7)),
        ],
        EVERYTHING,
        "p",
    )
    assert numbers(dense) == [3, 1]
    assert len(content) == 2
    assert nothing == []
    assert path == []


def test_word_rarity_is_counted_inside_the_project(filled):
    [common] = filled.search([Query("content", 1, sparse=words(7))], EVERYTHING, "p")
    [rare] = filled.search([Query("content", 1, sparse=words(7))], EVERYTHING, "q")
    # idf = ln((N - n + 0.5) / (n + 0.5) + 1): all 4 points of p, 1 of 2 in q
    assert common[0].score == pytest.approx(np.log(0.5 / 4.5 + 1), rel=1e-4)
    assert rare[0].score == pytest.approx(np.log(1.5 / 1.5 + 1), rel=1e-4)


def test_search_gives_only_the_fields_asked_for(filled, make):
    query = Query("d", 1, dense=make.unit(1, 0, 0))
    [[hit]] = filled.search([query], EVERYTHING, "p", ["document_id", "content"])
    assert hit.payload == {"document_id": "a", "content": "first"}
    [[hit]] = filled.search([query], EVERYTHING, "p", ["document_id"])
    assert hit.payload == {"document_id": "a"}
    [[hit]] = filled.search([query], EVERYTHING, "p")
    assert hit.payload["boxes"] == [{"page": 1, "x0": 1.5}]


MEANINGS = [
    (only("document_id", "a", "c"), {1, 3, 4}),
    (Filter([], [Condition("document_id", "any", ["a", "c"])]), {2, 5, 6}),
    (only("acl", "u2", "*"), {1, 3, 5}),
    (Filter([Condition("generation", "range", [2, None])]), {1, 2, 4}),
    (Filter([Condition("generation", "range", [1, 3])]), {1, 3, 5}),
    (only("generation", 1, 2), {1, 3, 5}),
    (Filter([Condition("source_format", "any", ["pdf"]), Condition("project_id", "any", ["p"])]), {1, 3}),
    (only("document_id"), set[int]()),
    (Filter([], [Condition("document_id", "any", [])]), {1, 2, 3, 4, 5, 6}),
    (EVERYTHING, {1, 2, 3, 4, 5, 6}),
]


def test_filters_mean_the_same_everywhere(filled, make):
    for where, expected in MEANINGS:
        found = [r for batch in filled.scroll(where, batch=2) for r in batch]
        assert {int(r.id[-4:], 16) for r in found} == expected, where
        assert filled.count(where) == len(expected), where
        [hits] = filled.search([Query("d", 10, dense=make.unit(1, 1, 1))], where, None)
        assert set(numbers(hits)) == expected, where


def test_filters_that_no_index_serves_are_refused(filled):
    unindexed = only("content", "first")
    not_a_number = Filter([Condition("filename", "range", [1, 2])])
    missing = Filter([Condition("document_id", "any", ["a", None])])
    for where in (unindexed, not_a_number, missing):
        with pytest.raises(StorageError):
            filled.count(where)
        with pytest.raises(StorageError):
            filled.delete(where)
    assert filled.count(EVERYTHING) == 6


def test_queries_that_do_not_fit_are_refused(filled, make):
    with pytest.raises(ConfigError, match="no vectors named 'other'"):
        filled.search([Query("other", 5, dense=make.unit(1, 0, 0))], EVERYTHING, "p")
    with pytest.raises(ConfigError, match="shape"):
        filled.search([Query("d", 5, dense=make.unit(1, 0))], EVERYTHING, "p")
    with pytest.raises(StorageError):
        filled.search([Query("d", 5)], EVERYTHING, "p")
    with pytest.raises(StorageError):
        filled.search([Query("d", 0, dense=make.unit(1, 0, 0))], EVERYTHING, "p")


def test_scroll_goes_in_id_order_with_the_fields_and_vectors_asked_for(filled):
    batches = list(filled.scroll(only("project_id", "p"), with_dense=["d"], batch=3, fields=["document_id"]))
    assert [len(b) for b in batches] == [3, 1]
    records = [r for b in batches for r in b]
    assert [int(r.id[-4:], 16) for r in records] == [1, 2, 3, 4]
    assert [r.payload for r in records] == [{"document_id": d} for d in "abac"]
    np.testing.assert_allclose(records[0].dense["d"], [0.8, 0.6, 0], atol=1e-6)
    assert records[0].dense["d"].dtype == np.float32
    assert all(not r.dense for b in filled.scroll(EVERYTHING) for r in b)


def test_fetch_keeps_the_order_asked_and_leaves_out_what_is_gone(filled, make):
    records = filled.fetch([make.id(4), make.id(99), make.id(1)], fields=["document_id"])
    assert [(int(r.id[-4:], 16), r.payload) for r in records] == [(4, {"document_id": "c"}), (1, {"document_id": "a"})]
    assert filled.fetch([]) == []


def test_vectors_of_a_model_the_collection_lacks_are_left_out(filled, make):
    [record] = filled.fetch([make.id(4)], with_dense=["d", "unheard-of"])
    assert list(record.dense) == ["d"]
    assert all(not r.dense for batch in filled.scroll(EVERYTHING, with_dense=["unheard-of"]) for r in batch)


def test_facet_counts_values(filled):
    assert filled.facet("document_id", only("project_id", "p")) == {"a": 2, "b": 1, "c": 1}
    assert filled.facet("acl", EVERYTHING) == {"u1": 2, "u2": 1, "*": 2}
    assert len(filled.facet("document_id", EVERYTHING, limit=2)) == 2
    with pytest.raises(StorageError):
        filled.facet("content", EVERYTHING)


def test_a_big_collection_pages_completely(store, make):
    store.ensure({"d": 3})
    store.upsert(make.points([{"id": i, "project_id": "p", "chunk_index": i} for i in range(1, 1001)]))
    seen = [r.payload["chunk_index"] for b in store.scroll(EVERYTHING, batch=77, fields=["chunk_index"]) for r in b]
    assert seen == list(range(1, 1001))
    store.flush()
    assert store.count(EVERYTHING) == 1000
