"""Documents: list, state, chunks, events, deletion."""

from __future__ import annotations

import logging
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from starlette.responses import Response as AnyResponse

from engine.errors import CorpusError
from engine.points import EVERYONE
from engine.registry import DocumentRow
from engine.search import active
from engine.store import Condition, Filter
from engine.sweep import remove_deleted
from serve.context import CallerDep, DepsDep, in_thread, rate_limit, visible_document, visible_project
from serve.deps import Caller, Deps
from serve.events import stream
from serve.routes import errors
from serve.schemas.documents import ChunkPage, Document, DocumentPage, Status, chunk_of_payload, document_of

router = APIRouter(prefix="/documents", tags=["documents"])
ATTEMPTS = 10  # looks at a document that is replaced meanwhile


@router.get("", responses=errors())
def list_documents(
    deps: DepsDep,
    caller: CallerDep,
    project_id: Annotated[str, Query(max_length=100, description="UUID or slug")],
    status: Status | None = None,
    cursor: Annotated[str | None, Query(max_length=100)] = None,
    per_page: Annotated[int, Query(ge=1, le=200)] = 50,
) -> DocumentPage:
    """A project's documents, newest first; those found inside others included."""
    project = visible_project(deps, caller, project_id, "read")
    wanted = ("completed", "skipped") if status == "completed" else status  # as `document_of` shows them
    rows = deps.registry.documents(project.id, wanted, after=cursor, limit=per_page)
    following = rows[-1].document_id if len(rows) == per_page else None
    return DocumentPage(documents=[document_of(row, None, caller.principals) for row in rows], next_cursor=following)


@router.get("/{document_id}", responses=errors())
def get_document(deps: DepsDep, caller: CallerDep, document_id: str) -> Document:
    """A document's state, facts and losses."""
    row = visible_document(deps, caller, document_id, "read")
    return document_of(row, deps.registry.ingest(row.document_id), caller.principals)


@router.get("/{document_id}/chunks", responses=errors(429))
async def get_chunks(
    deps: DepsDep,
    caller: CallerDep,
    document_id: str,
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
    per_page: Annotated[int, Query(ge=1, le=200)] = 50,
) -> ChunkPage:
    """The visible revision's chunks in order. A page past the end is empty."""
    row = await in_thread(visible_document, deps, caller, document_id, "read")
    project = await in_thread(deps.registry.project, row.project_id)
    await rate_limit(deps, project, "chunks")
    return await in_thread(_chunks, deps, caller, document_id, page, per_page)


def _chunks(deps: Deps, caller: Caller, document_id: str, page: int, per_page: int) -> ChunkPage:
    """One page out of one revision: looked at again when the document is replaced in between."""
    for attempt in range(ATTEMPTS):
        row = visible_document(deps, caller, document_id, "read")
        found = _page_of(deps, caller, row, (page - 1) * per_page, per_page)
        after = visible_document(deps, caller, document_id, "read")
        if after.active_revision == row.active_revision or attempt == ATTEMPTS - 1:
            payloads, total = found
            chunks = [chunk_of_payload(payload) for payload in payloads]
            return ChunkPage(chunks=chunks, total=total, page=page, per_page=per_page)
    raise AssertionError("unreachable")


def _page_of(deps: Deps, caller: Caller, row: DocumentRow, start: int, length: int) -> tuple[list[dict[str, Any]], int]:
    if row.active_revision is None:
        return [], 0
    of_document = [
        Condition("document_id", "any", [row.document_id]),
        Condition("revision", "any", [row.active_revision]),
    ]
    allowed = acl_of(caller)
    if not allowed or not deps.store.count(Filter(of_document, allowed)):  # nothing is hidden from this caller
        window = Condition("chunk_index", "range", [start, start + length])
        records = active.read(deps.store, deps.registry, row.project_id, Filter([*of_document, window]))
        total = row.chunk_count
    else:
        records = active.read(deps.store, deps.registry, row.project_id, Filter([*of_document, *allowed]))
        total = len(records)
        records = sorted(records, key=lambda r: _index(r.payload))[start : start + length]
    return sorted((r.payload for r in records), key=_index), total


def _index(payload: dict[str, Any]) -> int:
    return int(payload["chunk_index"])


def acl_of(caller: Caller) -> list[Condition]:
    """The condition under which this caller may see a chunk; none for one who may see all."""
    if caller.principals is None:
        return []
    return [Condition("acl", "any", [EVERYONE, *caller.principals])]


@router.get(
    "/{document_id}/events",
    responses={**errors(), 200: {"content": {"text/event-stream": {}}, "description": "server-sent events"}},
    response_class=AnyResponse,
)
async def get_events(
    deps: DepsDep,
    caller: CallerDep,
    document_id: str,
    last_event_id: Annotated[str | None, Header(max_length=40)] = None,
) -> AnyResponse:
    """What happens to a document, as it happens: `document.accepted`, `document.stage`, and exactly one of
    `document.completed`, `document.failed`, `document.deleted`, after which the stream ends. A client that comes
    back with the Last-Event-ID of that last event is answered 204."""
    row = await in_thread(visible_document, deps, caller, document_id, "read")
    return await stream(deps, row, last_event_id)


@router.delete("/{document_id}", status_code=204, responses=errors())
def delete_document(deps: DepsDep, caller: CallerDep, document_id: str) -> Response:
    """Delete a document and everything found inside it. It wins over processing that is under way."""
    row = visible_document(deps, caller, document_id, "write")
    waiting = deps.registry.ingest(row.document_id)
    gone = deps.registry.delete(row.document_id, row.project_id)
    deps.registry.audit(row.project_id, caller.subject, "document.delete", row.document_id, {"documents": len(gone)})
    keys = [str(row.metadata.get("source_object") or ""), waiting.object_key if waiting else ""]
    _remove(deps, row.project_id, gone, [key for key in keys if key])
    return Response(status_code=204)


def _remove(deps: Deps, project_id: str, gone: list[str], keys: list[str]) -> None:
    """Remove what is left of deleted documents. They are gone for every reader already; what fails here is found
    and removed by the sweeps."""
    try:
        remove_deleted(deps.store, deps.registry, gone)
        for key in keys:
            deps.objects.delete(key)
        for document_id in gone:
            if deps.registry.document(document_id) is None:  # not uploaded anew in the meantime
                deps.objects.delete_prefix(f"artifacts/{project_id}/{document_id}/")
    except CorpusError as error:
        logging.getLogger("corpus.serve").warning("leftovers of deleted documents wait for the sweep: %s", error.code)
