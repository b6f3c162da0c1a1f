"""What the client returns. Fields that a newer server adds are to be had in `raw`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, cast

T = TypeVar("T")
Raw = dict[str, Any]


def record_of(kind: type[T], raw: Mapping[str, Any]) -> T:
    """The record with the fields it knows; missing ones take their defaults."""
    make = cast("Any", kind)
    names = {f.name for f in fields(make)} - {"raw"}
    return make(**{name: value for name, value in raw.items() if name in names}, raw=dict(raw))


@dataclass(slots=True)
class Project:
    id: str
    slug: str
    settings: Raw = field(default_factory=lambda: Raw())
    raw: Raw = field(default_factory=lambda: Raw(), repr=False)


@dataclass(slots=True)
class Ticket:
    """An accepted upload."""

    document_id: str
    status: str = "processing"
    estimated_duration_seconds: int = 0
    raw: Raw = field(default_factory=lambda: Raw(), repr=False)


@dataclass(slots=True)
class Document:
    id: str
    filename: str
    status: str
    stage: str | None = None
    source_format: str = ""
    page_count: int | None = None
    word_count: int = 0
    chunk_count: int = 0
    title: str | None = None
    error: Raw | None = None
    warnings: list[Raw] = field(default_factory=lambda: list[Raw]())
    raw: Raw = field(default_factory=lambda: Raw(), repr=False)


@dataclass(slots=True)
class Chunk:
    id: str
    content: str
    chunk_index: int
    token_count: int = 0
    page_numbers: list[int] = field(default_factory=lambda: list[int]())
    section_heading: str | None = None
    section_path: list[str] = field(default_factory=lambda: list[str]())
    element_type: str = "text"
    raw: Raw = field(default_factory=lambda: Raw(), repr=False)


@dataclass(slots=True)
class Hit:
    """A passage found. `citation`: file, page and section in one line."""

    chunk_id: str
    document_id: str
    content: str
    score: float
    filename: str
    page_numbers: list[int] = field(default_factory=lambda: list[int]())
    section_heading: str | None = None
    section_path: list[str] = field(default_factory=lambda: list[str]())
    boxes: list[list[float]] = field(default_factory=lambda: list[list[float]]())
    raw: Raw = field(default_factory=lambda: Raw(), repr=False)

    @property
    def citation(self) -> str:
        pages = ", ".join(map(str, self.page_numbers))
        parts = [self.filename, f"page {pages}" if pages else "", " › ".join(self.section_path)]
        return ", ".join(part for part in parts if part)


@dataclass(slots=True)
class Event:
    """Something that happened to a document; `id` is what a broken-off stream goes on from."""

    type: str
    data: Raw
    id: str = ""

    @property
    def terminal(self) -> bool:
        return self.type in ("document.completed", "document.failed", "document.deleted")
