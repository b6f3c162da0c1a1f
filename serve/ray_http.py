"""What Corpus puts between Ray Serve's own HTTP servers and the API, through Serve's hook for it
(RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH).

By default Serve copies a request's body into a queue without bounds, as fast as the client sends, whether the
application reads it or not. `Direct` switches that off for each request (Serve's own header for it): the
application then reads from the connection, and TCP slows the client down. A client that goes away is told to the
application the way ASGI does it. With that header Serve runs the application in the event loop of its HTTP server,
so RAY_SERVE_RUN_USER_CODE_IN_SEPARATE_THREAD must be 0 in an API replica.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.middleware import Middleware

from engine.errors import Code, CorpusError
from serve.errors import error_answer

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

REPLICA = "serve.ray_http.replica_middleware"
PROXY = "serve.ray_http.proxy_middleware"
DIRECT = (b"x-request-disconnect-disabled", b"?1")
# Headers by which a client could steer Serve: how long it waits, where it routes.
STEERING = frozenset(
    {
        DIRECT[0],
        b"x-request-timeout-seconds",
        b"serve_multiplexed_model_id",
        b"serve-multiplexed-model-id",
        b"x-session-id",
    }
)
SMALL = 1 << 20  # a body that the fallback proxy may buffer


def replica_middleware() -> list[Middleware]:
    """For the HTTP server of an API replica."""
    return [Middleware(Direct), Middleware(Enveloped)]


def proxy_middleware() -> list[Middleware]:
    """For Serve's own proxy, which HAProxy falls back on while no replica is ready."""
    return [Middleware(SmallOnly), Middleware(Enveloped)]


class Direct:
    """Gives the application the connection itself, and drops the headers by which a client could steer Serve."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["headers"] = [h for h in scope["headers"] if h[0].lower() not in STEERING] + [DIRECT]
        await self._app(scope, receive, send)


class SmallOnly:
    """Lets through what may be buffered without harm; anything bigger is to come again when a replica is ready."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _small(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        await _refuse(scope, receive, send, _meaning(503))


def _small(headers: Headers) -> bool:
    length = headers.get("content-length", "0")
    return "transfer-encoding" not in headers and length.isdecimal() and int(length) <= SMALL


class Enveloped:
    """Serve's own refusals are bare text: they leave as the envelope that all errors have. Where Serve adds its
    X-Request-ID to that of the application, the application's stays."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        replaced = False

        async def checked(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and _is_serves(message):
                replaced = True
                await _refuse(scope, receive, send, _meaning(message["status"]))
            elif not replaced:
                if message["type"] == "http.response.start":
                    message["headers"] = _with_one_id(message["headers"])
                await send(message)

        await self._app(scope, receive, checked)


def _with_one_id(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    ids = [n for n, (name, _) in enumerate(headers) if name.lower() == b"x-request-id"]
    return [header for n, header in enumerate(headers) if n not in ids[1:]]


def _is_serves(message: Message) -> bool:
    """Whether an answer is a refusal of Serve's own: an error in plain text, which the API never gives."""
    plain = Headers(raw=message["headers"]).get("content-type", "").startswith("text/plain")
    return plain and message["status"] >= 400


def _meaning(status: int) -> CorpusError:
    if status in (408, 429, 503):
        return CorpusError("too many requests at once, or no server is ready for this one", Code.OVERLOADED)
    if status == 404:
        return CorpusError("there is nothing at this path", Code.DOCUMENT_NOT_FOUND)
    return CorpusError("unexpected error")


async def _refuse(scope: Scope, receive: Receive, send: Send, error: CorpusError) -> None:
    """Answer with the common form, under the id Serve gave the request where the application did not see it."""
    given = Headers(scope=scope).get("x-request-id", "") or uuid.uuid4().hex
    known = {**scope, "state": {"request_id": given, **scope.get("state", {})}}
    await error_answer(known, error, headers={"X-Request-ID": given})(scope, receive, send)
