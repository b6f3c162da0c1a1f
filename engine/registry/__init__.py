"""The ledger: which documents exist, what state they are in, which revision readers may see.

`engine.registry.models` holds the tables, `engine.registry.queries` the `Registry` class (its statements
stand one concept per module beside it), `engine.registry.alembic` the migrations. SQLite (WAL) or
PostgreSQL by URL.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

INCOMPLETE = "incomplete"  # stands for the fingerprint while a document inside this one has failed


@dataclass(slots=True)
class Project:
    id: str
    slug: str
    settings: dict[str, object]  # the chunk profile and limits this project keeps
    created_at: datetime


@dataclass(slots=True)
class Known:
    """What the registry knows of a document when a manifest is compared with it."""

    document_id: str
    key: str
    size: int
    etag: str
    mtime: float | None
    content_sha256: str
    fingerprint: str
    status: str  # pending, processing, completed, failed, skipped
    generation: int


@dataclass(slots=True)
class Claim:
    """The wish to process a document now; a claim takes the next generation."""

    document_id: str
    project_id: str
    source: str
    key: str
    uri: str
    filename: str
    size: int
    etag: str = ""
    mtime: float | None = None
    parent_id: str | None = None
    inner_path: str = ""
    parent_generation: int | None = None  # of the attempt that found this child; a superseded one claims nothing


@dataclass(slots=True)
class Skip:
    """A document that ended without text (`reason`: empty, ...). The hash and the fingerprint are kept, so that
    a later run with the same bytes and options does not look again."""

    document_id: str
    generation: int
    reason: str
    content_sha256: str
    fingerprint: str
    source_format: str = ""


@dataclass(slots=True)
class Touch:
    """Bytes found unchanged after hashing: only the cheap identity is brought up to date.

    `generation`: of the claim when one was taken, else as `Known` showed it.
    """

    document_id: str
    generation: int
    size: int
    etag: str
    mtime: float | None


@dataclass(slots=True)
class Attempt:
    """A document as the sweeper sees it: who holds it since when, and what readers may see of it."""

    document_id: str
    project_id: str
    generation: int
    status: str  # as Known.status, or deleted
    active_revision: str | None
    run_id: str | None
    claimed_at: datetime


@dataclass(slots=True)
class Publication:
    """A revision whose points the store has acknowledged, ready to become the visible one."""

    document_id: str
    project_id: str
    generation: int
    revision: str
    content_sha256: str
    fingerprint: str
    source_format: str
    page_count: int | None
    word_count: int
    chunk_count: int
    language: str
    title: str | None
    author: str | None
    parse_seconds: float
    warnings: list[dict[str, object]]
    metadata: dict[str, object]


@dataclass(slots=True)
class DocumentRow:
    """A document as the API and the CLI show it."""

    document_id: str
    project_id: str
    parent_id: str | None
    source: str
    key: str
    uri: str
    filename: str
    status: str
    source_format: str
    size: int
    page_count: int | None
    word_count: int
    chunk_count: int
    language: str
    title: str | None
    author: str | None
    content_sha256: str
    fingerprint: str
    active_revision: str | None
    generation: int
    skip_reason: str  # of status skipped
    error_code: str
    error_stage: str
    error_message: str
    parse_seconds: float
    warnings: list[dict[str, object]]
    metadata: dict[str, object]
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True)
class RunRow:
    """A backfill run: its options, its state, and the totals once it ended."""

    run_id: str
    project_id: str
    source: str
    uri: str
    status: str  # running, completed, interrupted, failed
    options: dict[str, object]
    totals: dict[str, object]
    started_at: datetime
    finished_at: datetime | None
