"""What a project's readers can see, point by point, to compare two ways of getting there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from engine.registry.queries import open_registry
from engine.settings import load
from engine.store import Condition, Filter
from engine.store.open import open_store
from engine.sweep import sweep

OWN_TO_A_RUN = {"generation"}  # counts attempts; all else must be equal
Snapshot = dict[str, tuple[dict[str, Any], np.ndarray]]


def twin_home(template: Path, home: Path) -> Path:
    """A home with nothing but project `demo`, whose random id is the same in all twins of one template."""
    if not template.exists():
        registry = open_registry(load({"home": template}, environ={}))
        registry.project("demo", create=True)
        registry.close()
    shutil.copytree(template, home)
    return home


def snapshot(home: Path) -> Snapshot:
    """Every point by chunk id, after the sweeper; each must belong to the visible revision of its document."""
    settings = load({"home": home}, environ={})
    registry, store = open_registry(settings), open_store(settings, ray=False)
    sweep(store, registry, older_than_seconds=0)
    project = registry.project("demo").id
    (vector,) = store.vectors()
    found: Snapshot = {}
    for batch in store.scroll(Filter([Condition("project_id", "any", [project])]), with_dense=[vector]):
        active = registry.active([str(r.payload["document_id"]) for r in batch])
        for record in batch:
            payload = record.payload
            assert active[str(payload["document_id"])] == payload["revision"], "an orphan survived the sweeper"
            assert str(payload["chunk_id"]) not in found, "a chunk stands twice"
            kept = {k: v for k, v in payload.items() if k not in OWN_TO_A_RUN}
            found[str(payload["chunk_id"])] = (kept, record.dense[vector])
    for row in registry.documents(project, limit=1000):
        stored = sum(p["document_id"] == row.document_id for p, _ in found.values())
        assert (row.status, row.chunk_count) == ("completed", stored), row.key
    store.close()
    return found


def equal(a: Snapshot, b: Snapshot) -> None:
    """Same chunks, same payloads, vectors within cosine 0.9999."""
    assert a.keys() == b.keys()
    for chunk, (payload, vector) in a.items():
        other, other_vector = b[chunk]
        assert payload == other
        assert float(vector @ other_vector) > 0.9999
