"""The whole server at work: what documents, callers and their questions contain is in no log, metric or trace."""

from __future__ import annotations

import io
import json
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from fake_embedder import FakeEmbedder
from otlp_collector import Collector

from engine.settings import Telemetry, load
from serve import logs, tracing
from serve.auth import digest, new_token
from serve.local import running_server

TEXT, NAME, QUERY, SUBJECT = "zanzibarquartz", "wolframite", "obsidianquery", "ada.lovelace@example.org"
TOKEN = new_token()


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """All that is logged, down to DEBUG."""
    root, stream, hook = logging.getLogger(), io.StringIO(), threading.excepthook
    before = [(logging.getLogger(name), logging.getLogger(name).level) for name in (None, *logs.OURS)]
    handlers = list(root.handlers)
    logs.configure(Telemetry(log_level="debug"), "r1", stream)  # pyright: ignore[reportCallIssue]
    yield stream
    root.handlers[:], threading.excepthook = handlers, hook
    for logger, level in before:
        logger.setLevel(level)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as collector:
        tracing.setup(Telemetry(otlp_endpoint=collector.url), "corpus-api")  # pyright: ignore[reportCallIssue]
        yield collector
        tracing.shutdown(1.0)


def use(api: httpx.Client) -> str:
    """What a caller does with the API, good and bad; /metrics afterwards."""
    assert api.post("/api/v1/projects", json={"slug": "handbook"}).status_code == 201
    files = {
        "good": (f"{NAME}.md", f"# {TEXT}\n\nThe keeper hid the {TEXT} under the lamp.".encode()),
        "broken": (f"{NAME}.pdf", f"%PDF-1.7 {TEXT} and nothing else".encode()),
        "unknown": (f"{NAME}.bin", bytes(range(256)) + TEXT.encode()),
    }
    for name, data in files.values():
        api.post("/api/v1/documents/parse", data={"project_id": "handbook"}, files={"file": (name, data)})
    deadline = time.monotonic() + 60
    while True:
        documents = api.get("/api/v1/documents", params={"project_id": "handbook"}).json()["documents"]
        if documents and all(d["status"] in ("completed", "failed") for d in documents):
            break
        assert time.monotonic() < deadline, documents
        time.sleep(0.2)
    assert {"completed"} <= {d["status"] for d in documents}
    found = api.post("/api/v1/documents/search", json={"project_id": "handbook", "query": f"{QUERY} {TEXT}"})
    assert TEXT in found.text
    for document in documents:
        for part in ("", "/chunks", "/events", "/result", "/nav"):
            api.get(f"/api/v1/documents/{document.get('id') or document.get('document_id')}{part}")
    api.post("/api/v1/agent/search", json={"project_id": "handbook", "query": QUERY})
    api.post("/api/v1/documents/search", json={"project_id": QUERY, "query": QUERY, "mode": QUERY, QUERY: 1})
    api.post("/api/v1/documents/search", content=f'{{"query": "{QUERY}')
    api.get(
        f"/api/v1/documents/{NAME}", params={"q": QUERY}, headers={"X-Request-ID": QUERY * 20, "traceparent": QUERY}
    )
    api.get(f"/{NAME}.php?{QUERY}", headers={"Authorization": f"Bearer {new_token()}", "X-Request-ID": TOKEN})
    return api.get("/metrics").text


def test_nothing_of_documents_or_callers_leaves_in_logs_metrics_or_traces(
    tmp_path: Path, written: io.StringIO, collector: Collector, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text(json.dumps([{"name": SUBJECT, "sha256": digest(TOKEN), "roles": {"*": "admin"}}]))
    file.chmod(0o600)
    settings = load({"home": tmp_path / "home", "auth.tokens_file": file}, environ={})
    with running_server(settings, FakeEmbedder()) as url:
        api = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60)
        counted = use(api)
    assert tracing.flush(10)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert sum(line["message"] == "request" for line in lines) >= 20
    assert any(line.get("caller") == logs.caller_id(SUBJECT) for line in lines)
    assert {"POST /api/v1/documents/parse", "ingest"} <= set(collector.names())
    everything = written.getvalue() + counted + capfd.readouterr().err + b"".join(collector.bodies).decode("latin-1")
    for hidden in (TEXT, NAME, QUERY, SUBJECT, TOKEN):
        assert hidden not in everything, hidden
    for label in ('route="/api/v1/documents/parse"', 'mode="hybrid"', 'code="completed"', "corpus_upload_bytes_total"):
        assert label in counted, label
    assert 'corpus_truncated_inputs_total{replica="local"} 0.0' in counted


def test_uploads_and_their_work_are_one_trace(tmp_path: Path, collector: Collector) -> None:
    with running_server(load({"home": tmp_path / "home"}, environ={}), FakeEmbedder()) as url:
        api = httpx.Client(base_url=url, timeout=60)
        api.post("/api/v1/projects", json={"slug": "handbook"})
        headers = {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
        files = {"file": ("a.md", b"# A\n\nSome words.")}
        sent = api.post("/api/v1/documents/parse", data={"project_id": "handbook"}, files=files, headers=headers)
        assert sent.status_code == 202, sent.text
        deadline = time.monotonic() + 60
        while "ingest" not in collector.names():
            assert time.monotonic() < deadline
            time.sleep(0.2)
            tracing.flush()
    spans = collector.spans()
    request, ingest = spans["POST /api/v1/documents/parse"], spans["ingest"]
    assert ingest.trace_id == request.trace_id == bytes.fromhex(headers["traceparent"][3:35])
    assert ingest.parent_span_id == request.span_id
