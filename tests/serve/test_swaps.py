"""Readers during writes: a replaced document is seen in exactly one revision, a deleted one never comes back."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from engine.settings import load
from serve.local import running_server

REPLACEMENTS = 200
DELETIONS = 50


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    limits = {f"serve.{name}_per_minute": 10_000_000 for name in ("parse", "batch", "search", "chunks")}
    settings = load({"home": tmp_path_factory.mktemp("swaps"), "serve.poll_seconds": 0.05, **limits}, environ={})
    with running_server(settings) as url:
        httpx.post(f"{url}/api/v1/projects", json={"slug": "demo"}).raise_for_status()
        yield url


def upload(url: str, content: str, source_id: str | None) -> str:
    data = {"project_id": "demo", **({"source_id": source_id} if source_id else {})}
    sent = httpx.post(f"{url}/api/v1/documents/parse", data=data, files={"file": ("a.md", content)}, timeout=30)
    assert sent.status_code == 202, sent.text
    return sent.json()["document_id"]


def wait(url: str, document: str) -> None:
    while httpx.get(f"{url}/api/v1/documents/{document}").json()["status"] in ("pending", "processing"):
        time.sleep(0.02)


def revision(n: int) -> str:
    """A document of two chunks, each of which tells its revision."""
    sections = [f"# Part {part}\n\n" + f"The lighthouse log entry number {n}. " * 30 for part in (1, 2)]
    return "\n\n".join(sections)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_document_replaced_without_pause_is_always_seen_whole(server: str) -> None:
    document = upload(server, revision(0), "log")
    wait(server, document)
    stop, answers, problems = threading.Event(), [0], list[str]()

    def search() -> None:
        with httpx.Client(base_url=server, timeout=30) as client:
            while not stop.is_set():
                body = {"query": "lighthouse log entry", "project_id": "demo", "mode": "lexical", "top_k": 5}
                answer = client.post("/api/v1/documents/search", json=body)
                if answer.status_code != 200:
                    problems.append(f"{answer.status_code} {answer.text}")
                    continue
                hits = answer.json()["results"]
                answers[0] += 1
                if len({hit["revision"] for hit in hits}) != 1:
                    problems.append(f"{len(hits)} hits of revisions {sorted({hit['revision'] for hit in hits})}")

    readers = [threading.Thread(target=search) for _ in range(2)]
    for reader in readers:
        reader.start()
    for n in range(1, REPLACEMENTS + 1):
        assert upload(server, revision(n), "log") == document
        wait(server, document)
    stop.set()
    for reader in readers:
        reader.join()
    assert not problems, problems[:5]
    assert answers[0] > REPLACEMENTS
    chunks = httpx.get(f"{server}/api/v1/documents/{document}/chunks").json()["chunks"]
    assert all(f"number {REPLACEMENTS}." in chunk["content"] for chunk in chunks)
    print(f"{answers[0]} searches during {REPLACEMENTS} replacements")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_document_deleted_in_mid_processing_never_comes_back(server: str) -> None:
    deleted: list[str] = []
    for n in range(DELETIONS):
        document = upload(server, revision(1000 + n), f"gone-{n}")
        time.sleep(0.6 * n / DELETIONS)  # from at once to well after the end
        assert httpx.delete(f"{server}/api/v1/documents/{document}").status_code == 204
        deleted.append(document)
    time.sleep(3)
    for n, document in enumerate(deleted):
        assert httpx.get(f"{server}/api/v1/documents/{document}").status_code == 404
        body = {"query": f"{1000 + n}", "project_id": "demo", "mode": "term", "top_k": 100}
        hits = httpx.post(f"{server}/api/v1/documents/search", json=body).json()["results"]
        assert document not in {hit["document_id"] for hit in hits}
