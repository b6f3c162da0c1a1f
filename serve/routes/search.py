"""Ranked search."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from fastapi import APIRouter
from numpy.typing import NDArray

from engine.embed import ModelInfo
from engine.search.classic import search as search_classic
from engine.search.records import DENSE, SearchFilters, SearchRequest
from serve.context import CallerDep, DepsDep, in_thread, rate_limit, visible_project
from serve.deps import Caller, Deps
from serve.routes import errors
from serve.schemas.search import Search, SearchAnswer, hit_of

router = APIRouter(prefix="/documents", tags=["search"])


@dataclass(slots=True)
class Given:
    """A `QueryEmbedder` for one query whose vector is known already."""

    info: ModelInfo
    vector: NDArray[np.float32]

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([self.vector for _ in texts])


@router.post("/search", responses=errors(429, 502))
async def search(deps: DepsDep, caller: CallerDep, wanted: Search) -> SearchAnswer:
    """The passages of one project that answer a query best, each with what a citation needs."""
    start = time.monotonic()
    project = await in_thread(visible_project, deps, caller, wanted.project_id, "read")
    await rate_limit(deps, project, "search")
    request = request_of(wanted, project.id, caller)
    embedder = await query_vector(deps, request)
    response = await in_thread(search_classic, request, deps.store, deps.registry, embedder)
    deps.metrics.searched(wanted.mode, time.monotonic() - start)
    return SearchAnswer(
        results=[hit_of(result) for result in response.results],
        route=response.route,
        mode=wanted.mode,
        weights=response.weights,
        index_version=response.index_version,
    )


async def query_vector(deps: Deps, request: SearchRequest) -> Given | None:
    """The query's vector where the mode needs one: embedded beside other callers' queries."""
    if request.mode not in ("hybrid", DENSE) or not request.query.strip():
        return None
    return Given(deps.model, await deps.embed_query(request.query))


def request_of(wanted: Search, project_id: str, caller: Caller) -> SearchRequest:
    """The engine's request, with the caller's principals on it."""
    thresholds: dict[str, float] = {**wanted.thresholds}
    if wanted.threshold is not None:
        thresholds[DENSE] = wanted.threshold
    return SearchRequest(
        project_id=project_id,
        query=wanted.query,
        top_k=wanted.top_k,
        mode=wanted.mode,
        fusion=wanted.fusion,
        thresholds=thresholds,
        weights={**wanted.weights},
        filters=SearchFilters(**wanted.filter.model_dump()),
        principals=caller.principals,
        language=wanted.language,
        explain=wanted.explain,
    )
