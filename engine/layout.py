"""How a backfill spreads over what the cluster has: which pools, how many, how large. Pure arithmetic.

On CPUs, embedding is nearly all of the work, so it must fill the cores: each core gets one fused worker that
prepares and embeds (two one-thread embedders beat one with two threads). With a GPU the two part: many
preparing workers feed a few that embed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.errors import ConfigError
from engine.settings import Settings

LEAST_CPUS = 0.25  # of a core; a worker with less only waits
GUEST_CPUS = 0.25  # of a core, reserved per worker in a cluster that others use too: the rest stays free for them
LEAST_GUEST_CPUS = 0.02  # what a crowded cluster must have left for one worker


@dataclass(frozen=True, slots=True)
class Layout:
    """`kind`: fused (workers do everything) or split (`workers` prepare, `embedders` embed and publish)."""

    kind: str
    workers: int
    worker_cpus: float
    embedders: int = 0
    embedder_cpus: float = 0.0
    embedder_gpus: float = 0.0
    threads: int = 1  # of torch, per embedding worker
    guest: bool = False  # beside the online API, whose searches must not wait for it

    def describe(self) -> str:
        """One line for people."""
        if self.kind == "fused":
            return f"fused: {self.workers} workers × {self.worker_cpus:g} CPU, each prepares, embeds and publishes"
        return (
            f"split: {self.workers} preparing workers × {self.worker_cpus:g} CPU → {self.embedders} embedding "
            f"workers × {self.embedder_cpus:g} CPU and {self.embedder_gpus:g} GPU"
        )


def plan_layout(settings: Settings, cpus: float, gpus: float, guest: bool = False) -> Layout:
    """The layout for a cluster with these resources free. Raises ConfigError when they are too few for it.

    `guest`: others (the online API) hold resources of the cluster and may ask for more. A guest's workers run at
    low priority, so what they reserve is kept small: enough for Ray to place them, the rest free for the others.
    """
    kind = settings.pipeline.layout
    if kind == "auto":
        enough = gpus > 0 if guest else gpus >= 1
        kind = "split" if enough and settings.embedding.backend == "local" else "fused"
    layout = _fused(settings, cpus) if kind == "fused" else _split(settings, cpus, gpus)
    least = LEAST_GUEST_CPUS if guest else LEAST_CPUS
    if layout.worker_cpus < least or layout.embedder_gpus * layout.embedders > gpus:
        raise ConfigError(
            f"this cluster has {cpus:g} CPUs and {gpus:g} GPUs{' left' if guest else ''}, too few for "
            f"{layout.describe()}; lower pipeline.workers or add nodes"
        )
    return _small(layout) if guest else layout


def _small(layout: Layout) -> Layout:
    """The same workers with small reservations. Torch keeps the threads planned for it."""
    return replace(
        layout,
        guest=True,
        worker_cpus=min(GUEST_CPUS, layout.worker_cpus),
        embedder_cpus=min(GUEST_CPUS, layout.embedder_cpus),
    )


def _fused(settings: Settings, cpus: float) -> Layout:
    workers = settings.pipeline.workers or max(1, int(cpus))
    each = min(1.0, cpus / workers)
    return Layout("fused", workers, each, threads=settings.embedding.threads or 1)


def _split(settings: Settings, cpus: float, gpus: float) -> Layout:
    embedders = max(1, int(gpus))
    share = min(1.0, cpus / (2 * embedders))  # the other half of the CPUs prepares
    left = cpus - embedders * share
    workers = settings.pipeline.workers or max(1, int(left))
    threads = settings.embedding.threads or max(1, int(share))
    return Layout("split", workers, min(1.0, left / workers), embedders, share, min(1.0, gpus), threads)
