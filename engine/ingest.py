"""One leased upload, processed with exactly the functions of a backfill: `Preparer`, then `Finisher`.

The lease decides over the document: its generation is the attempt's, so a deletion, a newer upload or a lease that
was given on make everything this attempt still writes come to nothing. What readers will see of the revision beside
its chunks (its tree, its pictures) is kept before it becomes visible.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.artifacts import folder_of, keep_artifacts
from engine.errors import Code, ConfigError, CorpusError, InputError, SourceError, Stage, StorageError
from engine.fetch import fetch_upload
from engine.isolate import Slot
from engine.leased import Again, LeasedLedger, Over
from engine.objects import ObjectStore
from engine.options import effective_settings, upload_fingerprint, upload_options
from engine.prepare import CHILD_ENVIRONMENT, HANDLER, UNCHANGED, OnStage, Preparer, Run, silent
from engine.process import SUPERSEDED, failed, slim
from engine.publish import outcome_of
from engine.records import Outcome, Prepared, SourceItem
from engine.registry import DocumentRow, Publication
from engine.registry.online import UPLOADS, Lease
from engine.settings import Settings
from engine.worker import Finisher, WorkerLedger

if TYPE_CHECKING:
    from engine.embed import Embedder
    from engine.store import Store

__all__ = ["Again", "IngestWorker", "Over"]

PROBE = "corpus"  # a text that any model embeds


class IngestWorker:
    """Owns an isolated child that serves one upload after the other. Use it in one thread, which must live as long
    (the child dies with it); `interrupt` may come from any."""

    def __init__(
        self, settings: Settings, registry: WorkerLedger, store: Store, objects: ObjectStore, embedder: Embedder
    ) -> None:
        self.settings = settings
        self.store = store
        self.objects = objects
        self.embedder = embedder
        self.slot = Slot(HANDLER, settings.limits, CHILD_ENVIRONMENT)
        self._registry = registry
        self._over = threading.Event()

    def close(self) -> None:
        """End the child."""
        self.slot.close()

    def interrupt(self) -> None:
        """The attempt in hand is over: kill what parses, write nothing more. `process` raises Over."""
        self._over.set()
        self.slot.interrupt()

    def process(
        self,
        lease: Lease,
        project_settings: Mapping[str, object],
        on_stage: OnStage = silent,
        last: bool = False,
    ) -> list[Outcome]:
        """Process the upload and everything found inside it; one outcome each, its own last. How it ended (published,
        failed, skipped, unchanged) is in the registry when this returns, for the caller to settle.

        `last`: no other attempt follows, so a failure that time might mend counts too. Raises Again for one that
        should be tried anew, Over when the attempt is over, StorageError when the registry is away.
        """
        self._over.clear()
        ledger = LeasedLedger(self._registry, lease, self._over, lambda f: not last and self._may_mend(lease, f.code))
        try:
            settings = effective_settings(self.settings, project_settings, lease.options)
        except InputError as error:  # the project's settings or the server's changed after the upload
            p = failed(_document(lease), error, Stage.EXTRACT)
            assert p.failure is not None
            ledger.fail([(p.document_id, p.generation, p.failure)])
            return [outcome_of(p, "")]
        try:
            return _Attempt(self, ledger, lease, settings, on_stage).run()
        except ConfigError:
            ledger.check()  # a child killed while it starts says that it cannot start
            raise

    def keeps_original(self, lease: Lease, project_settings: Mapping[str, object]) -> bool:
        """Whether the uploaded bytes may be kept once their document is published: not where personal data is
        redacted out of it."""
        try:
            return not effective_settings(self.settings, project_settings, lease.options).security.pii_redaction
        except InputError:
            return False

    def healthy(self) -> bool:
        """Whether vector store, object store and model answer; asked before new work after one of them failed."""
        from engine.store import Condition, Filter

        try:
            self.store.count(Filter([Condition("document_id", "any", ["00000000-0000-0000-0000-000000000000"])]))
            self.objects.exists("uploads/probe")
            self.embedder.embed_documents([PROBE])
        except CorpusError:
            return False
        return True

    def _may_mend(self, lease: Lease, code: str) -> bool:
        """Whether another attempt may succeed where this one failed: it was not the document's fault."""
        if code == Code.EMBEDDING_FAILED:  # with this text, or with every text?
            try:
                self.embedder.embed_documents([PROBE])
            except CorpusError:
                return True
            return False
        if code == Code.SOURCE_UNAVAILABLE:  # gone for good, or out of reach?
            try:
                return self.objects.exists(lease.object_key)
            except CorpusError:
                return True
        return code == Code.STORAGE_FAILED


def _document(lease: Lease, uri: str = "", fingerprint: str = "") -> Prepared:
    """The leased document, nothing done yet."""
    p = Prepared(lease.document_id, lease.project_id, UPLOADS, lease.key, uri, lease.filename, lease.size)
    p.content_sha256, p.fingerprint, p.generation = lease.content_sha256, fingerprint, lease.generation
    return p


class _Attempt:
    """One go at one upload."""

    def __init__(
        self, worker: IngestWorker, ledger: LeasedLedger, lease: Lease, settings: Settings, on_stage: OnStage
    ) -> None:
        self._worker, self._ledger, self._lease, self._settings = worker, ledger, lease, settings
        self._on_stage = on_stage
        self._options = upload_options(lease.options)
        self._began = time.time()
        self._shown: dict[str, str] = {}  # document → the revision that was to become visible, empty for none

    def run(self) -> list[Outcome]:
        lease = self._lease
        row = self._ledger.document(lease.document_id)
        if row is None or row.generation != lease.generation:
            raise Over
        model = self._worker.embedder.info.fingerprint
        p = _document(lease, row.uri, upload_fingerprint(self._settings, model, self._options, lease.filename))
        if row.active_revision == p.revision and row.fingerprint == p.fingerprint:
            return [self._unchanged(row, p)]
        outcomes = [outcome for group in self._groups(p) for outcome in group]
        self._tidy(outcomes)
        return outcomes

    def _unchanged(self, row: DocumentRow, p: Prepared) -> Outcome:
        """Readers see already what processing these bytes would give; only where the bytes are has changed."""
        shown: dict[str, Any] = {f.name: getattr(row, f.name, None) for f in fields(Publication)}
        shown |= {"revision": p.revision, "metadata": {**row.metadata, **self._facts(p)}}
        done = self._ledger.publish([Publication(**shown)])
        p.skip_reason = UNCHANGED if done else SUPERSEDED
        return outcome_of(p, "")

    def _groups(self, p: Prepared) -> Iterator[list[Outcome]]:
        lease, worker = self._lease, self._worker
        worker.slot.limits = self._settings.limits
        run = Run("", p.fingerprint, self._options.language)
        preparer = Preparer(self._settings, run, self._ledger, True, worker.slot, self._fetch, self._on_stage)
        finisher = Finisher(
            self._settings, run, self._ledger, worker.store, worker.embedder, self._facts, self._on_stage
        )
        item = SourceItem(lease.project_id, UPLOADS, lease.key, lease.object_key, lease.size)
        try:
            yield from finisher.finish(self._kept(preparer.prepare_one(p, item)))
        finally:
            preparer.close()

    def _fetch(self, item: SourceItem, target: Path, settings: Settings) -> tuple[int, str]:
        size, digest = fetch_upload(self._worker.objects, item, target, settings)
        if digest != self._lease.content_sha256:
            raise SourceError("the stored bytes are not those that were received", stage=Stage.FETCH)
        return size, digest

    def _kept(self, documents: Iterable[Prepared]) -> Iterator[Prepared]:
        """Each document with its access list on every chunk and its tree kept; then only what publishing reads, so
        that one tree at a time is in memory."""
        for p in documents:
            self._ledger.check()
            if p.failure is None and not p.skip_reason and p.document is not None:
                for chunk in p.chunks:
                    chunk.metadata.acl = list(self._options.acl)
                self._keep(p)
                slim(p.document)
            if p.generation > 1:
                self._shown[p.document_id] = "" if p.skip_reason else p.revision
            yield p

    def _keep(self, p: Prepared) -> None:
        try:
            keep_artifacts(self._worker.objects, p)
        except StorageError as error:
            failed(p, error, Stage.PUBLISH)

    def _facts(self, p: Prepared) -> Mapping[str, object]:
        """What is recorded with the revision: who may see it, and where its bytes are, if they may be kept."""
        root = p.document_id == self._lease.document_id
        source = self._lease.object_key if root and not self._settings.security.pii_redaction else ""
        return {"acl": list(self._options.acl), "source_object": source}

    # ------------------------------------------------------------ what nobody can see any more
    def _tidy(self, outcomes: Sequence[Outcome]) -> None:
        """Remove what earlier revisions left in the object store. Nothing as young as this attempt is touched: it may
        be a newer one's. What is missed here is found by `engine.object_sweep`."""
        for outcome in outcomes:
            if outcome.document_id in self._shown and (outcome.status == "published" or outcome.reason == "empty"):
                self._drop(outcome.document_id, self._shown[outcome.document_id])
        for document_id in self._ledger.retired:
            self._drop(document_id, "")

    def _drop(self, document_id: str, keep: str) -> None:
        project_id, objects = self._lease.project_id, self._worker.objects
        kept = folder_of(project_id, document_id, keep) if keep else ""
        try:
            for stored in objects.list(folder_of(project_id, document_id)):
                if stored.modified < self._began and not (kept and stored.key.startswith(kept)):
                    objects.delete(stored.key)
        except StorageError:  # the sweep's, then
            return
