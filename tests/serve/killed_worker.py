"""A worker that kills itself with SIGKILL at a chosen point of the first upload it takes.

python tests/serve/killed_worker.py HOME POINT
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

from fake_embedder import SIZE, FakeEmbedder

from engine.objects.local import LocalObjects
from engine.registry.queries import open_registry
from engine.settings import load
from engine.store import Points
from engine.store.edge import EdgeStore
from serve.worker import Ingest


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Dying:
    """The registry, deadly before or after one of its calls."""

    def __init__(self, inner: Any, point: str) -> None:
        self._inner, self._point = inner, point

    def __getattr__(self, name: str) -> Any:
        call = getattr(self._inner, name)
        if not self._point.endswith(f" {name}"):
            return call

        def deadly(*args: Any, **kwargs: Any) -> Any:
            if self._point.startswith("before"):
                die()
            call(*args, **kwargs)
            die()

        return deadly


class DyingStore(EdgeStore):
    def upsert(self, points: Points) -> None:
        super().upsert(points.cut(0, 1))
        die()


def main(home: Path, point: str) -> None:
    settings = load({"home": home, "serve.lease_seconds": 1, "scratch": home.parent / "scratch"}, environ={})
    registry = Dying(open_registry(settings), point)
    store = (DyingStore if point == "during upsert" else EdgeStore)(home / "store")
    store.ensure({"fake": SIZE})
    Ingest(settings, registry, store, LocalObjects(home / "objects"), FakeEmbedder()).run_once()  # type: ignore[arg-type]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
