"""Reading the ledger: what is known of a source, which revision is active, lists for people.

Everything long comes in keyset pages, each its own short read: a run of hours must not hold a snapshot,
which would keep SQLite's log from being reclaimed and PostgreSQL from vacuuming.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from engine.registry import Claim, DocumentRow, Known
from engine.registry.database import chunked
from engine.registry.models import COMPLETED_NOT, DOCUMENTS, LIVE, SOURCES, TOP_LEVEL
from engine.registry.projects import Projects, project_source_ids
from engine.registry.text import canonical, clean, known_ids

Statement = sa.Select[*tuple[Any, ...]]
Row = sa.Row[*tuple[Any, ...]]

PAGE = 5000
D = DOCUMENTS.c
# columns of a DocumentRow that the table has under the same name
SHOWN = [name for name in DocumentRow.__dataclass_fields__ if name in D]


class Documents(Projects):
    """Statements that read documents."""

    def known(
        self,
        project_id: str,
        source: str,
        first_key: str | None = None,
        last_key: str | None = None,
        before: str | None = None,
    ) -> Iterator[Known]:
        """The source's own documents (no children, no deleted ones) in byte order of their keys.

        `first_key` and `last_key` are inside the range, `before` is its first key outside: sorted manifest
        shards laid end to end, each up to the next one's first key, leave no gap for a vanished object.
        """
        columns = (D.id, D.key, D.size, D.etag, D.mtime, D.content_sha256, D.fingerprint, D.status, D.generation)
        for source_id in self.read(lambda c: project_source_ids(c, project_id, source)):
            ordered = sa.select(*columns).where(D.source_id == source_id, TOP_LEVEL, LIVE).order_by(D.key, D.id)
            if last_key is not None:
                ordered = ordered.where(D.key <= clean(last_key))
            if before is not None:
                ordered = ordered.where(D.key < clean(before))
            start = sa.true() if first_key is None else D.key >= clean(first_key)
            for row in self._pages(ordered, start, (D.key, D.id)):
                yield Known(*row)

    def active(self, document_ids: Sequence[str]) -> dict[str, str]:
        """Document → the revision readers may see; ids without one are absent."""

        def work(connection: Connection) -> dict[str, str]:
            found: dict[str, str] = {}
            for ids in chunked(known_ids(document_ids)):
                wanted = sa.select(D.id, D.active_revision).where(D.id.in_(ids), D.active_revision.is_not(None))
                found.update((row[0], row[1]) for row in connection.execute(wanted))
            return found

        return self.read(work)

    def document(self, document_id: str, project_id: str | None = None) -> DocumentRow | None:
        """A document; None when there is none, it was deleted, or it is in another project."""
        wanted = _shown().where(D.id == canonical(document_id), LIVE)
        if project_id is not None:
            wanted = wanted.where(D.project_id == canonical(project_id))
        row = self.read(lambda c: c.execute(wanted).mappings().first())
        return None if row is None else _document(row)

    def children(self, document_id: str) -> list[DocumentRow]:
        """The documents found directly inside this one, by their path in it."""
        wanted = _shown().where(D.parent_id == canonical(document_id), LIVE).order_by(D.inner_path, D.id)
        return [_document(row) for row in self.read(lambda c: c.execute(wanted).mappings().all())]

    def documents(
        self,
        project_id: str,
        status: str | Sequence[str] | None = None,
        source: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> list[DocumentRow]:
        """A page of a project's documents (of one status or one of several), children included, newest first.
        `after`: the last id of the page before. An unknown `after` gives an empty page."""

        def work(connection: Connection) -> list[RowMapping]:
            start = _newest_first(connection, project_id, after)
            rows: list[RowMapping] = []
            # one index range a source, merged here: no index over the whole project has to be kept
            for source_id in project_source_ids(connection, project_id, source):
                wanted = _shown().where(D.source_id == source_id, LIVE, start, *_with_status(status))
                ordered = wanted.order_by(D.created_at.desc(), D.id.desc()).limit(limit)
                rows += connection.execute(ordered).mappings()
            return sorted(rows, key=lambda r: (r["created_at"], r["document_id"]), reverse=True)[:limit]

        return [_document(row) for row in self.read(work)]

    def failed(self, project_id: str, source: str | None = None, run_id: str | None = None) -> Iterator[Claim]:
        """Failed documents as claims for another try, oldest first; `run_id`: those that failed in that run."""
        where = [] if run_id is None else [D.claim_run == canonical(run_id)]
        columns = (D.id, D.project_id, SOURCES.c.name, D.key, D.uri, D.filename, D.size, D.etag, D.mtime)
        columns = (*columns, D.parent_id, D.inner_path)
        for row in self._open(columns, project_id, "failed", source, where):
            yield Claim(*row[:11])

    def processing_ids(self, project_id: str, run_id: str | None = None) -> Iterator[str]:
        """Documents whose attempt has not ended, oldest first; `run_id`: those of that run."""
        where = [] if run_id is None else [D.claim_run == canonical(run_id)]
        for row in self._open((D.id,), project_id, "processing", None, where):
            yield row[0]

    def _open(
        self,
        columns: Sequence[sa.ColumnElement[object]],
        project_id: str,
        status: str,
        source: str | None,
        where: Sequence[sa.ColumnElement[bool]],
    ) -> Iterator[Row]:
        for source_id in self.read(lambda c: project_source_ids(c, project_id, source)):
            wanted = sa.select(*columns, D.created_at).join(SOURCES).where(D.source_id == source_id, LIVE)
            ordered = wanted.where(*_with_status(status), *where).order_by(D.created_at, D.id)
            yield from self._pages(ordered, sa.true(), (D.created_at, D.id))

    def _pages(
        self,
        ordered: Statement,
        start: sa.ColumnElement[bool],
        keyset: tuple[sa.ColumnElement[object], sa.ColumnElement[object]],
    ) -> Iterator[Row]:
        """All rows of a statement ordered by `keyset` (both among its columns), page after page."""
        page = ordered.where(start).limit(PAGE)
        while rows := self.read(lambda c, p=page: c.execute(p).all()):
            yield from rows
            if len(rows) < PAGE:
                return
            last = rows[-1]._mapping  # pyright: ignore[reportPrivateUsage] (public, so named to keep clear of columns)
            page = ordered.where(sa.tuple_(*keyset) > tuple(last[column] for column in keyset)).limit(PAGE)


def _with_status(status: str | Sequence[str] | None) -> Sequence[sa.ColumnElement[bool] | sa.TextClause]:
    if status is None:
        return []
    if not isinstance(status, str):
        return [D.status.in_([clean(one) for one in status])]
    same = D.status == clean(status)
    return [same] if status == "completed" else [same, COMPLETED_NOT]


def _newest_first(connection: Connection, project_id: str, after: str | None) -> sa.ColumnElement[bool]:
    """Where the next page begins. A tombstone still serves as a mark."""
    if after is None:
        return sa.true()
    mark = sa.select(D.created_at, D.id).where(D.id == canonical(after), D.project_id == canonical(project_id))
    row = connection.execute(mark).first()
    return sa.false() if row is None else sa.tuple_(D.created_at, D.id) < (row[0], row[1])


def _shown() -> Statement:
    columns = [D[name] for name in SHOWN]
    return sa.select(D.id.label("document_id"), SOURCES.c.name.label("source"), *columns).join(SOURCES)


def _document(row: RowMapping) -> DocumentRow:
    return DocumentRow(**row)
