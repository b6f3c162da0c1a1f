"""Removes points that no reader may see: leftovers of crashed or overtaken attempts, and of deleted documents.

The registry names the documents that may have any, so nothing is scanned. Deleting goes by generation: a newer
attempt's points, perhaps being written right now, are never touched.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Protocol

from engine.registry import Attempt
from engine.store import Condition, Filter, Store

STALE_SECONDS = 3600.0  # an attempt without sign of life for this long is dead


class SweepLedger(Protocol):
    """What sweeping needs of the registry."""

    def stale(self, older_than_seconds: float) -> Iterator[Attempt]: ...
    def expire(self, attempts: Sequence[tuple[str, int]]) -> set[str]: ...
    def unswept(self, older_than_seconds: float) -> Iterator[Attempt]: ...
    def swept(self, attempts: Sequence[tuple[str, int]]) -> None: ...


def sweep(store: Store, ledger: SweepLedger, older_than_seconds: float = STALE_SECONDS, dead: bool = True) -> int:
    """Remove leftovers of attempts that began that long ago; the number of documents cleaned.

    `dead`: first end the attempts that still count as at work but whose run gave no sign of life for that long.
    Ending them in the registry comes before touching their points, so that none can become visible afterwards.
    """
    if dead:
        for attempt in ledger.stale(older_than_seconds):
            ledger.expire([(attempt.document_id, attempt.generation)])
    cleaned = 0
    for attempt in ledger.unswept(older_than_seconds):
        store.delete(_leftovers(attempt))
        ledger.swept([(attempt.document_id, attempt.generation)])
        cleaned += 1
    store.flush()
    return cleaned


class Tombstones(Protocol):
    """What removing deleted documents needs of the registry."""

    def tombstones(self, document_ids: Sequence[str]) -> list[Attempt]: ...


def remove_deleted(store: Store, ledger: Tombstones, document_ids: Sequence[str]) -> None:
    """Remove the points of documents that were deleted just now. Those of one that was uploaded anew meanwhile are
    left to its new attempt, or to `sweep`."""
    ids: defaultdict[int, list[str | int | None]] = defaultdict(list)
    for attempt in ledger.tombstones(document_ids):
        ids[attempt.generation].append(attempt.document_id)
    for generation, group in ids.items():
        earlier = Condition("generation", "range", [None, generation + 1])
        store.delete(Filter([Condition("document_id", "any", group), earlier]))


def _leftovers(attempt: Attempt) -> Filter:
    where = Filter(
        [
            Condition("document_id", "any", [attempt.document_id]),
            Condition("generation", "range", [None, attempt.generation + 1]),
        ]
    )
    if attempt.active_revision:
        where.must_not.append(Condition("revision", "any", [attempt.active_revision]))
    return where
