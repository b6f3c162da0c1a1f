"""Backfill throughput on Ray against a bare `multiprocessing.Pool` that calls the same functions.

    python -m benchmarks.backfill [--files 2000] [--pairs 5] [--sentences 6]

Both sides prepare, embed and publish the same number of unique texts into an empty embedded store, with as many
workers as there are cores. Each pair uses texts of its own, so that nothing is reused. Start-up (Ray, actors,
models) is timed apart: the clock of the work starts with the first finished group of documents and the documents
of that group do not count.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from corpora import write_texts

from engine.settings import Settings, load

GROUP = 32


@dataclass
class Figures:
    """`rate`: documents per wall second after start-up; CPU seconds of all processes over the whole run."""

    rate: float
    cpu_seconds: float
    startup_seconds: float
    documents: int

    @property
    def per_cpu_second(self) -> float:
        return self.documents / self.cpu_seconds


class Clock:
    """Counts documents from the first group on."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.first = 0.0
        self.last = 0.0
        self.counted = 0
        self.total = 0

    def add(self, documents: int) -> None:
        now = time.monotonic()
        self.total += documents
        if self.first:
            self.counted += documents
        else:
            self.first = now
        self.last = now

    def figures(self, cpu: float) -> Figures:
        return Figures(self.counted / (self.last - self.first), cpu, self.first - self.begun, self.total)


# ---------------------------------------------------------------- the bare pool
_STATE: dict[str, Any] = {}


def _start(settings_json: str) -> None:
    import torch

    from engine.embed.make import make_embedder

    torch.set_num_threads(1)
    settings = Settings.model_validate_json(settings_json)
    _STATE.update(settings=settings, json=settings_json, embedder=make_embedder(settings), scratch=tempfile.mkdtemp())


def _work(paths: list[str]) -> list[Any]:
    """Prepare and embed a group; (prepared, vectors, hashes)."""
    from engine.fetch import file_sha256
    from engine.ids import document_id_for, embed_hash
    from engine.process import Task, perform
    from engine.publish import Embedded
    from engine.records import Prepared

    embedder = _STATE["embedder"]
    group: list[Prepared] = []
    for path in paths:
        p = Prepared(document_id_for("p", "s", path), "p", "s", path, path, Path(path).name, Path(path).stat().st_size)
        p.content_sha256, p.fingerprint, p.generation = file_sha256(Path(path)), "F" * 64, 1
        group.append(perform(Task("prepare", p, _STATE["json"], _STATE["scratch"], path)).prepared)
    texts = [c.content for p in group for c in p.chunks]
    vectors = embedder.embed_documents(texts)
    made, at = [], 0
    for p in group:
        hashes = [embed_hash(embedder.info.fingerprint, c.content) for c in p.chunks]
        made.append(Embedded(p, vectors[at : at + len(hashes)], hashes, len(hashes)))
        at += len(hashes)
    return made


def pool_run(settings: Settings, files: list[str], workers: int) -> Figures:
    """The baseline: workers prepare and embed, this process publishes."""
    from engine.embed.make import model_info
    from engine.prepare import child_settings
    from engine.publish import Publisher
    from engine.registry import Claim
    from engine.registry.queries import open_registry
    from engine.store.edge import EdgeStore

    registry = open_registry(settings)
    project = registry.project("bench", create=True)
    info = model_info(settings)
    store = EdgeStore(settings.home / "store", settings.store.batch_points, settings.store.optimize_above)
    store.ensure({info.vector_name: info.dimensions})
    publisher = Publisher(store, registry, info.vector_name, "run", settings.store.batch_points)
    clock, before = Clock(), _cpu()
    groups = [files[i : i + GROUP] for i in range(0, len(files), GROUP)]
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, _start, (child_settings(settings),)) as pool:
        for made in pool.imap_unordered(_work, groups):
            claims = [
                Claim(e.prepared.document_id, project.id, "s", e.prepared.key, e.prepared.uri, e.prepared.filename, 1)
                for e in made
            ]
            registry.claim(claims, None)
            for e in made:
                e.prepared.project_id = project.id
            published = publisher.publish(made, [])
            assert all(o.status == "published" for o in published)
            clock.add(len(published))
        pool.close()
        pool.join()
    store.close()
    return clock.figures(_cpu() - before)


def _cpu() -> float:
    """CPU seconds of this process and its ended children."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


# ---------------------------------------------------------------- Corpus on Ray
def ray_run(settings: Settings, folder: Path) -> Figures:
    """The product: its own backfill, in a process of its own so that its CPU time can be told."""
    out = folder.parent / "figures.json"
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "benchmarks.backfill", "--product", str(folder), str(settings.home), str(out)]
    subprocess.run(command, check=True, env=environment)
    found = json.loads(out.read_text())
    return Figures(**found)


def _product(folder: str, home: str, out: str) -> None:
    import psutil

    from engine.report import Totals
    from jobs.backfill import backfill

    clock = Clock()
    cpu = 0.0

    def progress(totals: Totals) -> None:
        nonlocal cpu
        done = totals.published
        if done > clock.total:
            clock.add(done - clock.total)
        cpu = _tree_cpu(psutil.Process())

    result = backfill(folder, "bench", load({"home": home}), progress)
    assert result.totals.published == result.totals.inputs, result.report
    Path(out).write_text(json.dumps(vars(clock.figures(cpu))))


def _tree_cpu(process: Any) -> float:
    import psutil

    total = 0.0
    for member in [process, *process.children(recursive=True)]:
        try:
            times = member.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


# ---------------------------------------------------------------- pairs
def pairs(count: int, files: int, sentences: int) -> Iterator[tuple[Figures, Figures]]:
    """Paired runs in turn, pool first."""
    workers = os.cpu_count() or 2
    for n in range(count):
        folder = Path(tempfile.mkdtemp(prefix="corpus-bench-"))
        write_texts(folder / "docs", files, sentences, salt=f"{n}-{time.time_ns()}-")
        paths = sorted(map(str, (folder / "docs").rglob("*.txt")))
        pool = pool_run(load({"home": folder / "pool"}), paths, workers)
        product = ray_run(load({"home": folder / "ray"}), folder / "docs")
        shutil.rmtree(folder)
        print(f"pair {n + 1}: {_compared(pool, product)}", flush=True)
        yield pool, product


def _compared(pool: Figures, product: Figures) -> str:
    return (
        f"pool {pool.rate:.1f}/s, corpus {product.rate:.1f}/s, ratio {product.rate / pool.rate:.3f}; CPU seconds per "
        f"1000 documents {1000 / pool.per_cpu_second:.0f} and {1000 / product.per_cpu_second:.0f}; "
        f"start-up {pool.startup_seconds:.0f} s and {product.startup_seconds:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=6)
    parser.add_argument("--product", nargs=3, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.product:
        _product(*a.product)
        return
    found = list(pairs(a.pairs, a.files, a.sentences))
    ratios = [product.rate / pool.rate for pool, product in found]
    print(f"ratio to the bare pool: median {statistics.median(ratios):.3f}, {min(ratios):.3f} to {max(ratios):.3f}")


if __name__ == "__main__":
    main()
