"""What a model takes: its input limit and its own token counts, without loading its weights.

The preparing processes need nothing more of an embedder than this, and torch stays out of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import ConfigError
from engine.tokens import counter, word_cut

_GROUP = 512  # texts encoded at once, so that token objects of a big document do not pile up
Encode = Callable[[list[str], bool], list[int]]


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """A model's input limit in its own tokens, and the way to count them.

    `max_tokens` counts everything the model sees: special tokens, `prefix`, text. `special` is the number
    of special tokens around a text. `tokenizer` names the tokenizer, equal names count alike.
    """

    max_tokens: int
    prefix: str
    special: int
    tokenizer: str
    encode: Encode  # texts, with special tokens or without → number of tokens of each

    def count(self, texts: list[str]) -> list[int]:
        """Tokens of each text as a document input: prefix and special tokens included."""
        return self.encode([self.prefix + text for text in texts], True)

    def bare(self, texts: list[str]) -> list[int]:
        """Tokens of each text alone: no prefix, no special tokens."""
        return self.encode(texts, False)


def from_tokenizer_file(tokenizer: Any, name: str, max_tokens: int, prefix: str) -> ModelLimits:
    """Limits over a `tokenizers.Tokenizer` that neither cuts nor pads."""

    def encode(texts: list[str], special: bool) -> list[int]:
        counts: list[int] = []
        for at in range(0, len(texts), _GROUP):
            batch = tokenizer.encode_batch_fast(texts[at : at + _GROUP], add_special_tokens=special)
            counts += [len(encoding) for encoding in batch]
        return counts

    return ModelLimits(max_tokens, prefix, encode([""], True)[0], name, encode)


def from_encoding(name: str, max_tokens: int, prefix: str) -> ModelLimits:
    """Limits over a tiktoken encoding (gateway models of the OpenAI kind): no special tokens."""
    tokens = counter(name)
    return ModelLimits(max_tokens, prefix, 0, name, lambda texts, special: tokens.count_many(texts))


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a model folder, cutting and padding switched off. Raises ConfigError."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # its thread pool does not survive a fork
    from tokenizers import Tokenizer

    file = folder / "tokenizer.json"
    if not file.is_file():
        raise ConfigError(f"the model folder {folder} has no tokenizer.json; save the model with a fast tokenizer")
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def longest_fitting(text: str, prefix: str, limits: ModelLimits) -> str:
    """The longest start of a query that fits the model behind `prefix`, cut at a word. For queries only."""

    def fits(end: int) -> bool:
        return limits.encode([prefix + text[:end]], True)[0] <= limits.max_tokens

    if fits(len(text)):
        return text
    low, high = 0, min(len(text), limits.max_tokens * 64)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return text[: word_cut(text, low)].rstrip()
