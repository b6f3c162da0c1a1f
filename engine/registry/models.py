"""The tables of the ledger, their indexes and the two column types that SQLite and PostgreSQL share.

Sizes assumed: 100 million documents, thousands of sources, tens of runs a day. Every index below is
there for a named question; the predicates of the partial ones stand in `COMPLETED_NOT`, `LIVE` and so on
as literal SQL, because neither planner proves `status = ?` against an index predicate.
"""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Dialect

METADATA = sa.MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)
STATUSES = ("pending", "processing", "completed", "failed", "skipped", "deleted")


class UtcTime(sa.types.TypeDecorator[datetime]):
    """An aware datetime in UTC, on SQLite as text without offset (which sorts as the times do)."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc if dialect.name == "postgresql" else utc.replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# 16 bytes on PostgreSQL, readable text on SQLite; both sort alike.
UUID = sa.String(36).with_variant(postgresql.UUID(as_uuid=False), "postgresql")
# Byte order, as Python and Arrow sort text, whatever the database's own collation is.
KEY = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")

COMPLETED_NOT = sa.text("documents.status <> 'completed'")
LIVE = sa.text("documents.deleted_at IS NULL")
TOP_LEVEL = sa.text("documents.parent_id IS NULL")
UNSWEPT = sa.text("documents.swept_generation <> documents.generation")


def text_column(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False, server_default="")


def number_column(name: str, default: int = 0) -> sa.Column[int]:
    return sa.Column(name, sa.BigInteger, nullable=False, server_default=str(default))


def time_column(name: str, nullable: bool = False) -> sa.Column[datetime]:
    return sa.Column(name, UtcTime, nullable=nullable)


def json_column(name: str, default: str) -> sa.Column[object]:
    return sa.Column(name, sa.JSON, nullable=False, server_default=default)


def project_column() -> sa.Column[str]:
    return sa.Column("project_id", UUID, sa.ForeignKey("projects.id"), nullable=False)


PROJECTS = sa.Table(
    "projects",
    METADATA,
    sa.Column("id", UUID, primary_key=True),
    sa.Column("slug", sa.String(63), nullable=False, unique=True),
    json_column("settings", "{}"),
    time_column("created_at"),
)

# One narrow row a project, changed by every publish: apart from `projects`, whose row every new document
# locks in passing (foreign key). `documents` and `chunks` count what readers may see.
INDEX_STATE = sa.Table(
    "index_state",
    METADATA,
    sa.Column("project_id", UUID, sa.ForeignKey("projects.id"), primary_key=True),
    number_column("version"),
    number_column("documents"),
    number_column("chunks"),
)

SOURCES = sa.Table(
    "sources",
    METADATA,
    sa.Column("id", sa.Integer, primary_key=True),
    project_column(),
    sa.Column("name", KEY, nullable=False),
    text_column("uri"),
    time_column("created_at"),
    sa.UniqueConstraint("project_id", "name"),
)

DOCUMENTS = sa.Table(
    "documents",
    METADATA,
    sa.Column("id", UUID, primary_key=True),
    project_column(),
    sa.Column("source_id", sa.Integer, sa.ForeignKey("sources.id"), nullable=False),
    sa.Column("parent_id", UUID, sa.ForeignKey("documents.id")),
    # the attempt
    sa.Column("status", sa.String(16), nullable=False),
    number_column("generation", 1),
    number_column("swept_generation"),  # up to here no point of an older or abandoned revision is left in the store
    sa.Column("claim_run", UUID),
    time_column("claimed_at"),
    time_column("deleted_at", nullable=True),
    # what readers may see
    sa.Column("active_revision", sa.String(64)),
    number_column("chunk_count"),
    # identity of the bytes and of the options: what decides "unchanged"
    sa.Column("key", KEY, nullable=False),
    number_column("size"),
    text_column("etag"),
    sa.Column("mtime", sa.Double),
    text_column("content_sha256"),
    text_column("fingerprint"),
    # description
    text_column("uri"),
    text_column("filename"),
    text_column("inner_path"),
    text_column("source_format"),
    sa.Column("page_count", sa.BigInteger),
    number_column("word_count"),
    text_column("language"),
    sa.Column("title", sa.Text),
    sa.Column("author", sa.Text),
    sa.Column("parse_seconds", sa.Double, nullable=False, server_default="0"),
    text_column("skip_reason"),
    text_column("error_code"),
    text_column("error_stage"),
    text_column("error_message"),
    time_column("created_at"),
    time_column("updated_at"),
    json_column("warnings", "[]"),  # last: the only wide columns, so that scans need not read past them
    json_column("metadata", "{}"),
    sa.CheckConstraint(f"status IN ({', '.join(repr(s) for s in STATUSES)})", name="status"),
)


def _partial(name: str, columns: list[str], *where: sa.TextClause) -> sa.Index:
    predicate = sa.text(" AND ".join(clause.text.replace("documents.", "") for clause in where))
    # DOCUMENTS.c at the call, not names: an index by column object attaches itself to the table
    return sa.Index(name, *(DOCUMENTS.c[c] for c in columns), postgresql_where=predicate, sqlite_where=predicate)


_partial("ix_documents_key", ["source_id", "key", "id"], TOP_LEVEL, LIVE)  # a manifest shard's range
_partial("ix_documents_age", ["source_id", "created_at", "id"], LIVE)  # lists, newest first
_partial("ix_documents_open", ["source_id", "status", "created_at", "id"], COMPLETED_NOT, LIVE)  # failed, waiting
_partial("ix_documents_parent", ["parent_id"], sa.text("documents.parent_id IS NOT NULL"))  # children
_partial("ix_documents_unswept", ["claimed_at", "id"], UNSWEPT)  # crashed attempts, leftovers in the store

RUNS = sa.Table(
    "runs",
    METADATA,
    sa.Column("id", UUID, primary_key=True),
    project_column(),
    text_column("source"),
    text_column("uri"),
    sa.Column("status", sa.String(16), nullable=False),
    json_column("options", "{}"),
    json_column("totals", "{}"),
    time_column("started_at"),
    time_column("heartbeat_at"),
    time_column("finished_at", nullable=True),
    sa.CheckConstraint("status IN ('running', 'completed', 'interrupted', 'failed')", name="status"),
)
sa.Index("ix_runs_project", RUNS.c.project_id, RUNS.c.started_at, RUNS.c.id)
sa.Index(
    "ix_runs_running",
    RUNS.c.heartbeat_at,
    postgresql_where=sa.text("status = 'running'"),
    sqlite_where=sa.text("status = 'running'"),
)

# A big document read in parts: the plan with its countdown, and one row a part.
PART_SETS = sa.Table(
    "part_sets",
    METADATA,
    sa.Column("document_id", UUID, sa.ForeignKey("documents.id"), primary_key=True),
    sa.Column("generation", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("remaining", sa.Integer, nullable=False),
)
PARTS = sa.Table(
    "parts",
    METADATA,
    sa.Column("document_id", UUID, primary_key=True),
    sa.Column("generation", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("part_no", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("first", sa.BigInteger, nullable=False),
    sa.Column("last", sa.BigInteger, nullable=False),
    sa.Column("path", sa.Text),  # NULL until the part is finished
    sa.ForeignKeyConstraint(
        ["document_id", "generation"], ["part_sets.document_id", "part_sets.generation"], ondelete="CASCADE"
    ),
)

# Small facts about the whole installation, such as which model fills which vector.
NAMED_VALUES = sa.Table(
    "named_values",
    METADATA,
    sa.Column("key", KEY, primary_key=True),
    sa.Column("value", sa.JSON, nullable=False),
    time_column("updated_at"),
)
