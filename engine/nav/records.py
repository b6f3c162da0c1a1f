"""The corpus files of a document as records. Their field names are a published format: see `engine/schemas/`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from engine.records import Loss

SCHEMA_VERSION = 1


# ---------------------------------------------------------------- doc_nav.json
@dataclass(slots=True)
class Resource:
    """A table or picture of a section. `id`: `table-3`, `image-1`, as in the chunks' `connect_to`."""

    id: str
    type: Literal["table", "image"]
    caption: str | None = None
    page_number: int | None = None


@dataclass(slots=True)
class NavSection:
    """A heading and what it owns. `chunk_indexes` and `chunk_ids`: of its own text; a chunk that spans several
    small sections belongs to each. The counts and the pages take in the sections below, every chunk once.

    `id` depends on the document and the headings above alone: the same section keeps it over revisions.
    `page_range`: first and last page, null where there are none. `summary`: one sentence.
    """

    id: str
    title: str
    level: int
    path: list[str]
    page_range: tuple[int, int] | None = None
    summary: str = ""
    chunk_indexes: list[int] = field(default_factory=lambda: list[int]())
    chunk_ids: list[str] = field(default_factory=lambda: list[str]())
    chunk_count: int = 0
    token_count: int = 0
    resources: list[Resource] = field(default_factory=lambda: list[Resource]())
    children: list[NavSection] = field(default_factory=lambda: list[NavSection]())


@dataclass(slots=True)
class DocumentNav:
    """The section tree of one revision. `basis`: tree (every heading of the document), or chunks (the headings that
    the chunks show). `chunk_indexes`: of text that stands under no heading, and `resources` there."""

    document_id: str
    revision: str
    title: str | None
    basis: Literal["tree", "chunks"]
    chunk_count: int
    token_count: int
    page_count: int | None
    chunk_indexes: list[int]
    resources: list[Resource]
    sections: list[NavSection]
    schema_version: Literal[1] = SCHEMA_VERSION


# ---------------------------------------------------------------- manifest.json
@dataclass(slots=True)
class SourceFacts:
    name: str
    key: str
    uri: str
    filename: str
    size: int


@dataclass(slots=True)
class Statistics:
    page_count: int | None
    word_count: int
    chunk_count: int
    token_count: int
    section_count: int
    table_count: int
    image_count: int


@dataclass(slots=True)
class TableFacts:
    id: str
    page_number: int | None
    caption: str | None
    columns: int
    rows: int


@dataclass(slots=True)
class ImageFacts:
    """`size`: bytes of the picture as kept, null when only its texts were."""

    id: str
    page_number: int | None
    caption: str | None
    alt_text: str | None
    mime_type: str | None
    size: int | None


@dataclass(slots=True)
class Manifest:
    """Facts of one revision. `complete`: false when a part of the document is hidden from whoever asked; then
    counts, tables, images and the hierarchy tell of the visible part alone."""

    document_id: str
    project_id: str
    revision: str
    source: SourceFacts
    source_format: str
    content_sha256: str
    pipeline_fingerprint: str
    statistics: Statistics
    metadata: dict[str, Any]
    tables: list[TableFacts]
    images: list[ImageFacts]
    warnings: list[Loss]
    complete: bool
    HIERARCHY: dict[str, Any]  # title → the titles below, repeated ones numbered
    schema_version: Literal[1] = SCHEMA_VERSION


# ---------------------------------------------------------------- chunks.json
@dataclass(slots=True)
class ChunksFile:
    """The chunks of one revision in order, each as it is stored."""

    document_id: str
    revision: str
    chunks: list[dict[str, Any]]
    schema_version: Literal[1] = SCHEMA_VERSION
