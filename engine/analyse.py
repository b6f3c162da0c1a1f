"""The sparse channels: texts in, weighted token rows out, for documents and for queries.

`content`: words by surface and stem, CJK by characters and pairs. `path`: the same over names and headings.
`term`: words as written, identifiers whole, and the three-character pieces of identifiers, by which a part
of a part number finds the whole. A row's value is BM25's saturated frequency (Robertson & Zaragoza 2009,
eq. 3.15) with a fixed average length per channel; the store multiplies by the words' rarity.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine import words
from engine.store import Sparse

# Raise with every change that alters a row, here or in `engine.words`.
ANALYSER_VERSION = "1"
K1 = 1.2
B = 0.75
AVERAGE_LENGTH = {"content": 120.0, "path": 12.0, "term": 120.0}  # words; fixed, so that rows never need a rewrite

# Weights of query tokens, measured on half of Cranfield (nDCG@10) beside 1 for a word's stem.
BESIDE_STEM = 0.25  # its surface, and its stems in other languages when the query's is unknown
CHARACTER_BESIDE_PAIR = 0.2
PIECE = 0.3  # three characters of an identifier
WHOLE = 2.0  # an identifier as it stands
FUNCTION_WORD = 0.1  # they stay findable, but say nothing; documents keep them whole
# Languages whose stems a Latin word of a query without a known language may have; the first is the likeliest.
GUESSED = ("en", "de", "fr", "es", "it", "pt", "nl")

Row = tuple[NDArray[np.uint32], NDArray[np.float32]]
Weighted = Iterator[tuple[str, float]]


def document_rows(texts: Sequence[str], languages: str | Sequence[str], channel: str) -> Sparse:
    """Rows of `channel`, one per text. `languages`: ISO 639-1 codes ("und" for unknown), one for all or one each."""
    each = [languages] * len(texts) if isinstance(languages, str) else languages
    rows = [_document_row(text, language, channel) for text, language in zip(texts, each, strict=True)]
    lengths = np.array([0, *(len(indices) for indices, _ in rows)], dtype=np.int64)
    if not rows:
        return Sparse(lengths, np.empty(0, np.uint32), np.empty(0, np.float32))
    indices, values = zip(*rows, strict=True)
    return Sparse(np.cumsum(lengths), np.concatenate(indices), np.concatenate(values))


def query_row(text: str, language: str | None, channel: str) -> Row:
    """The row of a query in `channel`: indices ascending, each token once whatever its count in the query.

    `language` None: stems of the likely languages are all tried. Documents hold surface and stem, so that a
    wrong guess costs little.
    """
    weights: dict[int, float] = {}
    for token in words.tokens(text):
        for name, weight in _QUERIES[channel](token, language):
            number = _number(name)
            weights[number] = max(weight, weights.get(number, 0.0))
    numbers = sorted(weights)
    return np.array(numbers, dtype=np.uint32), np.array([weights[n] for n in numbers], dtype=np.float32)


def _document_row(text: str, language: str, channel: str) -> Row:
    counts: Counter[int] = Counter()
    length = 0
    names, numbered = _DOCUMENTS[channel]
    for token in words.tokens(text):
        # Long runs hardly repeat, and would fill the cache with whole documents.
        if len(token.text) > words.LONGEST:
            numbers, units = _numbered(names(token, language), token)
        else:
            numbers, units = numbered(token, language)
        counts.update(numbers)
        length += units
    indices = np.fromiter(counts.keys(), dtype=np.uint32, count=len(counts))
    frequencies = np.fromiter(counts.values(), dtype=np.float32, count=len(counts))
    order = np.argsort(indices)
    norm = K1 * (1 - B + B * length / AVERAGE_LENGTH[channel])
    frequencies = frequencies[order]
    return indices[order], (frequencies * (K1 + 1) / (frequencies + norm)).astype(np.float32)


@lru_cache(maxsize=1 << 17)
def _number(name: str) -> int:
    """A token's place in the row: 32 bits of BLAKE2b, the same on every machine and for ever."""
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).digest(), "little")


# ---------------------------------------------------------------- content and path
def _content_names(token: words.Token, language: str) -> Iterator[str]:
    if token.kind == "cjk":
        yield from token.text
        yield from words.ngrams(list(token.text), 2)
    elif token.kind == "cluster":
        yield from _cluster_names(token.text)
    else:
        for word in words.words_of(token.text):
            yield from _word_names(word, language)
        if token.kind == "compound" and words.is_identifier(token.text):
            yield words.fold(token.text)


def _word_names(word: str, language: str) -> Iterator[str]:
    """Surface and stem of a word's parts, and the whole when it has several."""
    pieces = words.parts(word)
    for piece in pieces:
        yield from {words.fold(piece), words.stem(piece, language)}
    if len(pieces) > 1:
        yield words.fold(word)


def _cluster_names(run: str) -> Iterator[str]:
    units = words.graphemes(words.fold(run))
    yield from words.ngrams(units, 2) if len(units) > 1 else units


def _content_query(token: words.Token, language: str | None) -> Weighted:
    if token.kind == "cjk":
        run = list(token.text)
        yield from ((c, 1.0 if len(run) == 1 else CHARACTER_BESIDE_PAIR) for c in run)
        yield from ((pair, 1.0) for pair in words.ngrams(run, 2))
    elif token.kind == "cluster":
        yield from ((name, 1.0) for name in _cluster_names(token.text))
    else:
        for word in words.words_of(token.text):
            yield from _word_query(word, language)
        if token.kind == "compound" and words.is_identifier(token.text):
            yield words.fold(token.text), 1.0


def _word_query(word: str, language: str | None) -> Weighted:
    factor = FUNCTION_WORD if words.is_function_word(word, language) else 1.0
    pieces = words.parts(word)
    for piece in pieces:
        main, others = _stems(piece, language)
        yield main, factor
        yield from ((name, factor * BESIDE_STEM) for name in {words.fold(piece), *others} - {main})
    if len(pieces) > 1:
        yield words.fold(word), 1.0


def _stems(piece: str, language: str | None) -> tuple[str, list[str]]:
    """The likeliest stem of a query's word, and others it may have."""
    if language is not None and language != "und":
        return words.stem(piece, language), []
    main, *others = (words.stem(piece, guess) for guess in words.script_languages(piece) or GUESSED)
    return main, others


# ---------------------------------------------------------------- term
def _term_names(token: words.Token, language: str | None = None) -> Iterator[str]:
    """Whole names, and `~` pieces, which never meet a whole one."""
    if token.kind in ("cjk", "cluster"):
        units = list(token.text) if token.kind == "cjk" else words.graphemes(words.fold(token.text))
        yield from (f"~{n}" for size in (2, 3) for n in words.ngrams(units, size))
        return
    yield words.fold(token.text)
    if token.kind == "compound":
        yield from map(words.fold, words.words_of(token.text))
    if words.is_identifier(token.text):
        yield from _pieces(token.text)


def _pieces(text: str) -> Iterator[str]:
    """Three-character pieces over letters and digits only: AB-1234 and ab1234 have the same."""
    letters = [c for c in words.fold(text) if c.isalnum()]
    yield from (f"~{n}" for n in words.ngrams(letters, 3))


def _term_query(token: words.Token, language: str | None) -> Weighted:
    if token.kind in ("cjk", "cluster"):
        yield from ((name, 1.0) for name in _term_names(token))
        return
    whole = words.is_identifier(token.text)
    for name in _term_names(token):
        yield name, PIECE if name.startswith("~") else 1.0
    yield words.fold(token.text), WHOLE if whole else 1.0
    if not whole:
        yield from ((name, PIECE) for name in _pieces(token.text))


# ---------------------------------------------------------------- per channel
@lru_cache(maxsize=1 << 16)
def _content_numbers(token: words.Token, language: str) -> tuple[tuple[int, ...], int]:
    return _numbered(_content_names(token, language), token)


@lru_cache(maxsize=1 << 16)
def _term_numbers(token: words.Token, language: str) -> tuple[tuple[int, ...], int]:
    return _numbered(_term_names(token), token)


def _numbered(names: Iterable[str], token: words.Token) -> tuple[tuple[int, ...], int]:
    """The numbers of a token's names, and how many words it counts for."""
    units = len(token.text) if token.kind in ("cjk", "cluster") else len(words.words_of(token.text))
    return tuple(map(_number, names)), units


Names = Callable[[words.Token, str], Iterator[str]]
Numbered = Callable[[words.Token, str], tuple[tuple[int, ...], int]]
_DOCUMENTS: dict[str, tuple[Names, Numbered]] = {
    "content": (_content_names, _content_numbers),
    "path": (_content_names, _content_numbers),
    "term": (_term_names, _term_numbers),
}
_QUERIES: dict[str, Callable[[words.Token, str | None], Weighted]] = {
    "content": _content_query,
    "path": _content_query,
    "term": _term_query,
}
