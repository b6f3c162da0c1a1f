"""The client whose calls are awaited."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import httpx
from httpx_sse import aconnect_sse

from serve.client import calls
from serve.client.calls import Call, Source
from serve.client.errors import ApiError, error_of
from serve.client.records import Chunk, Document, Event, Hit, Project, Ticket

T = TypeVar("T")


class AsyncCorpus:
    """One server, as `serve.client.synchronous.Corpus`, for one event loop."""

    def __init__(self, url: str = "http://127.0.0.1:8016", token: str | None = None, timeout: float = 60.0) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncCorpus:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # ------------------------------------------------------------ projects
    async def projects(self) -> list[Project]:
        return await self._do(calls.projects())

    async def create_project(self, slug: str, settings: Mapping[str, Any] | None = None) -> Project:
        return await self._do(calls.create_project(slug, settings))

    # ------------------------------------------------------------ documents
    async def upload(
        self, source: Source, project: str, filename: str = "", wait: bool = False, **options: Any
    ) -> Ticket | Document:
        """Send a file (path, bytes or open file). `options`: source_id, chunking_strategy, max_tokens, acl, ...

        `wait`: until it is processed; the document then. Raises ProcessingError when that failed.
        """
        ticket = await self._do(calls.upload(source, project, filename, options))
        return await self.wait(ticket.document_id) if wait else ticket

    async def wait(self, document_id: str, timeout: float = 600.0) -> Document:
        """The document once it is completed. Raises ProcessingError when it failed, TimeoutError."""
        deadline, pause = time.monotonic() + timeout, 0.1
        while True:
            found = await self.document(document_id)
            if found.status == "completed":
                return found
            if found.status == "failed":
                raise calls.failure_of(found)
            if time.monotonic() > deadline:
                raise TimeoutError(f"document {document_id} is still {found.status} after {timeout:g} s")
            await asyncio.sleep(pause)
            pause = min(1.0, pause * 1.5)

    async def document(self, document_id: str) -> Document:
        return await self._do(calls.document(document_id))

    async def documents(self, project: str, status: str | None = None) -> AsyncIterator[Document]:
        """All documents of a project, newest first."""
        cursor: str | None = None
        while True:
            found, cursor = await self._do(calls.documents(project, status, cursor))
            for one in found:
                yield one
            if cursor is None:
                return

    async def chunks(self, document_id: str) -> AsyncIterator[Chunk]:
        """All chunks of a document, in order."""
        page = 1
        while found := await self._do(calls.chunks(document_id, page)):
            for one in found:
                yield one
            page += 1

    async def result(self, document_id: str) -> dict[str, Any]:
        """The canonical JSON of a parsed document."""
        return await self._do(calls.facts(document_id, "result"))

    async def nav(self, document_id: str) -> dict[str, Any]:
        """The section tree."""
        return await self._do(calls.facts(document_id, "nav"))

    async def manifest(self, document_id: str) -> dict[str, Any]:
        return await self._do(calls.facts(document_id, "manifest"))

    async def page_picture(self, document_id: str, page: int, chunk_id: str | None = None, dpi: int = 100) -> bytes:
        """A page as PNG, with the place of a chunk marked."""
        return await self._do(calls.page_picture(document_id, page, chunk_id, dpi))

    async def delete(self, document_id: str) -> None:
        await self._do(calls.delete(document_id))

    async def events(self, document_id: str) -> AsyncIterator[Event]:
        """What happens to a document until it ends; a broken stream is taken up where it broke."""
        last = ""
        while True:
            headers = {"Last-Event-ID": last} if last else {}
            path = f"{calls.PREFIX}/documents/{calls.segment(document_id)}/events"
            with suppress(httpx.TransportError):
                async with aconnect_sse(self._http, "GET", path, headers=headers) as source:
                    if source.response.status_code == 204:
                        return
                    if not source.response.is_success:
                        await source.response.aread()
                        raise error_of(source.response)
                    async for sent in source.aiter_sse():
                        if not sent.data:  # a heartbeat
                            continue
                        event = Event(sent.event, json.loads(sent.data)["data"], sent.id)
                        last = event.id or last
                        yield event
                        if event.terminal:
                            return
            await asyncio.sleep(calls.BACKOFF[0])

    # ------------------------------------------------------------ search
    async def search(self, query: str, project: str, top_k: int = 10, **options: Any) -> list[Hit]:
        """Passages, best first. `options`: mode, filter, threshold, explain, ... as in the API."""
        return await self._do(calls.search(query, project, top_k, options))

    async def agent_search(self, query: str, project: str, **options: Any) -> dict[str, Any]:
        """Evidence for a question under a token budget."""
        return await self._do(calls.agent_search(query, project, options))

    # ------------------------------------------------------------ sending
    async def _do(self, call: Call[T]) -> T:
        try:
            return await self._send(call)
        finally:
            call.close()

    async def _send(self, call: Call[T]) -> T:
        attempt = 0
        while True:
            attempt += 1
            error: ApiError | None = None
            try:
                response = await self._http.request(call.method, call.path, **call.arguments())
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
            await asyncio.sleep(pause)
