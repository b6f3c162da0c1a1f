"""Sparse rows: the formula, the stable numbering, and who finds whom."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import analyse
from engine.analyse import document_rows, query_row

ROOT = Path(__file__).resolve().parents[2]
WING = 2719846924


def score(query: str, document: str, channel: str, ask: str | None = None, written: str = "und") -> float:
    """The dot product a store would give without rarity."""
    indices, values = document_rows([document], written, channel).row(0)
    found = dict(zip(indices.tolist(), values.tolist(), strict=True))
    wanted, weights = query_row(query, ask, channel)
    return sum(w * found.get(i, 0.0) for i, w in zip(wanted.tolist(), weights.tolist(), strict=True))


def test_values_are_bm25_saturated_frequencies():
    rows = document_rows(["wing wing flow", "flow"], "en", "content")
    indices, values = rows.row(0)
    found = dict(zip(indices.tolist(), values.tolist(), strict=True))
    norm = 1.2 * (1 - 0.75 + 0.75 * 3 / 120)
    assert found[analyse._number("wing")] == pytest.approx(2 * 2.2 / (2 + norm))
    assert found[analyse._number("flow")] == pytest.approx(1 * 2.2 / (1 + norm))
    assert len(found) == 2
    assert len(rows) == 2
    assert rows.row(1)[0].tolist() == [analyse._number("flow")]


def test_longer_documents_weigh_a_word_less():
    assert score("wing", "wing " + "other " * 10, "content") > score("wing", "wing " + "other " * 500, "content")


def test_numbers_are_the_same_in_every_process():
    code = "from engine.analyse import query_row; print(query_row('Wing 東京 AB-12', 'en', 'content')[0].tolist())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == str(query_row("Wing 東京 AB-12", "en", "content")[0].tolist())
    # BLAKE2b-32 of b"wing", little-endian: a change here orphans every stored row
    assert analyse._number("wing") == WING


@pytest.mark.parametrize(
    ("query", "document", "ask", "written"),
    [
        ("connection", "the connections failed", "en", "en"),
        ("Haus", "die Häuser der Stadt", "de", "de"),
        ("Häusern", "ein Haus am See", None, "de"),  # the query's language is unknown
        ("maisons", "la maison blanche", None, "fr"),
        ("connecting", "connecting flights", "de", "en"),  # a wrong language still meets the surface
        ("cafe", "Café au lait", None, "fr"),
        ("STRASSE", "in der Straße", None, "de"),
        ("книга", "он читал книги", None, "ru"),
        ("天気", "東京都の天気予報", None, "ja"),
        ("気", "東京都の天気予報", None, "ja"),
        ("검색", "한국어 검색엔진", None, "ko"),
        ("ไทย", "ภาษาไทยง่าย", None, "th"),
        ("http body", "parseHTTP2Body(x)", None, "und"),
        ("parsehttp2body", "parseHTTP2Body(x)", None, "und"),
        ("foo", "call foo_bar now", None, "und"),
        ("ab-1234", "order AB-1234 today", None, "und"),
    ],
)
def test_content_finds(query, document, ask, written):
    assert score(query, document, "content", ask, written) > 0
    assert score(query, "nothing that fits is here", "content", ask, written) == 0


@pytest.mark.parametrize(
    ("query", "document"),
    [
        ("4711", "gasket XR-4711-BZ"),
        ("711-B", "gasket XR-4711-BZ"),
        ("xr4711bz", "gasket XR-4711-BZ"),
        ("HttpHead", "def parseHttpHeader(raw)"),
        ("予報", "東京都の天気予報"),
        ("c++", "written in C++ mostly"),
        ("well-known", "a well-known fact"),
    ],
)
def test_term_finds_parts(query, document):
    assert score(query, document, "term") > 0
    assert score(query, "nothing of that kind here", "term") == 0


def test_term_prefers_the_whole_over_its_parts():
    whole, part = "gasket XR-4711-BZ", "gasket XR-4711-KL"
    assert score("XR-4711-BZ", whole, "term") > 2 * score("XR-4711-BZ", part, "term") > 0


def test_function_words_of_a_query_weigh_little():
    _, weights = query_row("what is lift", "en", "content")
    assert sorted(weights.tolist()) == pytest.approx([0.1, 0.1, 1.0])


def test_nothing_to_say_is_an_empty_row():
    rows = document_rows(["", "…", "x"], ["en", "ja", "und"], "content")
    assert [len(rows.row(i)[0]) for i in range(3)] == [0, 0, 1]
    assert len(query_row("?!", None, "content")[0]) == 0
    assert len(document_rows([], "en", "path")) == 0


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["content", "path", "term"]), st.sampled_from(["en", "de", "ja", "und"]))
def test_rows_are_well_formed_for_any_text(text, channel, language):
    rows = document_rows([text, text], language, channel)
    for i in range(2):
        indices, values = rows.row(i)
        assert (np.diff(indices.astype(np.int64)) > 0).all()
        assert np.isfinite(values).all()
        assert (values > 0).all()
        assert (values < 2.2 + 1e-6).all()
    assert rows.indices.dtype == np.uint32
    assert rows.values.dtype == np.float32
    # every text finds itself by its own words
    asked = query_row(text, language, channel)[0]
    assert set(asked.tolist()) & set(rows.row(0)[0].tolist()) or not len(rows.row(0)[0])


def test_long_runs_without_spaces_are_linear_and_bounded():
    for text in ("a" * 200_000, "天" * 50_000, "aB1" * 30_000, "x-" * 50_000):
        for channel in ("content", "term"):
            assert len(document_rows([text], "und", channel).indices) < 70_000
