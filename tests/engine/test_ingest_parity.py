"""A file gives the same chunks whichever way it comes in: by a backfill or by an upload, with the real model."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from engine.embed.make import make_embedder
from engine.ingest import IngestWorker
from engine.registry.queries import open_registry
from engine.settings import Settings, load
from engine.store import Condition, Filter, Store
from engine.store.open import open_store
from jobs.backfill import backfill
from tests.engine.uploads import Bench, LocalObjects

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "documents"
FILES = [
    "statutes.docx",
    "complaint.eml",
    "boat-hire-policy.md",
    "buoys.csv",
    "odds-and-ends.zip",
    "notice-to-mariners.png",
]
OWN = {"chunk_id", "document_id", "revision", "generation", "key", "source"}  # to one document and attempt


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    overrides = {"home": tmp_path / "home", "scratch": tmp_path / "scratch", "chunking.max_tokens": 120}
    return load(overrides, environ={})


def test_backfill_and_upload_agree_on_every_chunk(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    for name in FILES:
        shutil.copy(SAMPLES / name, tmp_path / "docs" / name)
    result = backfill(str(tmp_path / "docs"), "demo", settings, local=True, source_name="docs")
    assert result.totals.published == len(FILES)
    registry, store = open_registry(settings), open_store(settings, ray=False)
    project = registry.project("demo")
    embedder, objects = make_embedder(settings), LocalObjects(tmp_path / "objects")
    bench = Bench(settings, registry, store, objects, embedder, project.id)  # type: ignore[arg-type]
    try:
        for name in FILES:
            document = bench.upload((SAMPLES / name).read_bytes(), name, source_id=name)
            assert bench.process(**project.settings)[-1].status == "published", name
            assert bench.row(document).fingerprint != ""
        vector = embedder.info.vector_name
        backfilled, uploaded = (chunks(store, project.id, source, vector) for source in ("docs", "uploads"))
    finally:
        bench.worker.close()
        store.close()
    assert len(backfilled) > 2 * len(FILES)
    assert backfilled.keys() == uploaded.keys()
    for place, (payload, dense) in backfilled.items():
        other, other_dense = uploaded[place]
        assert payload == other, place
        assert float(dense @ other_dense) > 0.9999


def chunks(
    store: Store, project: str, source: str, vector: str
) -> dict[tuple[str, int], tuple[dict[str, object], object]]:
    """(path, chunk index) → payload without what belongs to one document, vector."""
    where = Filter([Condition("project_id", "any", [project])])
    found: dict[tuple[str, int], tuple[dict[str, object], object]] = {}
    for batch in store.scroll(where, with_dense=[vector]):
        for record in batch:
            payload = record.payload
            if payload["source"] == source:
                kept = {k: v for k, v in payload.items() if k not in OWN}
                found[str(payload["key"]), int(str(payload["chunk_index"]))] = (kept, record.dense[vector])
    return found


def test_a_worker_can_be_made_without_any_work(settings: Settings, tmp_path: Path) -> None:
    """No child, no scratch, no model is touched before there is something to do."""
    IngestWorker(settings, None, None, LocalObjects(tmp_path / "objects"), None).close()  # type: ignore[arg-type]
    assert not (tmp_path / "scratch").exists()
