"""The local embedder: the model's own vectors, in order, at unit length, refusing what would be cut."""

from __future__ import annotations

import time

import numpy as np
import pytest
from sentence_transformers import SentenceTransformer

from engine.embed.local import LocalEmbedder, batches
from engine.embed.make import make_embedder, model_info, model_limits
from engine.embed.model_files import find_folder
from engine.errors import EmbeddingError
from engine.settings import Embedding, Settings

TEXTS = [
    "A cat sits on the mat.",
    "",
    "Turbines convert wind to power. " * 20,
    "Ein kurzer deutscher Satz.",
    "word " * 250,
    "漢字のテキスト",
]


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    made = make_embedder(Settings(embedding=Embedding(threads=2)))
    assert isinstance(made, LocalEmbedder)
    return made


def test_vectors_are_those_of_the_model(embedder: LocalEmbedder) -> None:
    bare = SentenceTransformer(str(find_folder("all-MiniLM-L6-v2")), device="cpu")
    expected = bare.encode(TEXTS)
    found = embedder.embed_documents(TEXTS)
    assert found.dtype == np.float32
    assert found.shape == (6, 384)
    np.testing.assert_allclose(found, expected, atol=2e-5)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)


def test_meaning_shows(embedder: LocalEmbedder) -> None:
    query = embedder.embed_queries(["Where does the kitten rest?"])[0]
    near, far = embedder.embed_documents(["A cat sits on the mat.", "The interest rate was raised."])
    assert query @ near > query @ far + 0.2


def test_a_document_over_the_limit_is_refused(embedder: LocalEmbedder) -> None:
    """P38: the model itself would cut it without a word."""
    assert embedder.count_tokens(["word " * 254, "word " * 255]) == [256, 257]
    embedder.embed_documents(["word " * 254])
    with pytest.raises(EmbeddingError, match="1 of 2 texts are over the 256 tokens") as caught:
        embedder.embed_documents(["short", "word " * 255])
    assert caught.value.details == {"positions": [1], "longest": 257}


def test_a_query_over_the_limit_is_cut_at_a_word(embedder: LocalEmbedder) -> None:
    cut, whole = embedder.embed_queries(["word " * 1000, ("word " * 254).strip()])
    np.testing.assert_allclose(cut, whole, atol=1e-6)


def test_nothing_in_nothing_out(embedder: LocalEmbedder) -> None:
    assert embedder.embed_documents([]).shape == (0, 384)


def test_counts_agree_with_the_limits_object(embedder: LocalEmbedder) -> None:
    assert embedder.count_tokens(TEXTS) == model_limits(Settings()).count(TEXTS)
    assert embedder.info == model_info(Settings())


def test_prefixes_are_part_of_the_input() -> None:
    settings = Settings(embedding=Embedding(query_prefix="query: ", document_prefix="passage: ", max_tokens=64))
    prefixed = LocalEmbedder(settings)
    assert prefixed.info.max_tokens == 64
    plain = LocalEmbedder(Settings())
    assert prefixed.count_tokens(["hello"]) == plain.count_tokens(["passage: hello"])
    np.testing.assert_allclose(
        prefixed.embed_documents(["hello"]), plain.embed_documents(["passage: hello"]), atol=1e-6
    )
    np.testing.assert_allclose(prefixed.embed_queries(["hello"]), plain.embed_queries(["query: hello"]), atol=1e-6)
    with pytest.raises(EmbeddingError):
        prefixed.embed_documents(["word " * 61])


def test_batches_are_sorted_and_under_the_budget() -> None:
    lengths = [5, 100, 7, 30, 300, 1, 30]
    made = list(batches(lengths, 120))
    assert made[0] == [4]  # longer than the budget: alone
    assert sorted(i for batch in made for i in batch) == list(range(7))
    assert all(len(batch) * max(lengths[i] for i in batch) <= 120 for batch in made[1:])
    assert list(batches([], 10)) == []


@pytest.mark.slow
def test_it_is_no_slower_than_the_bare_model() -> None:
    """Paired runs of both over the same texts on one thread: the median of the ratios of their CPU times."""
    texts = [
        f"Record {i}: " + "the inspection of the turbine found no damage at all. " * (3 + i % 12) for i in range(96)
    ]
    ours = LocalEmbedder(Settings(embedding=Embedding(threads=1)))
    bare = SentenceTransformer(str(find_folder("all-MiniLM-L6-v2")), device="cpu")
    ratios: list[float] = []
    for _ in range(3):
        began = time.process_time()
        bare.encode(texts)
        middle = time.process_time()
        ours.embed_documents(texts)
        ratios.append((middle - began) / (time.process_time() - middle))
    assert sorted(ratios)[1] > 0.9
