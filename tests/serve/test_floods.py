"""Requests that cost the sender nothing: bodies that never come, pages that take long, streams nobody reads."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import httpx
import pymupdf as fitz
import pytest
from fake_embedder import FakeEmbedder

from engine.errors import Code, CorpusError
from engine.inspector import Inspector
from engine.settings import load
from serve import admission, events
from serve.auth import digest
from serve.local import running_server
from serve.routes import projects

ANN, BOB = "corpus_" + "a" * 43, "corpus_" + "b" * 43
PAGES = 45  # more than the threads that all requests share


class Stuck(Inspector):
    """Draws no page before it is let go on."""

    gate = threading.Event()

    def render(self, path: Path, filename: str, page: int, dpi: int, boxes: Sequence[Any]) -> bytes:
        self.gate.wait(30)
        return super().render(path, filename, page, dpi, boxes)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """ann administers her project and reads bob's; bob writes into his. Four requests at once, two of them uploads."""
    home = tmp_path_factory.mktemp("floods")
    tokens = home / "tokens.yaml"
    tokens.write_text(
        f"- {{name: ann, sha256: '{digest(ANN)}', roles: {{'*': read}}}}\n"
        f"- {{name: bob, sha256: '{digest(BOB)}', roles: {{'*': admin}}}}\n"
    )
    tokens.chmod(0o600)
    bounds = {"serve.max_ongoing": 4, "serve.max_queued": 4}
    settings = load(
        {"home": home / "state", "auth.tokens_file": tokens, "serve.poll_seconds": 0.1, **bounds}, environ={}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("serve.assemble.Inspector", Stuck)
        with running_server(settings, FakeEmbedder()) as url:
            for slug in ("ann", "bob"):
                client(url, BOB).post("/projects", json={"slug": slug}).raise_for_status()
            yield url
            Stuck.gate.set()


def client(url: str, token: str) -> httpx.Client:
    return httpx.Client(base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=10)


@contextmanager
def begun(url: str, count: int, head: str, body: bytes) -> Generator[list[socket.socket]]:
    """Connections on which a request with a body has begun, and goes no further."""
    place = urlsplit(url)
    with ExitStack() as stack:
        opened: list[socket.socket] = []
        for _ in range(count):
            one = stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=10))
            one.sendall(f"{head}\r\nHost: x\r\nContent-Length: 1000\r\n\r\n".encode() + body)
            opened.append(one)
        time.sleep(0.5)
        yield opened


def test_bodies_that_never_come_hold_no_places(server: str) -> None:
    with begun(server, 40, "POST /api/v1/documents/search HTTP/1.1\r\nContent-Type: application/json", b"{"):
        assert client(server, BOB).get("/projects").status_code == 200


def test_a_body_that_does_not_come_is_given_up(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "ARRIVE_SECONDS", 0.2)
    head = "POST /api/v1/documents/search HTTP/1.1\r\nContent-Type: application/json"
    with begun(server, 1, head, b"{") as (one,):
        answer = one.recv(65536).decode()
    assert answer.startswith("HTTP/1.1 408 ")
    assert "connection: close" in answer.lower()


def test_who_may_write_nowhere_cannot_even_begin_an_upload(server: str) -> None:
    head = (
        "POST /api/v1/documents/batch HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=B\r\n"
        f"Authorization: Bearer {ANN}"
    )
    with begun(server, 5, head, b"--B\r\n") as opened:
        assert {one.recv(12) for one in opened} == {b"HTTP/1.1 403"}
        files = {"file": ("a.md", b"# Lamp\n\nThe keeper wound the clockwork.")}
        sent = client(server, BOB).post("/documents/parse", data={"project_id": "bob"}, files=files)
        assert sent.status_code == 202


def test_pages_that_take_long_leave_other_requests_and_uploads_alone(server: str) -> None:
    Stuck.gate.clear()
    document = uploaded(server, "ann")
    with ThreadPoolExecutor(PAGES) as pool:
        asked = [pool.submit(page, server, document) for _ in range(3)]
        try:
            time.sleep(1)
            assert httpx.get(f"{server}/readyz", timeout=5).status_code == 200
            assert client(server, BOB).get("/projects").status_code == 200
            files = {"file": ("b.md", b"# Lens\n\nIt was polished every morning.")}
            sent = client(server, BOB).post("/documents/parse", data={"project_id": "bob"}, files=files)
            assert sent.status_code == 202
        finally:
            Stuck.gate.set()
            wait(asked)
        assert {each.result() for each in asked} == {200}


def uploaded(server: str, project: str) -> str:
    made = fitz.open()
    made.new_page().insert_text((72, 72), "The lighthouse keeper wound the clockwork under the lamp.")
    with client(server, BOB) as bob:
        sent = bob.post("/documents/parse", data={"project_id": project}, files={"file": ("a.pdf", made.tobytes())})
        document = sent.json()["document_id"]
        deadline = time.monotonic() + 30
        while bob.get(f"/documents/{document}").json()["status"] in ("pending", "processing"):
            assert time.monotonic() < deadline
            time.sleep(0.1)
    return document


def page(server: str, document: str) -> int:
    with client(server, ANN) as ann:
        return ann.get(f"/documents/{document}/pages/1", params={"dpi": 36}, timeout=60).status_code


def test_a_project_has_only_so_many_event_streams_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "MOST_OPEN", 2)
    deps: Any = SimpleNamespace(
        registry=SimpleNamespace(events=lambda *_: [], document=lambda _: SimpleNamespace(status="pending")),
        settings=load({}, environ={}),
    )
    row: Any = SimpleNamespace(document_id="d", project_id="p")

    async def open_many() -> None:
        opened = [await events.stream(deps, row, None) for _ in range(2)]
        reading = [asyncio.create_task(anext(answer.body_iterator)) for answer in opened]  # pyright: ignore[reportAttributeAccessIssue]
        await asyncio.sleep(0.1)
        with pytest.raises(CorpusError) as refused:
            await events.stream(deps, row, None)
        assert refused.value.code is Code.OVERLOADED
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        assert (await events.stream(deps, row, None)).status_code == 200

    asyncio.run(open_many())


def test_a_project_has_only_so_many_webhooks(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "MOST_WEBHOOKS", 2)
    with client(server, BOB) as bob:
        answers = [bob.post("/projects/bob/webhooks", json={"url": f"https://93.184.216.34/{n}"}) for n in range(3)]
        assert [a.status_code for a in answers] == [201, 201, 422]
        assert answers[2].json()["error"]["code"] == "LIMIT_EXCEEDED"
        for made in answers[:2]:
            bob.delete(f"/projects/bob/webhooks/{made.json()['id']}").raise_for_status()
