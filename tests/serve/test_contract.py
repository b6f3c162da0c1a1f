"""The API against its own OpenAPI document: schemathesis over the running server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from engine.settings import load
from serve.local import running_server

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "15"))
SCHEMATHESIS = shutil.which("schemathesis", path=str(Path(sys.executable).parent))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    plenty = dict.fromkeys(("parse", "batch", "search", "chunks"), 1_000_000)
    settings = load(
        {"home": tmp_path_factory.mktemp("contract"), **{f"serve.{k}_per_minute": v for k, v in plenty.items()}},
        environ={},
    )
    with running_server(settings) as url:
        assert httpx.post(f"{url}/api/v1/projects", json={"slug": "demo"}).status_code == 201
        yield url


@pytest.mark.skipif(SCHEMATHESIS is None, reason="schemathesis is not installed")
@pytest.mark.timeout(900)
def test_no_answer_breaks_the_contract(server: str, tmp_path: Path) -> None:
    assert SCHEMATHESIS is not None
    config = Path(__file__).with_name("schemathesis.toml")
    command = [SCHEMATHESIS, "--config-file", str(config), "run", f"{server}/openapi.json"]
    command += ["--max-examples", str(EXAMPLES), "--seed", "7", "--no-color"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]


def test_every_error_has_the_envelope(server: str) -> None:
    for method, path in (
        ("GET", "/nowhere"),
        ("GET", "/api/v1/nowhere"),
        ("PUT", "/api/v1/projects"),
        ("POST", "/api/v1/documents/search"),
        ("GET", "/api/v1/documents/not-a-uuid"),
        ("GET", "/api/v1/documents"),
    ):
        answer = httpx.request(method, server + path)
        assert not answer.is_success
        error = answer.json()["error"]
        assert set(error) == {"code", "message", "details", "request_id"}
        assert error["request_id"] == answer.headers["x-request-id"]
        problem = httpx.request(method, server + path, headers={"Accept": "application/problem+json"})
        assert problem.headers["content-type"].startswith("application/problem+json")
        assert problem.json()["status"] == answer.status_code
