"""Agentic searches: each run with its steps, which are written once and never changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.errors import Code, InputError, StorageError
from engine.registry.database import Database, insert, now
from engine.registry.online import AgentRun, AgentStep
from engine.registry.online_models import AGENT_RUNS, AGENT_STEPS
from engine.registry.text import canonical, clean, required_id

R = AGENT_RUNS.c
S = AGENT_STEPS.c
SHOWN = (R.id, R.project_id, R.query, R.options, R.status, R.stop_reason, R.result, R.started_at, R.finished_at)
STEP = (S.position, S.kind, S.inputs, S.outputs, S.seconds, S.tokens)


class AgentRuns(Database):
    """Statements about agent runs."""

    def start_agent_run(self, project_id: str, query: str, options: Mapping[str, object]) -> str:
        """Record a run that begins now; its id. Raises StorageError for an unknown project."""
        row: dict[str, object] = {
            "id": str(uuid4()),
            "project_id": required_id(project_id),
            "query": clean(query),
            "status": "running",
            "started_at": now(),
            "options": dict(options),
        }
        self.write(lambda c: c.execute(insert(c, AGENT_RUNS).on_conflict_do_nothing(), [row]))
        return str(row["id"])

    def add_agent_step(self, run_id: str, step: AgentStep) -> None:
        """Record a step. Raises InputError (JOB_NOT_FOUND) for an unknown run, StorageError for one that has ended
        or a position that is taken: what is written stands."""
        row = {"run_id": canonical(run_id), "position": step.position, "kind": clean(step.kind), "created_at": now()}
        row |= {"seconds": step.seconds, "tokens": step.tokens, "inputs": step.inputs, "outputs": step.outputs}

        def work(connection: Connection) -> object:
            _running(connection, run_id)
            new = insert(connection, AGENT_STEPS).on_conflict_do_nothing().returning(S.position)
            return connection.execute(new, [row]).first()

        if self.write(work) is None:
            raise StorageError(f"step {step.position} of agent run {run_id} is written already")

    def finish_agent_run(self, run_id: str, status: str, stop_reason: str, result: Mapping[str, object]) -> None:
        """Record how a run ended (completed or failed). Raises InputError (JOB_NOT_FOUND) for an unknown run,
        StorageError for one that has ended."""
        end = {"status": status, "stop_reason": clean(stop_reason), "result": dict(result), "finished_at": now()}

        def work(connection: Connection) -> None:
            _running(connection, run_id)
            connection.execute(sa.update(AGENT_RUNS).where(R.id == canonical(run_id)).values(**end))

        self.write(work)

    def agent_run(self, run_id: str, project_id: str | None = None) -> AgentRun | None:
        """A run with its steps in order; None when there is none (in that project)."""
        wanted = sa.select(*SHOWN).where(R.id == canonical(run_id))
        if project_id is not None:
            wanted = wanted.where(R.project_id == canonical(project_id))
        steps = sa.select(*STEP).where(S.run_id == canonical(run_id)).order_by(S.position)

        def work(connection: Connection) -> AgentRun | None:
            row: sa.Row[*tuple[Any, ...]] | None = connection.execute(wanted).first()
            if row is None:
                return None
            return AgentRun(*tuple[Any, ...](row), steps=[AgentStep(*step) for step in connection.execute(steps)])

        return self.read(work)


def _running(connection: Connection, run_id: str) -> None:
    """Lock a run that has not ended."""
    wanted = sa.select(R.status).where(R.id == canonical(run_id)).with_for_update()
    status = connection.execute(wanted).scalar()
    if status is None:
        raise InputError(f"there is no run {run_id!r}", Code.JOB_NOT_FOUND)
    if status != "running":
        raise StorageError(f"agent run {run_id} has ended ({status})")
