"""Removes objects that nobody needs: uploads that ended without being kept, uploads of requests that broke off, what
was kept of revisions and documents that are gone.

Whatever a crash leaves behind is found again here. It goes through the object store in the order of its keys, a batch
at a time, and asks the registry about a batch at once; memory does not depend on how many there are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Protocol, TypeVar

from engine.objects import ObjectStore, Stored
from engine.registry import DocumentRow

T = TypeVar("T")

BATCH = 500
GRACE_SECONDS = 3600.0  # objects younger than this may belong to work that is under way
# An upload's bytes are stored before the registry knows of them, and a batch of files may take its time to arrive.
REQUEST_SECONDS = 6 * 3600.0
PARTIAL_SECONDS = 24 * 3600.0  # for a writer to finish one object


class ObjectLedger(Protocol):
    """What sweeping objects needs of the registry."""

    def orphaned_objects(self, limit: int = 100) -> list[str]: ...
    def forget_orphans(self, object_keys: Sequence[str]) -> None: ...
    def held_objects(self, object_keys: Sequence[str]) -> set[str]: ...
    def active(self, document_ids: Sequence[str]) -> dict[str, str]: ...
    def document(self, document_id: str, project_id: str | None = None) -> DocumentRow | None: ...


def sweep_objects(objects: ObjectStore, ledger: ObjectLedger, older_than_seconds: float = GRACE_SECONDS) -> int:
    """Remove what no upload, no visible revision and no attempt needs and is older than that; how many objects.

    Safe to run beside workers, and in several processes at once. Raises StorageError when a store is away; what was
    removed by then stays removed.
    """
    removed = remove_orphans(objects, ledger)
    removed += _sweep_uploads(objects, ledger, max(older_than_seconds, REQUEST_SECONDS))
    removed += _sweep_artifacts(objects, ledger, older_than_seconds)
    return removed + objects.sweep(PARTIAL_SECONDS)


def remove_orphans(objects: ObjectStore, ledger: ObjectLedger) -> int:
    """Remove the objects that the registry knows to be needed by nobody; how many."""
    removed = 0
    while keys := ledger.orphaned_objects(BATCH):
        for key in keys:
            objects.delete(key)
        ledger.forget_orphans(keys)
        removed += len(keys)
    return removed


def _sweep_uploads(objects: ObjectStore, ledger: ObjectLedger, older_than: float) -> int:
    removed = 0
    for batch in _batches(_old(objects, "uploads/", older_than)):
        held = ledger.held_objects([stored.key for stored in batch])
        removed += _remove(objects, [stored.key for stored in batch if stored.key not in held])
    return removed


def _sweep_artifacts(objects: ObjectStore, ledger: ObjectLedger, older_than: float) -> int:
    removed = 0
    for batch in _batches(_old(objects, "artifacts/", older_than)):
        places = {stored.key: _place(stored.key) for stored in batch}
        active = ledger.active(sorted({document for document, _ in places.values()}))
        doomed = {key: document for key, (document, revision) in places.items() if active.get(document) != revision}
        busy = {document for document in set(doomed.values()) if _at_work(ledger, document)}
        removed += _remove(objects, [key for key, document in doomed.items() if document not in busy])
    return removed


def _at_work(ledger: ObjectLedger, document_id: str) -> bool:
    """Whether an attempt may be about to show what was kept; how long that takes nobody knows."""
    row = ledger.document(document_id)
    return row is not None and row.status in ("pending", "processing")


def _place(key: str) -> tuple[str, str]:
    """(document, revision) in artifacts/{project}/{document}/{revision}/…"""
    parts = [*key.split("/"), "", "", "", ""]
    return parts[2], parts[3]


def _old(objects: ObjectStore, prefix: str, older_than: float) -> Iterator[Stored]:
    before = time.time() - older_than
    return (stored for stored in objects.list(prefix) if stored.modified < before)


def _batches(items: Iterable[T]) -> Iterator[list[T]]:
    waiting = iter(items)
    while batch := list(islice(waiting, BATCH)):
        yield batch


def _remove(objects: ObjectStore, keys: Sequence[str]) -> int:
    for key in keys:
        objects.delete(key)
    return len(keys)
