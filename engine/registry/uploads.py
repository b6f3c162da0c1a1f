"""Uploads between the 202 and their end: accepted, leased to a worker, kept alive, given back, settled.

Each call is one transaction; the order of its locks stands in `engine.registry.ingests`. A lease takes the next
generation of its document, so whatever an earlier worker still does comes to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.errors import Code, InputError
from engine.registry.accepting import accept_uploads
from engine.registry.database import now
from engine.registry.events import NewEvent, record_events
from engine.registry.ingests import (
    ENDED,
    UPLOAD,
    D,
    I,
    Row,
    event_data,
    settle_uploads,
    uploads,
    withdraw_uploads,
)
from engine.registry.models import DOCUMENTS
from engine.registry.online import STAGE, UPLOADS, Ingest, Lease, Upload
from engine.registry.online_models import INGESTS, LEASED, WAITING
from engine.registry.outcomes import lock_rows
from engine.registry.projects import Projects
from engine.registry.text import canonical, clean, key_problem, required_id
from engine.registry.turns import Line, take_turns

LINE = Line(I.project_id, I.created_at, I.lease_until, WAITING, LEASED)
LOST = {"error_code": Code.WORKER_LOST, "error_stage": "", "error_message": "every worker that took it was lost"}


class Uploads(Projects):
    """Statements about uploads."""

    def accept(self, uploads: Sequence[Upload], batch_id: str | None = None) -> dict[str, int]:
        """Take responsibility for these uploads: document → its new generation. With `batch_id` they are one batch.

        One transaction: when it returns, each is worked on until it ends. Readers go on seeing the visible
        revision; a tombstone is revived. An upload with `failure` is recorded as failed and ended at once, its
        `document.failed` told right behind its `document.accepted`. An earlier upload of the same document that has
        not ended is superseded: no event tells of it any more, and its object is found through `orphaned_objects` (as
        is the object of every upload that ends without becoming the document's original). Of several uploads of
        one document the last counts; the batch lists all. Repeating an upload that waits (the same object key)
        changes nothing.
        Raises InputError for ids or keys that cannot be stored and for an unknown project, StorageError for
        a document of another project.
        """
        for upload in uploads:
            if problem := key_problem(upload.key):
                raise InputError(problem, Code.INVALID_REQUEST, details={"document_id": upload.document_id})
        given = {required_id(u.document_id): u for u in uploads}
        ids = self.source_ids(sorted({(u.project_id, UPLOADS) for u in uploads}))
        sources = {project_id: source_id for (project_id, _), source_id in ids.items()}
        batch = None if batch_id is None else required_id(batch_id)
        return self.write(lambda c: accept_uploads(c, uploads, given, sources, batch)) if uploads else {}

    def lease(
        self, owner: str, seconds: float, limit: int = 1, attempts: int = 3, keep_originals: bool = True
    ) -> list[Lease]:
        """Up to `limit` uploads for this worker, for so many seconds: waiting ones and those whose lease ran out,
        in fair turns between the projects.

        What is found to have ended is settled on the way (`keep_originals`: see `settle`); an upload that was given
        out `attempts` times without an end fails as WORKER_LOST.
        """

        def work(connection: Connection) -> list[Lease]:
            time = now()
            until = time + timedelta(seconds=seconds)

            def take(project_id: str, expired: bool) -> list[Row] | None:
                row = connection.execute(_next(project_id, expired, time)).first()
                if row is None:
                    return None
                return [row] if _begin(connection, row, attempts, keep_originals, owner, until) else []

            return [_lease(row) for row in take_turns(connection, LINE, time, limit, take)]

        return self.write(work)

    def renew(self, document_id: str, generation: int, seconds: float, stage: str = "") -> bool:
        """Keep the lease for so many seconds from now; a new `stage` is told as an event. False when this attempt
        is over: deleted, a newer upload came, the lease was given to another worker, or it was settled."""
        same = (I.document_id == canonical(document_id), I.generation == generation, I.lease_until.is_not(None))
        alive = sa.exists().where(D.id == I.document_id, D.generation == I.generation, D.deleted_at.is_(None))
        extend = sa.update(INGESTS).where(*same, alive)

        def work(connection: Connection) -> bool:
            if stage:
                _enter(connection, document_id, generation, clean(stage))
            until = now() + timedelta(seconds=seconds)
            return connection.execute(extend.values(lease_until=until)).rowcount == 1

        return self.write(work)

    def release(self, document_id: str, generation: int) -> None:
        """Give a lease back unharmed: the upload waits again at its old place, and this attempt does not count. Its
        generation is over at once, so that nothing a worker still does while it stops is heard. What has ended is
        left to `settle`."""

        def work(connection: Connection) -> None:
            row = _locked_upload(connection, document_id, generation)
            if row is None or row.status in ENDED:
                return
            back = {"lease_until": None, "owner": "", "stage": "", "attempt": max(row.attempt - 1, 0)}
            leased = sa.update(INGESTS).where(I.document_id == row.document_id, I.lease_until.is_not(None))
            if connection.execute(leased.values(**back, generation=generation + 1)).rowcount:
                _set(connection, row.document_id, {"status": "pending", "generation": generation + 1})

        self.write(work)

    def settle(self, document_id: str, generation: int, keep_original: bool = True) -> bool:
        """End the upload if its document has ended (completed, failed, skipped) at this generation: the one terminal
        event is written, `batch.completed` too when it was the last of its batch. True when that happened now.

        The uploaded object becomes the document's original when the document is completed and `keep_original`,
        else it is orphaned, as the original before it is.
        """

        def work(connection: Connection) -> bool:
            row = _locked_upload(connection, document_id, generation)
            if row is None or row.status not in ENDED:
                return False
            settle_uploads(connection, [row], keep_original)
            return True

        return self.write(work)

    def ingest(self, document_id: str) -> Ingest | None:
        """Where an upload stands that has not ended; None for every other document."""
        columns = (I.document_id, I.generation, I.lease_until, I.stage, I.attempt, I.object_key, I.options)
        wanted = sa.select(*columns, I.batch_id, I.created_at).where(I.document_id == canonical(document_id))
        row = self.read(lambda c: c.execute(wanted).first())
        if row is None:
            return None
        state: Literal["waiting", "leased"] = "leased" if _is_live(row.lease_until) else "waiting"
        return Ingest(row[0], row[1], state, *row[3:])

    def queue_depth(self) -> tuple[int, int]:
        """(waiting, leased) uploads; one whose lease ran out waits."""
        waiting = sa.select(sa.func.count()).select_from(INGESTS).where(WAITING)
        leases = sa.select(I.lease_until).where(LEASED)

        def work(connection: Connection) -> tuple[int, int]:
            ends = connection.execute(leases).scalars().all()
            live = sum(_is_live(until) for until in ends)
            return connection.execute(waiting).scalar_one() + len(ends) - live, live

        return self.read(work)


def _is_live(lease_until: datetime | None) -> bool:
    return lease_until is not None and lease_until >= now()


def _set(connection: Connection, document_id: str, values: Mapping[str, object]) -> None:
    """Write to a locked document's row what changes nothing for readers."""
    change = sa.update(DOCUMENTS).where(D.id == document_id).values(**values, updated_at=now())
    connection.execute(change)


def _locked_upload(connection: Connection, document_id: str, generation: int) -> Row | None:
    """The upload at this generation, its document locked; None when it is over."""
    rows = [r for r in lock_rows(connection, [document_id]).values() if r.generation == generation and not r.deleted]
    return next((u for u in uploads(connection, [r.id for r in rows]) if u.generation == generation), None)


def _enter(connection: Connection, document_id: str, generation: int, stage: str) -> None:
    """Note a new stage and tell of it."""
    row = _locked_upload(connection, document_id, generation)
    leased = (I.document_id == canonical(document_id), I.lease_until.is_not(None))
    entered = sa.update(INGESTS).where(*leased, I.stage != stage)
    if row is not None and connection.execute(entered.values(stage=stage)).rowcount:
        data = event_data(row.document_id, row.key, row.filename, row.status, row.batch_id, stage=stage)
        record_events(connection, [NewEvent(row.project_id, row.document_id, STAGE, data)])


# ---------------------------------------------------------------- lease
def _next(project_id: str, expired: bool, time: datetime) -> sa.Select[*tuple[object, ...]]:
    """The project's next upload, its rows locked. On PostgreSQL those that another worker has in hand are passed
    over, so that this never waits while it holds locks; SQLite lets one writer in at a time."""
    wanted = sa.select(*UPLOAD).join(DOCUMENTS, D.id == I.document_id).where(I.project_id == project_id)
    wanted = wanted.where(LEASED, I.lease_until < time) if expired else wanted.where(WAITING)
    oldest = wanted.order_by(I.created_at, I.document_id).limit(1)
    return oldest.with_for_update(of=[DOCUMENTS, INGESTS], skip_locked=True)


def _begin(connection: Connection, row: Row, attempts: int, keep_original: bool, owner: str, until: datetime) -> bool:
    """Open the next attempt at a locked upload; False when there is nothing left to do for it."""
    if row.deleted_at is not None or row.current != row.generation:
        withdraw_uploads(connection, [row.document_id])
        return False
    if row.status not in ENDED and row.attempt >= attempts:
        # the generation moves on, so that the last worker, should it live, cannot publish any more
        _set(connection, row.document_id, {"status": "failed", "generation": row.generation + 1, **LOST})
        (row,) = uploads(connection, [row.document_id])
    if row.status in ENDED:
        settle_uploads(connection, [row], keep_original)
        return False
    attempt = {"generation": row.generation + 1, "attempt": row.attempt + 1}
    lease = {"owner": clean(owner), "lease_until": until, "stage": ""}
    connection.execute(sa.update(INGESTS).where(I.document_id == row.document_id).values(**attempt, **lease))
    work = {"status": "processing", "generation": row.generation + 1, "claimed_at": now(), "claim_run": None}
    _set(connection, row.document_id, work)
    return True


def _lease(row: Row) -> Lease:
    """As `_begin` left it."""
    return Lease(
        document_id=row.document_id,
        project_id=row.project_id,
        generation=row.generation + 1,
        attempt=row.attempt + 1,
        key=row.key,
        filename=row.filename,
        size=row.size,
        content_sha256=row.content_sha256,
        object_key=row.object_key,
        options=row.options,
        batch_id=row.batch_id,
        traceparent=row.traceparent,
        accepted_at=row.created_at,
    )
