"""Backfill runs: their options, a heartbeat while they live, and the totals they ended with."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import RowMapping

from engine.errors import Code, InputError
from engine.registry import RunRow
from engine.registry.database import Database, insert, now
from engine.registry.models import RUNS
from engine.registry.text import canonical, clean, required_id

SHOWN = [RUNS.c[name] for name in RunRow.__dataclass_fields__ if name in RUNS.c]


class Runs(Database):
    """Statements about runs."""

    def start_run(self, project_id: str, source: str, uri: str, options: Mapping[str, object]) -> str:
        """Record a run that begins now; its id. Raises StorageError for an unknown project."""
        time = now()
        row: dict[str, object] = {
            "id": str(uuid4()),
            "project_id": required_id(project_id),
            "source": clean(source),
            "uri": clean(uri),
            "status": "running",
            "options": dict(options),
            "started_at": time,
            "heartbeat_at": time,
        }
        self.write(lambda c: c.execute(insert(c, RUNS).on_conflict_do_nothing(), [row]))
        return str(row["id"])

    def heartbeat(self, run_id: str) -> None:
        """Say that the run is alive, and that its claims are."""
        change = sa.update(RUNS).where(RUNS.c.id == canonical(run_id)).values(heartbeat_at=now())
        self.write(lambda c: c.execute(change))

    def finish_run(self, run_id: str, status: str, totals: Mapping[str, object]) -> None:
        """Record how the run ended (completed, interrupted or failed). Raises InputError (JOB_NOT_FOUND)."""
        change = sa.update(RUNS).where(RUNS.c.id == canonical(run_id))
        change = change.values(status=status, totals=dict(totals), finished_at=now())
        if self.write(lambda c: c.execute(change).rowcount) == 0:
            raise InputError(f"there is no run {run_id!r}", Code.JOB_NOT_FOUND)

    def run(self, run_id: str) -> RunRow | None:
        wanted = sa.select(RUNS.c.id.label("run_id"), *SHOWN).where(RUNS.c.id == canonical(run_id))
        row = self.read(lambda c: c.execute(wanted).mappings().first())
        return None if row is None else _run(row)

    def runs(self, project_id: str, limit: int = 50) -> list[RunRow]:
        """The project's latest runs, newest first."""
        wanted = sa.select(RUNS.c.id.label("run_id"), *SHOWN).where(RUNS.c.project_id == canonical(project_id))
        ordered = wanted.order_by(RUNS.c.started_at.desc(), RUNS.c.id.desc()).limit(limit)
        return [_run(row) for row in self.read(lambda c: c.execute(ordered).mappings().all())]

    def interrupt_silent_runs(self, older_than_seconds: float) -> list[str]:
        """Mark running runs without a heartbeat for that long as interrupted; their ids."""
        before = now() - timedelta(seconds=older_than_seconds)
        silent = sa.update(RUNS).where(sa.text("runs.status = 'running'"), RUNS.c.heartbeat_at < before)
        change = silent.values(status="interrupted", finished_at=now()).returning(RUNS.c.id)
        return self.write(lambda c: list(c.execute(change).scalars()))


def _run(row: RowMapping) -> RunRow:
    return RunRow(**row)
