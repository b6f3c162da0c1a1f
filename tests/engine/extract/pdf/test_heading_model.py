"""Headings in doubt decided by a language model behind a real HTTP server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from reportlab.pdfgen.canvas import Canvas

from engine.errors import ConfigError, CorpusError
from engine.extract.pdf.heading_model import MOST, Candidate, ask_headings, check_settings, name_headings
from engine.prepare import NoLedger, Preparer, Run
from engine.records import DocumentMetadata, ExtractedDocument, SourceItem, StructureElement
from engine.settings import Settings, load
from engine.sources.local import local_uri
from tests.engine.extract.pdf_files import LOREM, headings, pdf, text_at, wrapped


class Server(ThreadingHTTPServer):
    """Answers every request with the next of `script`; remembers what was asked."""

    script: list[tuple[int, object]]
    seen: list[dict[str, Any]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        self.server.seen.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        status, said = self.server.script.pop(0) if len(self.server.script) > 1 else self.server.script[0]
        body = json.dumps({"choices": [{"message": {"content": json.dumps(said)}}]}).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    made.script, made.seen = [], []
    threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True).start()
    yield made
    made.shutdown()
    made.server_close()


def settings(server: Server, **more: object) -> Settings:
    options = {
        "gateway.url": f"http://127.0.0.1:{server.server_address[1]}", "gateway.attempts": 2,
        "extraction.headings_by_model": True, "extraction.headings_model": "some-model", **more,
    }  # fmt: skip
    return load(options, environ={})


def doubtful(text: str, kind: str = "paragraph") -> StructureElement:
    level = 2 if kind == "heading" else None
    return StructureElement(kind, level, text, attributes={"heading_chance": "0.40", "heading_level": "2"})


def document_of(structure: list[StructureElement]) -> ExtractedDocument:
    return ExtractedDocument("", [], [], [], DocumentMetadata(source_format="pdf"), structure)


def tree() -> ExtractedDocument:
    title = doubtful("Kept as it looks", "heading")
    title.children = [StructureElement("paragraph", None, "Running text.")]
    return document_of([title, doubtful("A title after all")])


LINES = [Candidate(3, "Aims", "", "Running text"), Candidate(7, "Figure labels", "", "")]


def test_one_request_in_json_mode_chooses_among_the_candidates(server: Server) -> None:
    server.script = [(200, {"headings": [3, 99, "7"]})]
    assert ask_headings(LINES, settings(server)) == {3}
    (asked,) = server.seen
    assert asked["model"] == "some-model" and asked["response_format"] == {"type": "json_object"}
    assert [c["n"] for c in json.loads(asked["messages"][1]["content"])] == [3, 7]
    assert ask_headings([], settings(server)) == set() and len(server.seen) == 1


@pytest.mark.parametrize("said", [[], {"titles": []}, "none", {"headings": None}])
def test_an_answer_of_another_form_is_an_error(server: Server, said: object) -> None:
    server.script = [(200, said)]
    with pytest.raises(CorpusError, match="form asked for"):
        ask_headings(LINES, settings(server))


def test_what_may_pass_is_tried_again(server: Server) -> None:
    waits: list[float] = []
    server.script = [(503, {}), (200, {"headings": [7]})]
    assert ask_headings(LINES, settings(server), waits.append) == {7} and len(waits) == 1
    server.script = [(400, {})]
    with pytest.raises(CorpusError, match="HTTP 400"):
        ask_headings(LINES, settings(server), waits.append)
    assert len(server.seen) == 3


def test_the_tree_is_nested_anew(server: Server) -> None:
    server.script = [(200, {"headings": [2]})]
    document = name_headings(tree(), settings(server))
    assert [(e.type, e.level, e.content) for e in document.structure] == [
        ("paragraph", None, "Kept as it looks"),
        ("paragraph", None, "Running text."),
        ("heading", 2, "A title after all"),
    ]
    assert document.content.endswith("## A title after all") and not any(e.attributes for e in document.structure)


def test_a_model_that_fails_leaves_what_geometry_found(server: Server) -> None:
    server.script = [(400, {})]
    document = name_headings(tree(), settings(server))
    assert headings(document) == [(2, "Kept as it looks")]
    assert [w.code for w in document.warnings] == ["headings_by_model_failed"]


def test_no_more_than_a_bounded_number_is_asked(server: Server) -> None:
    server.script = [(200, {"headings": []})]
    document = document_of([doubtful(f"Line {n}", "heading") for n in range(MOST + 5)])
    named = name_headings(document, settings(server))
    assert [(w.code, w.count) for w in named.warnings] == [("headings_not_asked", 5)]
    assert [text for _, text in headings(named)] == [f"Line {n}" for n in range(MOST, MOST + 5)]


def test_settings_that_cannot_work_are_refused(server: Server) -> None:
    with pytest.raises(ConfigError, match="headings_model"):
        check_settings(settings(server, **{"extraction.headings_model": ""}))
    with pytest.raises(ConfigError, match="redaction"):
        check_settings(settings(server, **{"security.pii_redaction": True}))


def test_the_parent_asks_for_a_child_without_network(server: Server, tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        text_at(canvas, 72, 80, "Plainly set words", 11)
        wrapped(canvas, 72, 110, 400, LOREM * 2)
        wrapped(canvas, 72, 300, 400, LOREM * 2)

    path = pdf(tmp_path / "a.pdf", page)
    server.script = [(200, {"headings": [0]})]
    options = settings(server, **{"extraction.profile": "fast", "ocr.enabled": False})
    preparer = Preparer(options, Run("r", "f"), NoLedger(), keep_documents=True)
    item = SourceItem("p", "s", path.name, local_uri(bytes(path)), path.stat().st_size)
    (found,) = list(preparer.prepare([item]))
    preparer.close()
    assert found.failure is None and found.document is not None and len(server.seen) == 1
    assert [text for _, text in headings(found.document)] == ["Plainly set words"]
    assert found.chunks and found.chunks[0].metadata.section_path == ["Plainly set words"]
