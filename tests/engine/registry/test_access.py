"""Tokens, the audit log, idempotency keys and agent runs."""

from __future__ import annotations

import hashlib
import multiprocessing
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from engine.errors import Code, InputError, StorageError
from engine.registry import Project
from engine.registry.online import AgentStep, Remembered
from engine.registry.queries import Registry

FORK = multiprocessing.get_context("fork")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


# ---------------------------------------------------------------- tokens
def test_a_token_is_known_by_its_hash_until_it_ends(registry: Registry, project: Project) -> None:
    made = registry.add_token("ci", {project.id: "write"}, ["group:a"], _hash("one"))
    assert registry.token(_hash("one")) == made
    assert (made.roles, made.principals, made.expires_at) == ({project.id: "write"}, ["group:a"], None)
    assert registry.token(_hash("two")) is None
    assert registry.token("\0") is None
    soon = datetime.now(UTC) + timedelta(hours=1)
    fresh = registry.add_token("all", {"*": "admin"}, [], _hash("two"), soon)
    over = registry.add_token("old", {"*": "read"}, [], _hash("three"), datetime.now(UTC) - timedelta(seconds=1))
    assert registry.token(_hash("two")) == fresh
    assert fresh.expires_at == soon
    assert registry.token(_hash("three")) is None, "expired"
    assert registry.tokens() == [made, fresh, over]
    assert registry.revoke_token(made.token_id)
    assert not registry.revoke_token(made.token_id)
    assert not registry.revoke_token("no uuid")
    assert registry.token(_hash("one")) is None
    assert registry.tokens() == [fresh, over]


def test_unfit_tokens_are_refused(registry: Registry) -> None:
    for roles, sha256, code in (
        ({"*": "owner"}, _hash("x"), Code.INVALID_REQUEST),
        ({"*": "read"}, "the token itself", Code.INVALID_REQUEST),
        ({"*": "read"}, _hash("x").upper(), Code.INVALID_REQUEST),
    ):
        with pytest.raises(InputError) as caught:
            registry.add_token("n", roles, [], sha256)
        assert caught.value.code == code
    registry.revoke_token(registry.add_token("n", {"*": "read"}, [], _hash("x")).token_id)
    with pytest.raises(InputError) as caught:
        registry.add_token("n", {"*": "read"}, [], _hash("x"))
    assert caught.value.code == Code.CONFLICT, "a revoked token does not come back"


# ---------------------------------------------------------------- audit
def test_the_audit_log_is_the_projects_newest_first(registry: Registry, project: Project) -> None:
    for n in range(5):
        registry.audit(project.id, "token:ci", "document.delete", f"d{n}", {"n": n})
    registry.audit(registry.project("other", create=True).id, "x", "project.update", "other")
    entries = registry.audit_log(project.id)
    assert [(e.target, e.details) for e in entries] == [(f"d{n}", {"n": n}) for n in (4, 3, 2, 1, 0)]
    assert {(e.actor, e.action, e.project_id) for e in entries} == {("token:ci", "document.delete", project.id)}
    first = registry.audit_log(project.id, limit=2)
    assert first + registry.audit_log(project.id, after=first[-1].id) == entries
    assert registry.audit_log("no uuid") == []
    assert abs(entries[0].at - datetime.now(UTC)) < timedelta(minutes=1)
    with pytest.raises(StorageError):
        registry.audit(str(uuid4()), "x", "y", "z")


# ---------------------------------------------------------------- idempotency
def test_a_key_stands_for_one_request(registry: Registry) -> None:
    assert registry.remember("p1:ci", "k", "h1", 60) == Remembered("new")
    assert registry.remember("p1:ci", "k", "h1", 60) == Remembered("running")
    assert registry.remember("p1:ci", "k", "h2", 60) == Remembered("mismatch")
    assert registry.remember("p1:", "cik", "h2", 60) == Remembered("new"), "another scope"
    registry.answer("p1:ci", "k", "h2", 202, {}, "not the owner's")
    registry.answer("p1:ci", "k", "h1", 202, {"location": "/x"}, '{"a": "ä"}')
    done = Remembered("done", 202, {"location": "/x"}, '{"a": "ä"}')
    assert registry.remember("p1:ci", "k", "h1", 60) == done
    registry.answer("p1:ci", "k", "h1", 500, {}, "later")
    registry.forget("p1:ci", "k")
    assert registry.remember("p1:ci", "k", "h1", 60, seconds_running=-1) == done, "an answered key stays"
    assert registry.remember("p1:ci", "k", "h2", 60) == Remembered("mismatch")
    assert registry.remember("p1:ci", "x" * 10_000 + "\0\ud800", "h", 60) == Remembered("new")


def test_a_forgotten_abandoned_or_expired_key_is_free(registry: Registry) -> None:
    registry.remember("s", "k", "h1", 60)
    registry.forget("s", "k")
    assert registry.remember("s", "k", "h2", 60) == Remembered("new")
    assert registry.remember("s", "k", "h1", 60, seconds_running=-1) == Remembered("mismatch")
    assert registry.remember("s", "k", "h2", 60, seconds_running=-1) == Remembered("new"), "its request is dead"
    assert registry.remember("s", "k", "h2", 60) == Remembered("running")
    registry.remember("s", "short", "h1", -1)
    assert registry.remember("s", "short", "h2", 60) == Remembered("new")
    registry.remember("s", "gone", "h", -1)
    assert registry.prune_idempotency_keys() == 1
    assert registry.remember("s", "k", "h2", 60) == Remembered("running")


def _remember(registry: Registry, key: str) -> str:
    return registry.remember("s", key, "h", 60).state


def test_of_many_askers_one_gets_the_key(registry: Registry) -> None:
    registry.remember("s", "expired", "h", -1)
    registry.engine.dispose()
    with FORK.Pool(6) as pool:
        for key in ("fresh", "expired"):
            states = pool.starmap(_remember, [(registry, key)] * 24, chunksize=1)
            assert sorted(states) == ["new", *["running"] * 23]


# ---------------------------------------------------------------- agent runs
def _step(position: int) -> AgentStep:
    return AgentStep(position, "search", {"query": "q"}, {"hits": [1, 2]}, 0.25, 120)


def test_an_agent_run_is_written_once(registry: Registry, project: Project) -> None:
    run_id = registry.start_agent_run(project.id, "what is \0 due?", {"budget": 4000})
    for position in (1, 0):
        registry.add_agent_step(run_id, _step(position))
    with pytest.raises(StorageError, match="written already"):
        registry.add_agent_step(run_id, _step(1))
    run = registry.agent_run(run_id, project.id)
    assert run is not None
    assert (run.run_id, run.project_id, run.query, run.options) == (
        run_id, project.id, "what is \ufffd due?", {"budget": 4000},
    )  # fmt: skip
    assert (run.status, run.stop_reason, run.result, run.finished_at) == ("running", "", {}, None)
    assert run.steps == [_step(0), _step(1)]
    registry.finish_agent_run(run_id, "completed", "enough_evidence", {"chunks": 3})
    for late in (
        lambda: registry.finish_agent_run(run_id, "failed", "", {}),
        lambda: registry.add_agent_step(run_id, _step(2)),
    ):
        with pytest.raises(StorageError, match="has ended"):
            late()
    run = registry.agent_run(run_id)
    assert run is not None
    assert (run.status, run.stop_reason, run.result, len(run.steps)) == (
        "completed", "enough_evidence", {"chunks": 3}, 2,
    )  # fmt: skip
    assert run.finished_at is not None
    assert run.started_at <= run.finished_at


def test_agent_runs_that_are_not_there(registry: Registry, project: Project) -> None:
    run_id = registry.start_agent_run(project.id, "q", {})
    assert registry.agent_run(run_id, registry.project("other", create=True).id) is None
    assert registry.agent_run("no uuid") is None
    for absent in (lambda: registry.add_agent_step(str(uuid4()), _step(0)),
                   lambda: registry.finish_agent_run("nothing", "completed", "", {})):  # fmt: skip
        with pytest.raises(InputError) as caught:
            absent()
        assert caught.value.code == Code.JOB_NOT_FOUND
    with pytest.raises(StorageError):
        registry.finish_agent_run(run_id, "no such status", "", {})
    with pytest.raises(StorageError):
        registry.start_agent_run(str(uuid4()), "q", {})
