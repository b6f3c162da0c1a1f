"""How much one API process takes on at once: bounded work, a bounded queue, and a clear no beyond it.

Ray Serve has bounds of its own, but it refuses with bare text, and it counts an event stream that lasts for minutes,
an upload over a slow line, a search and the question whether the service is alive all alike. Here each kind has a
lane of its own, so that none can keep out another, and the health routes always pass.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware import Middleware

from engine.errors import Code, CorpusError
from engine.settings import Serve
from serve.errors import error_answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

FREE = frozenset({"/livez", "/readyz", "/metrics"})
UPLOADS = ("/documents/parse", "/documents/batch")
RETRY_SECONDS = 2
STREAMS = 1000  # event streams open at once in one process


@dataclass
class Lane:
    """`places`: requests worked on at once; `queue`: requests that wait for a place, first come, first served."""

    places: int
    queue: int
    _free: asyncio.Semaphore = field(init=False)
    _waiting: int = 0

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.places)

    @property
    def full(self) -> bool:
        return self._free.locked() and self._waiting >= self.queue

    async def enter(self) -> None:
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1

    def leave(self) -> None:
        self._free.release()


class Admission:
    """ASGI middleware. Who finds the queue of its lane full is answered OVERLOADED."""

    def __init__(self, app: ASGIApp, bounds: Serve) -> None:
        self._app = app
        self._streams = Lane(STREAMS, 0)
        self._uploads = Lane(max(1, bounds.max_ongoing // 2), bounds.max_queued)
        self._others = Lane(bounds.max_ongoing, bounds.max_queued)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in FREE:
            await self._app(scope, receive, send)
            return
        lane = self._lane(scope)
        if lane.full:
            await overloaded(scope, receive, send)
            return
        await lane.enter()
        try:
            await self._app(scope, receive, send)
        finally:
            lane.leave()

    def _lane(self, scope: Scope) -> Lane:
        path: str = scope["path"]
        if scope["method"] == "POST" and path.endswith(UPLOADS):
            return self._uploads
        return self._streams if path.endswith("/events") else self._others


def requests_at_once(bounds: Serve) -> int:
    """More requests than `Admission` ever lets into one process: what a server in front of it may pass on."""
    return STREAMS + 2 * bounds.max_ongoing + 2 * bounds.max_queued + 100


async def overloaded(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that only says: come again."""
    error = CorpusError("too many requests at once", Code.OVERLOADED, details={"retry_after": RETRY_SECONDS})
    await error_answer(scope, error)(scope, receive, send)


def admit(app: FastAPI, bounds: Serve) -> FastAPI:
    """`app` with these bounds, inside all of its other middleware: what is refused has an id, a line in the log and
    the common form, and who waits does so under the request's deadline."""
    app.user_middleware.append(Middleware(Admission, bounds=bounds))
    return app
