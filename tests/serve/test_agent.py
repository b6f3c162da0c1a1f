"""Agentic search and runs through the API."""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest
from library import Library, open_library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_library(tmp_path_factory.mktemp("agent")) as made:
        made.backfill(
            "pump.md", b"# Pump\n\n## Starting\n\nTurn the lever to start the pump.\n\n## Price\n\nIt costs 142.\n"
        )
        made.backfill("secret.md", b"# Vault\n\nThe vault lever code is swordfish.\n", lambda chunk: ["keepers"])
        yield made


def test_evidence_with_citations_and_an_empty_answer(library: Library) -> None:
    body = {"query": "How do I start the pump?", "project_id": "library"}
    answer = library.client.post("/api/v1/agent/search", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["answer_text"] == ""
    assert "[1] " in found["evidence_text"]
    assert found["content_trust"] == "untrusted_document_content"
    assert found["planner"] == "deterministic"
    assert "no language model" in found["note"]
    citation = found["citations"][0]
    assert {"document_id", "chunk_id", "source_file_name", "section_path", "page_numbers"} <= set(citation)
    assert citation["source_file_name"] == "pump.md"
    assert found["token_budget"] == 40_000
    assert 0 < found["tokens"] < 1000
    run = library.client.get(f"/api/v1/runs/{found['run_id']}").json()
    assert (run["kind"], run["status"], run["query"]) == ("agent", "completed", "How do I start the pump?")
    assert [step["kind"] for step in run["steps"]][:2] == ["plan", "discovery"]
    assert run["started_at"].endswith("Z")
    assert "lever" not in str(run)


def test_principals_are_the_callers(library: Library) -> None:
    body = {"query": "vault lever code swordfish", "project_id": library.project}
    outsider, keeper = library.reader("others"), library.reader("keepers")
    assert "is swordfish" not in outsider.post("/api/v1/agent/search", json=body).json()["evidence_text"]
    assert "is swordfish" in keeper.post("/api/v1/agent/search", json=body).json()["evidence_text"]


def test_a_run_is_shown_to_who_asked_and_to_admins(library: Library) -> None:
    body = {"query": "pump", "project_id": library.project, "mode": "lexical"}
    ann, bob, admin = library.reader(), library.reader(), library.reader(role="admin")
    stranger = library.reader(project="00000000-0000-4000-8000-000000000009", role="admin")
    run_id = ann.post("/api/v1/agent/search", json=body).json()["run_id"]
    assert ann.get(f"/api/v1/runs/{run_id}").status_code == 200
    assert admin.get(f"/api/v1/runs/{run_id}").status_code == 200
    absent = bob.get("/api/v1/runs/00000000-0000-4000-8000-00000000dead")
    for client in (bob, stranger):
        answer = client.get(f"/api/v1/runs/{run_id}")
        assert answer.status_code == absent.status_code == 404
        assert answer.json()["error"]["message"] == absent.json()["error"]["message"]


def test_backfill_runs_are_shown_to_readers_of_the_project(library: Library) -> None:
    registry = library.deps.registry
    run_id = registry.start_run(library.project, "library", "file:///library", {"secret": "x"})
    registry.finish_run(run_id, "completed", {"published": 3})
    shown = library.reader().get(f"/api/v1/runs/{run_id}").json()
    assert (shown["kind"], shown["status"], shown["result"]) == ("backfill", "completed", {"published": 3})
    assert shown["options"] == {}
    stranger = library.reader(project="00000000-0000-4000-8000-000000000009")
    assert stranger.get(f"/api/v1/runs/{run_id}").status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        {"query": ""}, {"query": "   "}, {"token_budget": 1}, {"token_budget": 10**9}, {"navigation_steps": -1},
        {"timeout_seconds": 0}, {"timeout_seconds": 1e9}, {"mode": "rrf"}, {"unknown": 1}, {"filter": {"x": 1}},
    ],
)  # fmt: skip
def test_bad_requests(library: Library, change: dict[str, object]) -> None:
    body = {"query": "pump", "project_id": "library", **change}
    answer = library.client.post("/api/v1/agent/search", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "INVALID_REQUEST")


def test_projects_of_others_are_not_there(library: Library) -> None:
    stranger = library.reader(project="00000000-0000-4000-8000-000000000009")
    for project in (library.project, "nosuch"):
        answer = stranger.post("/api/v1/agent/search", json={"query": "pump", "project_id": project})
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "PROJECT_NOT_FOUND")


def test_an_embedder_that_does_not_answer_ends_the_search(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(text: str) -> object:
        await anyio.sleep(60)
        raise AssertionError

    monkeypatch.setattr(library.deps, "embed_query", never)
    body = {"query": "pump", "project_id": "library", "timeout_seconds": 0.2}
    answer = library.client.post("/api/v1/agent/search", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "EMBEDDING_FAILED")
