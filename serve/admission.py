"""How much one API process takes on at once: bounded work, a bounded queue, and a clear no beyond it.

Ray Serve has bounds of its own, but it refuses with bare text, and it counts an event stream that lasts for minutes,
an upload over a slow line, a search and the question whether the service is alive all alike. Here each kind has a
lane of its own, so that none can keep out another, and the health routes always pass. A request takes a place only when
its body is here: who sends one slowly, or never, holds up nobody, and needs no token for it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware import Middleware

from engine.errors import Code, CorpusError, InputError
from engine.settings import Serve
from serve.errors import error_answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FREE = frozenset({"/livez", "/readyz", "/metrics"})
UPLOADS = ("/documents/parse", "/documents/batch")
RETRY_SECONDS = 2
STREAMS = 1000  # event streams open at once in one process
ARRIVING = 1000  # requests whose body is on its way
SMALL_BYTES = 64 << 10  # of a body, as announced; larger ones have few places, since they are kept in memory
LARGE = (16, 64)  # places and queue
ARRIVE_SECONDS = 15.0  # for one body


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
        self._small, self._large = Lane(ARRIVING, 0), Lane(*LARGE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in FREE:
            await self._app(scope, receive, send)
            return
        lane = self._lane(scope)
        if lane.full:
            await overloaded(scope, receive, send)
            return
        if lane is self._others and (size := _announced(scope)) != 0:
            body = await self._body(scope, receive, send, self._small if 0 < size <= SMALL_BYTES else self._large)
            if body is None:
                return
            receive = _again(body, receive)
            if lane.full:  # by now
                await overloaded(scope, receive, send)
                return
        await lane.enter()
        try:
            await self._app(scope, receive, send)
        finally:
            lane.leave()

    async def _body(self, scope: Scope, receive: Receive, send: Send, lane: Lane) -> bytes | None:
        """The whole body; None when the request was answered, or has nobody left to answer."""
        if lane.full:
            await overloaded(scope, receive, send)
            return None
        try:
            async with asyncio.timeout(ARRIVE_SECONDS):
                await lane.enter()
                try:
                    return await _whole(receive)
                finally:
                    lane.leave()
        except TimeoutError:
            late = InputError(f"the body did not arrive within {ARRIVE_SECONDS:g} seconds", Code.INVALID_REQUEST)
            await error_answer(scope, late, 408)(scope, receive, send)
        except CorpusError as error:  # too large, as found while it arrives
            await error_answer(scope, error)(scope, receive, send)
        return None

    def _lane(self, scope: Scope) -> Lane:
        path: str = scope["path"]
        if scope["method"] == "POST" and path.endswith(UPLOADS):
            return self._uploads
        return self._streams if path.endswith("/events") else self._others


def _announced(scope: Scope) -> int:
    """The body's length in bytes; -1 when it is not told before (RFC 9112, section 6.3)."""
    headers = {name: value for name, value in scope["headers"] if name in (b"content-length", b"transfer-encoding")}
    if b"transfer-encoding" in headers:
        return -1
    length = headers.get(b"content-length", b"0")
    return int(length) if length.isdigit() else -1


async def _whole(receive: Receive) -> bytes | None:
    """The body; None when the client went away."""
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return bytes(body)


def _again(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was received already, and then what comes after it."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def requests_at_once(bounds: Serve) -> int:
    """More requests than `Admission` ever lets into one process: what a server in front of it may pass on."""
    return STREAMS + ARRIVING + sum(LARGE) + 2 * bounds.max_ongoing + 2 * bounds.max_queued + 100


async def overloaded(scope: Scope, receive: Receive, send: Send) -> None:
    """An application that only says: come again."""
    error = CorpusError("too many requests at once", Code.OVERLOADED, details={"retry_after": RETRY_SECONDS})
    await error_answer(scope, error)(scope, receive, send)


def admit(app: FastAPI, bounds: Serve) -> FastAPI:
    """`app` with these bounds, inside all of its other middleware: what is refused has an id, a line in the log and
    the common form, and who waits does so under the request's deadline."""
    app.user_middleware.append(Middleware(Admission, bounds=bounds))
    return app
