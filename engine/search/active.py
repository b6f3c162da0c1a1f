"""Reads that see each document in exactly one revision: the one the registry calls active.

During a publish both revisions stand in the store, then the registry changes its mind, then the old points go.
A read compares what the store gave with the registry and looks again when a change fell in between, so that
no answer is empty or mixed because of a swap.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from engine.errors import StorageError
from engine.store import Condition, Filter, Hit, Query, Record, Store

T = TypeVar("T", Hit, Record)

LOOKS = 24
PATIENCE = 8  # looks that insist on an unchanged index; later ones on unchanged documents only
DEEPEST = 16  # how often over the limit asked for, to pass stale points by
IDENTITY = ("document_id", "revision")


class Ledger(Protocol):
    """What reads need of the registry."""

    def active(self, document_ids: Sequence[str]) -> dict[str, str]:
        """Document → the revision readers may see; ids without one are absent."""
        ...

    def index_version(self, project_id: str) -> int:
        """Grows with every change of what the project's readers may see."""
        ...

    def visible(self, project_id: str) -> tuple[int, int]:
        """Documents and chunks that readers may see."""
        ...


@dataclass(slots=True)
class Look:
    """One hit list per query, of active revisions only, and the index version they were read at."""

    lists: list[list[Hit]]
    version: int


@dataclass
class _Watch:
    """Knows whether documents changed while the store was read.

    The index version answers for the whole project. In a project that is published to all the time it never
    stands still; then it is enough that no document of the previous look changed during this one.
    """

    ledger: Ledger
    project_id: str
    looks: int = 0
    version: int = 0
    before: dict[str, str] | None = None
    documents: list[str] = field(default_factory=lambda: list[str]())

    def start(self) -> None:
        if self.looks == LOOKS:
            raise StorageError(f"the documents of project {self.project_id} kept changing during {LOOKS} looks")
        if self.looks:
            time.sleep(random.uniform(0, 0.002) * min(self.looks, 10))
        self.looks += 1
        self.version = self.ledger.index_version(self.project_id)
        self.before = self.ledger.active(self.documents) if self.looks > PATIENCE else None

    def settled(self, documents: list[str], now: dict[str, str]) -> bool:
        """Whether nothing moved since `start`. `now`: the active revisions of `documents`, read afterwards."""
        known = set(self.documents)
        self.documents = documents
        if self.ledger.index_version(self.project_id) == self.version:
            return True
        return self.before is not None and known.issuperset(documents) and self.before.items() >= now.items()


def look(
    store: Store,
    ledger: Ledger,
    project_id: str,
    queries: Sequence[Query],
    where: Filter,
    fields: Iterable[str] = (),
) -> Look:
    """Search the active revisions of a project; each list is as long as its query asks, if there is so much.

    Hits carry `fields` and IDENTITY. Raises StorageError when documents change faster than they can be read.
    """
    watch = _Watch(ledger, project_id)
    wanted = [*dict.fromkeys((*IDENTITY, *fields))]
    deeper = 1
    while True:
        watch.start()
        asked = [replace(q, limit=q.limit * deeper) for q in queries]
        raw = store.search(asked, where, project_id, wanted)
        documents = _documents(hit for hits in raw for hit in hits)
        now = ledger.active(documents)
        kept = [[hit for hit in hits if _is_active(hit, now)] for hits in raw]
        stale = sum(map(len, raw)) - sum(map(len, kept))
        if stale and not watch.settled(documents, now):
            continue
        short = any(
            len(k) < q.limit and len(r) >= a.limit for k, r, q, a in zip(kept, raw, queries, asked, strict=True)
        )
        if not short or deeper >= DEEPEST:
            return Look([hits[: q.limit] for hits, q in zip(kept, queries, strict=True)], watch.version)
        deeper *= 2


def read(
    store: Store,
    ledger: Ledger,
    project_id: str,
    where: Filter,
    fields: Sequence[str] | None = None,
    with_dense: Sequence[str] = (),
) -> list[Record]:
    """Every matching point of the project's active revisions, in id order.

    For sets that fit in memory and are read in moments: a document, a handful, a small project. Go through a
    large project by batches of documents, each a `read`.
    """
    watch = _Watch(ledger, project_id)
    where = Filter([Condition("project_id", "any", [project_id]), *where.must], where.must_not)
    wanted = None if fields is None else [*dict.fromkeys((*IDENTITY, *fields))]
    while True:
        watch.start()
        records = [r for batch in store.scroll(where, with_dense, fields=wanted) for r in batch]
        documents = _documents(records)
        now = ledger.active(documents)
        # A scroll takes several looks at the store, so it must not have moved even when nothing stale was met.
        if watch.settled(documents, now):
            return [r for r in records if _is_active(r, now)]


def count(store: Store, ledger: Ledger, project_id: str, where: Filter) -> int:
    """How many points of active revisions match. For a whole project ask the registry's `visible` instead."""
    return len(read(store, ledger, project_id, where, IDENTITY))


def values(store: Store, ledger: Ledger, project_id: str, where: Filter, name: str) -> dict[str, int]:
    """Counts per value of a payload field over the active revisions, commonest first."""
    counts: dict[str, int] = {}
    for record in read(store, ledger, project_id, where, [name]):
        found = record.payload.get(name)
        for value in found if isinstance(found, list) else [found]:  # pyright: ignore[reportUnknownVariableType]
            if value is not None:
                counts[str(value)] = counts.get(str(value), 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _documents(found: Iterable[T]) -> list[str]:
    return list({str(item.payload["document_id"]) for item in found})


def _is_active(item: Hit | Record, now: dict[str, str]) -> bool:
    return now.get(str(item.payload["document_id"])) == item.payload["revision"]
