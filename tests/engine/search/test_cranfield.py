"""Ranking quality on Cranfield (1,400 abstracts, 225 judged questions), through the real store and search."""

import json
import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from engine.search.classic import SearchRequest, search

CRANFIELD = Path(__file__).resolve().parents[3] / "../shared/corpora/retrieval/cranfield"

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not CRANFIELD.exists(), reason="the shared corpora are not here"),
]


def lines(name: str) -> list[dict]:
    return [json.loads(line) for line in (CRANFIELD / name).read_text("utf-8").splitlines()]


def judged() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in (CRANFIELD / "qrels.tsv").read_text("utf-8").splitlines()[1:]:
        query, document, grade = line.split("\t")
        found[query][document] = int(grade)
    return found


def ndcg(ranked: list[str], grades: dict[str, int]) -> float:
    """nDCG@10 with linear gain, as trec_eval has it."""
    gained = sum(grades.get(d, 0) / math.log2(n + 2) for n, d in enumerate(ranked[:10]))
    best = sum(g / math.log2(n + 2) for n, g in enumerate(sorted(grades.values(), reverse=True)[:10]))
    return gained / best


def mean_ndcg(world, embedder, **options: object) -> float:
    grades = judged()
    scores = []
    for query in lines("queries.jsonl"):
        if any(grades[query["query_id"]].values()):
            request = SearchRequest("p", query["text"], **options)
            response = search(request, world.store, world.registry, embedder)
            scores.append(ndcg([r.key for r in response.results], grades[query["query_id"]]))
    return float(np.mean(scores))


def test_lexical_ranking_is_as_good_as_bm25_should_be(world):
    for document in lines("docs.jsonl"):
        if document["text"].strip():
            world.publish(document["doc_id"], [document["text"]])
    assert mean_ndcg(world, None, mode="content") > 0.525
    assert mean_ndcg(world, None, mode="content", language="en") > 0.525
