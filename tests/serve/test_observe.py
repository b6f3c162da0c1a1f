"""The middleware over a real FastAPI application: counts, log lines, and nothing of the caller's in them."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import StreamingResponse
from prometheus_client.parser import text_string_to_metric_families
from starlette.middleware.cors import CORSMiddleware
from starlette.staticfiles import StaticFiles

from engine.errors import Code, InputError
from serve import logs
from serve.auth import new_token
from serve.metrics import Metrics
from serve.observe import Observe

PROJECT = "0b7c9a52-8f5c-4b39-9f0c-1a6c1b7f9d10"
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def application(metrics: Metrics, folder: str) -> FastAPI:
    app = FastAPI()
    inner, outer = APIRouter(prefix="/documents"), APIRouter(prefix="/api/v1")

    @inner.get("/{document_id}/pages/{n}")
    def page(request: Request, document_id: str, n: int) -> str:
        request.state.subject, request.state.request_id = "ada@example.org", "req-7"
        logs.bind(project_id=PROJECT)
        logging.getLogger("serve.route").info("page shown", extra={"count": n})
        return document_id

    @inner.post("/search")
    def search(request: Request, question: dict[str, str]) -> str:
        raise InputError(f"cannot search for {question}", Code.INTERNAL)

    @inner.get("/{document_id}/events")
    async def events(document_id: str) -> StreamingResponse:
        async def stream() -> Any:
            yield "data: 1\n\n"
            await asyncio.sleep(0.4)
            yield "data: 2\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    @app.get("/readyz")
    def readyz() -> str:
        return "ok"

    outer.include_router(inner)
    app.include_router(outer)
    app.mount("/ui", StaticFiles(directory=folder))
    app.add_middleware(CORSMiddleware)
    app.add_middleware(Observe, metrics=metrics)
    return app


class Watched:
    """The application, what it counted and what it logged."""

    def __init__(self, folder: str) -> None:
        self.metrics = Metrics()
        self.app = application(self.metrics, folder)
        self.lines: list[dict[str, Any]] = []

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def go() -> httpx.Response:
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, **more)

        return asyncio.run(go())

    def counts(self, name: str) -> dict[tuple[str, ...], float]:
        return {
            tuple(v for k, v in sorted(s.labels.items()) if k != "replica"): s.value
            for family in text_string_to_metric_families(self.metrics.text().decode())
            for s in family.samples
            if s.name == name
        }

    def access(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["logger"] == "serve.access" and line["message"] == "request"]


@pytest.fixture
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("ui")
    (folder / "app.js").write_text("1")
    watched = Watched(str(folder))

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            watched.lines.append(json.loads(logs.JsonLines().format(record)))

    logger, handler = logging.getLogger("serve"), Collect()
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield watched
    logger.removeHandler(handler)
    logger.setLevel(level)


@pytest.mark.parametrize(
    ("method", "path", "route", "status"),
    [
        ("GET", f"/api/v1/documents/{PROJECT}/pages/3", "/api/v1/documents/{document_id}/pages/{n}", 200),
        ("GET", f"/api/v1/documents/{PROJECT}/pages/x", "/api/v1/documents/{document_id}/pages/{n}", 422),
        ("PUT", f"/api/v1/documents/{PROJECT}/pages/3", "/api/v1/documents/{document_id}/pages/{n}", 405),
        ("GET", "/api/v1/none/of/this", "unmatched", 404),
        ("GET", "/ui/app.js", "/ui/{path}", 200),
        ("GET", "/ui/secret-name.js", "/ui/{path}", 404),
        ("GET", "/docs", "/docs", 200),
        ("GET", "/openapi.json", "/openapi.json", 200),
        ("POST", "/api/v1/documents/search", "/api/v1/documents/search", 500),
    ],
)
def test_requests_are_counted_under_their_template(
    watched: Watched, method: str, path: str, route: str, status: int
) -> None:
    more = {"json": {"query": "walrus"}} if method == "POST" else {}
    assert watched.send(method, path, **more).status_code == status
    assert watched.counts("corpus_http_requests_total") == {(method, route, f"{status // 100}xx"): 1}
    assert watched.counts("corpus_http_request_seconds_count") == {(route,): 1}
    assert watched.counts("corpus_http_requests_in_progress") == {(): 0}
    (line,) = watched.access()
    assert (line["method"], line["route"], line["status"]) == (method, route, status)
    assert 0 <= line["seconds"] < 5


def test_the_access_line_says_who_what_and_how_long(watched: Watched) -> None:
    headers = {"traceparent": TRACEPARENT}
    watched.send("GET", f"/api/v1/documents/{PROJECT}/pages/3", headers=headers)
    (line,) = watched.access()
    del line["time"], line["seconds"]
    assert line == {
        "level": "info", "logger": "serve.access", "message": "request", "method": "GET", "status": 200,
        "route": "/api/v1/documents/{document_id}/pages/{n}", "caller": logs.caller_id("ada@example.org"),
        "project_id": PROJECT, "request_id": "req-7", "trace_id": TRACEPARENT[3:35],
    }  # fmt: skip
    (inner,) = [line for line in watched.lines if line["logger"] == "serve.route"]
    assert (inner["project_id"], inner["trace_id"], inner["count"]) == (PROJECT, TRACEPARENT[3:35], 3)


def test_nothing_of_the_callers_is_in_the_log(watched: Watched) -> None:
    token, secret = new_token(), "zanzibar"
    headers = {
        "authorization": f"Bearer {token}",
        "user-agent": secret,
        "referer": secret,
        "x-request-id": f"a {secret}",
    }
    watched.send("GET", f"/api/v1/documents/{PROJECT}/pages/3?q={secret}", headers=headers)
    watched.send("GET", f"/api/v1/documents/{secret}.pdf/pages/{secret}", headers=headers)
    watched.send("GET", f"/{secret}/{token}", headers=headers)
    watched.send("POST", "/api/v1/documents/search", json={"query": secret, secret: "x"}, headers=headers)
    watched.send("GET", "/ui/%2e%2e/" + secret, headers={**headers, "traceparent": secret})
    shown = json.dumps(watched.lines)
    assert len(watched.access()) == 5
    for hidden in (secret, token, "ada@example.org"):
        assert hidden not in shown
    for hidden in (secret, token, PROJECT):
        assert hidden not in watched.metrics.text().decode()


def test_what_escapes_the_handlers_is_logged_once_with_its_place(watched: Watched) -> None:
    watched.send("POST", "/api/v1/documents/search", json={"query": "walrus"})
    (line,) = [line for line in watched.lines if "exception" in line]
    assert line["level"] == "error"
    assert line["exception"][0]["code"] == "INTERNAL"
    assert line["exception"][0]["frames"][-1].endswith(" search")
    assert "walrus" not in json.dumps(line)


def test_an_event_stream_counts_as_the_time_until_it_began(watched: Watched) -> None:
    assert watched.send("GET", f"/api/v1/documents/{PROJECT}/events").text == "data: 1\n\ndata: 2\n\n"
    assert watched.access()[0]["seconds"] < 0.35


def test_health_checks_are_counted_but_logged_only_at_debug(watched: Watched) -> None:
    watched.send("GET", "/readyz")
    assert watched.access()[0]["level"] == "debug"
    assert watched.counts("corpus_http_requests_total") == {("GET", "/readyz", "2xx"): 1}


def test_a_client_that_goes_away_is_no_error_of_ours(watched: Watched) -> None:
    async def go() -> None:
        scope = {"type": "http", "method": "GET", "path": f"/api/v1/documents/{PROJECT}/events", "headers": [],
                 "query_string": b"", "http_version": "1.1", "scheme": "http", "server": ("127.0.0.1", 80)}  # fmt: skip
        began = asyncio.Event()

        async def receive() -> dict[str, Any]:
            await asyncio.sleep(60)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            began.set()
            await asyncio.sleep(60)

        task = asyncio.ensure_future(watched.app(scope, receive, send))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    assert watched.counts("corpus_http_requests_in_progress") == {(): 0}
    assert len(watched.access()) == 1


def test_a_made_up_method_is_one_label(watched: Watched) -> None:
    watched.send("BREW", "/readyz")
    assert watched.counts("corpus_http_requests_total") == {("other", "/readyz", "4xx"): 1}
