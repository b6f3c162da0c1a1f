"""What ends an upload's wait: its ingest row goes, its one terminal event is written, its bytes get an owner or none.

Functions for transactions that hold the documents' row locks. The order of locks is everywhere: documents by id,
then ingest rows, index state, webhooks, batches by id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.registry.batches import complete_batches
from engine.registry.database import chunked
from engine.registry.events import NewEvent, forget_names, record_events
from engine.registry.models import DOCUMENTS, SOURCES
from engine.registry.online import COMPLETED, DELETED, FAILED, UPLOADS
from engine.registry.online_models import INGESTS
from engine.registry.originals import drop_originals, orphan, place_original

D = DOCUMENTS.c
I = INGESTS.c  # noqa: E741 - the table's initial, as elsewhere
ENDED = ("completed", "failed", "skipped")
Row = sa.Row[*tuple[Any, ...]]

# An upload with what its document's row says about it.
UPLOAD = (
    *(I.document_id, I.project_id, I.generation, I.attempt, I.object_key, I.content_sha256, I.options, I.batch_id),
    *(I.traceparent, D.generation.label("current"), D.deleted_at, D.status, D.key, D.filename, D.size, D.chunk_count),
    *(D.skip_reason, D.error_code, D.error_stage, D.error_message, I.created_at),
)


def uploads(connection: Connection, document_ids: Sequence[str]) -> list[Row]:
    """The uploads of these documents that have not ended, with their documents' state."""
    found: list[Row] = []
    for ids in chunked(document_ids):
        wanted = sa.select(*UPLOAD).join(DOCUMENTS, D.id == I.document_id).where(I.document_id.in_(ids))
        found += connection.execute(wanted.order_by(I.document_id))
    return found


def drop_ingests(connection: Connection, document_ids: Sequence[str]) -> list[tuple[str, str, str | None]]:
    """Delete the ingest rows of these documents; (document, object key, batch) of each."""
    gone: list[tuple[str, str, str | None]] = []
    for ids in chunked(document_ids):
        statement = sa.delete(INGESTS).where(I.document_id.in_(ids))
        rows = connection.execute(statement.returning(I.document_id, I.object_key, I.batch_id))
        gone += [(row[0], row[1], row[2]) for row in rows]
    return gone


# ---------------------------------------------------------------- ends
def settle_uploads(connection: Connection, ended: Sequence[Row], keep_original: bool) -> None:
    """End uploads whose document is completed, failed or skipped at their generation."""
    gone = drop_ingests(connection, [row.document_id for row in ended])
    for row in ended:
        place_original(connection, row.document_id, row.object_key, row.status, keep_original)
    record_events(connection, [_terminal_event(row) for row in ended])
    complete_batches(connection, (batch for _, _, batch in gone))


def withdraw_uploads(connection: Connection, document_ids: Sequence[str]) -> None:
    """Drop uploads that lost their document to a newer attempt, without a word: the winner has the last one."""
    gone = drop_ingests(connection, document_ids)
    orphan(connection, (key for _, key, _ in gone))
    complete_batches(connection, (batch for _, _, batch in gone))


def event_data(
    document_id: str, key: str, filename: str, status: str, batch_id: str | None, **more: object
) -> dict[str, object]:
    """The data of a document's event. `source_id`: the caller's own key, None when the upload had none."""
    source_id = None if key == document_id else key
    return {
        "document_id": document_id,
        "status": status,
        "source_id": source_id,
        "filename": filename,
        "batch_id": batch_id,
        **more,
    }


def _terminal_event(row: Row) -> NewEvent:
    if row.status == "failed":
        error = {"code": row.error_code, "stage": row.error_stage, "message": row.error_message}
        more: Mapping[str, object] = {"chunk_count": 0, "error": error}
    elif row.status == "skipped":
        more = {"chunk_count": 0, "skip_reason": row.skip_reason}
    else:
        more = {"chunk_count": row.chunk_count}
    status = "failed" if row.status == "failed" else "completed"
    type_ = FAILED if row.status == "failed" else COMPLETED
    data = event_data(row.document_id, row.key, row.filename, status, row.batch_id, **more)
    return NewEvent(row.project_id, row.document_id, type_, data)


# ---------------------------------------------------------------- deletion
@dataclass(frozen=True, slots=True)
class Deletion:
    """What is to be told of an uploaded document's deletion, read before its row is blanked."""

    document_id: str
    event: NewEvent


def deletions(connection: Connection, document_ids: Sequence[str]) -> list[Deletion]:
    """Of these locked documents the living top-level uploads."""
    found: list[Deletion] = []
    for ids in chunked(document_ids):
        wanted = sa.select(D.id, D.project_id, D.key, I.batch_id).join(SOURCES, SOURCES.c.id == D.source_id)
        wanted = wanted.outerjoin(INGESTS, I.document_id == D.id).where(D.id.in_(ids), D.parent_id.is_(None))
        alive = wanted.where(D.deleted_at.is_(None), SOURCES.c.name == UPLOADS).order_by(D.id)
        for id_, project_id, key, batch_id in connection.execute(alive):
            data = event_data(id_, key, "", "deleted", batch_id)
            found.append(Deletion(id_, NewEvent(project_id, id_, DELETED, data)))
    return found


def delete_uploads(connection: Connection, document_ids: Sequence[str], told: Sequence[Deletion]) -> None:
    """After their documents became tombstones: ingest rows and originals go, what is left of their names in the
    event log too, and the deletions are told."""
    gone = drop_ingests(connection, document_ids)
    orphan(connection, {key for _, key, _ in gone} | drop_originals(connection, document_ids))
    forget_names(connection, [d.document_id for d in told])
    record_events(connection, [d.event for d in told])
    complete_batches(connection, (batch for _, _, batch in gone))


# ---------------------------------------------------------------- the sweeper's question
def in_uploads(connection: Connection, document_ids: Sequence[str]) -> set[str]:
    """Those of these documents that an unfinished upload answers for: its own and what was found inside it, however
    deep."""
    roots = {id_: id_ for id_ in document_ids}  # document → the ancestor looked at now
    found: set[str] = set()
    while roots:
        above = _parents(connection, sorted(set(roots.values())))
        found |= {id_ for id_, ancestor in roots.items() if above.get(ancestor, ("", False))[1]}
        parents = {id_: above[ancestor][0] for id_, ancestor in roots.items() if ancestor in above}
        roots = {id_: parent for id_, parent in parents.items() if parent and id_ not in found}
    return found


def _parents(connection: Connection, ids: Sequence[str]) -> dict[str, tuple[str | None, bool]]:
    """Document → (its parent, whether it is an upload that has not ended)."""
    found: dict[str, tuple[str | None, bool]] = {}
    for part in chunked(ids):
        wanted = sa.select(D.id, D.parent_id, I.document_id.is_not(None))
        joined = wanted.outerjoin(INGESTS, I.document_id == D.id).where(D.id.in_(part))
        found.update({id_: (parent, waits) for id_, parent, waits in connection.execute(joined)})
    return found
