"""Deleting documents with everything found inside them, and what is left to clean up in the store.

A deleted document stays as a tombstone: its row keeps id, project, parent and generation, so that a late
attempt cannot bring it back, and nothing that came from its name or content.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.errors import Code
from engine.registry import Attempt
from engine.registry.database import chunked, now
from engine.registry.ingests import delete_uploads, deletions, in_uploads
from engine.registry.models import DOCUMENTS, RUNS, UNSWEPT
from engine.registry.outcomes import Locked, change_rows, lock_rows
from engine.registry.projects import Projects
from engine.registry.text import canonical, known_ids

PAGE = 1000
BLANK = ("key", "etag", "content_sha256", "fingerprint", "uri", "filename", "inner_path", "source_format", "language")
D = DOCUMENTS.c
ATTEMPT = (D.id, D.project_id, D.generation, D.status, D.active_revision, D.claim_run, D.claimed_at)
BLANK_OUTCOME = ("skip_reason", "error_code", "error_stage", "error_message")


class Removal(Projects):
    """Statements about deletion and about leftovers of attempts."""

    def delete(self, document_id: str, project_id: str | None = None) -> list[str]:
        """Tombstone a document and all of its descendants; the ids of all of them, for the store.

        Repeating it changes nothing and answers the same ids, so that an interrupted removal of points can be
        finished. Empty when there is no such document (in that project). An upload that has not ended ends so;
        `document.deleted` is told of uploads, once.
        """

        def work(connection: Connection) -> list[str]:
            root = lock_rows(connection, [document_id]).values()
            mine = [row.id for row in root if project_id is None or row.project_id == canonical(project_id)]
            told = deletions(connection, mine)
            gone = _tombstone(connection, mine)
            delete_uploads(connection, mine, told)
            return gone

        return self.write(work)

    def tombstones(self, document_ids: Sequence[str]) -> list[Attempt]:
        """Those of these documents that are deleted, with the generation at which they are. An upload that revives one
        takes a later one."""

        def work(connection: Connection) -> list[Attempt]:
            found: list[Attempt] = []
            for ids in chunked(known_ids(document_ids)):
                wanted = sa.select(*ATTEMPT).where(D.id.in_(ids), D.deleted_at.is_not(None))
                found += [Attempt(*row) for row in connection.execute(wanted)]
            return found

        return self.read(work)

    def retire_children(self, parent_id: str, keep: Collection[str], generation: int | None = None) -> list[str]:
        """Tombstone the parent's children that are not in `keep`, with their descendants; ids of all of those.

        With `generation` nothing happens unless the parent still is at it.
        """

        def work(connection: Connection) -> list[str]:
            parent = next(iter(lock_rows(connection, [parent_id]).values()), None)
            if parent is None or generation not in (None, parent.generation):
                return []
            return _tombstone(connection, [id_ for id_ in _children(connection, [parent.id]) if id_ not in kept])

        kept = set(known_ids(keep))
        return self.write(work)

    def stale(self, older_than_seconds: float) -> Iterator[Attempt]:
        """Attempts begun that long ago and never ended, oldest first. The claims of a run count as alive as
        long as the run's own heartbeat is younger than that; uploads and what is inside them are left to the
        uploads' leases."""
        before = now() - timedelta(seconds=older_than_seconds)
        alive = sa.exists().where(
            RUNS.c.id == DOCUMENTS.c.claim_run, RUNS.c.status == "running", RUNS.c.heartbeat_at >= before
        )
        for page in self._attempts(before, DOCUMENTS.c.status == "processing", ~alive):
            leased = self.read(lambda c, p=page: in_uploads(c, [a.document_id for a in p]))
            yield from (attempt for attempt in page if attempt.document_id not in leased)

    def unswept(self, older_than_seconds: float) -> Iterator[Attempt]:
        """Documents that may have points in the store besides those of their active revision, oldest first:
        a revision was replaced, skipped, deleted, or an attempt ended or crashed after writing some."""
        before = now() - timedelta(seconds=older_than_seconds)
        for page in self._attempts(before, DOCUMENTS.c.status != "processing"):
            yield from page

    def expire(self, attempts: Sequence[tuple[str, int]]) -> set[str]:
        """End attempts (document, generation) whose worker is dead: the document counts as failed, and a late flip
        of that attempt is refused, because its generation is over. The ids that ended. Uploads that have not
        ended, and what is inside them, are left alone: their leases run out by themselves."""
        over = dict(attempts)
        failure = {"error_code": Code.WORKER_LOST, "error_stage": "", "error_message": "the attempt broke off"}

        def work(connection: Connection) -> set[str]:
            rows = lock_rows(connection, over)
            leased = in_uploads(connection, list(rows))
            ended = [r for r in rows.values() if r.generation == over[r.id] and not r.deleted and r.id not in leased]
            change_rows(
                connection, [(r, {"status": "failed", "generation": r.generation + 1, **failure}) for r in ended]
            )
            return {r.id for r in ended}

        return self.write(work) if over else set()

    def swept(self, attempts: Sequence[tuple[str, int]]) -> None:
        """Note that the store holds nothing but the active revision of these (document, generation)."""
        done = {canonical(id_): generation for id_, generation in attempts}

        def work(connection: Connection) -> None:
            rows = lock_rows(connection, (id_ for id_, _ in attempts))
            same = [row for row in rows.values() if row.generation == done[row.id]]
            change_rows(connection, [(row, {"swept_generation": row.generation}) for row in same])

        self.write(work)

    def _attempts(self, before: datetime, *where: sa.ColumnElement[bool]) -> Iterator[list[Attempt]]:
        ordered = sa.select(*ATTEMPT).where(UNSWEPT, D.claimed_at < before, *where).order_by(D.claimed_at, D.id)
        page = ordered.limit(PAGE)
        while rows := self.read(lambda c, p=page: c.execute(p).all()):
            yield [Attempt(*row) for row in rows]
            last = rows[-1]
            page = ordered.where(sa.tuple_(D.claimed_at, D.id) > (last.claimed_at, last.id)).limit(PAGE)


def _children(connection: Connection, parents: Sequence[str]) -> list[str]:
    """Direct children, tombstones included."""
    found: list[str] = []
    for ids in chunked(parents):
        found += connection.execute(sa.select(DOCUMENTS.c.id).where(DOCUMENTS.c.parent_id.in_(ids))).scalars()
    return found


def _tombstone(connection: Connection, roots: Sequence[str]) -> list[str]:
    """Level by level, each locked before the next is looked for: a child claimed meanwhile is either seen
    here or, its claim waiting for the parent's lock, refused there."""
    done: dict[str, Locked] = {}
    level = list(roots)
    while level:
        rows = lock_rows(connection, level)
        done |= rows
        level = [id_ for id_ in _children(connection, list(rows)) if id_ not in done]
    change_rows(connection, [(row, _buried(row, now())) for row in done.values() if not row.deleted])
    return list(done)


def _buried(row: Locked, time: datetime) -> dict[str, object]:
    return {
        **dict.fromkeys((*BLANK, *BLANK_OUTCOME), ""),
        **dict.fromkeys(("active_revision", "title", "author", "mtime", "page_count", "claim_run")),
        **dict.fromkeys(("chunk_count", "size", "word_count", "parse_seconds"), 0),
        "warnings": [],
        "metadata": {},
        "status": "deleted",
        "generation": row.generation + 1,
        "deleted_at": time,
        "claimed_at": time,
    }
