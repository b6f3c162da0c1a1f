"""Records of the online API that the ledger keeps: uploads and their leases, batches, events, webhooks, tokens,
audit, idempotency keys and agent runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from engine.records import Failure

UPLOADS = "uploads"  # the source that all uploads of a project belong to
ACCEPTED = "document.accepted"
STAGE = "document.stage"
COMPLETED = "document.completed"
FAILED = "document.failed"
DELETED = "document.deleted"
BATCH_COMPLETED = "batch.completed"
TERMINAL = (COMPLETED, FAILED, DELETED)
EVENT_TYPES = (ACCEPTED, COMPLETED, FAILED, DELETED, BATCH_COMPLETED)  # what a webhook can subscribe to


# ---------------------------------------------------------------- uploads
@dataclass(slots=True)
class Upload:
    """A file that was received whole. `key`: the caller's source_id, else the document id; `object_key`: where
    its bytes are in the object store. `options`: how this document is to be processed (JSON values). `failure`: why
    it is refused already (it is recorded as failed and never worked on; `object_key` is empty then)."""

    document_id: str
    project_id: str
    key: str
    filename: str
    size: int
    content_sha256: str
    object_key: str
    options: Mapping[str, object] = field(default_factory=lambda: dict[str, object]())
    source_format: str = ""
    failure: Failure | None = None
    traceparent: str = ""  # W3C trace context of the request


@dataclass(slots=True)
class Lease:
    """An upload that this worker may process until the lease runs out. `generation` is of this attempt: a later
    lease, a newer upload or a deletion ends it. `attempt` counts from 1."""

    document_id: str
    project_id: str
    generation: int
    attempt: int
    key: str
    filename: str
    size: int
    content_sha256: str
    object_key: str
    options: dict[str, object]
    batch_id: str | None
    traceparent: str
    accepted_at: datetime


@dataclass(slots=True)
class Ingest:
    """Where an upload stands that has not ended: `state` waiting or leased."""

    document_id: str
    generation: int
    state: Literal["waiting", "leased"]
    stage: str
    attempt: int
    object_key: str
    options: dict[str, object]
    batch_id: str | None
    created_at: datetime


@dataclass(slots=True)
class Batch:
    batch_id: str
    project_id: str
    document_ids: list[str]  # in the order of the upload
    created_at: datetime


# ---------------------------------------------------------------- events and webhooks
@dataclass(slots=True)
class Event:
    """Something that happened to a document or batch. Ids grow with time within a document."""

    id: int
    project_id: str
    document_id: str | None
    type: str
    data: dict[str, object]
    created_at: datetime


@dataclass(slots=True)
class Webhook:
    """`events`: the types it wants, all of EVENT_TYPES when empty. `secret`: `whsec_` + base64."""

    webhook_id: str
    project_id: str
    url: str
    events: list[str]
    secret: str
    created_at: datetime


@dataclass(slots=True)
class Delivery:
    """One event on its way to one webhook. `status`: pending, delivered, failed."""

    delivery_id: str  # the webhook-id header: the same at every try
    webhook_id: str
    event_id: int
    event_type: str
    status: str
    attempt: int  # tries made
    response_status: int | None
    error: str
    next_attempt_at: datetime | None
    created_at: datetime
    updated_at: datetime


@dataclass(slots=True)
class DeliveryLease:
    """A delivery to be tried now."""

    delivery_id: str
    attempt: int  # of this try, from 1
    url: str
    secret: str
    event: Event


# ---------------------------------------------------------------- access
@dataclass(slots=True)
class Token:
    """A bearer token as stored: never itself, only its SHA-256. `roles`: project id or "*" → read, write, admin."""

    token_id: str
    name: str
    roles: dict[str, str]
    principals: list[str]
    created_at: datetime
    expires_at: datetime | None


@dataclass(slots=True)
class AuditEntry:
    id: int
    project_id: str
    at: datetime
    actor: str
    action: str  # e.g. document.delete, project.update, webhook.create
    target: str
    details: dict[str, object]


@dataclass(slots=True)
class Remembered:
    """What an Idempotency-Key stands for. `state`: new (the caller owns it now), running (another request is at
    it), done (answer it with these), mismatch (it was used with another request)."""

    state: Literal["new", "running", "done", "mismatch"]
    status: int = 0
    headers: dict[str, str] = field(default_factory=lambda: dict[str, str]())
    body: str = ""


# ---------------------------------------------------------------- agent runs
@dataclass(slots=True)
class AgentStep:
    """One step of an agentic search, never changed afterwards."""

    position: int
    kind: str
    inputs: dict[str, object]
    outputs: dict[str, object]
    seconds: float
    tokens: int


@dataclass(slots=True)
class AgentRun:
    run_id: str
    project_id: str
    query: str
    options: dict[str, object]
    status: str  # running, completed, failed
    stop_reason: str
    result: dict[str, object]
    started_at: datetime
    finished_at: datetime | None
    steps: list[AgentStep] = field(default_factory=lambda: list[AgentStep]())
