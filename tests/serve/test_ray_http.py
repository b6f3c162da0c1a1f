"""What stands between Serve's HTTP servers and the API (no Ray needed to try it)."""

from __future__ import annotations

import asyncio
import json
from types import SimpleNamespace
from typing import Any

import pytest

from serve.ray_http import DIRECT, Direct, Enveloped, SmallOnly
from serve.ray_scaling import WORK, by_open_uploads

Headers = list[tuple[bytes, bytes]]


def call(app: Any, headers: Headers) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What an ASGI application sends, and the scope afterwards."""
    sent: list[dict[str, Any]] = []
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/x", "headers": headers}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent, scope


def answering(status: int, headers: Headers, body: bytes = b"said by Serve", seen: Headers | None = None) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if seen is not None:
            seen.extend(scope["headers"])
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def test_the_application_gets_the_connection_and_no_client_steers_serve() -> None:
    seen: Headers = []
    given = [(b"X-Request-Timeout-Seconds", b"1"), (b"x-session-id", b"s"), (b"accept", b"*/*"), (DIRECT[0], b"?0")]
    call(Direct(answering(200, [], seen=seen)), given)
    assert seen == [(b"accept", b"*/*"), DIRECT]


@pytest.mark.parametrize(
    ("status", "code"), [(503, "OVERLOADED"), (408, "OVERLOADED"), (404, "DOCUMENT_NOT_FOUND"), (500, "INTERNAL")]
)
def test_what_serve_says_itself_leaves_in_the_common_form(status: int, code: str) -> None:
    app = Enveloped(answering(status, [(b"content-type", b"text/plain; charset=utf-8")]))
    (start, body), _ = call(app, [(b"x-request-id", b"serves-id")])
    error = json.loads(body["body"])["error"]
    assert (error["code"], error["request_id"]) == (code, "serves-id")
    assert (b"x-request-id", b"serves-id") in start["headers"]
    assert any(name == b"retry-after" for name, _ in start["headers"]) == (code == "OVERLOADED")


def test_the_applications_own_answers_pass_with_one_id() -> None:
    headers = [(b"content-type", b"application/json"), (b"x-request-id", b"ours"), (b"X-Request-ID", b"serves")]
    (start, body), _ = call(Enveloped(answering(503, headers, b"{}")), [])
    assert start["headers"] == headers[:2]
    assert body["body"] == b"{}"


@pytest.mark.parametrize(
    ("headers", "status"),
    [([], 200), ([(b"content-length", b"1000")], 200), ([(b"content-length", b"2000000")], 503),
     ([(b"transfer-encoding", b"chunked")], 503), ([(b"content-length", b"-5")], 503)],
)  # fmt: skip
def test_the_fallback_proxy_buffers_small_bodies_only(headers: Headers, status: int) -> None:
    (start, _), _ = call(SmallOnly(answering(200, [])), headers)
    assert start["status"] == status


@pytest.mark.parametrize(
    ("reports", "wanted"),
    [({}, 3), ({"a": 0.0, "b": 0.0}, 1), ({"a": 2.2, "b": 7.6}, 8), ({"a": float("nan"), "b": 2.0}, 2)],
)
def test_workers_follow_the_ledgers_queue(reports: dict[str, float], wanted: int) -> None:
    metrics = {WORK: reports} if reports else None
    assert by_open_uploads(SimpleNamespace(aggregated_metrics=metrics, target_num_replicas=3)) == (wanted, {})
