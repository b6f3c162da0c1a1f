"""What becomes true when uploads are accepted: their documents wait, what they supersede goes, events tell of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from engine.errors import StorageError
from engine.registry.batches import complete_batches, create_batch
from engine.registry.database import insert, now
from engine.registry.events import NewEvent, record_events
from engine.registry.ingests import D, drop_ingests, event_data, uploads
from engine.registry.models import DOCUMENTS
from engine.registry.online import ACCEPTED, FAILED, Upload
from engine.registry.online_models import INGESTS
from engine.registry.originals import orphan
from engine.registry.outcomes import lock_rows
from engine.registry.text import clean, message, required_id

# What an upload overwrites on a document that is there; everything else belongs to the visible revision.
TAKEN = ("source_id", "parent_id", "inner_path", "claim_run", "claimed_at", "key", "size", "etag", "mtime", "uri")
SHOWN = ("filename", "status", "error_code", "error_stage", "error_message", "updated_at")


def accept_uploads(
    connection: Connection,
    given: Sequence[Upload],
    latest: Mapping[str, Upload],
    sources: Mapping[str, int],
    batch_id: str | None,
) -> dict[str, int]:
    """Write down uploads (`given`, of each document the `latest`) with everything that follows from them; document →
    generation. `sources`: project → internal id of its source for uploads."""
    lock_rows(connection, latest)
    before = {row.document_id: row for row in uploads(connection, list(latest))}
    known = {id_: row.generation for id_, row in before.items() if row.object_key == latest[id_].object_key}
    new = {id_: upload for id_, upload in sorted(latest.items()) if id_ not in known}
    times = _times(latest)
    generations = _take(connection, [_document(id_, u, sources[u.project_id], times[id_]) for id_, u in new.items()])
    if foreign := new.keys() - generations.keys():
        raise StorageError(f"document {min(foreign)} belongs to another project", details={"count": len(foreign)})
    if batch_id is not None:
        create_batch(
            connection, batch_id, required_id(given[0].project_id), [required_id(u.document_id) for u in given]
        )
    gone = drop_ingests(connection, list(new))
    needed = {u.object_key for u in latest.values()}
    orphan(connection, {key for _, key, _ in gone} | {u.object_key for u in given} - needed)
    rows = [_ingest(id_, u, generations[id_], batch_id, times[id_]) for id_, u in new.items() if u.failure is None]
    if rows:
        connection.execute(insert(connection, INGESTS), rows)
    record_events(connection, [e for id_, u in new.items() for e in _first_events(id_, u, batch_id)])
    complete_batches(connection, [batch_id, *(batch for _, _, batch in gone)])
    return known | generations


def _times(document_ids: Collection[str]) -> dict[str, datetime]:
    """When each was accepted: a microsecond apart in the order given, the last one now, so that lists and workers
    keep that order."""
    time, count = now(), len(document_ids)
    return {id_: time - timedelta(microseconds=count - n) for n, id_ in enumerate(document_ids, 1)}


def _document(document_id: str, upload: Upload, source_id: int, time: datetime) -> dict[str, object]:
    failure = upload.failure
    return {
        "id": document_id,
        "project_id": required_id(upload.project_id),
        "source_id": source_id,
        "parent_id": None,
        "inner_path": "",
        "status": "pending" if failure is None else "failed",
        "error_code": "" if failure is None else failure.code,
        "error_stage": "" if failure is None else failure.stage,
        "error_message": "" if failure is None else message(failure.message),
        "generation": 1,
        "swept_generation": 1,  # accepting writes no points
        "claim_run": None,
        "claimed_at": time,
        "key": upload.key,
        "size": upload.size,
        "etag": "",
        "mtime": None,
        "uri": f"upload:{upload.key}",
        "filename": clean(upload.filename),
        "source_format": upload.source_format,
        "created_at": time,
        "updated_at": time,
        "warnings": [],
        "metadata": {},
    }


def _take(connection: Connection, rows: list[dict[str, object]]) -> dict[str, int]:
    if not rows:
        return {}
    return {id_: generation for id_, generation in connection.execute(_upsert(insert(connection, DOCUMENTS)), rows)}


def _upsert(new: postgresql.Insert | sqlite.Insert) -> sa.Executable:
    swept = sa.case((D.swept_generation == D.generation, D.generation + 1), else_=D.swept_generation)
    changes: dict[str, object] = {name: new.excluded[name] for name in (*TAKEN, *SHOWN)}
    changes |= {
        "generation": D.generation + 1,
        "swept_generation": swept,
        "deleted_at": None,
        "created_at": sa.case((D.deleted_at.is_not(None), new.excluded.created_at), else_=D.created_at),
        # of a visible revision it stays until the next one is
        "source_format": sa.case((D.active_revision.is_(None), new.excluded.source_format), else_=D.source_format),
    }
    same_project = D.project_id == new.excluded.project_id
    upsert = new.on_conflict_do_update(index_elements=["id"], set_=changes, where=same_project)
    return upsert.returning(D.id, D.generation)


def _ingest(
    document_id: str, upload: Upload, generation: int, batch_id: str | None, time: datetime
) -> dict[str, object]:
    return {
        "document_id": document_id,
        "project_id": required_id(upload.project_id),
        "generation": generation,
        "object_key": upload.object_key,
        "content_sha256": upload.content_sha256,
        "batch_id": batch_id,
        "traceparent": clean(upload.traceparent),
        "created_at": time,
        "options": dict(upload.options),
    }


def _first_events(document_id: str, upload: Upload, batch_id: str | None) -> Iterator[NewEvent]:
    def data(status: str, **more: object) -> dict[str, object]:
        return event_data(document_id, upload.key, clean(upload.filename), status, batch_id, **more)

    project_id, failure = required_id(upload.project_id), upload.failure
    yield NewEvent(project_id, document_id, ACCEPTED, data("pending"))
    if failure is not None:
        error = {"code": failure.code, "stage": failure.stage, "message": message(failure.message)}
        yield NewEvent(project_id, document_id, FAILED, data("failed", chunk_count=0, error=error))
