"""The client whose calls block."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import httpx
from httpx_sse import connect_sse

from serve.client import calls
from serve.client.calls import Call, Source
from serve.client.errors import ApiError, error_of
from serve.client.records import Chunk, Document, Event, Hit, Project, Ticket

T = TypeVar("T")


class Corpus:
    """One server. `token`: a bearer token where the server wants one. Safe to share between threads.

    Calls raise ApiError. Refusals for load (429, 503) and broken connections are tried again for about 15 seconds
    where repeating does no harm; uploads carry an Idempotency-Key, so that for them too.
    """

    def __init__(self, url: str = "http://127.0.0.1:8016", token: str | None = None, timeout: float = 60.0) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ projects
    def projects(self) -> list[Project]:
        return self._do(calls.projects())

    def create_project(self, slug: str, settings: Mapping[str, Any] | None = None) -> Project:
        return self._do(calls.create_project(slug, settings))

    # ------------------------------------------------------------ documents
    def upload(
        self, source: Source, project: str, filename: str = "", wait: bool = False, **options: Any
    ) -> Ticket | Document:
        """Send a file (path, bytes or open file). `options`: source_id, chunking_strategy, max_tokens, acl, ...

        `wait`: until it is processed; the document then. Raises ProcessingError when that failed.
        """
        ticket = self._do(calls.upload(source, project, filename, options))
        return self.wait(ticket.document_id) if wait else ticket

    def wait(self, document_id: str, timeout: float = 600.0) -> Document:
        """The document once it is completed. Raises ProcessingError when it failed, TimeoutError."""
        deadline, pause = time.monotonic() + timeout, 0.1
        while True:
            found = self.document(document_id)
            if found.status == "completed":
                return found
            if found.status == "failed":
                raise calls.failure_of(found)
            if time.monotonic() > deadline:
                raise TimeoutError(f"document {document_id} is still {found.status} after {timeout:g} s")
            time.sleep(pause)
            pause = min(1.0, pause * 1.5)

    def document(self, document_id: str) -> Document:
        return self._do(calls.document(document_id))

    def documents(self, project: str, status: str | None = None) -> Iterator[Document]:
        """All documents of a project, newest first."""
        cursor: str | None = None
        while True:
            found, cursor = self._do(calls.documents(project, status, cursor))
            yield from found
            if cursor is None:
                return

    def chunks(self, document_id: str) -> Iterator[Chunk]:
        """All chunks of a document, in order."""
        page = 1
        while found := self._do(calls.chunks(document_id, page)):
            yield from found
            page += 1

    def result(self, document_id: str) -> dict[str, Any]:
        """The canonical JSON of a parsed document."""
        return self._do(calls.facts(document_id, "result"))

    def nav(self, document_id: str) -> dict[str, Any]:
        """The section tree."""
        return self._do(calls.facts(document_id, "nav"))

    def manifest(self, document_id: str) -> dict[str, Any]:
        return self._do(calls.facts(document_id, "manifest"))

    def page_picture(self, document_id: str, page: int, chunk_id: str | None = None, dpi: int = 100) -> bytes:
        """A page as PNG, with the place of a chunk marked."""
        return self._do(calls.page_picture(document_id, page, chunk_id, dpi))

    def delete(self, document_id: str) -> None:
        self._do(calls.delete(document_id))

    def events(self, document_id: str) -> Iterator[Event]:
        """What happens to a document until it ends; a broken stream is taken up where it broke."""
        last = ""
        while True:
            headers = {"Last-Event-ID": last} if last else {}
            path = f"{calls.PREFIX}/documents/{calls.segment(document_id)}/events"
            with suppress(httpx.TransportError), connect_sse(self._http, "GET", path, headers=headers) as source:
                if source.response.status_code == 204:
                    return
                if not source.response.is_success:
                    source.response.read()
                    raise error_of(source.response)
                for sent in source.iter_sse():
                    if not sent.data:  # a heartbeat
                        continue
                    event = Event(sent.event, json.loads(sent.data)["data"], sent.id)
                    last = event.id or last
                    yield event
                    if event.terminal:
                        return
            time.sleep(calls.BACKOFF[0])

    # ------------------------------------------------------------ search
    def search(self, query: str, project: str, top_k: int = 10, **options: Any) -> list[Hit]:
        """Passages, best first. `options`: mode, filter, threshold, explain, ... as in the API."""
        return self._do(calls.search(query, project, top_k, options))

    def agent_search(self, query: str, project: str, **options: Any) -> dict[str, Any]:
        """Evidence for a question under a token budget."""
        return self._do(calls.agent_search(query, project, options))

    # ------------------------------------------------------------ sending
    def _do(self, call: Call[T]) -> T:
        try:
            return self._send(call)
        finally:
            call.close()

    def _send(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            attempt += 1
            error: ApiError | None = None
            try:
                response = self._http.request(call.method, call.path, **call.arguments())
                if response.is_success:
                    return call.read(response)
                error = error_of(response)
                pause = calls.wait_before(attempt, error)
            except httpx.TransportError:
                pause = calls.wait_before(attempt, None) if call.repeatable else None
                if pause is None:
                    raise
            if pause is None:
                assert error is not None
                raise error
            time.sleep(pause)
