"""Traces as a real collector gets them: OTLP over HTTP, decoded by the protocol's own messages."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from otlp_collector import Collector

from engine.errors import Code, ConfigError, InputError
from engine.settings import Telemetry
from serve import logs, tracing
from serve.metrics import Metrics
from serve.observe import Observe

ROOT = Path(__file__).resolve().parents[2]
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
TRACEPARENT = f"00-{TRACE}-{PARENT}-01"
PROJECT = "0b7c9a52-8f5c-4b39-9f0c-1a6c1b7f9d10"


def attributes(span: Span) -> dict[str, Any]:
    return {a.key: getattr(a.value, str(a.value.WhichOneof("value"))) for a in span.attributes}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        yield collector


@pytest.fixture
def start(collector: Collector) -> Iterator[Callable[..., None]]:
    """Begin to trace to the collector; ended after the test."""

    def begin(endpoint: str = "") -> None:
        tracing.setup(Telemetry(otlp_endpoint=endpoint or collector.url), "corpus-test", "r1")  # pyright: ignore[reportCallIssue]

    yield begin
    tracing.shutdown(0.5)


# ---------------------------------------------------------------- spans
def test_work_continues_the_trace_of_its_request(collector: Collector, start: Callable[..., None]) -> None:
    start()
    with tracing.span("ingest", TRACEPARENT, {"corpus.attempt": 2, "corpus.document_id": PROJECT}, "consumer"):
        handed_on = tracing.current_traceparent()
        with tracing.span("embed"):
            tracing.annotate({"corpus.batch_size": 8})
    with tracing.span("elsewhere", handed_on):
        pass
    assert tracing.flush()
    spans = collector.spans()
    ingest, embed, elsewhere = spans["ingest"], spans["embed"], spans["elsewhere"]
    assert {s.trace_id.hex() for s in spans.values()} == {TRACE}
    assert ingest.parent_span_id.hex() == PARENT
    assert embed.parent_span_id == elsewhere.parent_span_id == ingest.span_id
    assert handed_on == f"00-{TRACE}-{ingest.span_id.hex()}-01"
    assert attributes(ingest) == {"corpus.attempt": 2, "corpus.document_id": PROJECT}
    assert attributes(embed) == {"corpus.batch_size": 8}
    assert (ingest.kind, embed.kind) == (Span.SPAN_KIND_CONSUMER, Span.SPAN_KIND_INTERNAL)
    resource = {a.key: a.value.string_value for a in collector.requests[0].resource_spans[0].resource.attributes}
    assert (resource["service.name"], resource["service.instance.id"]) == ("corpus-test", "r1")


def test_lines_logged_inside_a_span_carry_its_trace(start: Callable[..., None]) -> None:
    record = logging.makeLogRecord({"name": "serve.worker", "msg": "an attempt ended"})
    assert "trace_id" not in logs.described(record)
    start()
    with tracing.span("ingest", TRACEPARENT):
        assert logs.described(record)["trace_id"] == TRACE


def test_failures_leave_type_and_code_but_no_words(collector: Collector, start: Callable[..., None]) -> None:
    start()
    with pytest.raises(InputError), tracing.span("parse"):
        raise InputError("cannot read zanzibar.pdf", Code.EXTRACTION_FAILED)
    with pytest.raises(ValueError, match="zanzibar"), tracing.span("other"):
        raise ValueError("zanzibar")
    tracing.flush()
    parse, other = collector.spans()["parse"], collector.spans()["other"]
    assert attributes(parse) == {"error.type": "InputError", "corpus.code": "EXTRACTION_FAILED"}
    assert attributes(other) == {"error.type": "ValueError"}
    assert parse.status.code == other.status.code == 2
    assert not parse.events
    assert b"zanzibar" not in b"".join(collector.bodies)


def test_attributes_outside_the_list_do_not_travel(collector: Collector, start: Callable[..., None]) -> None:
    start()
    with tracing.span("search", "", {"query": "zanzibar", "corpus.mode": "m" * 500}):  # pyright: ignore[reportArgumentType]
        tracing.annotate({"filename": "zanzibar.pdf"})  # pyright: ignore[reportArgumentType]
    tracing.flush()
    assert attributes(collector.spans()["search"]) == {"corpus.mode": "m" * 128}
    assert b"zanzibar" not in b"".join(collector.bodies)


def test_what_the_caller_did_not_want_sampled_is_not(collector: Collector, start: Callable[..., None]) -> None:
    start()
    with tracing.span("quiet", f"00-{TRACE}-{PARENT}-00"):
        assert tracing.current_traceparent().endswith("-00")
    with tracing.span("loud"):
        pass
    tracing.flush()
    assert set(collector.spans()) == {"loud"}


@pytest.mark.parametrize("broken", ["x", f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-01", TRACEPARENT.upper(), "\n"])
def test_a_broken_traceparent_begins_a_new_trace(collector: Collector, start: Callable[..., None], broken: str) -> None:
    assert tracing.trace_id_of(broken) == ""
    start()
    with tracing.span("work", broken):
        pass
    tracing.flush()
    work = collector.spans()["work"]
    assert (work.parent_span_id, work.trace_id.hex() == TRACE) == (b"", False)


# ---------------------------------------------------------------- requests
def application() -> FastAPI:
    app = FastAPI()

    @app.get("/documents/{document_id}")
    def document(request: Request, document_id: str) -> str:
        request.state.request_id = "req-7"
        logs.bind(project_id=PROJECT)
        return tracing.current_traceparent()

    @app.get("/livez")
    def livez() -> str:
        return tracing.current_traceparent()

    app.add_middleware(Observe, metrics=Metrics())
    return app


def get(path: str, **headers: str) -> httpx.Response:
    async def go() -> httpx.Response:
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(application()), base_url="http://127.0.0.1"
        ) as client:
            return await client.get(path, headers=headers)

    return asyncio.run(go())


def test_a_request_is_a_server_span_below_the_callers(collector: Collector, start: Callable[..., None]) -> None:
    start()
    inside = get("/documents/zanzibar.pdf?q=zanzibar", traceparent=TRACEPARENT, authorization="Bearer zanzibar").json()
    get("/livez")
    tracing.flush()
    (span,) = collector.spans().values()
    assert span.name == "GET /documents/{document_id}"
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert inside == f"00-{TRACE}-{span.span_id.hex()}-01"
    assert span.kind == Span.SPAN_KIND_SERVER
    assert attributes(span) == {
        "http.request.method": "GET",
        "http.route": "/documents/{document_id}",
        "http.response.status_code": 200,
        "corpus.request_id": "req-7",
        "corpus.project_id": PROJECT,
    }
    assert b"zanzibar" not in b"".join(collector.bodies)


def test_requests_of_two_callers_do_not_mix(collector: Collector, start: Callable[..., None]) -> None:
    start()
    first, second = get("/documents/a").json(), get("/documents/b", traceparent=TRACEPARENT).json()
    assert first[3:35] != second[3:35] == TRACE
    assert tracing.current_traceparent() == ""


# ---------------------------------------------------------------- on, off, and the end
def test_off_costs_nothing_and_imports_nothing() -> None:
    code = """
import sys, time
from engine.settings import Telemetry
from serve import tracing
tracing.setup(Telemetry(), "corpus-api")
began = time.perf_counter()
for _ in range(100_000):
    with tracing.span("x", "", {"corpus.mode": "dense"}) as span:
        assert span is None
print((time.perf_counter() - began) / 100_000 < 5e-6, tracing.current_traceparent() == "", tracing.enabled())
tracing.annotate({"corpus.mode": "dense"}); tracing.shutdown()
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["True True False", "[]"]


def test_what_is_left_is_sent_at_the_end(collector: Collector, start: Callable[..., None]) -> None:
    start()
    for number in range(600):
        with tracing.span(f"s{number}"):
            pass
    tracing.shutdown()
    assert len(collector.spans()) == 600
    with tracing.span("late") as span:
        assert span is None


def test_a_dead_or_slow_collector_holds_nothing_up(collector: Collector, start: Callable[..., None]) -> None:
    for endpoint, delay in (("http://127.0.0.1:9", 0.0), (collector.url, 30.0)):
        collector.delay = delay
        start(endpoint)
        began = time.monotonic()
        with tracing.span("work"):
            pass
        assert time.monotonic() - began < 0.1
        tracing.shutdown(0.5)
        assert time.monotonic() - began < 1.5


def test_setting_up_twice_and_naming_the_whole_address(collector: Collector, start: Callable[..., None]) -> None:
    start(collector.url + "/v1/traces")
    start("http://127.0.0.1:9")
    with tracing.span("work"):
        pass
    assert tracing.flush()
    assert set(collector.spans()) == {"work"}


@pytest.mark.parametrize("endpoint", ["collector:4318", "grpc://x", "http://"])
def test_an_address_that_is_none_stops_the_server(endpoint: str) -> None:
    with pytest.raises(ConfigError, match="otlp_endpoint"):
        tracing.setup(Telemetry(otlp_endpoint=endpoint), "corpus-api")  # pyright: ignore[reportCallIssue]
