"""The online API: uploads that wait, batches, events, webhooks, tokens, audit, idempotency keys, agent runs.

Written out and never changed again: it must not follow `engine.registry.online_models` as that grows.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

UUID = sa.String(36).with_variant(postgresql.UUID(as_uuid=False), "postgresql")
KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True)
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")
TABLES = (
    *("agent_steps", "agent_runs", "idempotency_keys", "audit", "tokens", "deliveries", "webhooks", "events"),
    *("orphaned_objects", "originals", "ingests", "batch_documents", "batches"),
)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def _number(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default="0")


def _small_number(name: str, default: str | None = None) -> sa.Column[int]:
    return sa.Column(name, sa.Integer, nullable=False, server_default=default)


def _time(name: str, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, TIME, nullable=nullable)


def _json(name: str, default: str = "{}") -> sa.Column[object]:
    return sa.Column(name, sa.JSON, nullable=False, server_default=default)


def _points_to(
    column: str, table: str, target: str, nullable: bool = False, ondelete: str | None = None
) -> sa.Column[str] | sa.Column[int]:
    key = sa.ForeignKey(f"{target}.id", name=f"fk_{table}_{column}", ondelete=ondelete)
    if target == "events":
        return sa.Column(column, NUMBER, key, nullable=nullable)
    return sa.Column(column, UUID, key, nullable=nullable)


def _index(name: str, table: str, columns: list[str], where: str | None = None) -> None:
    predicate = None if where is None else sa.text(where)
    op.create_index(name, table, columns, postgresql_where=predicate, sqlite_where=predicate)


def upgrade() -> None:
    _create_batches()
    _create_ingests()
    _create_events()
    _create_webhooks()
    _create_access()
    _create_agent_runs()


def downgrade() -> None:
    for table in TABLES:
        op.drop_table(table)


def _create_batches() -> None:
    op.create_table(
        "batches",
        sa.Column("id", UUID, nullable=False),
        _points_to("project_id", "batches", "projects"),
        _time("created_at"),
        _time("completed_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_batches"),
    )
    op.create_table(
        "batch_documents",
        _points_to("batch_id", "batch_documents", "batches", ondelete="CASCADE"),
        _small_number("position"),
        _points_to("document_id", "batch_documents", "documents"),
        sa.PrimaryKeyConstraint("batch_id", "position", name="pk_batch_documents"),
    )


def _create_ingests() -> None:
    op.create_table(
        "ingests",
        _points_to("document_id", "ingests", "documents"),
        _points_to("project_id", "ingests", "projects"),
        _number("generation"),
        _small_number("attempt", "0"),
        _text("stage"),
        _text("owner"),
        _time("lease_until", nullable=True),
        sa.Column("object_key", KEY, nullable=False),
        _text("content_sha256"),
        _points_to("batch_id", "ingests", "batches", nullable=True),
        _text("traceparent"),
        _time("created_at"),
        _json("options"),
        sa.PrimaryKeyConstraint("document_id", name="pk_ingests"),
    )
    _index("ix_ingests_waiting", "ingests", ["project_id", "created_at", "document_id"], "lease_until IS NULL")
    _index("ix_ingests_leased", "ingests", ["lease_until"], "lease_until IS NOT NULL")
    _index("ix_ingests_batch", "ingests", ["batch_id"], "batch_id IS NOT NULL")
    _index("ix_ingests_object", "ingests", ["object_key"])
    op.create_table(
        "originals",
        _points_to("document_id", "originals", "documents"),
        sa.Column("object_key", KEY, nullable=False),
        _time("created_at"),
        sa.PrimaryKeyConstraint("document_id", name="pk_originals"),
    )
    _index("ix_originals_object", "originals", ["object_key"])
    op.create_table(
        "orphaned_objects",
        sa.Column("object_key", KEY, nullable=False),
        _time("since"),
        sa.PrimaryKeyConstraint("object_key", name="pk_orphaned_objects"),
    )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("id", NUMBER, nullable=False),
        _points_to("project_id", "events", "projects"),
        _points_to("document_id", "events", "documents", nullable=True),
        sa.Column("type", sa.String(40), nullable=False),
        _time("created_at"),
        _json("data"),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sqlite_autoincrement=True,
    )
    _index("ix_events_document", "events", ["document_id", "id"], "document_id IS NOT NULL")
    _index("ix_events_age", "events", ["created_at"])


def _create_webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", UUID, nullable=False),
        _points_to("project_id", "webhooks", "projects"),
        _text("url"),
        _json("events", "[]"),
        _text("secret"),
        _time("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_webhooks"),
    )
    _index("ix_webhooks_project", "webhooks", ["project_id", "created_at"])
    op.create_table(
        "deliveries",
        sa.Column("id", UUID, nullable=False),
        _points_to("webhook_id", "deliveries", "webhooks", ondelete="CASCADE"),
        _points_to("event_id", "deliveries", "events", ondelete="CASCADE"),
        sa.Column("status", sa.String(16), nullable=False),
        _small_number("attempt", "0"),
        _text("owner"),
        _time("next_attempt_at", nullable=True),
        _time("lease_until", nullable=True),
        sa.Column("response_status", sa.Integer),
        _text("error"),
        _time("created_at"),
        _time("updated_at"),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.UniqueConstraint("webhook_id", "event_id", name="uq_deliveries_webhook_id_event_id"),
        sa.CheckConstraint("status IN ('pending', 'delivered', 'failed')", name=op.f("ck_deliveries_status")),
    )
    due = "next_attempt_at IS NOT NULL"
    _index("ix_deliveries_due", "deliveries", ["webhook_id", "next_attempt_at", "id"], due)
    _index("ix_deliveries_leased", "deliveries", ["lease_until"], "lease_until IS NOT NULL")
    _index("ix_deliveries_event", "deliveries", ["event_id"])


def _create_access() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", UUID, nullable=False),
        _text("name"),
        sa.Column("sha256", sa.String(64), nullable=False),
        _json("roles"),
        _json("principals", "[]"),
        _time("created_at"),
        _time("expires_at", nullable=True),
        _time("revoked_at", nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("sha256", name="uq_tokens_sha256"),
    )
    op.create_table(
        "audit",
        sa.Column("id", NUMBER, nullable=False),
        _points_to("project_id", "audit", "projects"),
        _time("at"),
        _text("actor"),
        _text("action"),
        _text("target"),
        _json("details"),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
        sqlite_autoincrement=True,
    )
    _index("ix_audit_project", "audit", ["project_id", "id"])
    op.create_table(
        "idempotency_keys",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("request_hash", sa.Text, nullable=False),
        sa.Column("status", sa.Integer),
        _time("started_at"),
        _time("expires_at"),
        _json("headers"),
        _text("body"),
        sa.PrimaryKeyConstraint("id", name="pk_idempotency_keys"),
    )
    _index("ix_idempotency_keys_age", "idempotency_keys", ["expires_at"])


def _create_agent_runs() -> None:
    op.create_table(
        "agent_runs",
        sa.Column("id", UUID, nullable=False),
        _points_to("project_id", "agent_runs", "projects"),
        _text("query"),
        sa.Column("status", sa.String(16), nullable=False),
        _text("stop_reason"),
        _time("started_at"),
        _time("finished_at", nullable=True),
        _json("options"),
        _json("result"),
        sa.PrimaryKeyConstraint("id", name="pk_agent_runs"),
        sa.CheckConstraint("status IN ('running', 'completed', 'failed')", name=op.f("ck_agent_runs_status")),
    )
    _index("ix_agent_runs_project", "agent_runs", ["project_id", "started_at"])
    op.create_table(
        "agent_steps",
        _points_to("run_id", "agent_steps", "agent_runs", ondelete="CASCADE"),
        _small_number("position"),
        _text("kind"),
        sa.Column("seconds", sa.Double, nullable=False, server_default="0"),
        _number("tokens"),
        _time("created_at"),
        _json("inputs"),
        _json("outputs"),
        sa.PrimaryKeyConstraint("run_id", "position", name="pk_agent_steps"),
    )
