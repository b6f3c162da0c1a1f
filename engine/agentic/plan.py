"""The deterministic planner: a question into retrieval steps by its form alone, no model asked.

Several questions become a step each; a comparison becomes a step for either side. The question as a whole is
searched for last. Steps find evidence; none of them puts an answer together.
"""

from __future__ import annotations

import re

from engine.agentic.records import Plan, PlanStep

PLANNER = "deterministic"
MOST_PARTS = 4
MOST_COMPARED = 400  # characters of a query in which two sides are looked for
_QUESTIONS = re.compile(r"(?<=[?？;；])\s+|(?<=[？；])|\n+")
_SIDES = re.compile(
    r"(?:\b(?:compare|comparison (?:of|between)|differences? between|unterschiede? zwischen|vergleiche?)\s+)"
    r"(?P<a>.+?)\s+(?:and|with|to|und|mit)\s+(?P<b>.+)"
    r"|(?P<c>.+?)\s+(?:vs\.?|versus)\s+(?P<d>.+)",
    re.IGNORECASE | re.DOTALL,
)


def plan(query: str) -> Plan:
    """The steps in an order that keeps their dependencies."""
    whole = " ".join(query.split())
    parts = [*dict.fromkeys(filter(_says_something, _parts(query)))]
    if len(parts) < 2:
        return Plan(PLANNER, (PlanStep("whole", whole),))
    steps = [PlanStep(f"part-{number}", part) for number, part in enumerate(parts[:MOST_PARTS], 1)]
    return Plan(PLANNER, (*steps, PlanStep("whole", whole, tuple(step.step_id for step in steps))))


def _parts(query: str) -> list[str]:
    questions = [" ".join(part.split()) for part in _QUESTIONS.split(query)]
    if sum(map(_says_something, questions)) > 1:
        return questions
    sides = _SIDES.search(query) if len(query) <= MOST_COMPARED else None
    if sides is None:
        return []
    return [" ".join(side.split()).strip(" ?.!") for side in sides.groups() if side]


def _says_something(part: str) -> bool:
    return sum(c.isalnum() for c in part) >= 3 or any(ord(c) > 0x2E80 for c in part)
