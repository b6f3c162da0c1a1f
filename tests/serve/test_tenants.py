"""Two tenants: whatever one asks about the other's ids answers as if nothing of that name existed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pymupdf as fitz
import pytest
from walk import Ids, operations, send, without_ids

from engine.settings import Settings, load
from serve.auth import digest
from serve.local import running_server

SECRET = "zanzibarquartz"
TOKENS = {"ann": "corpus_" + "a" * 43, "bob": "corpus_" + "b" * 43, "root": "corpus_" + "r" * 43}
TOKENS["eve"] = "corpus_" + "e" * 43  # reads ann's project


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("tenants")
    with running_server(settings_with_tokens(home)) as url:
        yield url


def settings_with_tokens(home: Path) -> Settings:
    roles = {"ann": {"ann": "admin"}, "bob": {"bob": "admin"}, "root": {"*": "admin"}, "eve": {"ann": "read"}}
    lines = [f"- {{name: {n}, sha256: '{digest(TOKENS[n])}', roles: {r!r}}}" for n, r in roles.items()]
    file = home / "tokens.yaml"
    file.write_text("\n".join(lines).replace("'*'", '"*"'))
    file.chmod(0o600)
    return load({"home": home / "state", "auth.tokens_file": file}, environ={})


def client(url: str, who: str) -> httpx.Client:
    return httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKENS[who]}"}, timeout=60)


def pdf() -> bytes:
    document = fitz.open()
    page = document.new_page()
    page.insert_text((72, 72), f"The lighthouse keeper hid {SECRET} under the lamp.", fontsize=14)
    pixels = fitz.Pixmap(fitz.csRGB, fitz.IRect(0, 0, 120, 120))
    pixels.set_rect(pixels.irect, (200, 30, 30))
    page.insert_image(fitz.Rect(72, 120, 240, 288), pixmap=pixels)
    return document.tobytes()


@pytest.fixture(scope="module")
def owned(server: str) -> Ids:
    """Everything that ann has: project, documents, batch, webhook, run, asset."""
    root, ann = client(server, "root"), client(server, "ann")
    for slug in ("ann", "bob"):
        assert root.post("/api/v1/projects", json={"slug": slug}).status_code == 201
    project = ann.get("/api/v1/projects/ann").json()["id"]
    sent = ann.post(
        "/api/v1/documents/batch",
        data={"project_id": "ann"},
        files=[("files", ("secret.pdf", pdf(), "application/pdf"))],
    )
    assert sent.status_code == 202, sent.text
    document = sent.json()["document_ids"][0]
    wait_until_done(ann, document)
    chunk = ann.get(f"/api/v1/documents/{document}/chunks").json()["chunks"][0]
    assert SECRET in chunk["content"]
    hook = ann.post("/api/v1/projects/ann/webhooks", json={"url": "https://192.0.2.1/hook"})
    if hook.status_code != 201:  # the guard may refuse documentation addresses
        hook = ann.post("/api/v1/projects/ann/webhooks", json={"url": "https://93.184.216.34/hook"})
    assert hook.status_code == 201, hook.text
    run = ann.post("/api/v1/agent/search", json={"query": "lighthouse keeper", "project_id": "ann"})
    assert run.status_code == 200, run.text
    manifest = ann.get(f"/api/v1/documents/{document}/manifest").json()
    image = manifest["images"][0] if manifest.get("images") else {"id": "image-1"}
    asset = image.get("image_id") or image.get("id") or image.get("asset")
    return Ids(project, document, sent.json()["batch_id"], hook.json()["id"], run.json()["run_id"], asset, chunk["id"])


def wait_until_done(caller: httpx.Client, document: str) -> None:
    deadline = time.monotonic() + 60
    while (found := caller.get(f"/api/v1/documents/{document}").json())["status"] in ("pending", "processing"):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    assert found["status"] == "completed", found


def test_the_other_tenant_learns_nothing(server: str, owned: Ids) -> None:
    ann, bob = client(server, "ann"), client(server, "bob")
    openapi = httpx.get(f"{server}/openapi.json").json()
    walked = 0
    for method, path, operation in operations(openapi):
        nobody = Ids.of_nobody()
        theirs, none = send(bob, method, path, operation, owned), send(bob, method, path, operation, nobody)
        assert without_ids(theirs, owned) == without_ids(none, nobody), f"{method} {path}"
        assert SECRET not in theirs.text, f"{method} {path}"
        if "{" in path or "project_id" in str(operation.get("parameters")):
            assert theirs.status_code == 404, f"{method} {path} {theirs.status_code} {theirs.text}"
        walked += 1
    assert walked >= 25
    # the walk was at real things: their owner gets them
    for method, path, operation in operations(openapi):
        if method == "GET":
            answer = send(ann, method, path, operation, owned)
            assert answer.status_code in (200, 204), f"{method} {path} {answer.status_code} {answer.text}"


def test_slugs_tell_nothing_either(server: str, owned: Ids) -> None:
    bob = client(server, "bob")
    answers = [bob.get(f"/api/v1/projects/{slug}") for slug in ("ann", "nobody-has-this")]
    assert {a.status_code for a in answers} == {404}
    assert [a.json()["error"]["message"] for a in answers] == [answers[0].json()["error"]["message"]] * 2
    assert [p["slug"] for p in bob.get("/api/v1/projects").json()["projects"]] == ["bob"]


def test_searching_ones_own_project_never_reaches_into_anothers(server: str, owned: Ids) -> None:
    bob = client(server, "bob")
    sent = bob.post("/api/v1/documents/parse", data={"project_id": "bob"}, files={"file": ("same.pdf", pdf())})
    wait_until_done(bob, sent.json()["document_id"])
    for extra in ({}, {"filter": {"document_ids": [owned.document_id]}}, {"mode": "term"}, {"mode": "dense"}):
        found = bob.post(
            "/api/v1/documents/search", json={"query": SECRET, "project_id": "bob", "top_k": 100, **extra}
        ).json()["results"]
        seen = {hit["document_id"] for hit in found} | {other for hit in found for other in hit["alternates"]}
        assert seen <= {sent.json()["document_id"]}


MAIL = b"""From: Ada <ada@example.org>
To: Board <board@example.org>
Subject: The zanzibarquartz merger
MIME-Version: 1.0
Content-Type: text/plain

It closes on Friday.
"""


def test_what_stands_in_a_document_for_others_is_nowhere(server: str, owned: Ids) -> None:
    ann, eve = client(server, "ann"), client(server, "eve")
    sent = ann.post(
        "/api/v1/documents/parse", data={"project_id": "ann", "acl": "board"}, files={"file": ("mail.eml", MAIL)}
    )
    document = sent.json()["document_id"]
    wait_until_done(client(server, "root"), document)
    parts = ("", "/chunks", "/result", "/nav", "/manifest", "/events")
    paths = ["/api/v1/documents?project_id=ann", *(f"/api/v1/documents/{document}{part}" for part in parts)]
    for path in paths:
        answer = eve.get(path)
        assert answer.status_code == 200, path
        for word in ("zanzibarquartz merger", "Ada", "Board", "board@"):
            assert word not in answer.text, f"{path} {word}"
    shown = client(server, "root").get(f"/api/v1/documents/{document}").json()
    assert (shown["title"], shown["author"]) == ("The zanzibarquartz merger", "Ada <ada@example.org>")
    ann.delete(f"/api/v1/documents/{document}").raise_for_status()


def test_a_role_too_low_is_forbidden_where_the_project_is_visible(server: str, owned: Ids) -> None:
    ann = client(server, "ann")
    refused = ann.post("/api/v1/projects", json={"slug": "third"})
    assert refused.status_code == 403
    assert refused.json()["error"]["code"] == "FORBIDDEN"


def test_without_a_token_nothing_is_answered(server: str, owned: Ids) -> None:
    openapi = httpx.get(f"{server}/openapi.json").json()
    with httpx.Client(base_url=server, timeout=30) as anyone:
        for method, path, operation in operations(openapi):
            answer = send(anyone, method, path, operation, owned)
            assert answer.status_code == 401, f"{method} {path}"
            assert answer.headers["www-authenticate"].startswith("Bearer")
