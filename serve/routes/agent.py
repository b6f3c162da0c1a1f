"""Agentic search, and the record of runs."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import anyio
import anyio.from_thread
import numpy as np
from fastapi import APIRouter, Path
from numpy.typing import NDArray

from engine.agentic.records import AgentRequest
from engine.agentic.run import search_agentic
from engine.embed import ModelInfo
from engine.errors import Code, EmbeddingError, InputError
from engine.search.records import SearchFilters
from serve.auth import role_in
from serve.context import AGENTS, CallerDep, DepsDep, in_thread, in_thread_of, rate_limit, visible_project
from serve.deps import EmbedQuery
from serve.routes import errors
from serve.schemas.agent import AgentSearch, AgentSearchAnswer, Run, agent_run_of, answer_of, backfill_run_of
from serve.turns import Turns

router = APIRouter(tags=["agent"])
_turns = Turns(at_once=8, waiting=24)


@dataclass(slots=True)
class Bridged:
    """A `QueryEmbedder` for a worker thread of the event loop: each query is embedded there, beside other callers'."""

    info: ModelInfo
    embed_query: EmbedQuery
    seconds: float

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([anyio.from_thread.run(self._vector, text) for text in texts])

    async def _vector(self, text: str) -> NDArray[np.float32]:
        try:
            with anyio.fail_after(self.seconds):
                return await self.embed_query(text)
        except TimeoutError as error:
            raise EmbeddingError(f"the question was not embedded within {self.seconds:g} s") from error


@router.post("/agent/search", responses=errors(429, 502))
async def agent_search(deps: DepsDep, caller: CallerDep, wanted: AgentSearch) -> AgentSearchAnswer:
    """Collect evidence for a question: the question is planned, documents are discovered, their sections navigated,
    the best passages quoted and cited, all under one token budget. Nothing is answered and no model is asked."""
    start = time.monotonic()
    project = await in_thread(visible_project, deps, caller, wanted.project_id, "read")
    await rate_limit(deps, project, "search")
    request = AgentRequest(
        project_id=project.id,
        query=wanted.query,
        token_budget=wanted.token_budget,
        navigation_steps=wanted.navigation_steps,
        max_documents=wanted.max_documents,
        seconds=wanted.timeout_seconds,
        mode=wanted.mode,
        filters=SearchFilters(**wanted.filter.model_dump()),
        exclude_sections=wanted.exclude_sections,
        principals=caller.principals,
        language=wanted.language,
        subject=caller.subject,
    )
    embedder = Bridged(deps.model, deps.embed_query, wanted.timeout_seconds)
    async with _turns.of(project.id):
        answer = await in_thread_of(AGENTS, search_agentic, request, deps.store, deps.registry, embedder)
    deps.metrics.searched("agent", time.monotonic() - start)
    return answer_of(answer)


@router.get("/runs/{run_id}", responses=errors())
def get_run(deps: DepsDep, caller: CallerDep, run_id: Annotated[str, Path(max_length=100)]) -> Run:
    """A recorded run. That of an agentic search is shown to who asked for it and to the project's admins, that of a
    backfill to everybody who may read the project."""
    agent = deps.registry.agent_run(run_id)
    if agent is not None:
        role = role_in(caller, agent.project_id)
        if role == "admin" or (role is not None and agent.options.get("subject") == caller.subject):
            return agent_run_of(agent)
    else:
        backfill = deps.registry.run(run_id)
        if backfill is not None and role_in(caller, backfill.project_id) is not None:
            return backfill_run_of(backfill)
    raise InputError("there is no such run", Code.JOB_NOT_FOUND)
