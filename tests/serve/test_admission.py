"""Bounds on what one process takes on: lanes, queues, and how the refused are told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
from fastapi import FastAPI

from engine.settings import load
from serve import errors
from serve.admission import STREAMS, admit, requests_at_once

SEARCH, PARSE, EVENTS = "/api/v1/documents/search", "/api/v1/documents/parse", "/api/v1/documents/1/events"


class Held:
    """An API whose every request waits until `gate` opens."""

    def __init__(self, ongoing: int, queued: int) -> None:
        self.gate = asyncio.Event()
        self.at_work = self.most = 0
        self.bounds = load({"serve.max_ongoing": ongoing, "serve.max_queued": queued}, environ={}).serve
        app = FastAPI()
        errors.install(app)
        app.get("/livez")(self._free)
        for method, path in (("POST", SEARCH), ("POST", PARSE), ("GET", EVENTS)):
            app.add_api_route(path, self._wait, methods=[method])
        self.app = admit(app, self.bounds)

    async def _free(self) -> str:
        return "alive"

    async def _wait(self) -> str:
        self.at_work += 1
        self.most = max(self.most, self.at_work)
        try:
            await self.gate.wait()
        finally:
            self.at_work -= 1
        return "done"


def run(held: Callable[[], Held], work: Callable[[Held, httpx.AsyncClient], Awaitable[Any]]) -> Any:
    async def inside() -> Any:
        made = held()
        async with httpx.AsyncClient(transport=httpx.ASGITransport(made.app), base_url="http://test") as client:
            return await asyncio.wait_for(work(made, client), 20)

    return asyncio.run(inside())


async def settle() -> None:
    for _ in range(200):
        await asyncio.sleep(0)


def test_so_many_at_once_so_many_waiting_and_the_rest_is_told_when_to_come_back() -> None:
    async def work(held: Held, client: httpx.AsyncClient) -> list[httpx.Response]:
        asked = [asyncio.create_task(client.post(SEARCH)) for _ in range(10)]
        await settle()
        assert held.at_work == 2
        held.gate.set()
        return list(await asyncio.gather(*asked))

    answers = run(lambda: Held(2, 3), work)
    assert sorted(a.status_code for a in answers) == [200] * 5 + [503] * 5
    refused = next(a for a in answers if a.status_code == 503)
    assert refused.json()["error"]["code"] == "OVERLOADED"
    assert refused.headers["retry-after"] == "2"


def test_a_place_that_is_left_goes_to_who_waits() -> None:
    async def work(held: Held, client: httpx.AsyncClient) -> int:
        first = asyncio.create_task(client.post(SEARCH))
        second = asyncio.create_task(client.post(SEARCH))
        await settle()
        assert held.at_work == 1
        first.cancel()
        await settle()
        assert held.at_work == held.most == 1
        held.gate.set()
        return (await second).status_code

    assert run(lambda: Held(1, 1), work) == 200


def test_neither_uploads_nor_streams_keep_out_searches_and_health_always_answers() -> None:
    async def work(held: Held, client: httpx.AsyncClient) -> None:
        asked = [asyncio.create_task(client.post(PARSE)) for _ in range(20)]
        asked += [asyncio.create_task(client.get(EVENTS)) for _ in range(20)]
        await settle()
        assert held.at_work == 1 + 20  # half of the places for uploads; streams have their own
        search = asyncio.create_task(client.post(SEARCH))
        await settle()
        assert held.at_work == 22
        assert (await client.get("/livez")).text == '"alive"'
        held.gate.set()
        assert (await search).status_code == 200
        statuses = [(await answer).status_code for answer in asked]
        assert statuses[:20].count(503) == 18 and set(statuses[20:]) == {200}

    run(lambda: Held(2, 1), work)


def test_a_server_in_front_passes_on_more_than_is_ever_let_in() -> None:
    bounds = load({"serve.max_ongoing": 64, "serve.max_queued": 256}, environ={}).serve
    assert requests_at_once(bounds) > STREAMS + (64 + 256) + (32 + 256)
