"""The event log: what happened to each upload, in order, and which webhooks are to be told.

An event is written in the transaction of the change it tells of, together with one delivery for every webhook
that wants it. Whoever writes an event about a document holds the document's row lock, so that its events become
readable in the order of their ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import cast
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.registry.database import Database, chunked, now
from engine.registry.online import EVENT_TYPES, Event
from engine.registry.online_models import DELIVERIES, EVENTS, WEBHOOKS
from engine.registry.text import canonical

E = EVENTS.c
SHOWN = (E.id, E.project_id, E.document_id, E.type, E.data, E.created_at)
PRUNED = 2000  # events forgotten in one transaction
NAMELESS = ("document_id", "batch_id", "status")  # what is kept of an event's data once its document is deleted


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to be written. `data` holds ids, states and counts, never document text."""

    project_id: str
    document_id: str | None
    type: str
    data: dict[str, object]


class Events(Database):
    """Statements that read and forget events."""

    def events(self, document_id: str, after: int = 0, limit: int = 100) -> list[Event]:
        """The document's events with an id above `after`, oldest first."""
        wanted = sa.select(*SHOWN).where(E.document_id == canonical(document_id), E.document_id.is_not(None))
        ordered = wanted.where(E.id > after).order_by(E.id).limit(limit)
        return [Event(*row) for row in self.read(lambda c: c.execute(ordered).all())]

    def prune_events(self, older_than_seconds: float) -> int:
        """Forget events that old, and their deliveries whatever became of them; how many events. In short
        transactions, so that nobody waits for it."""
        before = now() - timedelta(seconds=older_than_seconds)
        old = sa.select(E.id).where(E.created_at < before).order_by(E.created_at).limit(PRUNED)
        forget = sa.delete(EVENTS).where(E.id.in_(old.scalar_subquery()))
        gone = 0
        while count := self.write(lambda c: c.execute(forget).rowcount):
            gone += count
        return gone


def record_events(connection: Connection, events: Sequence[NewEvent]) -> None:
    """Write events, in this order, and what is to be delivered of them."""
    if not events:
        return
    time = now()
    rows = [
        {"project_id": e.project_id, "document_id": e.document_id, "type": e.type, "data": e.data, "created_at": time}
        for e in events
    ]
    statement = sa.insert(EVENTS).returning(E.id, sort_by_parameter_order=True)
    ids = connection.execute(statement, rows).scalars().all()
    wanting = _subscribers(connection, {e.project_id for e in events if e.type in EVENT_TYPES})
    deliveries = [
        _delivery(webhook_id, id_, time)
        for id_, e in zip(ids, events, strict=True)
        for webhook_id, types in wanting[e.project_id]
        if e.type in (types or EVENT_TYPES)
    ]
    if deliveries:
        connection.execute(sa.insert(DELIVERIES), deliveries)


def forget_names(connection: Connection, document_ids: Sequence[str]) -> None:
    """Take file names, the caller's keys and error messages out of the earlier events of deleted documents."""
    for ids in chunked(document_ids):
        rows = connection.execute(sa.select(E.id, E.data).where(E.document_id.in_(ids))).all()
        kept = [{"event": id_, "data": {k: data[k] for k in NAMELESS if k in data}} for id_, data in rows]
        if kept:
            connection.execute(sa.update(EVENTS).where(E.id == sa.bindparam("event")), kept)


def _subscribers(connection: Connection, project_ids: Collection[str]) -> defaultdict[str, list[tuple[str, list[str]]]]:
    """Project → (webhook, the types it wants). They stay until commit: a webhook removed meanwhile would make
    the delivery, and with it the whole change, fail."""
    w = WEBHOOKS.c
    found: defaultdict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    if not project_ids:
        return found
    wanted = sa.select(w.project_id, w.id, w.events).where(w.project_id.in_(sorted(project_ids))).order_by(w.id)
    for project_id, webhook_id, types in connection.execute(wanted.with_for_update(read=True, key_share=True)):
        found[project_id].append((webhook_id, cast("list[str]", types)))
    return found


def _delivery(webhook_id: str, event_id: int, time: datetime) -> dict[str, object]:
    return {
        "id": str(uuid4()),
        "webhook_id": webhook_id,
        "event_id": event_id,
        "status": "pending",
        "next_attempt_at": time,
        "created_at": time,
        "updated_at": time,
    }
