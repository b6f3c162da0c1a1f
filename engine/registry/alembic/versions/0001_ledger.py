"""The first ledger: projects, sources, documents, runs, parts, named values.

Written out and never changed again: it must not follow `engine.registry.models` as that grows.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

UUID = sa.String(36).with_variant(postgresql.UUID(as_uuid=False), "postgresql")
KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TIME = sa.DateTime(timezone=True)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def _number(name: str, default: int = 0) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default=str(default))


def _json(name: str, default: str) -> sa.Column[object]:
    return sa.Column(name, sa.JSON, nullable=False, server_default=default)


def _project(table: str) -> sa.Column[str]:
    key = sa.ForeignKey("projects.id", name=f"fk_{table}_project_id")
    return sa.Column("project_id", UUID, key, nullable=False)


def _index(name: str, table: str, columns: list[str], where: str | None = None) -> None:
    predicate = None if where is None else sa.text(where)
    op.create_index(name, table, columns, postgresql_where=predicate, sqlite_where=predicate)


def upgrade() -> None:
    _create_projects()
    _create_documents()
    _create_runs()
    _create_parts()
    op.create_table(
        "named_values",
        sa.Column("key", KEY, nullable=False),
        sa.Column("value", sa.JSON, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_named_values"),
    )


def downgrade() -> None:
    for table in ("named_values", "parts", "part_sets", "runs", "documents", "sources", "index_state", "projects"):
        op.drop_table(table)


def _create_projects() -> None:
    op.create_table(
        "projects",
        sa.Column("id", UUID, nullable=False),
        sa.Column("slug", sa.String(63), nullable=False),
        _json("settings", "{}"),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_projects"),
        sa.UniqueConstraint("slug", name="uq_projects_slug"),
    )
    op.create_table(
        "index_state",
        _project("index_state"),
        _number("version"),
        _number("documents"),
        _number("chunks"),
        sa.PrimaryKeyConstraint("project_id", name="pk_index_state"),
    )
    op.create_table(
        "sources",
        sa.Column("id", sa.Integer, nullable=False),
        _project("sources"),
        sa.Column("name", KEY, nullable=False),
        _text("uri"),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sources"),
        sa.UniqueConstraint("project_id", "name", name="uq_sources_project_id_name"),
    )


def _create_documents() -> None:
    statuses = "'pending', 'processing', 'completed', 'failed', 'skipped', 'deleted'"
    op.create_table(
        "documents",
        sa.Column("id", UUID, nullable=False),
        _project("documents"),
        sa.Column("source_id", sa.Integer, sa.ForeignKey("sources.id", name="fk_documents_source_id"), nullable=False),
        sa.Column("parent_id", UUID, sa.ForeignKey("documents.id", name="fk_documents_parent_id")),
        sa.Column("status", sa.String(16), nullable=False),
        _number("generation", 1),
        _number("swept_generation"),
        sa.Column("claim_run", UUID),
        sa.Column("claimed_at", TIME, nullable=False),
        sa.Column("deleted_at", TIME),
        sa.Column("active_revision", sa.String(64)),
        _number("chunk_count"),
        sa.Column("key", KEY, nullable=False),
        _number("size"),
        _text("etag"),
        sa.Column("mtime", sa.Double),
        _text("content_sha256"),
        _text("fingerprint"),
        _text("uri"),
        _text("filename"),
        _text("inner_path"),
        _text("source_format"),
        sa.Column("page_count", sa.BigInteger),
        _number("word_count"),
        _text("language"),
        sa.Column("title", sa.Text),
        sa.Column("author", sa.Text),
        sa.Column("parse_seconds", sa.Double, nullable=False, server_default="0"),
        _text("skip_reason"),
        _text("error_code"),
        _text("error_stage"),
        _text("error_message"),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("updated_at", TIME, nullable=False),
        _json("warnings", "[]"),
        _json("metadata", "{}"),
        sa.PrimaryKeyConstraint("id", name="pk_documents"),
        sa.CheckConstraint(f"status IN ({statuses})", name=op.f("ck_documents_status")),
    )
    live = "deleted_at IS NULL"
    _index("ix_documents_key", "documents", ["source_id", "key", "id"], f"parent_id IS NULL AND {live}")
    _index("ix_documents_age", "documents", ["source_id", "created_at", "id"], live)
    open_ = ["source_id", "status", "created_at", "id"]
    _index("ix_documents_open", "documents", open_, f"status <> 'completed' AND {live}")
    _index("ix_documents_parent", "documents", ["parent_id"], "parent_id IS NOT NULL")
    _index("ix_documents_unswept", "documents", ["claimed_at", "id"], "swept_generation <> generation")


def _create_runs() -> None:
    statuses = "'running', 'completed', 'interrupted', 'failed'"
    op.create_table(
        "runs",
        sa.Column("id", UUID, nullable=False),
        _project("runs"),
        _text("source"),
        _text("uri"),
        sa.Column("status", sa.String(16), nullable=False),
        _json("options", "{}"),
        _json("totals", "{}"),
        sa.Column("started_at", TIME, nullable=False),
        sa.Column("heartbeat_at", TIME, nullable=False),
        sa.Column("finished_at", TIME),
        sa.PrimaryKeyConstraint("id", name="pk_runs"),
        sa.CheckConstraint(f"status IN ({statuses})", name=op.f("ck_runs_status")),
    )
    _index("ix_runs_project", "runs", ["project_id", "started_at", "id"])
    _index("ix_runs_running", "runs", ["heartbeat_at"], "status = 'running'")


def _create_parts() -> None:
    op.create_table(
        "part_sets",
        sa.Column("document_id", UUID, sa.ForeignKey("documents.id", name="fk_part_sets_document_id"), nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("remaining", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("document_id", "generation", name="pk_part_sets"),
    )
    op.create_table(
        "parts",
        sa.Column("document_id", UUID, nullable=False),
        sa.Column("generation", sa.BigInteger, nullable=False),
        sa.Column("part_no", sa.Integer, nullable=False),
        sa.Column("first", sa.BigInteger, nullable=False),
        sa.Column("last", sa.BigInteger, nullable=False),
        sa.Column("path", sa.Text),
        sa.PrimaryKeyConstraint("document_id", "generation", "part_no", name="pk_parts"),
        sa.ForeignKeyConstraint(
            ["document_id", "generation"],
            ["part_sets.document_id", "part_sets.generation"],
            name="fk_parts_document_id",
            ondelete="CASCADE",
        ),
    )
