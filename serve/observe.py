"""The middleware that watches requests: one span, one access log line and one count each."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from serve import logs, tracing
from serve.metrics import UNMATCHED, Metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = logging.getLogger("serve.access")

QUIET = frozenset({"/livez", "/readyz", "/metrics"})  # asked every few seconds: logged at DEBUG, not traced
CLIENT_GONE = 499
_METHOD = re.compile(r"[A-Z]{1,10}").fullmatch


@dataclass(slots=True)
class Seen:
    """What became of one request. `seconds` 0: it has not ended."""

    began: float
    status: int = 0
    seconds: float = 0.0


class Observe:
    """ASGI middleware: give it to the application as the outermost one.

    It takes `subject` and `request_id` from `request.state` (or `serve.logs.bind`) and `project_id` from
    `serve.logs.bind(project_id=...)`; all lines logged on the way carry what is bound.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        traceparent = _header(scope, b"traceparent")
        seen = Seen(time.perf_counter())

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
                if _is_stream(message):
                    seen.seconds = time.perf_counter() - seen.began
            await send(message)

        self._metrics.request_began()
        with logs.scope(
            trace_id=tracing.trace_id_of(traceparent), request_id=_noted(scope, {}, "request_id")
        ) as fields:
            try:
                await self._traced(scope, receive, watched, seen, traceparent, fields)
            finally:
                seen.seconds = seen.seconds or time.perf_counter() - seen.began
                self._record(scope, seen, fields)

    async def _traced(
        self, scope: Scope, receive: Receive, send: Send, seen: Seen, traceparent: str, fields: dict[str, object]
    ) -> None:
        """Run the application inside a server span, whose name and attributes are known afterwards."""
        if scope["path"] in QUIET or not tracing.enabled():
            await self._caught(scope, receive, send, seen)
            return
        method = _method(scope)
        with tracing.span(method, _valid(traceparent), {"http.request.method": method}, "server") as span:
            fields["trace_id"] = tracing.trace_id_of(tracing.current_traceparent())
            try:
                await self._caught(scope, receive, send, seen)
            finally:
                route = route_of(scope)
                if span is not None:
                    span.update_name(f"{method} {route}")
                tracing.annotate({"http.route": route, "http.response.status_code": seen.status})
                for name in ("request_id", "project_id"):
                    if value := _noted(scope, fields, name):
                        tracing.annotate({f"corpus.{name}": logs.struck(value)})  # pyright: ignore[reportArgumentType]

    async def _caught(self, scope: Scope, receive: Receive, send: Send, seen: Seen) -> None:
        """What escapes the application's own handlers is logged here, where the request is still known."""
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            seen.status = seen.status or CLIENT_GONE
            raise
        except Exception:
            seen.status = seen.status or 500
            log.exception("the request was not handled")
            raise
        finally:
            seen.status = seen.status or CLIENT_GONE  # ended without a word: there was nobody left to hear it

    def _record(self, scope: Scope, seen: Seen, fields: dict[str, object]) -> None:
        method, route = _method(scope), route_of(scope)
        self._metrics.request_ended(method, route, seen.status, seen.seconds)
        subject = _noted(scope, fields, "subject")
        line = {
            "method": method,
            "route": route,
            "status": seen.status,
            "seconds": round(seen.seconds, 4),
            "caller": logs.caller_id(subject) if subject else "",
            "request_id": _noted(scope, fields, "request_id"),
            "project_id": _noted(scope, fields, "project_id"),
        }
        log.log(logging.DEBUG if route in QUIET else logging.INFO, "request", extra=line)


def route_of(scope: Scope) -> str:
    """The template of the route that answered, with its prefixes; `unmatched` when there was none.

    FastAPI keeps the whole template of a route in an included router in its own part of the scope; the route itself
    knows only the part its own router gave it.
    """
    context: Any = scope.get("fastapi", {}).get("effective_route_context")
    template = getattr(context, "path_format", None) or getattr(scope.get("route"), "path_format", None)
    if isinstance(template, str):
        return template
    mounted = str(scope.get("root_path", "")).removeprefix(str(scope.get("app_root_path", "")))
    if mounted and "app_root_path" in scope and "endpoint" in scope:
        return mounted + "/{path}"
    # a matched route without parameters, such as /docs, is its own template
    return scope["path"] if "endpoint" in scope and not scope.get("path_params") else UNMATCHED


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")


def _is_stream(message: Message) -> bool:
    return any(k.lower() == b"content-type" and v.startswith(b"text/event-stream") for k, v in message["headers"])


def _method(scope: Scope) -> str:
    return scope["method"] if _METHOD(scope["method"]) else "OTHER"


def _valid(traceparent: str) -> str:
    return traceparent if tracing.TRACEPARENT(traceparent) else ""


def _noted(scope: Scope, fields: dict[str, object], name: str) -> str:
    value = fields.get(name) or scope.get("state", {}).get(name)
    return str(value) if value else ""
