"""One agentic search from question to evidence, every step written down as it is done."""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import asdict, dataclass, field

from engine.agentic.budget import Budget, Clock
from engine.agentic.evidence import Evidence, render
from engine.agentic.navigate import Navigator, passages_only
from engine.agentic.plan import plan
from engine.agentic.records import AgentAnswer, AgentRequest, Ledger, Plan, PlanStep, Route, StopReason, check
from engine.agentic.terms import Terms
from engine.embed import QueryEmbedder
from engine.errors import CorpusError, InputError
from engine.registry.online import AgentStep
from engine.search import active
from engine.search import records as ranked
from engine.search.classic import search
from engine.search.records import SearchRequest, SearchResponse
from engine.search.view import Found, view_document
from engine.store import Condition, Store
from engine.tokens import counter

DISCOVERY_HITS = 20  # of one plan step
NAVIGABLE_CHUNKS = 2000  # of one document; of a larger one the passages found are taken as they are
FAILED = "failed"


def search_agentic(request: AgentRequest, store: Store, ledger: Ledger, embedder: QueryEmbedder | None) -> AgentAnswer:
    """Collect evidence for `request`. Blocking: it searches, reads documents and writes the run's record.

    Raises InputError (INVALID_REQUEST) for a bad request; what else `engine.search.classic.search` raises. The run is
    recorded as failed then.
    """
    check(request)
    ranked.check(_search_request(request, request.query))
    run = _Run(request, store, ledger, embedder)
    try:
        return run.go()
    except CorpusError as error:
        ledger.finish_agent_run(run.run_id, FAILED, error.code, {})
        raise
    except Exception:
        ledger.finish_agent_run(run.run_id, FAILED, "INTERNAL", {})
        raise


def _search_request(request: AgentRequest, query: str) -> SearchRequest:
    return SearchRequest(
        project_id=request.project_id,
        query=query,
        top_k=DISCOVERY_HITS,
        mode=request.mode,
        filters=request.filters,
        principals=request.principals,
        language=request.language,
    )


@dataclass(slots=True)
class _Discovered:
    """Hits by document: the best score of each chunk, and of the document in each step of the plan."""

    chunks: defaultdict[str, dict[str, float]] = field(default_factory=lambda: defaultdict[str, dict[str, float]](dict))
    steps: defaultdict[str, dict[str, float]] = field(default_factory=lambda: defaultdict[str, dict[str, float]](dict))

    def add(self, step: PlanStep, response: SearchResponse) -> None:
        for hit in response.results:
            if hit.score <= 0:  # of a small corpus, in no channel's list
                continue
            chunks, steps = self.chunks[hit.document_id], self.steps[hit.document_id]
            chunks[hit.chunk_id] = max(hit.score, chunks.get(hit.chunk_id, 0.0))
            steps[step.step_id] = max(hit.score, steps.get(step.step_id, 0.0))

    def best(self, most: int) -> list[str]:
        """Documents that answer most of the steps well, best first."""
        return sorted(self.steps, key=lambda d: (-sum(self.steps[d].values()), d))[:most]


class _Run:
    def __init__(self, request: AgentRequest, store: Store, ledger: Ledger, embedder: QueryEmbedder | None) -> None:
        self.request, self.store, self.ledger, self.embedder = request, store, ledger, embedder
        self.budget, self.clock = Budget(request.token_budget), Clock(request.seconds)
        self.run_id = ledger.start_agent_run(request.project_id, request.query, _options(request))
        self._position = 0

    def go(self) -> AgentAnswer:
        made = self._plan()
        found = self._discover(made)
        routes = self._navigate(found)
        evidence = self._render(routes)
        reason = self._stop_reason(evidence)
        answer = AgentAnswer(
            run_id=self.run_id,
            evidence_text=evidence.text,
            citations=evidence.citations,
            stop_reason=reason,
            plan=made,
            tokens=counter().count(evidence.text),
            token_budget=self.budget.total,
            documents=len({citation.document_id for citation in evidence.citations}),
            navigation_steps=sum(route.steps for route in routes),
            seconds=round(self.clock.elapsed, 3),
        )
        self.ledger.finish_agent_run(self.run_id, "completed", reason, _record(answer))
        return answer

    def _step(
        self, kind: str, start: float, inputs: dict[str, object], outputs: dict[str, object], tokens: int
    ) -> None:
        """Write a step down. Ids, scores and counts only: what documents say stays in the documents."""
        step = AgentStep(self._position, kind, inputs, outputs, round(time.monotonic() - start, 4), tokens)
        self._position += 1
        self.ledger.add_agent_step(self.run_id, step)

    # ------------------------------------------------------------ phases
    def _plan(self) -> Plan:
        start = time.monotonic()
        made = plan(self.request.query)
        self._step("plan", start, {"planner": made.planner}, {"steps": [asdict(step) for step in made.steps]}, 0)
        return made

    def _discover(self, made: Plan) -> _Discovered:
        found = _Discovered()
        for step in made.steps:
            if not self.clock.allows():
                break
            start = time.monotonic()
            response = search(_search_request(self.request, step.query), self.store, self.ledger, self.embedder)
            found.add(step, response)
            hits = [{"chunk_id": hit.chunk_id, "score": round(hit.score, 4)} for hit in response.results]
            outputs: dict[str, object] = {"hits": hits, "route": response.route, "version": response.index_version}
            self._step("discovery", start, {"step": step.step_id}, outputs, 0)
        return found

    def _navigate(self, found: _Discovered) -> list[Route]:
        request = self.request
        terms = Terms(request.query, request.language)
        navigator = Navigator(terms, request.navigation_steps, request.exclude_sections, request.filters.chunk_type)
        routes: list[Route] = []
        for document_id in found.best(request.max_documents):
            if not self.clock.allows():
                break
            start = time.monotonic()
            route = self._route(navigator, document_id, found.chunks[document_id])
            if route is not None:
                routes.append(route)
                outputs: dict[str, object] = {
                    "opened": [section.id for section in route.opened],
                    "unopened": [section.id for section in route.unopened],
                    "passages": len(route.passages),
                    "steps": route.steps,
                }
                self._step("navigation", start, {"document_id": document_id}, outputs, 0)
        return routes

    def _route(self, navigator: Navigator, document_id: str, scores: dict[str, float]) -> Route | None:
        """The way through one document; None when it is gone meanwhile."""
        row = self.ledger.document(document_id)
        if row is None:
            return None
        if row.chunk_count > NAVIGABLE_CHUNKS and not self.request.exclude_sections:
            return passages_only(document_id, row.filename, self._payloads(document_id, list(scores)), scores)
        try:
            view = view_document(self.store, self.ledger, document_id, self.request.principals)
        except InputError:  # deleted or emptied since discovery
            return None
        return navigator.route(view, scores)

    def _payloads(self, document_id: str, chunk_ids: list[str]) -> list[Found]:
        """These chunks of a document, as far as they are there still."""
        where = ranked.to_filter(_search_request(self.request, ""))
        where.must += [Condition("document_id", "any", [document_id]), Condition("chunk_id", "any", [*chunk_ids])]
        return [record.payload for record in active.read(self.store, self.ledger, self.request.project_id, where)]

    def _render(self, routes: list[Route]) -> Evidence:
        start = time.monotonic()
        before = self.budget.spent
        evidence = render(routes, self.run_id, self.budget)
        outputs: dict[str, object] = {
            "chunk_ids": [citation.chunk_id for citation in evidence.citations],
            "outlined": evidence.outlined,
        }
        inputs: dict[str, object] = {"token_budget": self.budget.total}
        self._step("evidence", start, inputs, outputs, self.budget.spent - before)
        return evidence

    def _stop_reason(self, evidence: Evidence) -> StopReason:
        if self.clock.ran_out:
            return "time_limit"
        if self.budget.refused:
            return "token_budget"
        return "completed" if evidence.citations else "nothing_found"


def _options(request: AgentRequest) -> dict[str, object]:
    return {
        "token_budget": request.token_budget,
        "navigation_steps": request.navigation_steps,
        "max_documents": request.max_documents,
        "seconds": request.seconds,
        "mode": request.mode,
        "language": request.language,
        "filters": asdict(request.filters),
        "exclude_sections": request.exclude_sections,
        "subject": request.subject,
    }


def _record(answer: AgentAnswer) -> dict[str, object]:
    """What is kept of an answer: where its evidence stands, not what it says."""
    return {
        "citations": [
            {"marker": c.marker, "document_id": c.document_id, "chunk_id": c.chunk_id, "revision": c.revision}
            for c in answer.citations
        ],
        "tokens": answer.tokens,
        "token_budget": answer.token_budget,
        "documents": answer.documents,
        "navigation_steps": answer.navigation_steps,
        "planner": answer.plan.planner,
        "seconds": answer.seconds,
    }
