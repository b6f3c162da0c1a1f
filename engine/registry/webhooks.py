"""Webhooks of a project, and the deliveries of events to them: leased, tried, repeated, given up."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.errors import Code, InputError
from engine.registry.database import Database, now
from engine.registry.events import SHOWN as EVENT
from engine.registry.models import PROJECTS
from engine.registry.online import EVENT_TYPES, Delivery, DeliveryLease, Event, Webhook
from engine.registry.online_models import DELIVERIES, EVENTS, SENDING, TO_SEND, WEBHOOKS
from engine.registry.text import canonical, clean, message, required_id
from engine.registry.turns import Line, Row, take_turns

W = WEBHOOKS.c
L = DELIVERIES.c
LINE = Line(L.webhook_id, L.next_attempt_at, L.lease_until, TO_SEND, SENDING)
HOOK = (W.id, W.project_id, W.url, W.events, W.secret, W.created_at)


class Webhooks(Database):
    """Statements about webhooks and deliveries."""

    def add_webhook(self, project_id: str, url: str, events: Sequence[str]) -> Webhook:
        """Subscribe an address to events from now on (`events`: of EVENT_TYPES, none means all), with a new secret in
        the form of Standard Webhooks. Raises InputError for an unknown type or project."""
        if unknown := sorted(set(events) - set(EVENT_TYPES)):
            known = ", ".join(EVENT_TYPES)
            raise InputError(f"there is no event {unknown[0]!r}; there are {known}", Code.INVALID_REQUEST)
        secret = "whsec_" + base64.b64encode(secrets.token_bytes(24)).decode()
        hook = Webhook(str(uuid4()), required_id(project_id), clean(url), list(dict.fromkeys(events)), secret, now())
        row = {"id": hook.webhook_id, "project_id": hook.project_id, "url": hook.url, "events": hook.events}
        row |= {"secret": secret, "created_at": hook.created_at}

        def work(connection: Connection) -> bool:
            if connection.execute(sa.select(PROJECTS.c.id).where(PROJECTS.c.id == hook.project_id)).first() is None:
                return False
            connection.execute(sa.insert(WEBHOOKS), [row])
            return True

        if not self.write(work):
            raise InputError(f"there is no project {project_id!r}", Code.PROJECT_NOT_FOUND)
        return hook

    def webhooks(self, project_id: str) -> list[Webhook]:
        """The project's webhooks, oldest first."""
        wanted = sa.select(*HOOK).where(W.project_id == canonical(project_id)).order_by(W.created_at, W.id)
        return [Webhook(*row) for row in self.read(lambda c: c.execute(wanted).all())]

    def remove_webhook(self, project_id: str, webhook_id: str) -> bool:
        """Forget a webhook with its deliveries; False when the project has none of this id."""
        gone = sa.delete(WEBHOOKS).where(W.id == canonical(webhook_id), W.project_id == canonical(project_id))
        return self.write(lambda c: c.execute(gone).rowcount) == 1

    def deliveries(self, webhook_id: str, after: str | None = None, limit: int = 50) -> list[Delivery]:
        """Deliveries to a webhook, newest first, those older than delivery `after`."""
        wanted = sa.select(DELIVERIES).where(L.webhook_id == canonical(webhook_id))
        if after is not None:
            mark = sa.select(L.event_id).where(L.id == canonical(after), L.webhook_id == canonical(webhook_id))
            wanted = wanted.where(L.event_id < mark.scalar_subquery())
        page = wanted.order_by(L.event_id.desc()).limit(limit).subquery()  # before the join: through its index
        d = page.c
        columns = (d.id, d.webhook_id, d.event_id, EVENTS.c.type, d.status, d.attempt, d.response_status, d.error)
        columns = (*columns, sa.func.coalesce(d.next_attempt_at, d.lease_until), d.created_at, d.updated_at)
        ordered = sa.select(*columns).join(EVENTS, EVENTS.c.id == d.event_id).order_by(d.event_id.desc())
        return [Delivery(*row) for row in self.read(lambda c: c.execute(ordered).all())]

    # ------------------------------------------------------------ delivering
    def lease_deliveries(self, owner: str, seconds: float, limit: int) -> list[DeliveryLease]:
        """Up to `limit` deliveries that are due, for this worker alone and so many seconds, in fair turns between the
        webhooks; a delivery whose lease ran out is given again. Each lease counts as an attempt."""

        def work(connection: Connection) -> list[DeliveryLease]:
            time = now()
            lease = {"lease_until": time + timedelta(seconds=seconds), "next_attempt_at": None, "owner": clean(owner)}

            def take(webhook_id: str, expired: bool) -> list[Row] | None:
                row = connection.execute(_next(webhook_id, expired, time)).first()
                if row is None:
                    return None
                begun = sa.update(DELIVERIES).where(L.id == row.id)
                connection.execute(begun.values(**lease, attempt=row.attempt + 1, updated_at=time))
                return [row]

            return [_lease(row) for row in take_turns(connection, LINE, time, limit, take)]

        return self.write(work)

    def delivered(self, delivery_id: str, attempt: int, response_status: int) -> None:
        """The receiver took it. That counts even when the lease of this attempt has run out."""
        end = {"status": "delivered", "response_status": response_status, "error": "", "next_attempt_at": None}
        change = _pending(delivery_id).where(L.attempt >= attempt)
        self.write(lambda c: c.execute(change.values(**end, lease_until=None, updated_at=now())))

    def retry_delivery(
        self,
        delivery_id: str,
        attempt: int,
        response_status: int | None,
        error: str,
        next_attempt_at: datetime | None,
    ) -> None:
        """This attempt failed; try again then, or (None) give the delivery up. What an attempt says whose lease was
        given to another changes nothing."""
        status = "failed" if next_attempt_at is None else "pending"
        end = {"status": status, "response_status": response_status, "error": message(error)}
        change = _pending(delivery_id).where(L.attempt == attempt)
        change = change.values(**end, next_attempt_at=next_attempt_at, lease_until=None, updated_at=now())
        self.write(lambda c: c.execute(change))


def _pending(delivery_id: str) -> sa.Update:
    return sa.update(DELIVERIES).where(L.id == canonical(delivery_id), L.status == "pending")


def _next(webhook_id: str, expired: bool, time: datetime) -> sa.Select[*tuple[object, ...]]:
    """The webhook's next delivery, locked; on PostgreSQL those another worker has in hand are passed over."""
    wanted = sa.select(L.id, L.attempt, W.url, W.secret, *(c.label(f"event_{c.name}") for c in EVENT))
    wanted = wanted.join(WEBHOOKS, W.id == L.webhook_id).join(EVENTS, EVENTS.c.id == L.event_id)
    wanted = wanted.where(L.webhook_id == webhook_id)
    if expired:
        ordered = wanted.where(SENDING, L.lease_until < time).order_by(L.lease_until, L.id)
    else:
        ordered = wanted.where(TO_SEND, L.next_attempt_at <= time).order_by(L.next_attempt_at, L.id)
    return ordered.limit(1).with_for_update(of=DELIVERIES, skip_locked=True)


def _lease(row: Row) -> DeliveryLease:
    event = Event(
        row.event_id, row.event_project_id, row.event_document_id, row.event_type, row.event_data, row.event_created_at
    )
    return DeliveryLease(row.id, row.attempt + 1, row.url, row.secret, event)
