"""Makers of uploads and their ends for the registry's tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import sqlalchemy as sa

from engine.records import Failure
from engine.registry import Project, Publication
from engine.registry.online import Event, Lease, Upload
from engine.registry.online_models import INGESTS
from engine.registry.queries import Registry

from .ledger import document_id, publication


def upload(project: Project, key: str, n: int = 1, **other: object) -> Upload:
    """The `n`-th upload of this key."""
    values: dict[str, object] = {
        "document_id": document_id(key),
        "project_id": project.id,
        "key": key,
        "filename": f"{key}.pdf",
        "size": 10 + n,
        "content_sha256": f"sha-{key}-{n}",
        "object_key": f"uploads/{key}/{n}",
        "options": {"strategy": "fixed"},
        "source_format": "pdf",
    }
    return Upload(**(values | other))  # type: ignore[arg-type]


def refused(project: Project, key: str, n: int = 1) -> Upload:
    return upload(project, key, n, object_key="", failure=Failure("ENCRYPTED_DOCUMENT", "detect", "needs a password"))


def accept(registry: Registry, project: Project, *keys: str, n: int = 1, batch: str | None = None) -> list[int]:
    generations = registry.accept([upload(project, key, n) for key in keys], batch)
    return [generations[document_id(key)] for key in keys]


def lease(registry: Registry, limit: int = 1, seconds: float = 60, attempts: int = 3) -> list[Lease]:
    return registry.lease("worker", seconds, limit, attempts)


def only(registry: Registry, seconds: float = 60) -> Lease:
    (found,) = lease(registry, 1, seconds)
    return found


def published(lease: Lease, revision: str = "r1") -> Publication:
    return Publication(
        lease.document_id, lease.project_id, lease.generation, revision, lease.content_sha256, "fp", "pdf", 2, 30, 3,
        "en", "Title", None, 0.5, [], {},
    )  # fmt: skip


def finish(registry: Registry, lease: Lease, revision: str = "r1") -> bool:
    """Publish and settle."""
    assert registry.publish([published(lease, revision)]) == {lease.document_id}
    return registry.settle(lease.document_id, lease.generation)


def types(registry: Registry, key: str) -> list[str]:
    return [event.type for event in registry.events(document_id(key), limit=10_000)]


def last(registry: Registry, key: str) -> Event:
    return registry.events(document_id(key))[-1]


def run_out(registry: Registry) -> None:
    """Every lease ran out a minute ago."""
    past = datetime.now(UTC) - timedelta(minutes=1)
    given = sa.update(INGESTS).where(INGESTS.c.lease_until.is_not(None))
    registry.write(lambda c: c.execute(given.values(lease_until=past)))


__all__ = [
    "accept", "document_id", "finish", "last", "lease", "only", "publication", "published", "refused", "run_out",
    "types", "upload",
]  # fmt: skip
