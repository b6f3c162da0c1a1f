"""Documents, their chunks, uploads and batches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import ConfigDict, Field

from engine.registry import DocumentRow
from engine.registry.online import Ingest
from engine.search.view import closed_to
from serve.schemas import Model, Time

Status = Literal["pending", "processing", "completed", "failed"]


class Accepted(Model):
    """The upload is stored and will be processed, whatever happens to the server."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "document_id": "550e8400-e29b-41d4-a716-446655440000",
                "status": "processing",
                "estimated_duration_seconds": 12,
            }
        }
    )

    document_id: str
    status: Status = "processing"
    estimated_duration_seconds: int


class BatchAccepted(Model):
    batch_id: str
    document_ids: list[str] = Field(description="in the order of the files")
    status: Status = "processing"


class Failed(Model):
    code: str
    stage: str
    message: str


class Document(Model):
    """A document's state and facts."""

    id: str
    project_id: str
    filename: str
    source_id: str | None = Field(description="the caller's own key of an upload, else null")
    status: Status
    stage: str | None = Field(description="where processing stands: fetch, extract, embed, publish, ...")
    source_format: str
    size_bytes: int
    page_count: int | None
    word_count: int
    chunk_count: int
    language: str
    title: str | None
    author: str | None
    parse_duration: str | None = Field(description='such as "4.2s"; null until the document is completed')
    skip_reason: str | None = Field(description="why a completed document has no chunks, such as empty")
    error_message: str | None
    error: Failed | None
    warnings: list[dict[str, Any]] = Field(description="the loss report: code, message, place, count")
    parent_id: str | None = Field(description="the document this one was found in")
    searchable: bool = Field(description="whether a revision is visible, be it an older one")
    created_at: Time
    updated_at: Time


class DocumentPage(Model):
    documents: list[Document]
    next_cursor: str | None = Field(description="pass as `cursor` for the next page; null at the end")


class Chunk(Model):
    id: str
    document_id: str
    content: str
    chunk_index: int
    total_chunks: int
    token_count: int
    embed_token_count: int
    page_numbers: list[int]
    section_heading: str | None
    section_path: list[str]
    element_type: str
    chunk_type: str
    source_format: str
    extraction_method: str
    char_start: int
    char_end: int
    boxes: list[list[float]] = Field(description="[page, x0, y0, x1, y1] each, in points from the page's top left")
    table_rows: list[int] | None
    content_hash: str
    revision: str


class ChunkPage(Model):
    chunks: list[Chunk]
    total: int
    page: int
    per_page: int


class BatchFile(Model):
    document_id: str
    filename: str
    status: Status | Literal["deleted"]
    error: Failed | None


class BatchState(Model):
    batch_id: str
    project_id: str
    status: Literal["processing", "completed"] = Field(description="completed when no file waits any more")
    counts: dict[str, int]
    documents: list[BatchFile]
    created_at: Time


def document_of(row: DocumentRow, ingest: Ingest | None, principals: Sequence[str] | None) -> Document:
    """The API's view of a ledger row, for a caller with these principals (None: all). A document that ended without
    text counts as completed, with the reason. One whose content is closed to the caller is shown without what stands
    in it."""
    closed = closed_to(row, principals)
    skipped = row.status == "skipped"
    status = "completed" if skipped else row.status
    failed = row.status == "failed"
    return Document(
        id=row.document_id,
        project_id=row.project_id,
        filename=row.filename,
        source_id=_source_id(row),
        status=status,  # pyright: ignore[reportArgumentType]
        stage=(ingest.stage or None) if ingest and status == "processing" else None,
        source_format=row.source_format,
        size_bytes=row.size,
        page_count=row.page_count,
        word_count=row.word_count,
        chunk_count=row.chunk_count,
        language=row.language,
        title=None if closed else row.title,
        author=None if closed else row.author,
        parse_duration=f"{row.parse_seconds:.1f}s" if status == "completed" else None,
        skip_reason=row.skip_reason or None if skipped else None,
        error_message=row.error_message or row.error_code if failed else None,
        error=Failed(code=row.error_code, stage=row.error_stage, message=row.error_message) if failed else None,
        warnings=[{**warning, "place": ""} for warning in row.warnings] if closed else row.warnings,
        parent_id=row.parent_id,
        searchable=row.active_revision is not None,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _source_id(row: DocumentRow) -> str | None:
    """The key of an upload is the caller's source_id, or the document's own id where none was given."""
    given = row.uri.startswith("upload:") and row.parent_id is None and row.key != row.document_id
    return row.key if given else None


def chunk_of_payload(payload: dict[str, Any]) -> Chunk:
    """A stored point's payload as the API shows it."""
    shown = {name: payload[name] for name in Chunk.model_fields if name in payload}
    return Chunk(id=payload["chunk_id"], **shown)
