"""The tables of the online API: uploads that wait, batches, events, webhooks, access, idempotency, agent runs.

Sizes assumed: thousands of uploads waiting in thousands of projects, millions of events kept for a week, a few
webhooks a project. As in `engine.registry.models`, every index is there for a named question.
"""

from __future__ import annotations

import sqlalchemy as sa

from engine.registry.models import (
    KEY,
    METADATA,
    UUID,
    json_column,
    number_column,
    project_column,
    text_column,
    time_column,
)

WAITING = sa.text("ingests.lease_until IS NULL")
LEASED = sa.text("ingests.lease_until IS NOT NULL")
TO_SEND = sa.text("deliveries.next_attempt_at IS NOT NULL")
SENDING = sa.text("deliveries.lease_until IS NOT NULL")

# 64 bits; SQLite counts only INTEGER keys up by itself, and by AUTOINCREMENT never gives a number twice
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def _counted() -> sa.Column[int]:
    return sa.Column("id", NUMBER, primary_key=True)


def _partial(name: str, table: sa.Table, columns: list[str], where: sa.TextClause) -> None:
    predicate = sa.text(where.text.replace(f"{table.name}.", ""))
    sa.Index(name, *(table.c[c] for c in columns), postgresql_where=predicate, sqlite_where=predicate)


# ---------------------------------------------------------------- uploads
BATCHES = sa.Table(
    "batches",
    METADATA,
    sa.Column("id", UUID, primary_key=True),
    project_column(),
    time_column("created_at"),
    time_column("completed_at", nullable=True),  # when the last of its documents ended
)
BATCH_DOCUMENTS = sa.Table(
    "batch_documents",
    METADATA,
    sa.Column("batch_id", UUID, sa.ForeignKey("batches.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("document_id", UUID, sa.ForeignKey("documents.id"), nullable=False),
)

# One row for every accepted upload that has not ended; it goes with the terminal event.
INGESTS = sa.Table(
    "ingests",
    METADATA,
    sa.Column("document_id", UUID, sa.ForeignKey("documents.id"), primary_key=True),
    project_column(),
    number_column("generation"),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    text_column("stage"),
    text_column("owner"),
    time_column("lease_until", nullable=True),  # NULL: it waits
    sa.Column("object_key", KEY, nullable=False),
    text_column("content_sha256"),
    sa.Column("batch_id", UUID, sa.ForeignKey("batches.id")),
    text_column("traceparent"),
    time_column("created_at"),
    json_column("options", "{}"),
)
_partial("ix_ingests_waiting", INGESTS, ["project_id", "created_at", "document_id"], WAITING)  # a project's oldest
_partial("ix_ingests_leased", INGESTS, ["lease_until"], LEASED)  # who is at work, whose lease ran out
_partial("ix_ingests_batch", INGESTS, ["batch_id"], sa.text("ingests.batch_id IS NOT NULL"))  # is a batch done
sa.Index("ix_ingests_object", INGESTS.c.object_key)  # is an object still needed

# The bytes that the visible revision of an upload was made of.
ORIGINALS = sa.Table(
    "originals",
    METADATA,
    sa.Column("document_id", UUID, sa.ForeignKey("documents.id"), primary_key=True),
    sa.Column("object_key", KEY, nullable=False),
    time_column("created_at"),
)
sa.Index("ix_originals_object", ORIGINALS.c.object_key)  # is an object still needed

# Objects nobody needs any more, until somebody has removed them from the object store.
ORPHANED_OBJECTS = sa.Table(
    "orphaned_objects",
    METADATA,
    sa.Column("object_key", KEY, primary_key=True),
    time_column("since"),
)

# ---------------------------------------------------------------- events and webhooks
EVENTS = sa.Table(
    "events",
    METADATA,
    _counted(),
    project_column(),
    sa.Column("document_id", UUID, sa.ForeignKey("documents.id")),
    sa.Column("type", sa.String(40), nullable=False),
    time_column("created_at"),
    json_column("data", "{}"),
    sqlite_autoincrement=True,
)
_partial("ix_events_document", EVENTS, ["document_id", "id"], sa.text("events.document_id IS NOT NULL"))  # a stream
sa.Index("ix_events_age", EVENTS.c.created_at)  # what is to be forgotten

WEBHOOKS = sa.Table(
    "webhooks",
    METADATA,
    sa.Column("id", UUID, primary_key=True),
    project_column(),
    text_column("url"),
    json_column("events", "[]"),
    text_column("secret"),
    time_column("created_at"),
)
sa.Index("ix_webhooks_project", WEBHOOKS.c.project_id, WEBHOOKS.c.created_at)  # who wants this project's events

DELIVERIES = sa.Table(
    "deliveries",
    METADATA,
    sa.Column("id", UUID, primary_key=True),
    sa.Column("webhook_id", UUID, sa.ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    sa.Column("event_id", NUMBER, sa.ForeignKey("events.id", ondelete="CASCADE"), nullable=False),
    sa.Column("status", sa.String(16), nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="0"),
    text_column("owner"),
    time_column("next_attempt_at", nullable=True),  # NULL: being tried now, or ended
    time_column("lease_until", nullable=True),
    sa.Column("response_status", sa.Integer),
    text_column("error"),
    time_column("created_at"),
    time_column("updated_at"),
    sa.UniqueConstraint("webhook_id", "event_id"),  # a webhook's deliveries, newest first
    sa.CheckConstraint("status IN ('pending', 'delivered', 'failed')", name="status"),
)
_partial("ix_deliveries_due", DELIVERIES, ["webhook_id", "next_attempt_at", "id"], TO_SEND)  # a webhook's next
_partial("ix_deliveries_leased", DELIVERIES, ["lease_until"], SENDING)  # who is at work, whose lease ran out
sa.Index("ix_deliveries_event", DELIVERIES.c.event_id)  # those of an event that is forgotten

# ---------------------------------------------------------------- access
TOKENS = sa.Table(
    "tokens",
    METADATA,
    sa.Column("id", UUID, primary_key=True),
    text_column("name"),
    sa.Column("sha256", sa.String(64), nullable=False, unique=True),
    json_column("roles", "{}"),
    json_column("principals", "[]"),
    time_column("created_at"),
    time_column("expires_at", nullable=True),
    time_column("revoked_at", nullable=True),
)
AUDIT = sa.Table(
    "audit",
    METADATA,
    _counted(),
    project_column(),
    time_column("at"),
    text_column("actor"),
    text_column("action"),
    text_column("target"),
    json_column("details", "{}"),
    sqlite_autoincrement=True,
)
sa.Index("ix_audit_project", AUDIT.c.project_id, AUDIT.c.id)  # a project's log, newest first

IDEMPOTENCY_KEYS = sa.Table(
    "idempotency_keys",
    METADATA,
    sa.Column("id", sa.String(64), primary_key=True),  # SHA-256 of scope and key
    sa.Column("request_hash", sa.Text, nullable=False),
    sa.Column("status", sa.Integer),  # of the answer; NULL while the request runs
    time_column("started_at"),
    time_column("expires_at"),
    json_column("headers", "{}"),
    text_column("body"),
)
sa.Index("ix_idempotency_keys_age", IDEMPOTENCY_KEYS.c.expires_at)  # what is to be forgotten

# ---------------------------------------------------------------- agent runs
AGENT_RUNS = sa.Table(
    "agent_runs",
    METADATA,
    sa.Column("id", UUID, primary_key=True),
    project_column(),
    text_column("query"),
    sa.Column("status", sa.String(16), nullable=False),
    text_column("stop_reason"),
    time_column("started_at"),
    time_column("finished_at", nullable=True),
    json_column("options", "{}"),
    json_column("result", "{}"),
    sa.CheckConstraint("status IN ('running', 'completed', 'failed')", name="status"),
)
sa.Index("ix_agent_runs_project", AGENT_RUNS.c.project_id, AGENT_RUNS.c.started_at)  # a project's, to forget them

AGENT_STEPS = sa.Table(
    "agent_steps",
    METADATA,
    sa.Column("run_id", UUID, sa.ForeignKey("agent_runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    text_column("kind"),
    sa.Column("seconds", sa.Double, nullable=False, server_default="0"),
    number_column("tokens"),
    time_column("created_at"),
    json_column("inputs", "{}"),
    json_column("outputs", "{}"),
)
