"""The ingest loop: lease an upload, process it, settle it; beside it deliveries to webhooks and the chores.

Any number of these may run, in one process or on many machines: what keeps them apart are the registry's leases. One
that is killed at any point leaves its upload to the next when the lease has run out, and what it had written is
either the visible revision or never seen.
"""

from __future__ import annotations

import logging
import os
import random
import socket
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from engine.errors import Code, CorpusError, Stage, StorageError
from engine.ingest import Again, IngestWorker, Over
from engine.object_sweep import remove_orphans
from engine.objects import ObjectStore
from engine.records import Failure, Outcome
from engine.registry.online import Lease
from engine.settings import Settings
from serve import logs, tracing
from serve.chores import chores, do_chores
from serve.heart import Heart
from serve.loops import Loop
from serve.metrics import Metrics
from serve.webhooks.deliver import Deliverer

if TYPE_CHECKING:
    from engine.embed import Embedder
    from engine.registry.queries import Registry
    from engine.store import Store

KILL_SECONDS = 10.0  # for an attempt to end once its child is killed
CHORE_SECONDS = 15.0
KNOWN_SECONDS = 60.0  # how long what projects want of their originals is remembered
log = logging.getLogger(__name__)


class Ingest:
    """One ingest worker. `start` runs it in threads of its own until `stop`; `run_once` takes one upload here and now
    (in one thread, the one that made the first call). `embedder` is loaded, `store` has its vectors already."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        store: Store,
        objects: ObjectStore,
        embedder: Embedder,
        metrics: Metrics | None = None,
    ) -> None:
        self._settings, self._registry, self._store, self._objects = settings, registry, store, objects
        self._embedder = embedder
        self._metrics = metrics or Metrics()
        self.owner = f"{socket.gethostname()}-{os.getpid()}-{random.randrange(16**6):06x}"
        self._chores = chores(settings, registry, store, objects)
        self._deliverer = Deliverer(registry, settings.webhooks, self.owner, count=self._metrics.delivered)
        self._worker: IngestWorker | None = None
        self._hand: Lease | None = None  # the upload being worked on
        self._trouble = False  # the last attempt failed for no fault of its document
        self._keeping: tuple[float, bool] | None = None
        self._draining = threading.Event()  # the time for finishing is over
        poll = settings.serve.poll_seconds
        self._uploads = Loop("ingest", self._next, poll, self.close)
        self._deliveries = Loop("deliver", self._deliver, poll)
        self._housework = Loop("chores", self._do_chores, CHORE_SECONDS)

    # ------------------------------------------------------------ life
    def start(self) -> None:
        """Begin to work, in threads of its own."""
        for loop in (self._uploads, self._deliveries, self._housework):
            loop.start()

    def wake(self) -> None:
        """There is work; from any thread."""
        self._uploads.wake()

    def alive(self) -> bool:
        """Whether it is at work."""
        return all(loop.alive() for loop in (self._uploads, self._deliveries, self._housework))

    def stop(self, seconds: float = 30.0) -> None:
        """End: the upload in hand has so many seconds to finish, then it is given back unharmed."""
        deadline = time.monotonic() + seconds
        for loop in (self._uploads, self._deliveries, self._housework):
            loop.stop()
        if not self._uploads.join(seconds):
            self._hand_back()
        for loop in (self._deliveries, self._housework):
            loop.join(max(1.0, deadline - time.monotonic()))

    def close(self) -> None:
        """End the child that `run_once` has used."""
        if self._worker is not None:
            self._worker.close()

    def _hand_back(self) -> None:
        """Interrupt what did not finish in time. An attempt deep in a model's code does not hear that, so the lease is
        given back over its head: its generation is over then."""
        self._draining.set()
        hand, deadline = self._hand, time.monotonic() + KILL_SECONDS
        while not self._uploads.join(0.5) and time.monotonic() < deadline:
            if self._worker is not None:
                self._worker.interrupt()
        if self._uploads.alive() and hand is not None:
            self._registry.release(hand.document_id, hand.generation)

    # ------------------------------------------------------------ what the loops do
    def _next(self) -> bool:
        if self._trouble and not self._here().healthy():
            raise StorageError("vector store, object store or model is away")
        self._trouble = False
        busy = self.run_once()
        if self._trouble:
            raise StorageError("an attempt failed for no fault of its document")  # so the loop takes its time
        return busy

    def _deliver(self) -> bool:
        return self._deliverer.run_once() >= self._deliverer.parallel

    def _do_chores(self) -> bool:
        self._metrics.queue(*self._registry.queue_depth())
        do_chores(self._chores, self._registry)
        return False

    # ------------------------------------------------------------ one upload
    def run_once(self) -> bool:
        """Take the next upload, if there is one, and see its attempt to its end. Raises StorageError when the
        registry is away."""
        serve = self._settings.serve
        leases = self._registry.lease(self.owner, serve.lease_seconds, 1, serve.attempts, self._keep_originals())
        for lease in leases:
            began = time.monotonic()
            facts: tracing.Attributes = {
                "corpus.document_id": lease.document_id,
                "corpus.project_id": lease.project_id,
                "corpus.attempt": lease.attempt,
                "corpus.bytes": lease.size,
            }
            with (
                logs.scope(document_id=lease.document_id, project_id=lease.project_id, attempt=lease.attempt),
                tracing.span("ingest", lease.traceparent, facts, "consumer"),
            ):
                code = self._attempt(lease)
                tracing.annotate({"corpus.outcome": code})
                self._metrics.ingested(code, time.monotonic() - began)
                log.info("an attempt ended", extra={"outcome": code, "seconds": round(time.monotonic() - began, 3)})
        return bool(leases)

    def _attempt(self, lease: Lease) -> str:
        """How the attempt ended, see `Metrics.ingested`."""
        last = lease.attempt >= self._settings.serve.attempts
        waited = (datetime.now(UTC) - lease.accepted_at).total_seconds()
        patient = waited < self._settings.serve.outage_hours * 3600
        self._hand = lease
        try:
            outcomes = self._process(lease, last and not patient)
        except Over:
            return self._given_up(lease)
        except Again as again:
            return self._put_off(lease, again.failure.code, patient)
        except StorageError as error:
            if patient:
                return self._put_off(lease, error.code, patient)
            return self._broken(lease, last, Failure(error.code, error.stage or "", error.message))
        except CorpusError as error:  # the machine is at fault: a model, the isolated child
            return self._broken(lease, last, Failure(error.code, error.stage or "", error.message))
        except Exception as error:
            log.exception("an attempt failed by a defect", extra={"error": type(error).__name__})
            return self._broken(lease, last, Failure(Code.INTERNAL, "", f"internal error ({type(error).__name__})"))
        finally:
            self._hand = None
        project = self._registry.project(lease.project_id)
        self._settle(lease, self._here().keeps_original(lease, project.settings))
        return _code(outcomes[-1])

    def _process(self, lease: Lease, last: bool) -> list[Outcome]:
        worker, registry = self._here(), self._registry
        project = registry.project(lease.project_id)

        with Heart(registry, lease, self._settings.serve.lease_seconds, worker.interrupt) as heart:

            def enter(stage: Stage) -> None:
                if self._draining.is_set():
                    raise Over
                heart.enter(stage)

            return worker.process(lease, project.settings, enter, last)

    def _settle(self, lease: Lease, keep_original: bool) -> None:
        if self._registry.settle(lease.document_id, lease.generation, keep_original):
            self._deliveries.wake()
        try:
            remove_orphans(self._objects, self._registry)
        except CorpusError as error:  # the chores do it later
            log.warning("objects that nobody needs wait for their removal", extra={"code": error.code})

    def _given_up(self, lease: Lease) -> str:
        if not self._draining.is_set():
            return "superseded"
        self._registry.release(lease.document_id, lease.generation)
        return "released"

    def _put_off(self, lease: Lease, code: str, patient: bool) -> str:
        """A store or the model is away: no fault of the document, so the attempt does not count. The loop waits until
        they are back."""
        self._trouble = True
        log.warning("an attempt failed and will be repeated", extra={"code": code})
        if patient:
            self._registry.release(lease.document_id, lease.generation)
        self._settle(lease, self._keep_originals())  # unless it had ended before things went wrong
        return code

    def _broken(self, lease: Lease, last: bool, failure: Failure) -> str:
        """Another worker may do better; after the last attempt it is the document's failure, unless it was published
        before things went wrong."""
        self._trouble = True
        log.error("an attempt failed on this machine", extra={"code": failure.code})
        row = self._registry.document(lease.document_id) if last else None
        if row is not None and (row.status, row.generation) == ("processing", lease.generation):
            self._registry.fail([(lease.document_id, lease.generation, failure)])
        self._settle(lease, self._keep_originals())
        return failure.code

    def _here(self) -> IngestWorker:
        """The worker, made in the thread that uses it: its child dies with that."""
        if self._worker is None:
            self._worker = IngestWorker(self._settings, self._registry, self._store, self._objects, self._embedder)
        return self._worker

    def _keep_originals(self) -> bool:
        """What to do with the bytes of an upload that a killed worker had published and not settled: the registry
        cannot tell whether its project redacts, so they are kept only where none does."""
        if self._keeping is None or time.monotonic() > self._keeping[0] + KNOWN_SECONDS:
            redacting = self._settings.security.pii_redaction or any(
                project.settings.get("pii_redaction") for project in self._registry.projects()
            )
            self._keeping = (time.monotonic(), not redacting)
        return self._keeping[1]


def _code(outcome: Outcome) -> str:
    if outcome.status == "failed":
        return outcome.code
    if outcome.status == "published":
        return "completed"
    return {"unchanged": "completed", "empty": "empty"}.get(outcome.reason, "superseded")
