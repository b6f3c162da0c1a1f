"""One worker: has documents prepared, embeds and publishes them.

The same worker serves all three ways to run: in process (`--local`), as a Ray actor, and behind an upload
API. `engine.prepare.Preparer` is its first half, `Finisher` its second; `Worker` runs both, the first in a
thread of its own so that parsing and embedding overlap.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engine.errors import Stage
from engine.prepare import Claims, OnStage, Preparer, Run, silent
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


def _no_facts(p: Prepared) -> Mapping[str, object]:
    """Nothing is recorded beyond what the document says of itself."""
    return {}


@dataclass
class Finisher:
    """Embeds and publishes families as they come, in groups that fill the embedder's batches.

    `facts`: what to record with a document besides what it says of itself; `on_stage` hears what is being done.
    """

    settings: Settings
    run: Run
    registry: WorkerLedger
    store: Store
    embedder: Embedder
    facts: Callable[[Prepared], Mapping[str, object]] = _no_facts
    on_stage: OnStage = silent
    _publisher: Publisher = field(init=False)

    def __post_init__(self) -> None:
        self._publisher = Publisher(
            self.store,
            self.registry,
            self.embedder.info.vector_name,
            self.run.run_id,
            self.settings.store.batch_points,
            self.settings.embedding.price_per_million_tokens,
            self.facts,
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
        self.on_stage(Stage.EMBED)
        embedded = embed(whole, self.embedder, self.store)
        self.on_stage(Stage.PUBLISH)
        kept = {e.prepared.document_id for e in embedded}
        others = [p for p in group if p.document_id not in kept]
        return self._publisher.publish(embedded, others)


class Worker:
    """Both halves. `work` may be called again and again; `close` ends the child."""

    def __init__(self, settings: Settings, run: Run, registry: WorkerLedger, store: Store, embedder: Embedder) -> None:
        self._finisher = Finisher(settings, run, registry, store, embedder)
        self._preparer = Preparer(settings, run, registry)
        self._requests: queue.Queue[list[SourceItem] | None] = queue.Queue(1)
        self._prepared: queue.Queue[Prepared | BaseException | None] = queue.Queue(32)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._prepare_for_ever, name="corpus-prepare", daemon=True)
        self._thread.start()

    def work(self, items: Iterable[SourceItem]) -> Iterator[list[Outcome]]:
        """Outcomes of these items (and of the documents inside them), group by group.

        Left early, by an error or by the caller, it stops after the document in hand and is ready for the next call.
        """
        self._stop.clear()
        self._requests.put(list(items))
        ended = [False]
        try:
            yield from self._finisher.finish(self._drain(ended))
        finally:
            self._stop.set()
            while not ended[0]:
                ended[0] = not isinstance(self._prepared.get(), Prepared)

    def close(self) -> None:
        """End the child and remove the scratch folder."""
        self._stop.set()
        self._requests.put(None)
        self._thread.join(timeout=30)

    def _drain(self, ended: list[bool]) -> Iterator[Prepared]:
        while True:
            p = self._prepared.get()
            if isinstance(p, Prepared):
                yield p
                continue
            ended[0] = True
            if p is not None:
                raise p
            return

    def _prepare_for_ever(self) -> None:
        """The preparing thread; it lives as long as the worker, since the child dies with its thread."""
        try:
            while (items := self._requests.get()) is not None:
                self._prepared.put(self._prepare(items))
        finally:
            self._preparer.close()

    def _prepare(self, items: list[SourceItem]) -> BaseException | None:
        """Put every document into the queue; what ends the call early goes to the thread that waits for it."""
        try:
            for p in self._preparer.prepare(items):
                self._prepared.put(p)
                if self._stop.is_set():
                    break
        except Exception as error:  # noqa: BLE001 - handed on
            return error
        return None
