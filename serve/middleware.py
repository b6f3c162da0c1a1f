"""What every request passes, as plain ASGI: its id, security headers, a deadline, a bound on what it may send, and a
catch for what nothing else caught. `install` puts them in order."""

from __future__ import annotations

import asyncio
import logging
import re
import uuid
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders

from engine.errors import Code, CorpusError, InputError
from serve import logs
from serve.admission import UPLOADS
from serve.errors import error_answer
from serve.observe import Observe

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from serve.deps import Deps

log = logging.getLogger(__name__)

# What an incoming X-Request-ID may look like to be kept; it is also what the log shows.
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,128}").fullmatch
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
}
LINGER_SECONDS = 2.0
LINGER_BYTES = 64 << 20


def install(app: FastAPI, deps: Deps) -> None:
    """Add them all to `app`; the last added is the outermost."""
    serve = deps.settings.serve
    app.add_middleware(BodyLimit, limit=serve.json_kb << 10)
    app.add_middleware(Deadline, seconds=serve.request_seconds)
    app.add_middleware(CatchAll)
    app.add_middleware(Linger)
    app.add_middleware(AnswerHeaders)
    app.add_middleware(RequestIds)
    app.add_middleware(Observe, metrics=deps.metrics)


def is_upload(scope: Scope) -> bool:
    """Whether the route of this request streams its body itself and bounds it: multipart, to an upload's path."""
    path: str = scope["path"]
    return scope["method"] == "POST" and path.endswith(UPLOADS)


class RequestIds:
    """Gives every request an id, the client's own X-Request-ID when it is a sane one: in `request.state.request_id`,
    in every log line on the way, in the answer's header."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = _header(scope, b"x-request-id")
        request_id = given if _REQUEST_ID(given) else uuid.uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        logs.bind(request_id=request_id)

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            await send(message)

        await self._app(scope, receive, named)


class AnswerHeaders:
    """Adds SECURITY_HEADERS to answers that have not set them themselves (as the page for people does)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, secured if scope["type"] == "http" else send)


class Linger:
    """Closes connections whose request was refused before its body was read, so that nobody goes on sending it in
    vain. Not at once, though: a connection that is closed while bytes of the client arrive is reset, and the client
    may never see the answer. So the answer goes out whole, then a little of the body is read and thrown away, and
    only then it ends (RFC 9112, section 9.6)."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _has_body(scope):
            await self._app(scope, receive, send)
            return
        unread, refused, answered = True, False, False

        async def noted() -> Message:
            nonlocal unread
            message = await receive()
            unread = unread and bool(message.get("more_body", False))
            return message

        async def lingering(message: Message) -> None:
            nonlocal refused, answered
            if message["type"] == "http.response.start" and unread and message["status"] >= 400:
                refused = True
                MutableHeaders(scope=message)["Connection"] = "close"
            elif refused and not message.get("more_body", False):
                answered, message = True, {**message, "more_body": True}
            await send(message)

        await self._app(scope, noted, lingering)
        if answered:  # and the request has given back its place
            await _drain(noted)
            await send({"type": "http.response.body", "body": b""})


def _has_body(scope: Scope) -> bool:
    return _header(scope, b"content-length") not in ("", "0") or _header(scope, b"transfer-encoding") != ""


async def _drain(receive: Receive) -> None:
    """Read and forget until the body or the client's patience ends, or ours."""
    read = 0
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while read < LINGER_BYTES:
                message = await receive()
                read += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return


class CatchAll:
    """Answers what no handler caught as INTERNAL, and logs it with the request's id and without its text. When the
    answer has begun already, the connection breaks off, so that nobody takes a part of it for the whole."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except Exception as error:
            if started:
                raise
            log.error("a request failed unexpectedly", exc_info=error, extra={"code": Code.INTERNAL})
            await error_answer(scope, CorpusError("unexpected error"))(scope, receive, send)


class Deadline:
    """Answers OVERLOADED when the answer has not begun in time. What has begun to answer (event streams, downloads)
    and uploads, which take as long as the client's line, are not bounded here."""

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_upload(scope):
            await self._app(scope, receive, send)
            return
        patience = asyncio.timeout(self._seconds)
        started = False

        async def begun(message: Message) -> None:
            nonlocal started
            if not started and not patience.expired():
                patience.reschedule(None)
            started = True
            await send(message)

        try:
            async with patience:
                await self._app(scope, receive, begun)
        except TimeoutError:
            if started or not patience.expired():
                raise
            late = CorpusError(f"not answered within {self._seconds:g} seconds", Code.OVERLOADED)
            await error_answer(scope, late)(scope, receive, send)


class BodyLimit:
    """Refuses a body over `limit` bytes while it arrives, by what was sent and not by what was announced alone.
    Multipart uploads have bounds of their own."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (is_upload(scope) and _is_multipart(scope)):
            await self._app(scope, receive, send)
            return
        announced = _header(scope, b"content-length")
        if announced.isdecimal() and int(announced) > self._limit:
            await error_answer(scope, self._error())(scope, receive, send)
            return
        read = 0

        async def bounded() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            if read > self._limit:
                raise self._error()
            return message

        await self._app(scope, bounded, send)

    def _error(self) -> CorpusError:
        message = f"the request's body passes the limit of {self._limit} bytes (setting serve.json_kb)"
        return InputError(message, Code.FILE_TOO_LARGE, details={"limit": self._limit})


def _is_multipart(scope: Scope) -> bool:
    return _header(scope, b"content-type").lower().lstrip().startswith("multipart/form-data")


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")
