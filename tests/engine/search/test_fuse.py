"""The two fusions, on numbers worked out by hand; and which channels a query opens."""

import pytest

from engine.search import fuse
from engine.search.gate import channel_weights, wants_paths, wants_terms
from engine.store import Hit


def hits(**scores: float) -> list[Hit]:
    return [Hit(id, score, {}) for id, score in scores.items()]


def test_rrf_is_weight_over_k_plus_rank_plus_one():
    lists = {"content": hits(a=9.0, b=5.0), "path": hits(b=1.0)}
    fused = dict(fuse.rrf(lists, {"content": 2.0, "path": 1.0}))
    assert fused == {"a": pytest.approx(2 / 61), "b": pytest.approx(2 / 62 + 1 / 61)}
    assert fuse.rrf(lists, {"content": 2.0, "path": 1.0})[0][0] == "b"
    assert dict(fuse.rrf(lists, {"content": 2.0, "path": 1.0}, k=0))["a"] == pytest.approx(2.0)


def test_minmax_stretches_each_channel_and_weighs():
    lists = {"dense": hits(a=0.75, b=0.5, c=0.25), "content": hits(c=12.0, b=7.0, d=2.0)}
    fused = fuse.minmax(lists, {"dense": 0.5, "content": 0.5})
    assert dict(fused) == {
        "a": pytest.approx(0.5),
        "b": pytest.approx(0.25 + 0.25),
        "c": pytest.approx(0.5),
        "d": pytest.approx(0.0),
    }
    assert [id for id, _ in fused] == ["c", "b", "a", "d"]  # equal scores by reciprocal rank
    assert dict(fuse.minmax(lists, {"dense": 3.0, "content": 1.0}))["a"] == pytest.approx(0.75)


def test_minmax_of_one_hit_or_equal_hits_is_full_marks():
    assert fuse.minmax({"dense": hits(a=0.2), "content": []}, {"dense": 0.5, "content": 0.5}) == [("a", 0.5)]
    assert dict(fuse.minmax({"dense": hits(a=0.2, b=0.2)}, {"dense": 1.0})) == {"a": 1.0, "b": 1.0}
    assert fuse.minmax({"dense": [], "content": []}, {"dense": 0.5, "content": 0.5}) == []
    assert fuse.minmax({"dense": hits(a=1.0)}, {"dense": 0.0}) == [("a", 0.0)]


def test_one_channel_keeps_its_scores_and_order():
    assert fuse.single({"dense": hits(z=0.3, a=0.3)}) == [("z", 0.3), ("a", 0.3)]


@pytest.mark.parametrize("query", ["report.pdf", "where is finance/2024", r"C:\docs\x", "the file q3.xlsx please"])
def test_paths_are_recognised(query):
    assert wants_paths(query)


@pytest.mark.parametrize("query", ["revenue growth", "e.g. this", "at 3.5 percent", "Mr. Smith went.", "and/ or"])
def test_prose_is_no_path(query):
    assert not wants_paths(query)


@pytest.mark.parametrize(
    "query", ["XR-4711", "find AB12 gasket", '"exact words" here', "turbine", "parseHttp call", "予報"]
)
def test_terms_are_recognised(query):
    assert wants_terms(query)


@pytest.mark.parametrize("query", ["revenue growth in 2024", "what is a well-known fact", "heat conduction in slabs"])
def test_prose_is_no_term(query):
    assert not wants_terms(query)


def test_weights_by_mode_and_fusion():
    assert channel_weights("plain prose here", "hybrid", "minmax") == {"dense": 0.5, "content": 0.5}
    assert set(channel_weights("q3/report.pdf AB-12", "hybrid", "minmax")) == {"dense", "content", "path", "term"}
    seed = {"dense": 2.0, "path": 1.0, "content": 2.0, "term": 1.5}
    assert channel_weights("plain prose here", "hybrid", "rrf") == seed
    assert "dense" not in channel_weights("plain prose here", "lexical", "rrf")
    assert channel_weights("anything", "term", "minmax") == {"term": 1.0}
