"""Chores: by one replica at a time, at their intervals, each apart from the others' failures."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.errors import StorageError
from engine.registry.queries import Registry, open_registry
from engine.settings import load
from serve.chores import Chore, chores, do_chores


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    registry = open_registry(load({"home": tmp_path / "home"}, environ={}))
    yield registry
    registry.close()


def test_a_chore_is_done_once_an_interval_however_many_replicas_there_are(registry: Registry) -> None:
    done: list[float] = []

    def work() -> int:
        done.append(time.monotonic())
        return 1

    due = [Chore("sweep", 0.4, work)]
    with ThreadPoolExecutor(8) as replicas:
        for _ in range(2):
            list(replicas.map(lambda _: do_chores(due, registry), range(8)))
    assert len(done) == 1
    time.sleep(0.5)
    assert do_chores(due, registry) == ["sweep"]
    assert len(done) == 2


def test_a_chore_that_fails_keeps_nobody_from_theirs(registry: Registry) -> None:
    def away() -> int:
        raise StorageError("away")

    assert do_chores([Chore("one", 60, away), Chore("two", 60, lambda: 0)], registry) == ["two"]


def test_a_clock_that_was_ahead_holds_nothing_up(registry: Registry) -> None:
    registry.set_setting("chore:one", time.time() + 1e6)
    assert do_chores([Chore("one", 60, lambda: 0)], registry) == ["one"]


def test_all_chores_run_on_an_empty_installation(registry: Registry, tmp_path: Path) -> None:
    from engine.objects.local import LocalObjects
    from engine.store.edge import EdgeStore

    store = EdgeStore(tmp_path / "store")
    store.ensure({"fake": 4})
    settings = load({"home": tmp_path / "home"}, environ={})
    due = chores(settings, registry, store, LocalObjects(tmp_path / "objects"))
    assert do_chores(due, registry) == [chore.name for chore in due]
    assert do_chores(due, registry) == []
    store.close()
