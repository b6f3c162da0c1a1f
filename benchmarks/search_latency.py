"""Search latency at 20,000 chunks, idle and while a backfill runs into the same store.

    python -m benchmarks.search_latency [--chunks 20000] [--seconds 60]

The chunks are made texts with random vectors, published the usual way. Each query asks the dense and the sparse
channels; "store" is the store's answer alone, "query" adds embedding the query, fusing and the check of revisions.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from corpora import sentence, text, write_texts

from engine.document import Builder
from engine.embed.make import make_embedder, model_info, model_limits
from engine.ids import document_id_for, embed_hash
from engine.publish import Embedded, Publisher
from engine.records import ChunkConfig, Prepared
from engine.registry import Claim
from engine.registry.queries import open_registry
from engine.search.classic import SearchRequest, search
from engine.settings import Settings, load
from engine.store import Condition, Filter, Query
from engine.store.open import open_store


def fill(settings: Settings, chunks: int) -> str:
    """Publish about that many chunks into project `bench`; the project's id."""
    from engine.chunk.make import make_chunks

    registry, store = open_registry(settings), open_store(settings, ray=False)
    project, info = registry.project("bench", create=True).id, model_info(settings)
    registry.register_model(info.vector_name, {"dimensions": info.dimensions, "fingerprint": info.fingerprint})
    store.ensure({info.vector_name: info.dimensions})
    publisher = Publisher(store, registry, info.vector_name, "fill", 256)
    draw, noise, written, number = random.Random(1), np.random.default_rng(1), 0, 0
    while written < chunks:
        builder = Builder("txt", settings.limits)
        for n in range(50):
            builder.heading(2, f"Section {number}.{n}")
            builder.paragraph(" ".join(sentence(draw) for _ in range(6)))
        p = Prepared(
            document_id_for(project, "made", str(number)), project, "made", str(number), "", f"{number}.txt", 1
        )
        p.content_sha256, p.fingerprint, p.document = f"{number:064}", "F" * 64, builder.finish()
        config = ChunkConfig(max_tokens=150)
        p.chunks = make_chunks(p.document, p.document_id, config, model_limits(settings), settings)
        p.generation = registry.claim([Claim(p.document_id, project, "made", p.key, "", p.filename, 1)])[p.document_id]
        vectors = noise.standard_normal((len(p.chunks), info.dimensions)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        hashes = [embed_hash(info.fingerprint, c.content) for c in p.chunks]
        publisher.publish([Embedded(p, vectors, hashes)], [])
        written, number = written + len(p.chunks), number + 1
    store.close()
    return project


def measure(settings: Settings, project: str, seconds: float, alive: subprocess.Popen[bytes] | None) -> None:
    """Search for that long (or until the backfill ends) and print percentiles."""
    registry, store = open_registry(settings), open_store(settings, ray=False)
    one_thread = settings.model_copy(update={"embedding": settings.embedding.model_copy(update={"threads": 1})})
    embedder, draw = make_embedder(one_thread), random.Random(2)
    name, where = embedder.info.vector_name, Filter([Condition("project_id", "any", [project])])
    alone: list[float] = []
    whole: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end and (alive is None or alive.poll() is None):
        question = sentence(draw, 6)
        vector = embedder.embed_queries([question])[0]
        begun = time.monotonic()
        store.search([Query(name, 100, dense=vector)], where, project)
        alone.append(time.monotonic() - begun)
        begun = time.monotonic()
        found = search(SearchRequest(project, question, principals=None), store, registry, embedder)
        whole.append(time.monotonic() - begun)
        assert len(found.results) == 10
        time.sleep(0.05)
    for label, times in (("store", alone), ("query", whole)):
        p50, p95, p99 = np.percentile(np.array(times) * 1000, [50, 95, 99])
        print(f"  {label}: p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms, max {max(times) * 1000:.0f} ms "
              f"({len(times)} searches)", flush=True)  # fmt: skip
    store.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=60)
    a = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="corpus-bench-") as folder:
        settings = load({"home": Path(folder) / "home"}, environ={})
        project = fill(settings, a.chunks)
        print("idle:", flush=True)
        measure(settings, project, a.seconds / 2, None)
        docs = Path(folder) / "docs"
        write_texts(docs, 5000, sentences=10, salt=text(7, 1))
        command = [
            sys.executable,
            "-m",
            "jobs.cli",
            "--home",
            f"{folder}/home",
            "backfill",
            str(docs),
            "-p",
            "bench",
            "-q",
        ]
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        registry = open_registry(settings)
        while registry.stats(project)["visible"] <= a.chunks // 50 + 20 and running.poll() is None:
            time.sleep(1)
        print("during a backfill:", flush=True)
        measure(settings, project, a.seconds, running)
        running.terminate()
        running.wait()


if __name__ == "__main__":
    main()
