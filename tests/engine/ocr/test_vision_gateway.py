"""The vision gateway client against a real HTTP server on loopback."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from engine.errors import Code, CorpusError
from engine.ocr.vision_gateway import GatewayVision, retry_after
from tests.engine.extract.pdf_files import text_picture


class Server(ThreadingHTTPServer):
    """Answers from a script of (status, headers, body); remembers what was asked."""

    script: list[tuple[int, dict[str, str], bytes]]
    seen: list[tuple[str, dict[str, str], Any]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append((self.path, dict(self.headers), body))
        status, headers, answer = self.server.script.pop(0) if len(self.server.script) > 1 else self.server.script[0]
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(answer))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(("127.0.0.1", 0), Handler)
    made.script, made.seen = [], []
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    text_picture("x", width=300).save(tmp_path / "a.png")
    return tmp_path / "a.png"


def answer(text: object) -> tuple[int, dict[str, str], bytes]:
    return 200, {}, json.dumps({"choices": [{"message": {"content": text}}]}).encode()


def engine(server: Server, waits: list[float], **options: Any) -> GatewayVision:
    url = f"http://127.0.0.1:{server.server_address[1]}"
    return GatewayVision(url, "some-vlm", "secret-key", timeout_seconds=5, sleep=waits.append, **options)


def test_the_page_goes_out_and_its_text_comes_back(server: Server, picture: Path) -> None:
    server.script = [answer("A heading\n\nFirst line of text\nsecond line")]
    result = engine(server, []).read(picture)
    assert [(line.text, line.paragraph) for line in result.lines] == [
        ("A heading", 0),
        ("First line of text", 1),
        ("second line", 1),
    ]
    assert result.confidence == 1.0 and result.engine == "gateway:some-vlm"
    path, headers, body = server.seen[0]
    assert path == "/v1/chat/completions" and headers["Authorization"] == "Bearer secret-key"
    assert body["model"] == "some-vlm" and body["temperature"] == 0
    url = body["messages"][0]["content"][1]["image_url"]["url"]
    assert base64.b64decode(url.partition("base64,")[2]) == picture.read_bytes()


def test_fences_parts_and_empty_answers(server: Server, picture: Path) -> None:
    server.script = [answer("```markdown\nwords\n```"), answer([{"type": "text", "text": "parts"}]), answer("")]
    read = engine(server, []).read
    assert [line.text for line in read(picture).lines] == ["words"]
    assert [line.text for line in read(picture).lines] == ["parts"]
    assert read(picture).lines == [] and read(picture).confidence == 0


def test_what_may_pass_is_tried_again(server: Server, picture: Path) -> None:
    server.script = [(429, {"retry-after": "7"}, b""), (503, {}, b""), answer("words")]
    waits: list[float] = []
    assert engine(server, waits).read(picture).lines[0].text == "words"
    assert waits[0] == 7 and 0.5 <= waits[1] <= 1.0


def test_what_will_not_pass_is_not(server: Server, picture: Path) -> None:
    server.script = [(401, {}, b"")]
    with pytest.raises(CorpusError, match="HTTP 401") as error:
        engine(server, []).read(picture)
    assert error.value.code == Code.OCR_FAILED and len(server.seen) == 1


def test_attempts_are_counted(server: Server, picture: Path) -> None:
    server.script = [(500, {}, b"")]
    waits: list[float] = []
    with pytest.raises(CorpusError, match="HTTP 500"):
        engine(server, waits, attempts=3).read(picture)
    assert len(server.seen) == 3 and len(waits) == 2


def test_a_dead_gateway_is_an_error_without_the_key(picture: Path) -> None:
    dead = GatewayVision("http://127.0.0.1:9/v1", "m", "secret-key", 2, 2, sleep=lambda seconds: None)
    with pytest.raises(CorpusError) as error:
        dead.read(picture)
    assert "secret-key" not in str(error.value) and "secret-key" not in repr(dead)


@pytest.mark.parametrize("body", [b"no json", b"{}", b'{"choices": []}', b"[]"])
def test_answers_that_are_none(server: Server, picture: Path, body: bytes) -> None:
    server.script = [(200, {}, body)]
    with pytest.raises(CorpusError):
        engine(server, []).read(picture)


def test_retry_after_forms() -> None:
    def seconds(value: str) -> float:
        return retry_after(httpx.Response(429, headers={"retry-after": value}))

    assert seconds("12") == 12 and seconds("1.5") == 1.5
    assert seconds("soon") == 0 and seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert seconds("Wed, 21 Oct 2099 07:28:00 GMT") > 1e9
    assert retry_after(httpx.Response(429)) == 0
