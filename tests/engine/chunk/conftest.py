"""What every chunking test needs: the bundled model's limits and default settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from engine.chunk.make import make_chunks
from engine.document import Builder
from engine.embed.limits import ModelLimits
from engine.embed.make import model_limits
from engine.records import Chunk, ChunkConfig, ExtractedDocument
from engine.settings import Settings

Chunking = Callable[..., list[Chunk]]


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings()


@pytest.fixture(scope="session")
def limits(settings: Settings) -> ModelLimits:
    return model_limits(settings)


@pytest.fixture
def builder(settings: Settings) -> Builder:
    return Builder("md", settings.limits)


@pytest.fixture(scope="session")
def chunked(settings: Settings, limits: ModelLimits) -> Chunking:
    """`chunked(document, strategy="semantic", max_tokens=512, ...)`: chunks whose counts keep the limits."""

    def run(document: ExtractedDocument, strategy: str = "semantic", **config: object) -> list[Chunk]:
        chosen = ChunkConfig(strategy=strategy, **config)  # type: ignore[arg-type]
        chunks = make_chunks(document, "doc", chosen, limits, settings)
        for chunk in chunks:
            assert chunk.token_count <= chosen.max_tokens
            assert chunk.embed_token_count <= limits.max_tokens
        return chunks

    return run
