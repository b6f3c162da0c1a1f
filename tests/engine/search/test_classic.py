"""Classic search over really stored points: modes, filters, access, duplicates, small corpora."""

import pytest

from engine.errors import Code, ConfigError, InputError
from engine.search.classic import SearchRequest, search
from engine.search.records import MAX_TOP_K, SearchFilters


@pytest.fixture
def filled(world, corpus):
    for key, text in corpus.documents.items():
        world.publish(key, [text])
    for n, text in enumerate(corpus.filler):
        world.publish(f"filler/{n}.txt", [text])
    return world


def ask(world, query: str, **options):
    request = SearchRequest(options.pop("project_id", "p"), query, **options)
    return search(request, world.store, world.registry, world.embedder)


def keys(response) -> list[str]:
    return [r.key for r in response.results]


QUERIES = [
    ("revenue growth in the third quarter", "reports/finance/q3-report.pdf"),
    ("XR-4711-BZ", "manuals/pump.md"),
    ("4711", "manuals/pump.md"),
    ("xr9922", "manuals/valve.md"),
    ("9922-K", "manuals/valve.md"),
    ("q4-report.pdf", "reports/finance/q4-report.pdf"),
    ("parsehttpheader", "code/parser.py"),
    ("split header lines", "code/parser.py"),
    ("天気予報", "ja/weather.txt"),
    ("たこ焼き", "ja/food.txt"),
    ("renoviertes Haus", "de/haus.txt"),
]


def test_hybrid_finds_prose_names_numbers_and_scripts(filled):
    for query, expected in QUERIES:
        response = ask(filled, query)
        assert response.route == "ranked"
        assert keys(response)[0] == expected, query
        # Reciprocal rank knows no distances, so that one channel's noise may come in between.
        assert expected in keys(ask(filled, query, fusion="rrf"))[:3], query


def test_single_channels_give_their_own_scores(filled):
    dense = ask(filled, "Total revenue grew in the third quarter by twenty percent", mode="dense")
    assert dense.results[0].score == pytest.approx(1.0, abs=1e-5)
    assert dense.weights == {"dense": 1.0}
    assert keys(ask(filled, "finance", mode="path"))[:2] != []
    assert set(keys(ask(filled, "finance", mode="path"))) == {
        "reports/finance/q3-report.pdf",
        "reports/finance/q4-report.pdf",
    }
    assert keys(ask(filled, "4711", mode="term"))[0] == "manuals/pump.md"
    assert keys(ask(filled, "nothingofthesort", mode="content")) == []


def test_lexical_needs_no_embedder_and_dense_does(filled):
    request = SearchRequest("p", "revenue quarter", mode="lexical", fusion="rrf")
    response = search(request, filled.store, filled.registry)
    assert response.results[0].key == "reports/finance/q3-report.pdf"
    assert set(response.weights) == {"path", "content", "term"}
    with pytest.raises(ConfigError, match="needs an embedding model"):
        search(SearchRequest("p", "x"), filled.store, filled.registry)


def test_a_result_carries_its_citation(filled):
    filled.publish(
        "x/deep.pdf",
        ["alpha beta gamma", "delta epsilon zeta"],
        heading="Findings",
        section_path=["Part", "Findings"],
        source_format="pdf",
    )
    found = ask(filled, "delta epsilon", explain=True).results[0]
    assert found.content == "delta epsilon zeta"
    assert (found.page_numbers, found.char_start, found.char_end) == ([2], 100, 118)
    assert (found.section_heading, found.section_path) == ("Findings", ["Part", "Findings"])
    assert (found.filename, found.key, found.source_format, found.chunk_index) == ("deep.pdf", "x/deep.pdf", "pdf", 1)
    assert found.channels["content"].rank == 0
    assert found.channels["dense"].score > 0.5
    assert ask(filled, "delta epsilon").results[0].channels == {}


def test_explained_scores_follow_the_formulas(filled):
    response = ask(filled, "revenue quarter", explain=True, fusion="rrf")
    for result in response.results:
        expected = sum(response.weights[c] / (60 + place.rank + 1) for c, place in result.channels.items())
        assert result.score == pytest.approx(expected)
    response = ask(filled, "revenue quarter", explain=True)
    assert set(response.weights) == {"dense", "content"}
    assert all(0 <= r.score <= 1 for r in response.results)


def test_weights_override_the_defaults(filled):
    response = ask(filled, "revenue quarter", weights={"dense": 0.0, "path": 9.0}, explain=True)
    assert response.weights == {"dense": 0.0, "content": 0.5}  # path was not asked, so its weight means nothing
    assert response.results[0].score == pytest.approx(1.0)


def test_a_threshold_cuts_the_channel_it_names(filled):
    query = "Total revenue grew in the third quarter by twenty percent"
    assert keys(ask(filled, query, mode="dense", thresholds={"dense": 0.999})) == ["reports/finance/q3-report.pdf"]
    assert keys(ask(filled, "tulips", mode="dense", thresholds={"dense": 0.999})) == []
    both = ask(filled, query, thresholds={"dense": 0.999}, explain=True)
    assert len(both.results) > 1  # the content channel is not cut
    assert all("dense" not in r.channels for r in both.results[1:])


def test_filters_restrict_every_channel(filled):
    pump = filled.publish("manuals/pump.md", ["Replace the gasket of the pump"], "r2", source_format="md")
    everything = {"top_k": MAX_TOP_K}
    only = ask(filled, "replace the pump", filters=SearchFilters(document_ids=[pump]), **everything)
    assert keys(only) == ["manuals/pump.md"]
    without = ask(filled, "replace the pump", filters=SearchFilters(exclude_document_ids=[pump]), **everything)
    assert "manuals/pump.md" not in keys(without)
    assert len(without.results) == 37
    assert keys(ask(filled, "pump", filters=SearchFilters(source_format=["md"]))) == ["manuals/pump.md"]
    assert keys(ask(filled, "pump", filters=SearchFilters(filename=["pump.md", "valve.md"]))) == [
        "manuals/pump.md",
        "manuals/valve.md",
    ]
    assert ask(filled, "pump", filters=SearchFilters(element_type=["table"])).results == []


def test_projects_do_not_see_each_other(filled):
    other = filled.publish("secret.txt", ["revenue quarter secret"], project="q")
    assert other not in {r.document_id for r in ask(filled, "revenue quarter secret", top_k=100).results}
    assert keys(ask(filled, "revenue quarter secret", project_id="q")) == ["secret.txt"]
    assert ask(filled, "revenue", project_id="nobody").results == []


def test_access_lists_are_enforced(filled):
    filled.publish("board.txt", ["confidential merger plans"], acl=["alice", "board"])
    assert "board.txt" not in keys(ask(filled, "confidential merger plans", top_k=100))
    assert "board.txt" not in keys(ask(filled, "confidential merger plans", top_k=100, principals=["bob"]))
    assert keys(ask(filled, "confidential merger plans", principals=["bob", "alice"]))[0] == "board.txt"
    assert keys(ask(filled, "confidential merger plans", principals=None))[0] == "board.txt"


def test_scores_tell_nothing_of_what_is_hidden(world):
    for n in range(4):
        world.publish(f"open/{n}.txt", [f"The keeper wrote number {n} into the log."])
    world.publish("open/word.txt", ["A platypus crossed the bridge."])

    def score() -> float:
        (found,) = ask(world, "platypus", mode="content", principals=["staff"], top_k=1).results
        return found.score

    before = score()
    for n in range(6):
        world.publish(f"closed/{n}.txt", [f"Another platypus, the {n}th."], acl=["board"])
    assert score() == pytest.approx(before)
    assert ask(world, "platypus", mode="content", principals=None, top_k=1).results[0].score < before


def test_equal_texts_are_one_result_with_alternates(filled):
    a = filled.publish("copies/a.txt", ["identical passage about turbines"])
    b = filled.publish("copies/b.txt", ["identical  passage about\nturbines"])
    c = filled.publish("copies/c.txt", ["identical passage about turbines", "and more"])
    response = ask(filled, "identical passage about turbines")
    [first] = [r for r in response.results if "turbines" in r.content]
    assert {first.document_id, *first.alternates} == {a, b, c}
    assert len(response.results) == 10


def test_a_small_corpus_comes_back_whole(world):
    world.publish("a.txt", ["apples and pears", "nothing in common"])
    world.publish("b.txt", ["pears only", "hidden"], acl=["alice"])
    response = ask(world, "apples", mode="content")
    assert response.route == "small_corpus"
    assert [r.content for r in response.results] == ["apples and pears", "nothing in common"]
    assert [r.score > 0 for r in response.results] == [True, False]
    assert len(ask(world, "apples", principals=["alice"]).results) == 4
    assert ask(world, "apples", top_k=3).route == "ranked"
    assert len(ask(world, "apples", thresholds={"content": 0.1}, mode="content").results) == 1


def test_an_empty_project_is_an_empty_answer(world):
    response = ask(world, "anything")
    assert (response.results, response.route) == ([], "small_corpus")


BAD = [
    {"query": "   "},
    {"query": "x" * 10_001},
    {"query": "\ufdfa" * 600},  # eighteen characters each, once normalised
    {"top_k": 0},
    {"top_k": 101},
    {"mode": "magic"},
    {"fusion": "sum"},
    {"thresholds": {"fused": 0.5}},
    {"weights": {"dense": -1.0}},
    {"depth": 5},
]


def test_bad_requests_are_refused(world):
    for options in BAD:
        with pytest.raises(InputError) as caught:
            ask(world, **{"query": "x", **options})
        assert caught.value.code == Code.INVALID_REQUEST, options


def test_a_model_without_vectors_in_the_collection_is_a_configuration_error(filled):
    from dataclasses import replace

    filled.embedder.info = replace(filled.embedder.info, vector_name="other")
    with pytest.raises(ConfigError, match="no vectors named 'other'"):
        ask(filled, "x y z")
