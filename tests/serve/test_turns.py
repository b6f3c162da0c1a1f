"""Slow work in turns: one project's flood holds a few places, and the others' requests pass."""

from __future__ import annotations

import asyncio

import pytest

from engine.errors import Code, CorpusError
from serve.turns import Turns


def test_a_projects_flood_is_refused_and_another_projects_request_passes() -> None:
    async def flood() -> None:
        turns, gate, at_work = Turns(at_once=2, waiting=3), asyncio.Event(), list[str]()

        async def work(project: str) -> None:
            async with turns.of(project):
                at_work.append(project)
                await gate.wait()

        asked = [asyncio.create_task(work("a")) for _ in range(9)]
        await asyncio.sleep(0.05)
        assert at_work == ["a", "a"]
        refused = [task.exception() for task in asked if task.done()]
        assert len(refused) == 4
        assert all(isinstance(error, CorpusError) and error.code is Code.OVERLOADED for error in refused)
        other = asyncio.create_task(work("b"))
        await asyncio.sleep(0.05)
        assert at_work == ["a", "a", "b"]
        gate.set()
        await asyncio.gather(*(task for task in asked if not task.done()), other)
        assert at_work.count("a") == 5

    asyncio.run(flood())


def test_a_turn_is_given_back_by_what_fails_or_is_cancelled() -> None:
    async def fail() -> None:
        turns = Turns(at_once=1, waiting=1)
        with pytest.raises(ZeroDivisionError):
            async with turns.of("a"):
                raise ZeroDivisionError
        gate = asyncio.Event()

        async def work() -> None:
            async with turns.of("a"):
                await gate.wait()

        working, waiting = asyncio.create_task(work()), asyncio.create_task(work())
        await asyncio.sleep(0.05)
        waiting.cancel()
        await asyncio.sleep(0.05)
        third = asyncio.create_task(work())
        await asyncio.sleep(0.05)
        assert not third.done()  # it waits in the place of the cancelled one
        working.cancel()
        gate.set()
        await asyncio.wait_for(third, 5)

    asyncio.run(fail())
