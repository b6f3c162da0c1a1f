"""What is asked of an agentic search and what comes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from engine.errors import Code, InputError
from engine.nav import NavSection
from engine.registry.online import AgentStep
from engine.search import view
from engine.search.records import SearchFilters
from engine.search.view import Found

# completed: every step of the plan was done and all evidence fitted
StopReason = Literal["completed", "token_budget", "time_limit", "nothing_found"]
TOKEN_BUDGET = 40_000
NAVIGATION_STEPS = 6
SECONDS = 12.0
MOST_DOCUMENTS = 8
LEAST_BUDGET = 200


def _strings() -> list[str]:
    return []


class Ledger(view.Ledger, Protocol):
    """What an agentic search needs of the registry."""

    def start_agent_run(self, project_id: str, query: str, options: Mapping[str, object]) -> str: ...
    def add_agent_step(self, run_id: str, step: AgentStep) -> None: ...
    def finish_agent_run(self, run_id: str, status: str, stop_reason: str, result: Mapping[str, object]) -> None: ...


@dataclass(slots=True)
class AgentRequest:
    """One question to one project.

    `token_budget`: cl100k tokens of all evidence, over the whole plan. `navigation_steps`: sections looked at in one
    document. `exclude_sections`: section ids; what is below them goes too. `mode`, `filters`, `principals`,
    `language`: as of a ranked search. `subject`: who asks, to be recorded.
    """

    project_id: str
    query: str
    token_budget: int = TOKEN_BUDGET
    navigation_steps: int = NAVIGATION_STEPS
    max_documents: int = MOST_DOCUMENTS
    seconds: float = SECONDS
    mode: str = "hybrid"
    filters: SearchFilters = field(default_factory=SearchFilters)
    exclude_sections: list[str] = field(default_factory=_strings)
    principals: list[str] | None = field(default_factory=_strings)
    language: str | None = None
    subject: str = ""


def check(request: AgentRequest) -> None:
    """Raise InputError (INVALID_REQUEST) naming the bound that is passed."""
    for wrong, message in (
        (request.token_budget < LEAST_BUDGET, f"token_budget must be at least {LEAST_BUDGET}"),
        (not 0 <= request.navigation_steps <= 100, "navigation_steps must be between 0 and 100"),
        (not 1 <= request.max_documents <= 50, "max_documents must be between 1 and 50"),
        (not 0 < request.seconds <= 120, "seconds must be above 0 and at most 120"),
    ):
        if wrong:
            raise InputError(message, Code.INVALID_REQUEST)


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One retrieval of the plan; it runs after those it depends on."""

    step_id: str
    query: str
    depends_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """`planner`: who made it: "deterministic" (rules over the question's form), later a model's name."""

    planner: str
    steps: tuple[PlanStep, ...]


@dataclass(slots=True)
class Passage:
    """A chunk on its way into the evidence. `discovery_score`: best score of the ranked searches, 0 when only
    navigation found it. `agent_score`: how much of the question it covers, in a section that navigation opened; 0
    sends it to the fallback pool."""

    payload: Found
    discovery_score: float = 0.0
    agent_score: float = 0.0

    @property
    def rank(self) -> tuple[float, float]:
        return self.agent_score, self.discovery_score


@dataclass(slots=True)
class Route:
    """What navigation did in one document. `opened`: sections whose text was taken; `unopened`: those of the levels
    looked at that were not. `steps`: sections looked at."""

    document_id: str
    filename: str
    passages: list[Passage]
    opened: list[NavSection] = field(default_factory=lambda: list[NavSection]())
    unopened: list[NavSection] = field(default_factory=lambda: list[NavSection]())
    steps: int = 0


@dataclass(slots=True)
class Citation:
    """Where a piece of the evidence stands. `marker`: the number in brackets before it."""

    marker: int
    document_id: str
    chunk_id: str
    source_file_name: str
    section_path: list[str]
    page_numbers: list[int]
    char_start: int
    char_end: int
    revision: str
    agent_score: float
    discovery_score: float
    assets: list[str]  # tables and pictures that stand in it, see GET …/assets/{id}


@dataclass(slots=True)
class AgentAnswer:
    """`evidence_text`: quoted document content between marks, with a bracketed number before each citation's text.
    `tokens`: of it, in cl100k, never above the budget."""

    run_id: str
    evidence_text: str
    citations: list[Citation]
    stop_reason: StopReason
    plan: Plan
    tokens: int
    token_budget: int
    documents: int
    navigation_steps: int
    seconds: float
