"""The gateway embedder against a real HTTP server that can misbehave in every way seen in the field."""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from pydantic import SecretStr

from engine.embed import gateway
from engine.embed.gateway import GatewayEmbedder, request_batches
from engine.embed.gateway_model import gateway_info
from engine.embed.make import make_embedder, model_limits
from engine.errors import Code, ConfigError, EmbeddingError
from engine.settings import Embedding, Gateway, Settings

KEY = "sk-very-secret"
Answer = tuple[int, dict[str, str], object]
Script = Callable[[int, dict[str, object]], Answer | None]


def vector(text: str) -> list[float]:
    """Three numbers that depend on the text, not of unit length."""
    return [float(len(text)), float(sum(map(ord, text)) % 97 + 1), 3.0]


def good(body: dict[str, object]) -> dict[str, object]:
    texts: list[str] = body["input"]  # type: ignore[assignment]
    return {"data": [{"index": i, "embedding": vector(t)} for i, t in enumerate(texts)]}


class Server(ThreadingHTTPServer):
    """Answers by `script(number of the request, body)`; None means a good answer."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that gave up waiting is part of the test."""

    script: Script = staticmethod(lambda number, body: None)

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[dict[str, object]] = []
        self.headers: list[str | None] = []
        self.paths: list[str] = []
        self.lock = threading.Lock()
        self.running = self.most = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Server  # type: ignore[assignment]
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        with server.lock:
            server.bodies.append(body)
            server.headers.append(self.headers.get("Authorization"))
            server.paths.append(self.path)
            number = len(server.bodies)
            server.running += 1
            server.most = max(server.most, server.running)
        status, headers, payload = server.script(number, body) or (200, {}, good(body))
        raw = payload.encode() if isinstance(payload, str) else json.dumps(payload).encode()
        with server.lock:
            server.running -= 1
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(gateway, "BACKOFF_SECONDS", 0.01)
    made = Server()
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


def settings(url: str, **embedding: object) -> Settings:
    values: dict[str, object] = {"backend": "gateway", "model": "toy", "dimensions": 3, "max_tokens": 50}
    values |= {"tokenizer": "cl100k_base", **embedding}
    return Settings(
        embedding=Embedding(**values),  # type: ignore[arg-type]
        gateway=Gateway(url=url, api_key=SecretStr(KEY), attempts=4, timeout_seconds=1),
    )


@pytest.fixture
def make(server: Server) -> Iterator[Callable[..., GatewayEmbedder]]:
    made: list[GatewayEmbedder] = []

    def build(**embedding: object) -> GatewayEmbedder:
        embedder = make_embedder(settings(server.url, **embedding))
        assert isinstance(embedder, GatewayEmbedder)
        made.append(embedder)
        return embedder

    yield build
    for embedder in made:
        embedder.close()


def expected(texts: list[str]) -> np.ndarray:
    matrix = np.array([vector(t) for t in texts])
    return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)


def test_vectors_come_back_in_order_and_at_unit_length(server: Server, make) -> None:
    texts = [f"text number {i} " + "x" * (i % 7) for i in range(230)]
    found = make(gateway_batch=100).embed_documents(texts)
    np.testing.assert_allclose(found, expected(texts), rtol=1e-6)
    assert found.dtype == np.float32
    assert sorted(len(b["input"]) for b in server.bodies) == [30, 100, 100]  # type: ignore[arg-type]
    assert set(server.headers) == {f"Bearer {KEY}"}
    assert set(server.paths) == {"/v1/embeddings"}
    assert server.bodies[0]["model"] == "toy"


def test_prefixes_are_sent(server: Server, make) -> None:
    embedder = make(query_prefix="query: ", document_prefix="passage: ")
    embedder.embed_documents(["a"])
    embedder.embed_queries(["b"])
    assert [b["input"] for b in server.bodies] == [["passage: a"], ["query: b"]]
    assert embedder.count_tokens(["a"]) == model_limits(settings("http://x", tokenizer="cl100k_base")).count(
        ["passage: a"]
    )


def test_the_index_orders_not_the_position(server: Server, make) -> None:
    server.script = lambda number, body: (200, {}, {"data": good(body)["data"][::-1]})  # type: ignore[index]
    texts = ["a", "bb", "ccc"]
    np.testing.assert_allclose(make().embed_documents(texts), expected(texts), rtol=1e-6)


def test_concurrency_is_bounded(server: Server, make) -> None:
    def slow(number: int, body: dict[str, object]) -> None:
        time.sleep(0.05)

    server.script = slow
    make(gateway_batch=1, gateway_concurrency=3).embed_documents([f"t{i}" for i in range(12)])
    assert 2 <= server.most <= 3


def test_429_waits_as_long_as_asked(server: Server, make) -> None:
    server.script = lambda number, body: (429, {"Retry-After": "1"}, {}) if number == 1 else None
    began = time.monotonic()
    make().embed_documents(["a"])
    assert 1.0 <= time.monotonic() - began < 3
    assert len(server.bodies) == 2


def test_retry_after_may_be_a_date(server: Server, make) -> None:
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.script = lambda number, body: (503, {"Retry-After": when}, {}) if number == 1 else None
    began = time.monotonic()
    make().embed_documents(["a"])
    assert 0.5 <= time.monotonic() - began < 4


def test_a_pause_of_hours_is_a_failure(server: Server, make) -> None:
    server.script = lambda number, body: (429, {"Retry-After": "7200"}, {})
    with pytest.raises(EmbeddingError, match="429"):
        make().embed_documents(["a"])
    assert len(server.bodies) == 1


@pytest.mark.parametrize("status", [408, 500, 502, 503])
def test_temporary_failures_are_tried_again(status: int, server: Server, make) -> None:
    server.script = lambda number, body: (status, {}, "oops") if number < 4 else None
    np.testing.assert_allclose(make().embed_documents(["a"]), expected(["a"]), rtol=1e-6)
    assert len(server.bodies) == 4


def test_attempts_end(server: Server, make) -> None:
    server.script = lambda number, body: (500, {}, {})
    with pytest.raises(EmbeddingError, match="answered 500") as caught:
        make().embed_documents(["a"])
    assert len(server.bodies) == 4
    assert caught.value.code is Code.EMBEDDING_FAILED


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_other_failures_are_not_tried_again_and_never_show_the_key(status: int, server: Server, make) -> None:
    error = {"error": {"code": "model_not_found", "message": f"key {KEY} may not use it"}}
    server.script = lambda number, body: (status, {}, error)
    with pytest.raises(EmbeddingError) as caught:
        make().embed_documents(["a"])
    assert len(server.bodies) == 1
    assert caught.value.message == f"embedding model toy at {server.url} answered {status} (model_not_found)"
    assert KEY not in str(caught.value.details)


@pytest.mark.parametrize(
    ("payload", "complaint"),
    [
        ({"data": []}, "not a list of 2"),
        ({"data": [{"index": 0, "embedding": [1, 2, 3]}]}, "not a list of 2"),
        ({"data": [{"index": i, "embedding": [1, 2, 3]} for i in range(3)]}, "3 embeddings for 2"),
        ({"data": [{"index": 0, "embedding": [1, 2, 3]}] * 2}, "not a list of 2"),
        ({"data": [{"index": i, "embedding": [1, 2]} for i in range(2)]}, "2 dimensions, 3 are"),
        ({"data": [{"index": i, "embedding": [1] * (3 + i)} for i in range(2)]}, "not a list"),
        ({"data": [{"index": i, "embedding": [1, math.nan, 3]} for i in range(2)]}, "not finite"),
        ({"data": [{"index": i, "embedding": [1, None, 3]} for i in range(2)]}, "not"),
        ({"data": [{"index": i, "embedding": [0, 0, 0]} for i in range(2)]}, "zero"),
        ({"data": [{"index": i, "embedding": "AAAA"} for i in range(2)]}, "not a list"),
        ({"nothing": 1}, "not a list"),
        ("<html>", "not a list"),
    ],
)
def test_a_bad_answer_is_never_believed(payload: object, complaint: str, server: Server, make) -> None:
    server.script = lambda number, body: (200, {}, payload)
    with pytest.raises(EmbeddingError, match=complaint):
        make().embed_documents(["a", "b"])


def test_a_silent_server_times_out(server: Server, make) -> None:
    def sleepy(number: int, body: dict[str, object]) -> None:
        time.sleep(3 if number < 2 else 0)

    server.script = sleepy
    np.testing.assert_allclose(make().embed_documents(["a"]), expected(["a"]), rtol=1e-6)
    assert len(server.bodies) == 2


def test_no_server_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "BACKOFF_SECONDS", 0.01)
    embedder = GatewayEmbedder(settings("http://user:pass@127.0.0.1:9"))
    with pytest.raises(EmbeddingError, match=r"toy at http://127\.0\.0\.1:9 could not be reached"):
        embedder.embed_documents(["a"])
    embedder.close()


def test_a_document_over_the_limit_is_refused_before_any_request(server: Server, make) -> None:
    with pytest.raises(EmbeddingError, match="1 of 2 texts are over"):
        make().embed_documents(["a", "word " * 60])
    assert server.bodies == []


def test_a_query_over_the_limit_is_cut_at_a_word(server: Server, make) -> None:
    make(query_prefix="query: ").embed_queries(["word " * 200])
    (sent,) = server.bodies[0]["input"]  # type: ignore[misc]
    assert sent.startswith("query: word")
    assert sent.endswith(" word")
    assert model_limits(settings("http://x")).count([sent])[0] <= 50


def test_it_works_inside_a_running_event_loop(make) -> None:
    import asyncio

    async def main() -> np.ndarray:
        return make().embed_documents(["a"])

    assert asyncio.run(main()).shape == (1, 3)


def test_it_can_be_used_after_close(make) -> None:
    embedder = make()
    embedder.embed_documents(["a"])
    embedder.close()
    assert embedder.embed_documents(["b"]).shape == (1, 3)
    assert embedder.embed_documents([]).shape == (0, 3)


def test_requests_are_bounded_in_inputs_and_tokens() -> None:
    assert request_batches([10] * 5, 2, 1000) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert request_batches([60, 60, 10, 200, 10], 100, 100) == [slice(0, 1), slice(1, 3), slice(3, 4), slice(4, 5)]


def test_a_known_model_needs_no_settings() -> None:
    known = Settings(embedding=Embedding(backend="gateway", model="openai/text-embedding-3-large"))
    assert (gateway_info(known.embedding).dimensions, gateway_info(known.embedding).max_tokens) == (3072, 8191)
    assert model_limits(known).count(["hello world"]) == [2]


def test_a_shortened_known_model_asks_for_its_dimensions(server: Server, make) -> None:
    make(model="text-embedding-3-small", tokenizer=None, max_tokens=None).embed_documents(["a"])
    assert server.bodies[0]["dimensions"] == 3


@pytest.mark.parametrize("missing", ["dimensions", "max_tokens", "tokenizer"])
def test_what_is_missing_for_an_unknown_model_is_named(missing: str) -> None:
    with pytest.raises(ConfigError, match=f"embedding.{missing}$"):
        gateway_info(settings("http://x", **{missing: None}).embedding)


def test_a_tokenizer_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigError, match=r"embedding\.tokenizer 'nowhere'"):
        model_limits(settings("http://x", tokenizer="nowhere"))
    with pytest.raises(ConfigError, match="o200k_base"):
        model_limits(settings("http://x", tokenizer="o200k_base"))


@pytest.mark.parametrize("url", ["", "localhost:4000"])
def test_a_url_is_needed(url: str) -> None:
    with pytest.raises(ConfigError, match="LLM_GATEWAY_URL"):
        GatewayEmbedder(settings(url))
