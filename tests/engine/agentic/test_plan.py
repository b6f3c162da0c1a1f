"""The deterministic planner: by the question's form, always the same, dependencies before what depends on them."""

from __future__ import annotations

import time

import pytest

from engine.agentic.plan import MOST_PARTS, plan


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("What was the Q3 revenue growth?", []),
        ("How is the pump started and stopped?", []),
        ("Who built the tower? When was it painted?", ["Who built the tower?", "When was it painted?"]),
        ("pump pressure; valve number", ["pump pressure;", "valve number"]),
        ("Compare the pump with the valve.", ["the pump", "the valve"]),
        ("What is the difference between Q2 and Q3 revenue?", ["Q2", "Q3 revenue"]),
        ("steel vs copper pipes", ["steel", "copper pipes"]),
        ("塔は誰が建てましたか？いつ塗られましたか？", ["塔は誰が建てましたか？", "いつ塗られましたか？"]),
        ("?? !!", []),
        ("the the", []),
    ],
)
def test_questions_and_comparisons_become_steps(query: str, parts: list[str]) -> None:
    made = plan(query)
    assert made.planner == "deterministic"
    wanted = [part for part in parts if sum(c.isalnum() for c in part) >= 3 or not part.isascii()]
    if len(wanted) < 2:
        assert [step.query for step in made.steps] == [" ".join(query.split())]
    else:
        assert [step.query for step in made.steps] == [*wanted, query]
        assert made.steps[-1].depends_on == tuple(step.step_id for step in made.steps[:-1])
    assert made == plan(query)


def test_the_number_of_steps_is_bounded() -> None:
    made = plan("\n".join(f"question number {n}?" for n in range(50)))
    assert len(made.steps) == MOST_PARTS + 1
    seen: set[str] = set()
    for step in made.steps:
        assert set(step.depends_on) <= seen
        seen.add(step.step_id)


def test_long_queries_are_planned_in_time() -> None:
    start = time.monotonic()
    for query in ("compare " * 1200, "a vs " * 2000, "difference between " + "x " * 4000, "? " * 5000, "\n" * 10_000):
        assert plan(query).steps
    assert time.monotonic() - start < 1
