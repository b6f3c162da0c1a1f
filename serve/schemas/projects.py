"""Projects, webhooks, audit and statistics."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from engine.registry.online import EVENT_TYPES
from serve.schemas import Model, Request, Time

EventType = Literal["document.accepted", "document.completed", "document.failed", "document.deleted", "batch.completed"]
assert set(EVENT_TYPES) == set(EventType.__args__)  # pyright: ignore[reportAttributeAccessIssue]


class ChunkProfile(Request):
    """How documents are cut. What is left out keeps the server's default."""

    strategy: str | None = Field(None, max_length=100)
    max_tokens: int | None = Field(None, ge=16, le=100_000)
    overlap_tokens: int | None = Field(None, ge=0, le=100_000)
    respect_structure: bool | None = None
    include_headings: bool | None = None


class ProjectLimits(Request):
    """Requests a minute, in place of the server's defaults."""

    parse_per_minute: int | None = Field(None, ge=1, le=1_000_000)
    batch_per_minute: int | None = Field(None, ge=1, le=1_000_000)
    search_per_minute: int | None = Field(None, ge=1, le=1_000_000)
    chunks_per_minute: int | None = Field(None, ge=1, le=1_000_000)


class ProjectSettings(Request):
    chunking: ChunkProfile | None = None
    limits: ProjectLimits | None = None
    pii_redaction: bool | None = Field(None, description="redact personal data out of what is processed from now on")
    ocr_enabled: bool | None = None
    retention_days: int | None = Field(None, ge=1, le=36_500, description="stored now, applied by retention sweeps")


class NewProject(Request):
    slug: str = Field(min_length=1, max_length=63, examples=["contracts"])
    settings: ProjectSettings = Field(default_factory=lambda: ProjectSettings.model_validate({}))


class ProjectChange(Request):
    settings: ProjectSettings


class Project(Model):
    id: str
    slug: str
    role: str = Field(description="the caller's role in it")
    settings: dict[str, Any]
    created_at: Time


class ProjectList(Model):
    projects: list[Project]


class NewWebhook(Request):
    url: str = Field(min_length=8, max_length=2000, examples=["https://example.com/hooks/corpus"])
    events: list[EventType] = Field([], max_length=20, description="empty: all")


class Webhook(Model):
    id: str
    url: str
    events: list[str]
    created_at: Time


class CreatedWebhook(Webhook):
    secret: str = Field(description="shown once; verifies the webhook-signature header (Standard Webhooks)")


class WebhookList(Model):
    webhooks: list[Webhook]


class Delivery(Model):
    id: str = Field(description="the webhook-id header")
    event_type: str
    event_id: int
    status: Literal["pending", "delivered", "failed"]
    attempts: int
    response_status: int | None
    error: str | None
    next_attempt_at: Time | None
    created_at: Time
    updated_at: Time


class DeliveryPage(Model):
    deliveries: list[Delivery]
    next_cursor: str | None


class AuditEntry(Model):
    id: int
    at: Time
    actor: str
    action: str
    target: str
    details: dict[str, Any]


class AuditPage(Model):
    entries: list[AuditEntry]
    next_cursor: str | None


class ProjectStats(Model):
    project_id: str
    slug: str
    documents: dict[str, int] = Field(description="by status: pending, processing, completed, failed, skipped")
    visible_documents: int
    visible_chunks: int


class Stats(Model):
    projects: list[ProjectStats]
    uploads_waiting: int | None = Field(description="in all projects; null unless the caller administers all")
    uploads_processing: int | None
