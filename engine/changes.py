"""What a backfill has to do: a merge join of the listing with what the registry knows, both in key order.

One pass, constant memory, no query per document. The cheap identity (etag, or size and time) is compared
first; when only that changed, the bytes' hash decides later, in the worker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from engine.registry import INCOMPLETE, Known
from engine.sources import Listed

Verdict = Literal["new", "changed", "again", "unchanged", "duplicate", "missing"]
DONE = {"completed", "skipped"}
T = TypeVar("T")


@dataclass(slots=True)
class Change:
    """One key's verdict. `listed` is None for `missing` (known, no longer in the source); `known` None for
    `new` and `duplicate`. `again`: it failed or broke off before. `sha256`: bytes that need no work."""

    verdict: Verdict
    listed: Listed | None
    known: Known | None
    sha256: str = ""


def changes(listing: Iterable[Listed], known: Iterable[Known], fingerprint: str) -> Iterator[Change]:
    """Every listed and every known key once. Both streams ascend by the UTF-8 bytes of their keys."""
    ledger = iter(known)
    row = next(ledger, None)
    previous: str | None = None
    for item in listing:
        if item.key == previous:
            yield Change("duplicate", item, None)
            continue
        previous = item.key
        while row is not None and _order(row.key) < _order(item.key):
            yield Change("missing", None, row)
            row = next(ledger, None)
        if row is not None and row.key == item.key:
            yield _compare(item, row, fingerprint)
            row = next(ledger, None)
        else:
            yield Change("new", item, None)
    while row is not None:
        yield Change("missing", None, row)
        row = next(ledger, None)


def _order(key: str) -> bytes:
    return key.encode("utf-8", "surrogatepass")


def _compare(item: Listed, row: Known, fingerprint: str) -> Change:
    if row.status not in DONE or row.fingerprint == INCOMPLETE:
        return Change("again", item, row)
    if row.fingerprint != fingerprint:
        return Change("changed", item, row)
    if _same(item, row):
        return Change("unchanged", item, row)
    return Change("changed", item, row, sha256=row.content_sha256)


def _same(item: Listed, row: Known) -> bool:
    if item.etag or row.etag:
        return item.etag == row.etag
    return item.mtime is not None and (item.size, item.mtime) == (row.size, row.mtime)
