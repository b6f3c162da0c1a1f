"""The audit log of a project: who did what to what, and when. Entries are only ever added."""

from __future__ import annotations

from collections.abc import Mapping

import sqlalchemy as sa

from engine.registry.database import Database, now
from engine.registry.online import AuditEntry
from engine.registry.online_models import AUDIT
from engine.registry.text import canonical, clean, required_id

A = AUDIT.c


class Audit(Database):
    """Statements about the audit log."""

    def audit(
        self, project_id: str, actor: str, action: str, target: str, details: Mapping[str, object] | None = None
    ) -> None:
        """Add an entry (`details`: ids and settings, never document text). Raises StorageError for an unknown
        project."""
        row: dict[str, object] = {
            "project_id": required_id(project_id),
            "at": now(),
            "actor": clean(actor),
            "action": clean(action),
            "target": clean(target),
            "details": dict(details or {}),
        }
        self.write(lambda c: c.execute(sa.insert(AUDIT), [row]))

    def audit_log(self, project_id: str, after: int | None = None, limit: int = 50) -> list[AuditEntry]:
        """The project's entries, newest first, those older than entry `after`."""
        wanted = sa.select(A.id, A.project_id, A.at, A.actor, A.action, A.target, A.details)
        wanted = wanted.where(A.project_id == canonical(project_id))
        if after is not None:
            wanted = wanted.where(A.id < after)
        ordered = wanted.order_by(A.id.desc()).limit(limit)
        return [AuditEntry(*row) for row in self.read(lambda c: c.execute(ordered).all())]
