"""One worker: has documents prepared, embeds and publishes them.

The same worker serves all three ways to run: in process (`--local`), as a Ray actor, and behind an upload
API. `engine.prepare.Preparer` is its first half, `Finisher` its second; `Worker` runs both, the first in a
thread of its own so that parsing and embedding overlap.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engine.prepare import Claims, Preparer, Run
from engine.process import total_chunks
from engine.publish import Ledger, Publisher, embed
from engine.records import Outcome, Prepared, SourceItem
from engine.settings import Settings

if TYPE_CHECKING:
    from engine.embed import Embedder
    from engine.store import Store

GROUP_CHUNKS = 256  # chunks that are embedded and published together
GROUP_DOCUMENTS = 64


class WorkerLedger(Claims, Ledger, Protocol):
    """What a whole worker needs of the registry."""


@dataclass
class Finisher:
    """Embeds and publishes families as they come, in groups that fill the embedder's batches."""

    settings: Settings
    run: Run
    registry: WorkerLedger
    store: Store
    embedder: Embedder
    _publisher: Publisher = field(init=False)

    def __post_init__(self) -> None:
        self._publisher = Publisher(
            self.store,
            self.registry,
            self.embedder.info.vector_name,
            self.run.run_id,
            self.settings.store.batch_points,
            self.settings.embedding.price_per_million_tokens,
        )

    def finish(self, documents: Iterable[Prepared]) -> Iterator[list[Outcome]]:
        """Outcomes, group by group, in the order the documents come: what is inside a document first."""
        waiting: list[Prepared] = []
        for p in documents:
            waiting.append(p)
            if total_chunks(waiting) >= GROUP_CHUNKS or len(waiting) >= GROUP_DOCUMENTS:
                yield self._group(waiting)
                waiting = []
        if waiting:
            yield self._group(waiting)

    def _group(self, group: list[Prepared]) -> list[Outcome]:
        whole = [p for p in group if p.failure is None and not p.skip_reason]
        embedded = embed(whole, self.embedder, self.store)
        for p in group:
            self._note(p)
        kept = {e.prepared.document_id for e in embedded}
        others = [p for p in group if p.document_id not in kept]
        return self._publisher.publish(embedded, others)

    def _note(self, p: Prepared) -> None:
        """Account a document to the one around it; a failure anywhere inside makes that one incomplete."""
        if p.parent_id:
            self._publisher.keep_children.setdefault(p.parent_id, set()).add(p.document_id)
            if p.failure is not None or p.document_id in self._publisher.failed_inside:
                inside = self._publisher.failed_inside
                inside[p.parent_id] = inside.get(p.parent_id, 0) + 1


class Worker:
    """Both halves. `work` may be called again and again; `close` ends the child."""

    def __init__(self, settings: Settings, run: Run, registry: WorkerLedger, store: Store, embedder: Embedder) -> None:
        self._settings, self._run, self._registry = settings, run, registry
        self._finisher = Finisher(settings, run, registry, store, embedder)
        self._requests: queue.Queue[list[SourceItem] | None] = queue.Queue(1)
        self._prepared: queue.Queue[Prepared | BaseException | None] = queue.Queue(32)
        self._thread = threading.Thread(target=self._prepare_for_ever, name="corpus-prepare", daemon=True)
        self._thread.start()

    def work(self, items: Iterable[SourceItem]) -> Iterator[list[Outcome]]:
        """Outcomes of these items (and of the documents inside them), group by group."""
        self._requests.put(list(items))
        yield from self._finisher.finish(self._drain())

    def close(self) -> None:
        self._requests.put(None)
        self._thread.join(timeout=30)

    def _drain(self) -> Iterator[Prepared]:
        while (p := self._prepared.get()) is not None:
            if isinstance(p, BaseException):
                raise p
            yield p

    def _prepare_for_ever(self) -> None:
        """The preparing thread; it lives as long as the worker, since the child dies with its thread."""
        preparer = Preparer(self._settings, self._run, self._registry)
        try:
            while (items := self._requests.get()) is not None:
                try:
                    for p in preparer.prepare(items):
                        self._prepared.put(p)
                    self._prepared.put(None)
                except Exception as error:  # noqa: BLE001 - handed to the thread that waits for it
                    self._prepared.put(error)
        finally:
            preparer.close()
