"""Embedders: texts in, unit-length float32 vectors out. `local` (sentence-transformers), `gateway` (HTTP).

`engine.embed.make.make_embedder(settings)` gives the configured one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What must agree between a collection and the model that fills or queries it.

    `vector_name`: the named vector in the store, derived from the model id (`all-minilm-l6-v2`).
    `max_tokens`: the model's input limit with special tokens. `fingerprint`: hash over id, weights
    identity, dimensions, prefixes, pooling and normalisation.
    """

    model: str
    vector_name: str
    dimensions: int
    max_tokens: int
    query_prefix: str
    document_prefix: str
    fingerprint: str


class QueryEmbedder(Protocol):
    """What searching needs of a model."""

    info: ModelInfo

    def embed_queries(self, texts: list[str]) -> NDArray[np.float32]:
        """Like `embed_documents` with the query prefix; a query over the limit is cut at a word, and only a query."""
        ...


class Embedder(QueryEmbedder, Protocol):
    def count_tokens(self, texts: list[str]) -> list[int]:
        """Tokens of each text as a document input: prefix and special tokens included."""
        ...

    def embed_documents(self, texts: list[str]) -> NDArray[np.float32]:
        """(n, dimensions), L2-normalised, in order. Raises EmbeddingError; EmbeddingError too when a text is
        over `max_tokens` (nothing is ever cut silently)."""
        ...
