"""`--plan`: what a backfill would do and what it would take, from a full listing and a small sample."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

from engine.embed.make import make_embedder
from engine.prepare import NoLedger, Preparer, Run
from engine.records import Prepared, SourceItem
from engine.report import OutcomeFiles, Totals
from engine.settings import Settings
from engine.sources import open_source
from jobs.backfill import LOCAL, Options, Session, open_session
from jobs.preflight import check_ready
from jobs.worklist import WorkList, collect

SAMPLE_DOCUMENTS = 12
SAMPLE_TEXTS = 32
SEED = 7


def estimate(source: str, project: str, settings: Settings, **options: Any) -> dict[str, Any]:
    """Exact counts and bytes; pages, chunks, tokens, seconds and cost scaled up by bytes from the sample."""
    chosen = Options(source, project, **options)
    layout, workers = _layout(settings, chosen)
    session = open_session(settings, chosen, planning=True)
    with tempfile.TemporaryDirectory() as folder:
        totals = Totals()
        listing = open_source(source, settings, chosen.manifest)
        work = collect(session, listing, Path(folder), "plan", totals, OutcomeFiles(Path(folder)))
        check_ready(settings, totals, work)
        sampled = _measure(session, work)
    scale = work.bytes / sampled["bytes"] if sampled["bytes"] else 0.0
    seconds = (sampled["prepare_seconds"] + sampled["embed_seconds"]) * scale / workers
    tokens = int(sampled["tokens"] * scale)
    return {
        "inputs": totals.inputs,
        "unchanged": totals.skipped["unchanged"],
        "work": work.count,
        "work_bytes": work.bytes,
        "missing": totals.missing,
        "layout": layout,
        "sample": sampled,
        "estimate": {
            "pages": int(sampled["pages"] * scale),
            "chunks": int(sampled["chunks"] * scale),
            "tokens": tokens,
            "seconds": round(seconds, 1),
            "cost": round(tokens * settings.embedding.price_per_million_tokens / 1e6, 4),
        },
    }


def _layout(settings: Settings, options: Options) -> tuple[str, int]:
    if options.local:
        return "in this process", LOCAL.workers
    from engine.layout import plan_layout
    from engine.pipeline import cluster_size, start_ray

    start_ray(settings)
    layout = plan_layout(settings, *cluster_size())
    return layout.describe(), layout.embedders or layout.workers


def _measure(session: Session, work: WorkList) -> dict[str, Any]:
    sample = work.sample(SAMPLE_DOCUMENTS, SEED)
    start = time.monotonic()
    documents = _prepared(session, sample)
    prepare_seconds = time.monotonic() - start
    chunks = [c for p in documents for c in p.chunks]
    tokens = sum(c.embed_token_count for c in chunks)
    texts = [c.content for c in chunks[:: max(1, len(chunks) // SAMPLE_TEXTS)]][:SAMPLE_TEXTS]
    per_text = _embed_seconds(session.settings, texts)
    return {
        "documents": len(sample),
        "bytes": sum(item.size for item in sample),
        "pages": sum(p.document.metadata.page_count or 0 for p in documents if p.document),
        "chunks": len(chunks),
        "tokens": tokens,
        "failed": sum(p.failure is not None for p in documents),
        "prepare_seconds": round(prepare_seconds, 2),
        "embed_seconds": round(per_text * len(chunks), 2),
    }


def _prepared(session: Session, sample: list[SourceItem]) -> list[Prepared]:
    preparer = Preparer(session.settings, Run("plan", session.fingerprint), NoLedger())
    try:
        return list(preparer.prepare(sample))
    finally:
        preparer.close()


def _embed_seconds(settings: Settings, texts: list[str]) -> float:
    """Seconds per text with one thread; 0 through a gateway, where asking would cost money."""
    if not texts or settings.embedding.backend == "gateway":
        return 0.0
    embedder = make_embedder(settings)
    embedder.embed_documents(texts[:2])
    start = time.monotonic()
    embedder.embed_documents(texts)
    return (time.monotonic() - start) / len(texts)


def describe(figures: dict[str, Any]) -> str:
    """The estimate for people."""
    e, s = figures["estimate"], figures["sample"]
    return (
        f"{figures['inputs']} inputs: {figures['unchanged']} unchanged, {figures['work']} to do "
        f"({figures['work_bytes'] / 1e6:.1f} MB), {figures['missing']} no longer in the source\n"
        f"{figures['layout']}\n"
        f"from a sample of {s['documents']} documents ({s['failed']} failed): about {e['pages']} pages, "
        f"{e['chunks']} chunks, {e['tokens']} tokens, {e['seconds']:.0f} s, cost {e['cost']}"
    )
