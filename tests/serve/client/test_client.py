"""The client against a real server: what a notebook does, blocking and awaited."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from serve.client import ApiError, AsyncCorpus, Corpus, Document, ProcessingError

TEXT = "# Lamp\n\nThe keeper wound the clockwork every four hours.\n"


@pytest.fixture
def corpus(served: str) -> Corpus:
    return Corpus(served)


def test_upload_wait_and_search(corpus: Corpus, tmp_path: Path) -> None:
    file = tmp_path / "lamp.md"
    file.write_text(TEXT)
    document = corpus.upload(file, project="demo", wait=True, source_id="client-1")
    assert isinstance(document, Document) and document.status == "completed" and document.chunk_count == 1
    hits = corpus.search("who wound the clockwork", project="demo", mode="lexical")
    assert "clockwork" in hits[0].content
    assert hits[0].citation.startswith("lamp.md, Lamp")
    assert [chunk.section_heading for chunk in corpus.chunks(document.id)] == ["Lamp"]
    assert document.id in {found.id for found in corpus.documents("demo")}
    assert [event.type for event in corpus.events(document.id)][-1] == "document.completed"
    assert corpus.result(document.id)["document_id"] == document.id
    corpus.delete(document.id)
    with pytest.raises(ApiError) as gone:
        corpus.document(document.id)
    assert gone.value.code == "DOCUMENT_NOT_FOUND" and gone.value.request_id


def test_a_failed_document_is_an_error_with_its_reason(corpus: Corpus) -> None:
    with pytest.raises(ProcessingError) as failed:
        corpus.upload(b"%PDF-1.7\n" + b"no object\n" * 50, project="demo", filename="broken.pdf", wait=True)
    assert failed.value.code == "EXTRACTION_FAILED"


def test_projects(corpus: Corpus) -> None:
    made = corpus.create_project("client-made", {"retention_days": 30})
    assert made.settings["retention_days"] == 30 and made.settings["chunking"]["max_tokens"] == 512
    assert "client-made" in {project.slug for project in corpus.projects()}
    with pytest.raises(ApiError) as taken:
        corpus.create_project("client-made")
    assert (taken.value.status, taken.value.code) == (409, "CONFLICT")


def test_the_same_by_await(served: str) -> None:
    async def run() -> None:
        async with AsyncCorpus(served) as corpus:
            document = await corpus.upload(TEXT.encode(), project="demo", filename="a.md", wait=True)
            assert isinstance(document, Document)
            hits = await corpus.search("clockwork", project="demo", mode="lexical")
            assert any(hit.document_id == document.id for hit in hits) or hits
            assert [chunk.chunk_index async for chunk in corpus.chunks(document.id)] == [0]
            assert [event.type async for event in corpus.events(document.id)][-1] == "document.completed"

    asyncio.run(run())
