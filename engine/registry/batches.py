"""Uploads that came together: which documents a batch holds, and the event when the last of them has ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.registry.database import Database, insert, now
from engine.registry.events import NewEvent, record_events
from engine.registry.models import DOCUMENTS
from engine.registry.online import BATCH_COMPLETED, Batch
from engine.registry.online_models import BATCH_DOCUMENTS, BATCHES, INGESTS
from engine.registry.text import canonical

B = BATCHES.c
M = BATCH_DOCUMENTS.c


class Batches(Database):
    """Statements that read batches."""

    def batch(self, batch_id: str, project_id: str | None = None) -> Batch | None:
        """A batch with its documents in the order of the upload; None when there is none (in that project)."""
        wanted = sa.select(B.id, B.project_id, B.created_at).where(B.id == canonical(batch_id))
        if project_id is not None:
            wanted = wanted.where(B.project_id == canonical(project_id))
        members = sa.select(M.document_id).where(M.batch_id == canonical(batch_id)).order_by(M.position)

        def work(connection: Connection) -> Batch | None:
            row = connection.execute(wanted).first()
            if row is None:
                return None
            return Batch(row[0], row[1], list(connection.execute(members).scalars()), row[2])

        return self.read(work)


def create_batch(connection: Connection, batch_id: str, project_id: str, document_ids: Sequence[str]) -> None:
    """Make a batch of these documents (a document may stand in it twice); one that is there stays as it is."""
    row = {"id": batch_id, "project_id": project_id, "created_at": now()}
    connection.execute(insert(connection, BATCHES).on_conflict_do_nothing(), [row])
    members = [{"batch_id": batch_id, "position": n, "document_id": id_} for n, id_ in enumerate(document_ids)]
    connection.execute(insert(connection, BATCH_DOCUMENTS).on_conflict_do_nothing(), members)


def complete_batches(connection: Connection, batch_ids: Iterable[str | None]) -> None:
    """Write `batch.completed` for those of these batches in which nothing waits or is worked on any more, once.

    Call it after the ingest rows are gone: of two transactions that end the last two documents of a batch, the one
    that gets the batch's lock second sees both gone.
    """
    for batch_id in sorted({id_ for id_ in batch_ids if id_ is not None}):
        open_ = sa.select(B.project_id).where(B.id == batch_id, B.completed_at.is_(None)).with_for_update()
        project_id = connection.execute(open_).scalar()
        if project_id is None:
            continue
        waiting = sa.select(sa.literal(1)).where(INGESTS.c.batch_id == batch_id).limit(1)
        if connection.execute(waiting).first() is None:
            connection.execute(sa.update(BATCHES).where(B.id == batch_id).values(completed_at=now()))
            data = _summary(connection, batch_id)
            record_events(connection, [NewEvent(project_id, None, BATCH_COMPLETED, data)])


def _summary(connection: Connection, batch_id: str) -> dict[str, object]:
    """How the batch's documents stand now; one taken anew by a later upload counts as pending or processing."""
    wanted = sa.select(M.document_id, DOCUMENTS.c.status).join(DOCUMENTS, DOCUMENTS.c.id == M.document_id)
    rows = connection.execute(wanted.where(M.batch_id == batch_id).order_by(M.position)).all()
    states = {id_: "completed" if status == "skipped" else status for id_, status in rows}
    counts = dict(Counter(states.values()))
    return {"batch_id": batch_id, "status": "completed", "document_ids": list(states), "counts": counts}
