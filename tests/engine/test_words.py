"""Segmentation and normal forms, on the words that go wrong elsewhere."""

import threading

import pytest

from engine import words


def texts(text: str) -> list[tuple[str, str]]:
    return [(t.kind, t.text) for t in words.tokens(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, world!", [("word", "Hello"), ("word", "world")]),
        ("l'avion don't", [("word", "l"), ("word", "avion"), ("word", "don"), ("word", "t")]),
        ("part AB-1234/7.", [("word", "part"), ("compound", "AB-1234/7")]),
        ("see a/b_c.py, v1.2.3", [("word", "see"), ("compound", "a/b_c.py"), ("compound", "v1.2.3")]),
        ("C++ and C#", [("compound", "C++"), ("word", "and"), ("compound", "C#")]),
        ("Ａ１ ﬁle", [("word", "A1"), ("word", "file")]),
        ("東京へGoogleが来た", [("cjk", "東京へ"), ("word", "Google"), ("cjk", "が来た")]),
        ("한국어 검색", [("cjk", "한국어"), ("cjk", "검색")]),
        ("ภาษาไทย ok", [("cluster", "ภาษาไทย"), ("word", "ok")]),
        ("हिन्दी में", [("word", "हिन्दी"), ("word", "में")]),
        ("… — ☃ ()", []),
        ("", []),
    ],
)
def test_tokens(text, expected):
    assert texts(text) == expected


def test_fold_meets_both_spellings_and_keeps_vowel_signs():
    assert words.fold("Größe") == words.fold("GRÖSSE") == "grosse"
    assert words.fold("Łódź") == "lodz"
    assert words.fold("café") == words.fold("cafe\u0301") == words.fold("CAFE")
    assert words.fold("كِتَاب") == words.fold("كتاب")
    assert words.fold("אַבְרָהָם") == words.fold("אברהם")
    assert words.fold("ёлка") == "елка"
    assert words.fold("한국") == "한국"
    assert words.fold("हिन्दी") == "हिन्दी"
    assert len(words.fold("x" * 1000)) == words.LONGEST


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("parseHTTP2Body", ["parse", "HTTP", "2", "Body"]),
        ("snake_case_name", ["snake", "case", "name"]),
        ("XMLHttpRequest", ["XML", "Http", "Request"]),
        ("ABC123def", ["ABC", "123", "def"]),
        ("Straße", ["Straße"]),
        ("2024", ["2024"]),
    ],
)
def test_parts(word, expected):
    assert words.parts(word) == expected


def test_identifiers_are_told_from_prose():
    for text in ("AB-1234", "parseHttp", "foo_bar", "v1.2", "A1B2", "10.0.0.1"):
        assert words.is_identifier(text), text
    for text in ("well-known", "Hello", "2024", "either/or", "NASA"):
        assert not words.is_identifier(text), text


def test_stems_follow_the_language_where_the_script_allows():
    assert words.stem("connections", "en") == "connect"
    assert words.stem("Häuser", "de") == "haus"
    assert words.stem("maisons", "fr") == "maison"
    assert words.stem("книгами", "en") == words.stem("книга", "ru") == "книг"  # Cyrillic is not English
    assert words.stem("running", "ja") == words.stem("running", "und") == "run"
    assert words.stem("running", "ru") == "run"  # Latin is not Russian


def test_function_words_by_language():
    assert words.is_function_word("The", "en")
    assert words.is_function_word("der", "de")
    assert not words.is_function_word("der", None)
    assert words.is_function_word("what", None)
    assert not words.is_function_word("what", "ja")


def test_stemming_from_many_threads_gives_the_same_as_from_one():
    vocabulary = [f"{stem}{ending}" for stem in ("connect", "relat", "nation", "organ") for ending in ("ing", "ions")]
    vocabulary = [f"{w}{'x' * n}ing" for w in vocabulary for n in range(60)]
    expected = {w: words._stem.__wrapped__(w, "english") for w in vocabulary}
    wrong: list[str] = []

    def work() -> None:
        wrong.extend(w for w in vocabulary if words._stem.__wrapped__(w, "english") != expected[w])

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
