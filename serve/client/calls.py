"""The API's calls as data, the same for the synchronous and the asynchronous client: method, path, body, and what
becomes of the answer."""

from __future__ import annotations

import mimetypes
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Generic, TypeVar
from urllib.parse import quote

import httpx

from serve.client.errors import ApiError, ProcessingError
from serve.client.records import Chunk, Document, Hit, Project, Ticket, record_of

T = TypeVar("T")
Source = str | Path | bytes | BinaryIO
PREFIX = "/api/v1"
RETRIED = (429, 502, 503, 504)
BACKOFF = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds before the tries after the first, where the server names none


@dataclass(slots=True)
class Call(Generic[T]):
    """`repeatable`: sending it twice does no more than sending it once, so that a broken connection is no reason to
    give up. `stream`: the open file of an upload, wound back before another try."""

    method: str
    path: str
    read: Callable[[httpx.Response], T]
    repeatable: bool = True
    params: dict[str, Any] = field(default_factory=lambda: dict[str, Any]())
    json: Any = None
    form: dict[str, str] | None = None
    stream: BinaryIO | bytes | None = None
    owned: bool = False  # the stream was opened here, not by the caller
    filename: str = ""
    headers: dict[str, str] = field(default_factory=lambda: dict[str, str]())

    def close(self) -> None:
        """Close the file that was opened for this call."""
        if self.owned and self.stream is not None and not isinstance(self.stream, bytes):
            self.stream.close()

    def arguments(self) -> dict[str, Any]:
        """Keyword arguments of httpx's `request`."""
        given: dict[str, Any] = {"params": self.params, "headers": self.headers}
        if self.json is not None:
            given["json"] = self.json
        if self.stream is not None:
            if not isinstance(self.stream, bytes):
                self.stream.seek(0)
            kind = mimetypes.guess_type(self.filename)[0] or "application/octet-stream"
            given |= {"data": self.form, "files": {"file": (self.filename, self.stream, kind)}}
        return given


def segment(value: str) -> str:
    """A value as one segment of a path."""
    return quote(value, safe="")


def wait_before(attempt: int, error: ApiError | None) -> float | None:
    """Seconds before trying again after `attempt` tries; None to give up."""
    if attempt > len(BACKOFF) or (error is not None and error.status not in RETRIED):
        return None
    return error.retry_after if error is not None and error.retry_after is not None else BACKOFF[attempt - 1]


def _json(response: httpx.Response) -> Any:
    return response.json()


def _bytes(response: httpx.Response) -> bytes:
    return response.content


def _nothing(response: httpx.Response) -> None:
    return None


# ---------------------------------------------------------------- projects
def create_project(slug: str, settings: Mapping[str, Any] | None) -> Call[Project]:
    body = {"slug": slug, "settings": dict(settings or {})}
    key = {"Idempotency-Key": uuid.uuid4().hex}
    return Call("POST", f"{PREFIX}/projects", lambda r: record_of(Project, r.json()), json=body, headers=key)


def projects() -> Call[list[Project]]:
    return Call("GET", f"{PREFIX}/projects", lambda r: [record_of(Project, p) for p in r.json()["projects"]])


# ---------------------------------------------------------------- documents
def upload(source: Source, project: str, filename: str, options: Mapping[str, Any]) -> Call[Ticket]:
    """`options`: form fields of the upload (source_id, chunking_strategy, max_tokens, acl, ...); None is left out."""
    stream, name = _opened(source)
    form = {"project_id": project, **{k: _field(v) for k, v in options.items() if v is not None}}
    key = {"Idempotency-Key": uuid.uuid4().hex}
    return Call(
        "POST",
        f"{PREFIX}/documents/parse",
        lambda r: record_of(Ticket, r.json()),
        form=form,
        stream=stream,
        owned=isinstance(source, str | Path),
        filename=filename or name,
        headers=key,
    )


def _opened(source: Source) -> tuple[BinaryIO | bytes, str]:
    if isinstance(source, str | Path):
        return Path(source).open("rb"), Path(source).name
    if isinstance(source, bytes):
        return source, "document"
    return source, Path(str(getattr(source, "name", "document"))).name


def _field(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def document(document_id: str) -> Call[Document]:
    path = f"{PREFIX}/documents/{segment(document_id)}"
    return Call("GET", path, lambda r: record_of(Document, r.json()))


def documents(project: str, status: str | None, cursor: str | None) -> Call[tuple[list[Document], str | None]]:
    params = {"project_id": project, "per_page": 200, "status": status, "cursor": cursor}

    def read(response: httpx.Response) -> tuple[list[Document], str | None]:
        body = response.json()
        return [record_of(Document, d) for d in body["documents"]], body["next_cursor"]

    return Call("GET", f"{PREFIX}/documents", read, params={k: v for k, v in params.items() if v is not None})


def chunks(document_id: str, page: int) -> Call[list[Chunk]]:
    path = f"{PREFIX}/documents/{segment(document_id)}/chunks"
    params = {"page": page, "per_page": 200}
    return Call("GET", path, lambda r: [record_of(Chunk, c) for c in r.json()["chunks"]], params=params)


def facts(document_id: str, kind: str) -> Call[dict[str, Any]]:
    """`kind`: result, nav or manifest."""
    return Call("GET", f"{PREFIX}/documents/{segment(document_id)}/{kind}", _json)


def page_picture(document_id: str, page: int, chunk_id: str | None, dpi: int) -> Call[bytes]:
    params = {"dpi": dpi, **({"chunk_id": chunk_id} if chunk_id else {})}
    return Call("GET", f"{PREFIX}/documents/{segment(document_id)}/pages/{page}", _bytes, params=params)


def delete(document_id: str) -> Call[None]:
    return Call("DELETE", f"{PREFIX}/documents/{segment(document_id)}", _nothing, repeatable=False)


def failure_of(document: Document) -> ProcessingError:
    error = document.error or {"code": "INTERNAL", "stage": "", "message": "processing failed"}
    return ProcessingError(422, error["code"], error["message"], {"document_id": document.id, "stage": error["stage"]})


# ---------------------------------------------------------------- search
def search(query: str, project: str, top_k: int, options: Mapping[str, Any]) -> Call[list[Hit]]:
    body = {"query": query, "project_id": project, "top_k": top_k, **options}
    return Call(
        "POST", f"{PREFIX}/documents/search", lambda r: [record_of(Hit, h) for h in r.json()["results"]], json=body
    )


def agent_search(query: str, project: str, options: Mapping[str, Any]) -> Call[dict[str, Any]]:
    body = {"query": query, "project_id": project, **options}
    return Call("POST", f"{PREFIX}/agent/search", _json, json=body, repeatable=False)
