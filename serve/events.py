"""Server-sent events of one document, out of the ledger's event log."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from engine.errors import Code, CorpusError
from engine.registry import DocumentRow
from engine.registry.online import ACCEPTED, COMPLETED, DELETED, FAILED, TERMINAL, Event
from serve.context import in_thread
from serve.deps import Deps
from serve.schemas import iso

POLL_SECONDS = (0.1, 1.0)  # from quick to patient
PAGE = 1000
MOST_OPEN = 250  # streams of one project in one process: each asks the ledger every second, and all have few places
NO_EVENT = "ended"  # the id of a terminal event that is not in the log
ENDED = {"completed": COMPLETED, "skipped": COMPLETED, "failed": FAILED}
_open: Counter[str] = Counter()  # project → streams


async def stream(deps: Deps, row: DocumentRow, last_event_id: str | None) -> Response:
    """The events after `last_event_id` (all of the latest upload without one), then those to come, up to the
    terminal one. 204 when that one was delivered already. Raises CorpusError (OVERLOADED) when the project has
    MOST_OPEN streams open."""
    if last_event_id == NO_EVENT and row.status in ENDED:
        return Response(status_code=204)
    after = int(last_event_id) if last_event_id and last_event_id.isdecimal() and len(last_event_id) < 19 else 0
    known = await in_thread(_latest, deps, row.document_id)
    if after and known and known[-1].type in TERMINAL and after >= known[-1].id:
        return Response(status_code=204)
    if _open[row.project_id] >= MOST_OPEN:
        raise CorpusError("too many event streams of this project", Code.OVERLOADED, details={"retry_after": 10})
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    ping = max(1, round(deps.settings.serve.heartbeat_seconds))
    return EventSourceResponse(_counted(row.project_id, _events(deps, row, known, after)), ping=ping, headers=headers)


async def _counted(project_id: str, events: AsyncIterator[ServerSentEvent]) -> AsyncIterator[ServerSentEvent]:
    _open[project_id] += 1
    try:
        async for event in events:
            yield event
    finally:
        _open[project_id] -= 1
        if not _open[project_id]:
            del _open[project_id]


async def _events(deps: Deps, row: DocumentRow, known: list[Event], after: int) -> AsyncIterator[ServerSentEvent]:
    pause, patience = POLL_SECONDS
    last: Event | None = None
    while True:
        for event in known:
            if event.id > after:
                yield _shown(event.type, event.data, event.id, iso(event.created_at))
                after = event.id
                pause = POLL_SECONDS[0]
        last = known[-1] if known else last
        if last is not None and last.type in TERMINAL:
            return
        if last is None and (ended := await in_thread(_ended, deps, row.document_id)):
            yield ended  # never uploaded (a backfill's), or its events are no longer kept
            return
        await asyncio.sleep(pause)
        pause = min(patience, pause * 1.5)
        known = await in_thread(_latest, deps, row.document_id, last.id if last is not None else 0)


def _latest(deps: Deps, document_id: str, after: int = 0) -> list[Event]:
    """The events with an id above `after`, of the latest upload only: those of replaced ones are history."""
    events: list[Event] = []
    while page := deps.registry.events(document_id, after, PAGE):
        events += page
        after = page[-1].id
        if len(page) < PAGE:
            break
    starts = [n for n, event in enumerate(events) if event.type == ACCEPTED]
    return events[starts[-1] :] if starts else events


def _ended(deps: Deps, document_id: str) -> ServerSentEvent | None:
    row = deps.registry.document(document_id)
    if row is None:
        return _shown(DELETED, {"document_id": document_id}, NO_EVENT, None)
    kind = ENDED.get(row.status)
    if kind is None:
        return None
    data: dict[str, Any] = {"document_id": document_id, "status": "failed" if kind == FAILED else "completed"}
    data["chunk_count"] = row.chunk_count
    if kind == FAILED:
        data["error"] = {"code": row.error_code, "stage": row.error_stage, "message": row.error_message}
    return _shown(kind, data, NO_EVENT, iso(row.updated_at))


def _shown(kind: str, data: dict[str, Any], id_: int | str, at: str | None) -> ServerSentEvent:
    body = {"type": kind, "timestamp": at, "data": data}
    return ServerSentEvent(json.dumps(body), event=kind, id=str(id_))
