"""The API against its own OpenAPI document: schemathesis over the running server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pymupdf
import pytest

from engine.settings import load
from serve.auth import digest
from serve.local import running_server

EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "15"))
SCHEMATHESIS = shutil.which("schemathesis", path=str(Path(sys.executable).parent))


TOKEN = "corpus_" + "c" * 43
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("contract")
    tokens = home / "tokens.yaml"
    tokens.write_text(f"- {{name: root, sha256: '{digest(TOKEN)}', roles: {{'*': admin}}}}")
    tokens.chmod(0o600)
    limits = {f"serve.{name}_per_minute": 1_000_000 for name in ("parse", "batch", "search", "chunks")}
    settings = load({"home": home / "state", "auth.tokens_file": tokens, **limits}, environ={})
    with running_server(settings) as url:
        yield url


@pytest.fixture(scope="module")
def known(server: str) -> dict[str, str]:
    """Ids of things that are there, so that a walk reaches more than the refusals."""
    with httpx.Client(base_url=server, headers=HEADERS, timeout=60) as client:
        project = client.post("/api/v1/projects", json={"slug": "demo"}).json()["id"]
        sent = client.post("/api/v1/documents/batch", data={"project_id": "demo"}, files={"files": ("a.pdf", pdf())})
        document = sent.json()["document_ids"][0]
        while client.get(f"/api/v1/documents/{document}").json()["status"] in ("pending", "processing"):
            time.sleep(0.1)
        run = client.post("/api/v1/agent/search", json={"query": "keeper", "project_id": "demo"}).json()["run_id"]
    batch = sent.json()["batch_id"]
    return {"project_id": project, "document_id": document, "batch_id": batch, "run_id": run, "page": "1"}


def pdf() -> bytes:
    document = pymupdf.open()
    document.new_page().insert_text((72, 72), "The keeper wound the clockwork of the lamp.", fontsize=14)
    return document.tobytes()


def walk(server: str, folder: Path, parameters: dict[str, str]) -> None:
    assert SCHEMATHESIS is not None
    config = folder / "schemathesis.toml"
    lines = [Path(__file__).with_name("schemathesis.toml").read_text(), "[parameters]"]
    lines += [f'{name} = "{value}"' for name, value in parameters.items()]
    if parameters:
        # This walk sends nothing that breaks the schema; the check would still take a form's text 0 for a number.
        lines.insert(1, "negative_data_rejection.enabled = false")
        # What is there must stay there.
        lines += ["[[operations]]", 'include-name = "DELETE /api/v1/documents/{document_id}"', "enabled = false"]
    config.write_text("\n".join(lines))
    command = [SCHEMATHESIS, "--config-file", str(config), "run", f"{server}/openapi.json", "--no-color"]
    command += ["--max-examples", str(EXAMPLES), "--seed", "7", "-H", f"Authorization: Bearer {TOKEN}"]
    command += ["--mode", "positive"] if parameters else []  # the other walk sends what breaks the schema
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]


@pytest.mark.skipif(SCHEMATHESIS is None, reason="schemathesis is not installed")
@pytest.mark.timeout(1800)
@pytest.mark.slow
def test_no_answer_breaks_the_contract(server: str, known: dict[str, str], tmp_path: Path) -> None:
    walk(server, tmp_path, {})


@pytest.mark.skipif(SCHEMATHESIS is None, reason="schemathesis is not installed")
@pytest.mark.timeout(1800)
@pytest.mark.slow
def test_nor_does_one_about_things_that_are_there(server: str, known: dict[str, str], tmp_path: Path) -> None:
    walk(server, tmp_path, known)


def test_every_error_has_the_envelope(server: str) -> None:
    for method, path in (
        ("GET", "/nowhere"),
        ("GET", "/api/v1/nowhere"),
        ("PUT", "/api/v1/projects"),
        ("POST", "/api/v1/documents/search"),
        ("GET", "/api/v1/documents/not-a-uuid"),
        ("GET", "/api/v1/documents"),
    ):
        answer = httpx.request(method, server + path, headers=HEADERS)
        assert not answer.is_success
        error = answer.json()["error"]
        assert set(error) == {"code", "message", "details", "request_id"}
        assert error["request_id"] == answer.headers["x-request-id"]
        problem = httpx.request(method, server + path, headers={**HEADERS, "Accept": "application/problem+json"})
        assert problem.headers["content-type"].startswith("application/problem+json")
        assert problem.json()["status"] == answer.status_code
