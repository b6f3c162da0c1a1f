"""An embedder without a model: the vector follows from the text. Implements `engine.embed.Embedder`."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from engine.embed import ModelInfo
from engine.errors import EmbeddingError

SIZE = 16


class FakeEmbedder:
    """Counts what it embeds; refuses texts that contain `refuse`."""

    info = ModelInfo("fake", "fake", SIZE, 256, "", "", "fake-fingerprint")

    def __init__(self, refuse: str = "") -> None:
        self.refuse = refuse
        self.embedded: list[str] = []

    def count_tokens(self, texts: list[str]) -> list[int]:
        return [len(t.split()) + 2 for t in texts]

    def embed_documents(self, texts: list[str]) -> NDArray[np.float32]:
        if self.refuse and any(self.refuse in t for t in texts):
            raise EmbeddingError("the model refuses this text")
        self.embedded += texts
        return self._vectors(texts)

    def embed_queries(self, texts: list[str]) -> NDArray[np.float32]:
        return self._vectors(texts)

    def _vectors(self, texts: list[str]) -> NDArray[np.float32]:
        rows = [np.frombuffer(hashlib.sha256(t.encode()).digest()[:SIZE], np.uint8) for t in texts]
        matrix = np.array(rows, np.float32).reshape(len(texts), SIZE) - 127.5
        return matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
