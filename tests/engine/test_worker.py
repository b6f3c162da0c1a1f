"""A worker survives what goes wrong in one call and is in step for the next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from corpora import write_texts
from fake_embedder import SIZE, FakeEmbedder

from engine.errors import StorageError
from engine.prepare import Run
from engine.records import SourceItem
from engine.registry import Publication
from engine.registry.queries import Registry, open_registry
from engine.settings import load
from engine.sources.local import local_uri
from engine.store.edge import EdgeStore
from engine.worker import Worker


class Refusing:
    """The registry, refusing to publish while told to: a database that is away for a moment."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self.refuse = False

    def __getattr__(self, name: str) -> object:
        return getattr(self._registry, name)

    def publish(self, publications: list[Publication]) -> set[str]:
        if self.refuse:
            raise StorageError("away")
        return self._registry.publish(publications)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[tuple[Worker, Refusing, list[SourceItem]]]:
    settings = load({"home": tmp_path / "home", "scratch": tmp_path / "scratch"}, environ={})
    registry = open_registry(settings)
    project = registry.project("p", create=True).id
    write_texts(tmp_path / "docs", 12)
    files = sorted((tmp_path / "docs").rglob("*.txt"))
    items = [SourceItem(project, "s", f.name, local_uri(bytes(f)), f.stat().st_size) for f in files]
    store = EdgeStore(tmp_path / "home" / "store")
    store.ensure({"fake": SIZE})
    ledger = Refusing(registry)
    worker = Worker(settings, Run(str(uuid4()), "f" * 64), ledger, store, FakeEmbedder())  # type: ignore[arg-type]
    yield worker, ledger, items
    worker.close()
    store.close()
    assert list((tmp_path / "scratch").iterdir()) == [], "scratch is left behind"


def keys(worker: Worker, items: list[SourceItem]) -> list[str]:
    return [o.key for outcomes in worker.work(items) for o in outcomes]


def test_an_error_in_one_call_does_not_leak_into_the_next(
    bench: tuple[Worker, Refusing, list[SourceItem]],
) -> None:
    worker, ledger, items = bench
    ledger.refuse = True
    with pytest.raises(StorageError):
        keys(worker, items[:6])
    ledger.refuse = False
    assert keys(worker, items[6:]) == [i.key for i in items[6:]]


def test_a_caller_may_leave_early(bench: tuple[Worker, Refusing, list[SourceItem]]) -> None:
    worker, _, items = bench
    for _ in worker.work(items):
        break
    assert keys(worker, items[:2]) == [i.key for i in items[:2]]
