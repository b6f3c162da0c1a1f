"""Documents chunked for real, as the stored payloads a reader sees."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from engine.chunk.make import make_chunks
from engine.document import Builder
from engine.embed.make import model_limits
from engine.points import PointContext, payload_of
from engine.records import ChunkConfig, ExtractedDocument
from engine.registry import DocumentRow
from engine.search.view import DocumentView
from engine.settings import Settings

View = Callable[..., DocumentView]


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings()


@pytest.fixture
def builder(settings: Settings) -> Builder:
    return Builder("md", settings.limits)


def row_of(document: ExtractedDocument, chunks: int) -> DocumentRow:
    meta, then = document.metadata, datetime(2026, 1, 2, tzinfo=UTC)
    facts: dict[str, object] = {"headings": meta.headings[:200], "extra": meta.extra, "source_object": "uploads/secret"}
    return DocumentRow(
        document_id="d", project_id="p", parent_id=None, source="s", key="k.md", uri="file:///k.md", filename="k.md",
        status="completed", source_format="md", size=1, page_count=meta.page_count, word_count=meta.word_count,
        chunk_count=chunks, language="en", title=meta.title, author=None, content_sha256="a" * 64, fingerprint="f" * 64,
        active_revision="r", generation=1, skip_reason="", error_code="", error_stage="", error_message="",
        parse_seconds=1.0, warnings=[{"code": "image_skipped", "message": "m", "place": "page 1", "count": 2}],
        metadata=facts, created_at=then, updated_at=then,
    )  # fmt: skip


@pytest.fixture(scope="session")
def viewed(settings: Settings) -> View:
    """`viewed(document, strategy=, max_tokens=, hidden=)`: what a reader sees who may not see the chunks `hidden`."""
    limits = model_limits(settings)

    def run(document: ExtractedDocument, hidden: set[int] | None = None, **config: object) -> DocumentView:
        chunks = make_chunks(document, "d", ChunkConfig(**config), limits, settings)  # type: ignore[arg-type]
        context = PointContext("p", "d", "r", 1, "k.md", "k.md", "s", "en", document.metadata.title)
        payloads = [payload_of(chunk, "h", context) for chunk in chunks]
        withheld = [p for p in payloads if p["chunk_index"] in (hidden or set())]
        seen = [p for p in payloads if p not in withheld]
        return DocumentView(row_of(document, len(chunks)), "r", seen, withheld)

    return run
