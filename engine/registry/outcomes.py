"""How an attempt ends: published, failed, skipped, or found unchanged. Only the newest generation counts.

Each call is one transaction that locks the rows first, in id order, keeps those whose generation is still
the attempt's and that are not deleted, and changes them. What readers may see changes with the project's
index version, in the same commit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.records import Failure
from engine.registry import Publication, Skip, Touch
from engine.registry.database import chunked, now
from engine.registry.models import DOCUMENTS
from engine.registry.projects import Projects, shift
from engine.registry.text import canonical, clean, known_ids, message

T = TypeVar("T")
NO_ERROR = {"error_code": "", "error_stage": "", "error_message": "", "skip_reason": ""}


@dataclass(frozen=True, slots=True)
class Locked:
    """What of a document's row decides over it, read under its lock."""

    id: str
    project_id: str
    generation: int
    swept_generation: int
    deleted: bool
    active_revision: str | None
    chunk_count: int


class Outcomes(Projects):
    """The statements that end an attempt."""

    def publish(self, publications: Sequence[Publication]) -> set[str]:
        """Make these revisions the visible ones; the ids that flipped. The store must have acknowledged
        every point before. A document deleted or taken anew meanwhile stays as it is."""
        return self._settle({(p.document_id, p.generation): p for p in publications}, _published)

    def fail(self, failures: Sequence[tuple[str, int, Failure]]) -> set[str]:
        """Record why attempts (document, generation) failed. A revision published earlier stays visible."""
        return self._settle({(id_, generation): failure for id_, generation, failure in failures}, _failed)

    def skip(self, skips: Sequence[Skip]) -> set[str]:
        """Record that documents have no text now: nothing of them is visible any more."""
        return self._settle({(s.document_id, s.generation): s for s in skips}, _skipped)

    def touch(self, touches: Sequence[Touch]) -> set[str]:
        """Store the new cheap identity of unchanged bytes; a claim that was taken for them ends."""
        return self._settle({(t.document_id, t.generation): t for t in touches}, _touched)

    def _settle(self, ends: Mapping[tuple[str, int], T], change: Callable[[Locked, T], dict[str, object]]) -> set[str]:
        if not ends:
            return set()
        return self.write(lambda c: _settle(c, ends, change))


def lock_rows(connection: Connection, ids: Iterable[str]) -> dict[str, Locked]:
    """Lock these documents' rows until commit and read what decides over them."""
    d = DOCUMENTS.c
    deleted = d.deleted_at.is_not(None)
    columns = (d.id, d.project_id, d.generation, d.swept_generation, deleted, d.active_revision, d.chunk_count)
    rows: dict[str, Locked] = {}
    for part in chunked(known_ids(ids)):
        wanted = sa.select(*columns).where(d.id.in_(part)).order_by(d.id).with_for_update()
        rows.update((row[0], Locked(*row)) for row in connection.execute(wanted))
    return rows


def change_rows(connection: Connection, changes: Sequence[tuple[Locked, Mapping[str, object]]]) -> None:
    """Write new values to locked rows (the same columns for each) and count what readers gain or lose."""
    if not changes:
        return
    time = now()
    update = sa.update(DOCUMENTS).where(DOCUMENTS.c.id == sa.bindparam("locked_id"))
    connection.execute(update, [{"locked_id": row.id, **new, "updated_at": time} for row, new in changes])
    seen: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))
    for row, new in changes:
        if "active_revision" in new:
            documents, chunks = seen[row.project_id]
            before = _weight(row.active_revision, row.chunk_count)
            after = _weight(new["active_revision"], new["chunk_count"])
            seen[row.project_id] = (documents + after[0] - before[0], chunks + after[1] - before[1])
    shift(connection, seen)


def _weight(revision: object, chunks: object) -> tuple[int, int]:
    """What a row in this state adds to the project's visible documents and chunks."""
    return (1, cast("int", chunks)) if revision is not None else (0, 0)


def _settle(
    connection: Connection,
    ends: Mapping[tuple[str, int], T],
    change: Callable[[Locked, T], dict[str, object]],
) -> set[str]:
    rows = lock_rows(connection, (id_ for id_, _ in ends))
    changes: list[tuple[Locked, dict[str, object]]] = []
    for (id_, generation), end in ends.items():
        row = rows.get(canonical(id_) or "")
        if row is not None and row.generation == generation and not row.deleted:
            changes.append((row, change(row, end)))
    change_rows(connection, changes)
    return {row.id for row, _ in changes}


def _published(row: Locked, p: Publication) -> dict[str, object]:
    return {
        **NO_ERROR,
        "status": "completed",
        # a first attempt has no older points beside it, so there is nothing to sweep
        "swept_generation": 1 if row.generation == 1 else row.swept_generation,
        "active_revision": p.revision,
        "chunk_count": p.chunk_count,
        "content_sha256": p.content_sha256,
        "fingerprint": p.fingerprint,
        "source_format": p.source_format,
        "page_count": p.page_count,
        "word_count": p.word_count,
        "language": clean(p.language),
        "title": None if p.title is None else clean(p.title),
        "author": None if p.author is None else clean(p.author),
        "parse_seconds": p.parse_seconds,
        "warnings": p.warnings,
        "metadata": p.metadata,
    }


def _failed(row: Locked, failure: Failure) -> dict[str, object]:
    return {
        "status": "failed",
        "skip_reason": "",
        "error_code": failure.code,
        "error_stage": failure.stage,
        "error_message": message(failure.message),
    }


def _skipped(row: Locked, skip: Skip) -> dict[str, object]:
    return {
        **NO_ERROR,
        "status": "skipped",
        "skip_reason": clean(skip.reason),
        "active_revision": None,
        "chunk_count": 0,
        "content_sha256": skip.content_sha256,
        "fingerprint": skip.fingerprint,
        "source_format": skip.source_format,
    }


def _touched(row: Locked, touch: Touch) -> dict[str, object]:
    done = "completed" if row.active_revision is not None else "skipped"
    # an attempt that ends here wrote no points
    swept = row.generation if row.swept_generation == row.generation - 1 else row.swept_generation
    cheap = {"size": touch.size, "etag": clean(touch.etag), "mtime": touch.mtime}
    return {**cheap, "status": done, "swept_generation": swept}
