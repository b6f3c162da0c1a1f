"""Uploads: what is taken, what is refused, and that a repeated request makes nothing twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from fake_embedder import FakeEmbedder

from engine.errors import StorageError
from engine.objects.local import LocalObjects
from engine.settings import load
from serve.local import running_server

Ended = Callable[[str], dict[str, object]]
TEXT = b"# Lamp\n\nThe keeper wound the clockwork every four hours.\n"


def parse(api: httpx.Client, content: bytes = TEXT, name: str = "lamp.md", **more: str) -> httpx.Response:
    headers = {"Idempotency-Key": more.pop("key")} if "key" in more else {}
    data = {"project_id": "demo", **more}
    return api.post("/documents/parse", data=data, files={"file": (name, content)}, headers=headers)


def test_an_accepted_upload_has_a_record_and_ends(api: httpx.Client, ended: Ended) -> None:
    answer = parse(api)
    assert answer.status_code == 202
    body = answer.json()
    assert set(body) == {"document_id", "status", "estimated_duration_seconds"}
    assert body["status"] == "processing"
    assert answer.headers["location"] == f"/api/v1/documents/{body['document_id']}"
    found = ended(body["document_id"])
    assert (found["status"], found["source_format"], found["chunk_count"]) == ("completed", "md", 1)
    assert str(found["parse_duration"]).endswith("s") and str(found["created_at"]).endswith("Z")
    chunks = api.get(f"/documents/{body['document_id']}/chunks").json()
    assert (chunks["total"], chunks["page"], chunks["per_page"]) == (1, 1, 50)
    assert chunks["chunks"][0]["section_heading"] == "Lamp"
    assert api.get(f"/documents/{body['document_id']}/chunks", params={"page": 9}).json()["chunks"] == []
    assert api.get(f"/documents/{body['document_id']}/chunks", params={"per_page": 201}).status_code == 422


def test_the_same_source_id_is_a_new_revision_of_the_same_document(api: httpx.Client, ended: Ended) -> None:
    first = parse(api, source_id="log-1").json()["document_id"]
    ended(first)
    second = parse(api, TEXT + b"\nAnd trimmed the wick.\n", source_id="log-1").json()["document_id"]
    assert first == second
    assert ended(second)["source_id"] == "log-1"
    (chunk,) = api.get(f"/documents/{first}/chunks").json()["chunks"]
    assert "trimmed the wick" in chunk["content"]


def test_a_repeated_request_is_answered_like_the_first(api: httpx.Client) -> None:
    first, again = parse(api, key="k-1"), parse(api, key="k-1")
    assert first.json() == again.json() and again.status_code == 202
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]
    other = parse(api, TEXT + b"!", key="k-1")
    assert (other.status_code, other.json()["error"]["code"]) == (409, "CONFLICT")


def test_a_refused_request_leaves_its_key_free(api: httpx.Client) -> None:
    assert parse(api, b"", key="k-2").status_code == 422
    assert parse(api, key="k-2").status_code == 202


def test_another_file_under_a_key_whose_time_is_over_is_another_document(tmp_path: Path) -> None:
    settings = load({"home": tmp_path, "serve.idempotency_hours": 1e-9}, environ={})
    with running_server(settings, FakeEmbedder()) as url, httpx.Client(base_url=f"{url}/api/v1", timeout=30) as api:
        api.post("/projects", json={"slug": "demo"}).raise_for_status()
        first, same = parse(api, key="daily"), parse(api, key="daily")
        other = parse(api, TEXT + b"!", key="daily")
    assert first.json()["document_id"] == same.json()["document_id"] != other.json()["document_id"]


def test_what_cannot_be_taken_is_refused_with_its_code(api: httpx.Client) -> None:
    program = b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff" + bytes(200)
    refused = parse(api, program, "setup.exe")
    assert (refused.status_code, refused.json()["error"]["code"]) == (415, "UNSUPPORTED_FORMAT")
    assert {"detected_format", "supported_formats"} <= set(refused.json()["error"]["details"])
    for answer, status, code in (
        (parse(api, b"x" * (2 << 20)), 413, "FILE_TOO_LARGE"),
        (parse(api, b""), 422, "INVALID_REQUEST"),
        (parse(api, max_tokens="3"), 422, "INVALID_REQUEST"),
        (parse(api, chunking_strategy="nonsense"), 422, "INVALID_REQUEST"),
        (parse(api, unknown_field="1"), 422, "INVALID_REQUEST"),
        (parse(api, key="k" * 300), 422, "INVALID_REQUEST"),
        (api.post("/documents/parse", data={"project_id": "nobody"}, files={"file": ("a.md", TEXT)}), 404, ""),
        (api.post("/documents/parse", files={"file": ("a.md", TEXT)}), 422, "INVALID_REQUEST"),
        (api.post("/documents/parse", json={"project_id": "demo"}), 422, "INVALID_REQUEST"),
    ):
        assert answer.status_code == status, answer.text
        assert not code or answer.json()["error"]["code"] == code


def test_a_document_without_text_is_listed_as_what_it_is_shown_as(api: httpx.Client, ended: Ended) -> None:
    found = ended(parse(api, b"\n \n", "blank.txt").json()["document_id"])
    assert (found["status"], found["skip_reason"]) == ("completed", "empty")
    wanted = {"project_id": "demo", "status": "completed", "per_page": "200"}
    listed = api.get("/documents", params=wanted).json()["documents"]
    assert found["id"] in {each["id"] for each in listed} and {each["status"] for each in listed} == {"completed"}


def test_options_reach_the_chunks(api: httpx.Client, ended: Ended) -> None:
    long = b"# Log\n\n" + b"The keeper wound the clockwork every four hours. " * 40
    document = parse(api, long, max_tokens="64", chunking_strategy="semantic", acl="ann,bob").json()["document_id"]
    assert int(str(ended(document)["chunk_count"])) > 4
    chunks = api.get(f"/documents/{document}/chunks").json()["chunks"]
    assert all(chunk["token_count"] <= 64 for chunk in chunks)


def test_one_bad_file_does_not_spoil_a_batch(api: httpx.Client, ended: Ended) -> None:
    program = b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff" + bytes(200)
    files = [("files", ("a.md", TEXT)), ("files", ("b.exe", program)), ("files", ("c.md", TEXT + b"x" * (2 << 20)))]
    answer = api.post("/documents/batch", data={"project_id": "demo"}, files=files)
    assert answer.status_code == 202, answer.text
    body = answer.json()
    assert set(body) == {"batch_id", "document_ids", "status"} and len(body["document_ids"]) == 3
    for document in body["document_ids"]:
        ended(document)
    state = api.get(f"/batches/{body['batch_id']}").json()
    assert state["status"] == "completed" and state["counts"] == {"completed": 1, "failed": 2}
    codes = [(d["error"] or {}).get("code") for d in state["documents"]]
    assert codes == [None, "UNSUPPORTED_FORMAT", "FILE_TOO_LARGE"]


def test_a_batch_that_was_taken_is_answered_so_whatever_the_store_does(
    api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(self: LocalObjects, key: str) -> None:
        raise StorageError("the store is away")

    program = b"MZ\x90\x00\x03\x00\x00\x00\x04\x00\x00\x00\xff\xff" + bytes(200)
    monkeypatch.setattr(LocalObjects, "delete", away)
    files = [("files", ("a.md", TEXT)), ("files", ("b.exe", program))]
    assert api.post("/documents/batch", data={"project_id": "demo"}, files=files).status_code == 202


def test_a_batch_of_too_many_files_is_refused(api: httpx.Client) -> None:
    files = [("files[]", (f"{n}.md", TEXT)) for n in range(4)]
    answer = api.post("/documents/batch", data={"project_id": "demo"}, files=files)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "BATCH_TOO_LARGE")


def test_a_repeated_batch_is_answered_like_the_first(api: httpx.Client) -> None:
    def send() -> httpx.Response:
        files = [("files", ("a.md", TEXT)), ("files", ("b.md", TEXT + b"2"))]
        headers = {"Idempotency-Key": "batch-1"}
        return api.post("/documents/batch", data={"project_id": "demo"}, files=files, headers=headers)

    assert send().json() == send().json()
