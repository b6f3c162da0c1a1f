"""How much of a question a text covers, in the words (and stems) that the sparse channels know."""

from __future__ import annotations

import numpy as np

from engine.analyse import document_rows, query_row


class Terms:
    """A question's weighted words."""

    def __init__(self, query: str, language: str | None) -> None:
        self._numbers, self._weights = query_row(query, language, "content")
        self._whole = float(self._weights.sum()) or 1.0

    def cover(self, texts: list[str], language: str) -> list[float]:
        """For each text the share, 0..1, of the question's weight that its words carry."""
        rows = document_rows(texts, language, "content")
        found: list[float] = []
        for number in range(len(texts)):
            numbers, _ = rows.row(number)
            shared = np.isin(self._numbers, numbers, assume_unique=True)
            found.append(float(self._weights[shared].sum()) / self._whole)
        return found
