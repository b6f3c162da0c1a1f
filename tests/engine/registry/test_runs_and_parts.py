"""Runs with their heartbeat, and big documents read in parts."""

from __future__ import annotations

import multiprocessing
from datetime import UTC, datetime

import pytest

from engine.errors import Code, InputError, StorageError
from engine.registry import Project
from engine.registry.queries import Registry

from .ledger import claim, document_id

BIG = document_id("big")


def test_a_run_is_recorded_from_start_to_end(registry: Registry, project: Project) -> None:
    first = registry.start_run(project.id, "files", "file:///files", {"workers": 2})
    second = registry.start_run(project.id, "mail", "s3://mail", {})
    run = registry.run(first)
    assert run is not None
    assert (run.status, run.options, run.totals, run.finished_at) == ("running", {"workers": 2}, {}, None)
    assert (run.project_id, run.source, run.uri) == (project.id, "files", "file:///files")
    assert [r.run_id for r in registry.runs(project.id)] == [second, first]
    assert [r.run_id for r in registry.runs(project.id, limit=1)] == [second]
    registry.heartbeat(first)
    registry.finish_run(first, "completed", {"published": 3})
    run = registry.run(first)
    assert run is not None
    assert (run.status, run.totals) == ("completed", {"published": 3})
    assert run.finished_at is not None
    assert run.started_at <= run.finished_at <= datetime.now(UTC)


def test_absent_runs_and_bad_ends(registry: Registry, project: Project) -> None:
    assert registry.run("nothing") is None
    with pytest.raises(InputError) as caught:
        registry.finish_run(BIG, "completed", {})
    assert caught.value.code == Code.JOB_NOT_FOUND
    run = registry.start_run(project.id, "files", "u", {})
    with pytest.raises(StorageError):
        registry.finish_run(run, "no such status", {})
    with pytest.raises(StorageError):
        registry.start_run(BIG, "files", "u", {})


def test_runs_without_heartbeat_are_marked_interrupted(registry: Registry, project: Project) -> None:
    silent = registry.start_run(project.id, "files", "u", {})
    ended = registry.start_run(project.id, "files", "u", {})
    registry.finish_run(ended, "failed", {})
    assert registry.interrupt_silent_runs(60) == []
    assert registry.interrupt_silent_runs(-1) == [silent]
    assert [r.status for r in registry.runs(project.id)] == ["failed", "interrupted"]


def test_the_last_part_is_told_so_once(registry: Registry, project: Project) -> None:
    generation = registry.claim([claim(project, "big")])[BIG]
    assert registry.begin_parts(BIG, generation, [(1, 200), (201, 400), (401, 450)]) == [0, 1, 2]
    assert not registry.finish_part(BIG, generation, 2, "/p2")
    assert not registry.finish_part(BIG, generation, 0, "/p0")
    assert not registry.finish_part(BIG, generation, 0, "/again")
    assert registry.part_paths(BIG, generation) == ["/p0", "/p2"]
    assert registry.begin_parts(BIG, generation, [(1, 200), (201, 400), (401, 450)]) == [1]
    assert registry.finish_part(BIG, generation, 1, "/p1")
    assert not registry.finish_part(BIG, generation, 1, "/p1")
    assert registry.part_paths(BIG, generation) == ["/p0", "/p1", "/p2"]
    assert not registry.finish_part(BIG, generation, 9, "/none")
    with pytest.raises(StorageError, match="another plan"):
        registry.begin_parts(BIG, generation, [(1, 450)])
    assert registry.begin_parts(BIG, generation + 1, [(1, 450)]) == [0], "a newer attempt plans anew"
    assert registry.part_paths(BIG, generation) == []
    registry.drop_parts(BIG)
    assert not registry.finish_part(BIG, generation + 1, 0, "/late")
    assert registry.begin_parts(BIG, generation, []) == []


def _finish(registry: Registry, generation: int, number: int) -> bool:
    return registry.finish_part(BIG, generation, number, f"/{number}")


def test_racing_workers_elect_one_merger(registry: Registry, project: Project) -> None:
    generation = registry.claim([claim(project, "big")])[BIG]
    registry.begin_parts(BIG, generation, [(n, n) for n in range(40)])
    twice = [(registry, generation, n) for n in range(40) for _ in range(2)]
    with multiprocessing.get_context("fork").Pool(8) as pool:
        last = pool.starmap(_finish, twice, chunksize=1)
    assert sum(last) == 1
    assert registry.part_paths(BIG, generation) == [f"/{n}" for n in range(40)]
