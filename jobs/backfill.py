"""Backfill: a folder, bucket or manifest of documents becomes (or stays) a searchable project.

from jobs.backfill import backfill
result = backfill("s3://bucket/contracts", project="contracts")
result.to_pandas()
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from engine.errors import ConfigError, StorageError
from engine.layout import Layout, plan_layout
from engine.prepare import Run
from engine.records import Outcome, SourceItem
from engine.registry import Project
from engine.registry.online import UPLOADS
from engine.registry.queries import Registry, open_registry
from engine.report import OutcomeFiles, Totals, write_report
from engine.scratch import make_folder, sweep_scratch
from engine.settings import Settings, load
from engine.sources import open_source, public_uri
from jobs.preflight import check_ready
from jobs.worklist import WorkList, collect

if TYPE_CHECKING:
    import pandas as pd

    from engine.embed import Embedder, ModelInfo
    from engine.store import Store

LOCAL = Layout("local", 1, 1.0)
Progress = Callable[[Totals], None]


@dataclass(slots=True)
class Options:
    """What one backfill was asked to do. `max_cost` in the currency of embedding.price_per_million_tokens."""

    source: str
    project: str
    source_name: str | None = None
    manifest: bool = False
    local: bool = False
    language: str | None = None
    max_documents: int | None = None
    max_cost: float | None = None
    delete_missing: bool = False
    delete_share: float = 0.5  # of the known documents; a larger deletion is refused
    only_failed: bool = False


@dataclass(slots=True)
class BackfillResult:
    """How a run ended. `folder` holds report.json, report.html and the outcome files."""

    run_id: str
    project: str
    source: str
    status: str  # completed, capped or interrupted
    layout: str
    totals: Totals
    folder: Path
    report: dict[str, object] = field(default_factory=lambda: dict[str, object]())

    def to_pandas(self) -> pd.DataFrame:
        """One row per document that was worked on (unchanged ones are only counted)."""
        import pandas as pd

        files = sorted(self.folder.glob("outcomes-*.parquet"))
        return pd.concat([pd.read_parquet(f) for f in files], ignore_index=True) if files else pd.DataFrame()


@dataclass(slots=True)
class Session:
    """What a run is made with. Nothing here costs start-up time: vectors, models and Ray come when there is work."""

    settings: Settings
    options: Options
    registry: Registry
    project: Project
    source_name: str
    info: ModelInfo
    fingerprint: str


@dataclass(slots=True)
class Tools:
    """What the work itself needs. `embedder` is None on a cluster, where each worker has its own."""

    layout: Layout
    store: Store
    embedder: Embedder | None


def backfill(
    source: str,
    project: str,
    settings: Settings | None = None,
    progress: Progress | None = None,
    overrides: Mapping[str, object] | None = None,
    **options: Any,
) -> BackfillResult:
    """Bring `project` up to date with `source`. See `Options` for the keyword arguments.

    Raises ConfigError or SourceError before any work when something does not fit; a document's failure is
    never raised, it is an outcome.
    """
    chosen = Options(source, project, **options)
    return _run(open_session(settings or load(overrides), chosen), progress or _silent)


def _silent(totals: Totals) -> None:
    """No progress wanted."""


def open_session(settings: Settings, options: Options, planning: bool = False) -> Session:
    """Registry and model identity, checked against one another; the project made when it is new.

    `planning`: nothing is kept of the options given now.
    """
    from engine.embed.make import model_info
    from engine.fingerprint import pipeline_fingerprint
    from engine.redact import wanted_kinds

    registry = open_registry(settings)
    project = registry.project(options.project, create=True)
    settings = with_profile(settings, project, None if planning else registry)
    if settings.security.pii_redaction:
        wanted_kinds(settings)
    source = open_source(options.source, settings, options.manifest)
    if (options.source_name or source.root) == UPLOADS:
        raise ConfigError(f"a source cannot be named {UPLOADS!r}: that is where the API's uploads belong")
    info = model_info(settings)
    if not planning:
        registry.register_model(info.vector_name, _model_facts(info))
        registry.source(project.id, options.source_name or source.root, source.root)
    name = options.source_name or source.root
    fingerprint = pipeline_fingerprint(settings, info.fingerprint, options.language)
    return Session(settings, options, registry, project, name, info, fingerprint)


@contextmanager
def open_tools(session: Session) -> Generator[Tools]:
    """The store, and Ray with its layout or (with --local) the embedder of this process."""
    from engine.embed.make import make_embedder
    from engine.store.open import open_store

    settings, local = session.settings, session.options.local
    layout = LOCAL if local else _ray_layout(settings)
    store = open_store(settings, ray=not local)
    try:
        store.ensure({session.info.vector_name: session.info.dimensions})
        check_points(session.registry, store, session.project)
        yield Tools(layout, store, make_embedder(settings) if local else None)
    finally:
        store.close()


def check_points(registry: Registry, store: Store, project: Project) -> None:
    """Raise StorageError when the registry shows chunks of the project and the store has not one point of it."""
    from engine.store import Condition, Filter

    _, chunks = registry.visible(project.id)
    if chunks and not store.count(Filter([Condition("project_id", "any", [project.id])])):
        raise StorageError(
            f"the store has no points of project {project.slug!r}, the registry shows {chunks} chunks: the store was "
            "lost or is another one. Restore it, or delete the registry too and backfill anew"
        )


def _ray_layout(settings: Settings) -> Layout:
    from engine.pipeline import cluster_size, node_count, start_ray

    start_ray(settings)
    if node_count() > 1 and not settings.registry.url.startswith("postgresql"):
        raise ConfigError(
            "this cluster has several nodes, and a SQLite registry is one file on one of them: set DATABASE_URL to "
            "a PostgreSQL server"
        )
    return plan_layout(settings, *cluster_size())


def _model_facts(info: ModelInfo) -> dict[str, object]:
    return {"model": info.model, "dimensions": info.dimensions, "fingerprint": info.fingerprint}


def with_profile(settings: Settings, project: Project, registry: Registry | None) -> Settings:
    """A project keeps the chunk profile it was first filled with; options given now replace it (for good when
    there is a registry to keep them in)."""
    given = settings.chunking.model_dump(include=settings.chunking.model_fields_set)
    kept = project.settings.get("chunking")
    profile = {**(cast("dict[str, object]", kept) if kept else settings.chunking.model_dump()), **given}
    if registry is not None and profile != kept:
        registry.update_project_settings(project.id, lambda kept: {**kept, "chunking": profile})
    chunking = type(settings.chunking).model_validate(profile)
    return settings.model_copy(update={"chunking": chunking})


class Heart:
    """Tells the registry every minute that a run is alive, however long its current documents take: without a
    beat for an hour its attempts count as dead."""

    def __init__(self, registry: Registry, run_id: str, seconds: float = 60.0) -> None:
        self._registry, self._run_id, self._seconds = registry, run_id, seconds
        self._stopped = threading.Event()
        threading.Thread(target=self._beat, name="corpus-heart", daemon=True).start()

    def stop(self) -> None:
        self._stopped.set()

    def _beat(self) -> None:
        while not self._stopped.wait(self._seconds):
            try:
                self._registry.heartbeat(self._run_id)
            except StorageError as error:
                logging.getLogger("corpus").warning("no heartbeat: %s", error.message)


# ---------------------------------------------------------------- the run
def _run(session: Session, progress: Progress) -> BackfillResult:
    settings, options = session.settings, session.options
    make_folder(settings.home, "home")
    sweep_scratch(settings)
    source = open_source(options.source, settings, options.manifest)
    run_id = session.registry.start_run(session.project.id, session.source_name, source.root, _shown(options))
    folder = settings.home / "runs" / run_id
    totals, files = Totals(), OutcomeFiles(folder)
    result = BackfillResult(run_id, session.project.slug, session.source_name, "running", "", totals, folder)
    alive = Heart(session.registry, run_id)
    try:
        work = collect(session, source, folder, run_id, totals, files)
        totals.listed = time.time()
        check_ready(settings, totals, work)
        _check_deletion(options, totals, work)
        result.status = "completed"
        if work.count or (options.delete_missing and totals.missing):
            with open_tools(session) as tools:
                result.layout = tools.layout.describe() if tools.embedder is None else "in this process"
                result.status = _work(session, tools, work, result, files, progress)
                _remove_missing(session, tools.store, work, totals)
                _tidy(session, tools)
    except KeyboardInterrupt:
        result.status = "interrupted"
    except BaseException:
        result.status = "failed"
        raise
    finally:
        alive.stop()
        _close(session, result, files)
    progress(totals)
    return result


def _work(
    session: Session, tools: Tools, work: WorkList, result: BackfillResult, files: OutcomeFiles, progress: Progress
) -> str:
    """Work through the shards; "completed", or "capped" when a bound was reached first."""
    options, totals = session.options, result.totals
    run = Run(result.run_id, session.fingerprint, options.language)
    for items in work.shards():
        for outcomes in _outcomes(session, tools, items, run):
            totals.add(outcomes)
            files.add(outcomes)
            progress(totals)
            if options.max_cost is not None and totals.cost >= options.max_cost:
                return "capped"
    return "capped" if work.capped else "completed"


def _outcomes(session: Session, tools: Tools, items: list[SourceItem], run: Run) -> Iterator[list[Outcome]]:
    if tools.embedder is None:
        from engine.pipeline import Job
        from engine.pipeline import run as run_on_ray

        yield from run_on_ray(items, Job(session.settings, run), tools.layout)
        return
    from engine.worker import Worker

    worker = Worker(session.settings, run, session.registry, tools.store, tools.embedder)
    try:
        yield from worker.work(items)
    finally:
        worker.close()


def _remove_missing(session: Session, store: Store, work: WorkList, totals: Totals) -> None:
    """Delete the documents that left the source, when asked."""
    if not session.options.delete_missing or not totals.missing:
        return
    from engine.sweep import sweep

    for document_id in work.missing():
        session.registry.delete(document_id, session.project.id)
        totals.deleted += 1
    sweep(store, session.registry, 0, dead=False)


def _check_deletion(options: Options, totals: Totals, work: WorkList) -> None:
    """Refuse, before any work, to delete on the word of a listing that may be wrong."""
    if not options.delete_missing or not totals.missing:
        return
    if totals.unlisted or work.capped:
        raise ConfigError("the listing is not whole (folders that cannot be read, or a cap): nothing is deleted on it")
    if totals.missing > options.delete_share * totals.known:
        raise ConfigError(
            f"{totals.missing} of {totals.known} documents are no longer in the source; "
            f"deleting a share above {options.delete_share:g} needs --delete-share"
        )


def _tidy(session: Session, tools: Tools) -> None:
    """What is cheap now that the work is done: leftovers of dead attempts out, the index built where it pays (not
    beside the online API: building it holds up every search)."""
    from engine.store import Upkeep
    from engine.sweep import sweep

    sweep(tools.store, session.registry)
    if isinstance(tools.store, Upkeep) and not tools.layout.guest:
        tools.store.optimize()


def _close(session: Session, result: BackfillResult, files: OutcomeFiles) -> None:
    totals = result.totals
    totals.finished = datetime.now(UTC).timestamp()
    files.flush()
    result.report = {
        "run_id": result.run_id,
        "status": result.status,
        "project": result.project,
        "source": result.source,
        "layout": result.layout,
        "started_at": _stamp(totals.started),
        "finished_at": _stamp(totals.finished),
        "fingerprint": session.fingerprint,
        "options": _shown(session.options),
        "totals": totals.as_dict(),
    }
    stored = {"capped": "completed"}.get(result.status, result.status)
    session.registry.finish_run(result.run_id, stored, totals.as_dict())
    write_report(result.folder, result.report)


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _shown(options: Options) -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(options), "source": public_uri(options.source)}
