"""The ledger: which documents exist, what state they are in, which revision readers may see.

`engine.registry.models` holds the tables, `engine.registry.queries` the `Registry` class with every
statement, `engine.registry.alembic` the migrations. SQLite (WAL) or PostgreSQL by URL.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


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
