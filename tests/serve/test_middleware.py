"""What every request passes: id, headers, deadline, bounds."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import BaseModel
from upload_app import client_of, serving

from engine.settings import Telemetry, load
from serve import errors, logs, middleware
from serve.metrics import Metrics

SECRET = "zanzibarquartz"
KB = 1024


class Body(BaseModel):
    text: str


routes = APIRouter()


@routes.post("/json")
async def take(body: Body) -> dict[str, int]:
    return {"length": len(body.text)}


@routes.post("/raw")
async def raw(request: Request) -> dict[str, int]:
    return {"length": len(await request.body())}


@routes.post("/unread")
async def unread() -> Response:
    return Response(status_code=418)


@routes.post("/api/v1/documents/parse")
async def parse(request: Request) -> dict[str, int]:
    length = 0
    async for piece in request.stream():
        length += len(piece)
    await asyncio.sleep(0.7 if length == 1 else 0)
    return {"length": length}


@routes.get("/page")
async def page() -> Response:
    return Response("x", headers={"Content-Security-Policy": "default-src 'self'"})


@routes.get("/slow")
async def slow() -> None:
    await asyncio.sleep(30)


@routes.get("/blocking")
def blocking() -> None:
    time.sleep(2)


@routes.get("/stream")
async def stream() -> StreamingResponse:
    async def words() -> AsyncIterator[bytes]:
        for _ in range(4):
            yield b"word "
            await asyncio.sleep(0.25)

    return StreamingResponse(words())


@routes.get("/breaks")
async def breaks() -> StreamingResponse:
    async def words() -> AsyncIterator[bytes]:
        yield b"word "
        raise RuntimeError(SECRET)

    return StreamingResponse(words())


@routes.get("/crash")
async def crash() -> None:
    raise RuntimeError(SECRET)


@routes.get("/timeout")
async def timeout() -> None:
    raise TimeoutError(SECRET)


@routes.get("/id")
def which(request: Request) -> dict[str, str]:
    logging.getLogger("serve.test").warning("in a thread")
    return {"id": request.state.request_id}


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    settings = load({"home": tmp_path, "serve.json_kb": 4, "serve.request_seconds": 0.5}, environ={})
    made = FastAPI()
    made.include_router(routes)
    errors.install(made)
    middleware.install(made, SimpleNamespace(settings=settings, metrics=Metrics()))  # type: ignore[arg-type]
    return made


def ask(app: FastAPI, method: str, path: str, **request: object) -> httpx.Response:
    async def send() -> httpx.Response:
        async with client_of(app) as client:
            return await client.request(method, path, **request)  # type: ignore[arg-type]

    return asyncio.run(send())


# ---------------------------------------------------------------- ids and headers
@pytest.mark.parametrize("given", ["abc-123_X", "0b0e6b1f-6d5e-4c0f-9a7d-3c2b1a000000", "x" * 128])
def test_a_sane_request_id_is_kept(app: FastAPI, given: str) -> None:
    answer = ask(app, "GET", "/id", headers={"X-Request-ID": given})
    assert (answer.headers["x-request-id"], answer.json()["id"]) == (given, given)
    assert ask(app, "GET", "/nowhere", headers={"X-Request-ID": given}).json()["error"]["request_id"] == given


@pytest.mark.parametrize("given", [None, "", "x" * 129, "a b", "a\tb", "<script>", "ä", "a/b", '"', "%0a"])
def test_any_other_is_replaced(app: FastAPI, given: str | None) -> None:
    headers = {} if given is None else {"X-Request-ID": given.encode("latin-1")}
    answers = [ask(app, "GET", path, headers=headers) for path in ("/id", "/id", "/nowhere", "/crash", "/slow")]
    ids = [answer.headers["x-request-id"] for answer in answers]
    assert len(set(ids)) == len(ids)
    assert all(len(x) == 32 and x.isalnum() for x in ids)
    assert [answer.json()["error"]["request_id"] for answer in answers[2:]] == ids[2:]


def test_log_lines_carry_it_from_threads_too(app: FastAPI) -> None:
    stream, handlers = io.StringIO(), logging.getLogger().handlers[:]
    logs.configure(Telemetry(), stream=stream)  # pyright: ignore[reportCallIssue]
    try:
        ask(app, "GET", "/id", headers={"X-Request-ID": "abc"})
        ask(app, "GET", "/crash", headers={"X-Request-ID": "def"})
    finally:
        logging.getLogger().handlers[:] = handlers
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    told = {(line["message"], line.get("request_id")) for line in lines}
    assert {
        ("in a thread", "abc"),
        ("a request failed unexpectedly", "def"),
        ("request", "abc"),
        ("request", "def"),
    } <= told
    assert SECRET not in stream.getvalue()


@pytest.mark.parametrize("path", ["/id", "/nowhere", "/crash", "/slow"])
def test_every_answer_has_the_security_headers(app: FastAPI, path: str) -> None:
    headers = ask(app, "GET", path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "DENY"
    assert headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_a_page_sets_its_own_policy(app: FastAPI) -> None:
    headers = ask(app, "GET", "/page").headers
    assert headers.get_list("content-security-policy") == ["default-src 'self'"]
    assert headers["x-content-type-options"] == "nosniff"


# ---------------------------------------------------------------- bodies
def chunks(size: int, piece: int = 512) -> AsyncIterator[bytes]:
    async def sending() -> AsyncIterator[bytes]:
        for start in range(0, size, piece):
            yield b" " * min(piece, size - start)

    return sending()


@pytest.mark.parametrize("path", ["/json", "/raw"])
@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data; boundary=B", "text/plain", None])
def test_a_body_over_the_limit(app: FastAPI, path: str, chunked: bool, content_type: str | None) -> None:
    content = chunks(4 * KB + 1) if chunked else b" " * (4 * KB + 1)
    headers = {"Content-Type": content_type} if content_type else {}
    answer = ask(app, "POST", path, content=content, headers=headers)
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "FILE_TOO_LARGE"
    assert answer.json()["error"]["details"] == {"limit": 4 * KB}
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_of_exactly_the_limit(app: FastAPI, chunked: bool) -> None:
    content = chunks(4 * KB) if chunked else b" " * 4 * KB
    answer = ask(app, "POST", "/raw", content=content)
    assert answer.json() == {"length": 4 * KB}
    assert "connection" not in answer.headers


def test_only_multipart_to_an_upload_path_has_bounds_of_its_own(app: FastAPI) -> None:
    path, headers = "/api/v1/documents/parse", {"Content-Type": "Multipart/Form-Data; boundary=B"}
    assert ask(app, "POST", path, content=chunks(100 * KB), headers=headers).json() == {"length": 100 * KB}
    assert ask(app, "POST", path, content=chunks(100 * KB)).status_code == 413
    assert ask(app, "POST", "/raw", content=chunks(100 * KB), headers=headers).status_code == 413


def test_an_endless_body_is_cut_off(app: FastAPI) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while True:
            yield bytes(1 << 20)
            sent += 1

    with serving(app) as (host, port):
        answer = httpx.post(f"http://{host}:{port}/raw", content=endless(), timeout=30)
        assert answer.status_code == 413
        assert sent < 200


@pytest.mark.parametrize("path", ["/nowhere", "/unread", "/raw"])
def test_a_refused_body_ends_the_connection_after_the_answer(
    app: FastAPI, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the client has sent a part or nothing of it."""
    monkeypatch.setattr(middleware, "LINGER_SECONDS", 0.3)
    with serving(app) as (host, port):
        for silent in (False, True):
            with socket.create_connection((host, port), timeout=10) as client:
                client.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n".encode())
                if not silent:
                    client.sendall(bytes(50_000))
                answer = client.recv(65536)
                assert answer[:9] == b"HTTP/1.1 "
                assert b"\r\nconnection: close\r\n" in answer.lower()
                began = time.monotonic()
                while client.recv(65536):
                    pass
                assert 0.2 < time.monotonic() - began < 2


def test_a_body_that_was_read_leaves_the_connection_open(app: FastAPI) -> None:
    with serving(app) as (host, port), httpx.Client(base_url=f"http://{host}:{port}") as client:
        for _ in range(3):
            answer = client.post("/json", json={"nothing": 1})
            assert (answer.status_code, answer.headers.get("connection")) == (422, None)


# ---------------------------------------------------------------- deadline
@pytest.mark.parametrize("path", ["/slow", "/blocking"])
def test_an_answer_that_does_not_begin_in_time(app: FastAPI, path: str) -> None:
    with serving(app) as (host, port):
        began = time.monotonic()
        answer = httpx.get(f"http://{host}:{port}{path}", timeout=10)
        assert time.monotonic() - began < 1.5
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "OVERLOADED")
        assert int(answer.headers["retry-after"]) > 0
        assert httpx.get(f"http://{host}:{port}/id").status_code == 200


def test_what_has_begun_and_uploads_may_take_longer(app: FastAPI) -> None:
    assert ask(app, "GET", "/stream").content == b"word " * 4
    headers = {"Content-Type": "multipart/form-data; boundary=B"}
    assert ask(app, "POST", "/api/v1/documents/parse", content=b"x", headers=headers).json() == {"length": 1}


def test_a_timeout_inside_is_no_deadline(app: FastAPI) -> None:
    answer = ask(app, "GET", "/timeout")
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "INTERNAL")


def test_an_answer_that_breaks_is_not_taken_for_whole(app: FastAPI) -> None:
    with serving(app) as (host, port), pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"http://{host}:{port}/breaks")
