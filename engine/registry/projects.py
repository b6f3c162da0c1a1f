"""Projects, their named sources, and the counters a search asks for at every look."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from uuid import UUID, uuid5

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from engine.errors import Code, InputError
from engine.registry import Project
from engine.registry.database import Database, insert, now
from engine.registry.models import COMPLETED_NOT, DOCUMENTS, INDEX_STATE, LIVE, PROJECTS, SOURCES
from engine.registry.text import canonical, clean

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?").fullmatch
OPEN = ("pending", "processing", "failed", "skipped")  # the statuses of living documents that are not completed
# Fixed for ever: a slug has the same id in every registry, and so the same documents have the same ids.
NAMESPACE = UUID("6f0a1b57-3d0c-5a86-9a57-0d6f5b7c2e11")


class Projects(Database):
    """Statements about projects and sources."""

    def project(self, ref: str, create: bool = False, settings: Mapping[str, object] | None = None) -> Project:
        """The project with this UUID or slug.

        `create`: make a missing one with these settings; one that is there keeps its own.
        Raises InputError: PROJECT_NOT_FOUND, or INVALID_REQUEST for a slug that breaks the rules
        (lower-case letters, digits, `-` and `_` inside, at most 63).
        """
        found = self.read(lambda c: _find(c, ref))
        if found is None and create:
            check_slug(ref)
            found = self.write(lambda c: _create(c, ref, settings or {}))
        if found is None:
            raise _absent(ref)
        return found

    def add_project(self, slug: str, settings: Mapping[str, object]) -> Project:
        """Make a new project. Raises InputError: CONFLICT when there is one of this slug, INVALID_REQUEST for a slug
        that breaks the rules."""
        if canonical(slug) is not None:
            raise InputError("a project is named by a slug, not by a UUID", Code.INVALID_REQUEST)
        check_slug(slug)
        if not self.write(lambda c: _insert(c, slug, settings)):
            raise InputError(f"there is a project {slug!r} already", Code.CONFLICT)
        return self.project(slug)

    def projects(self) -> list[Project]:
        """All projects, by slug."""
        rows = self.read(lambda c: c.execute(sa.select(PROJECTS).order_by(PROJECTS.c.slug)).mappings().all())
        return [_project(row) for row in rows]

    def update_project_settings(
        self, project_id: str, change: Callable[[dict[str, object]], Mapping[str, object]]
    ) -> Project:
        """Replace the project's settings by what `change` makes of them; nobody else changes them meanwhile. Raises
        InputError (PROJECT_NOT_FOUND), and what `change` raises."""
        mine = PROJECTS.c.id == canonical(project_id)

        def work(connection: Connection) -> Project | None:
            kept = sa.select(PROJECTS.c.settings).where(mine).with_for_update(key_share=True)
            row = connection.execute(kept).first()
            if row is None:
                return None
            connection.execute(sa.update(PROJECTS).where(mine).values(settings=dict(change(dict(row.settings)))))
            return _find(connection, project_id)

        project = self.write(work)
        if project is None:
            raise _absent(project_id)
        return project

    def source(self, project_id: str, name: str, uri: str) -> None:
        """Name a source of a project, or give a named one another address."""
        source_id = self.source_ids([(project_id, name)])[project_id, name]
        change = sa.update(SOURCES).where(SOURCES.c.id == source_id, SOURCES.c.uri != clean(uri)).values(uri=clean(uri))
        self.write(lambda c: c.execute(change))

    def sources(self, project_id: str) -> dict[str, str]:
        """The project's sources: name → address."""
        wanted = sa.select(SOURCES.c.name, SOURCES.c.uri).where(SOURCES.c.project_id == canonical(project_id))
        rows = self.read(lambda c: c.execute(wanted.order_by(SOURCES.c.name)).all())
        return {name: uri for name, uri in rows}

    def source_ids(self, names: Sequence[tuple[str, str]]) -> dict[tuple[str, str], int]:
        """Internal ids of (project, source name) pairs; missing sources are made. Remembered per process."""
        missing = sorted({pair for pair in names if pair not in self._source_ids})
        for project_id, name in missing:
            self._source_ids[project_id, name] = self.write(lambda c, p=project_id, n=name: _source(c, p, n))
        return {pair: self._source_ids[pair] for pair in names}

    def index_version(self, project_id: str) -> int:
        """A number that grows with every change of what the project's readers may see; 0 without project."""
        return self._state(project_id)[0]

    def visible(self, project_id: str) -> tuple[int, int]:
        """Documents and chunks that readers may see; one row is read, however many there are."""
        _, documents, chunks = self._state(project_id)
        return documents, chunks

    def stats(self, project_id: str) -> dict[str, int]:
        """Documents by status, `visible` documents and `chunks`. Costs time by what is not completed only."""

        def work(connection: Connection) -> tuple[tuple[int, int, int], list[tuple[str, int, int]]]:
            return _state(connection, project_id), _open_counts(connection, project_id)

        (_, documents, chunks), rows = self.read(work)
        counts: dict[str, int] = dict.fromkeys(OPEN, 0)
        completed = documents
        for status, count, shown in rows:
            counts[status] = count
            completed -= shown
        return {"completed": completed, **counts, "visible": documents, "chunks": chunks}

    def _state(self, project_id: str) -> tuple[int, int, int]:
        return self.read(lambda c: _state(c, project_id))


def check_slug(slug: str) -> None:
    """Raise InputError unless this can name a project."""
    if canonical(slug) is not None:
        raise InputError(f"there is no project {slug}; name a new one by a slug, not by a UUID", Code.PROJECT_NOT_FOUND)
    if not SLUG(slug):
        raise InputError(
            f"{slug!r} cannot name a project: 1 to 63 lower-case letters, digits, '-' and '_', "
            "beginning and ending with a letter or digit",
            Code.INVALID_REQUEST,
        )


def shift(connection: Connection, changes: Mapping[str, tuple[int, int]]) -> None:
    """Count a change of what readers see: project → (documents, chunks) more or less, and the next version.

    Called last in a transaction: the row is the one that all publishers of a project share.
    """
    for project_id in sorted(changes):
        documents, chunks = changes[project_id]
        connection.execute(
            sa.update(INDEX_STATE)
            .where(INDEX_STATE.c.project_id == project_id)
            .values(
                version=INDEX_STATE.c.version + 1,
                documents=INDEX_STATE.c.documents + documents,
                chunks=INDEX_STATE.c.chunks + chunks,
            )
        )


def _absent(ref: str) -> InputError:
    return InputError(f"there is no project {ref!r}", Code.PROJECT_NOT_FOUND)


def _project(row: RowMapping) -> Project:
    return Project(id=row["id"], slug=row["slug"], settings=row["settings"], created_at=row["created_at"])


def _find(connection: Connection, ref: str) -> Project | None:
    uuid = canonical(ref)
    where = PROJECTS.c.id == uuid if uuid else PROJECTS.c.slug == clean(ref)
    row = connection.execute(sa.select(PROJECTS).where(where)).mappings().first()
    return _project(row) if row else None


def _create(connection: Connection, slug: str, settings: Mapping[str, object]) -> Project | None:
    """Insert, or find what another process inserted meanwhile: the first one's settings stand."""
    _insert(connection, slug, settings)
    return _find(connection, slug)


def _insert(connection: Connection, slug: str, settings: Mapping[str, object]) -> bool:
    """Whether it was inserted: nobody else had it."""
    project_id = str(uuid5(NAMESPACE, slug))
    row = {"id": project_id, "slug": slug, "settings": dict(settings), "created_at": now()}
    new = insert(connection, PROJECTS).on_conflict_do_nothing().returning(PROJECTS.c.id)
    made = connection.execute(new, [row]).first() is not None
    connection.execute(insert(connection, INDEX_STATE).on_conflict_do_nothing(), [{"project_id": project_id}])
    return made


def _source(connection: Connection, project_id: str, name: str) -> int:
    wanted = sa.select(SOURCES.c.id).where(SOURCES.c.project_id == canonical(project_id), SOURCES.c.name == clean(name))
    found = connection.execute(wanted).scalar()
    if found is not None:
        return found
    if _find(connection, project_id) is None:
        raise _absent(project_id)
    row = {"project_id": canonical(project_id), "name": clean(name), "uri": "", "created_at": now()}
    connection.execute(insert(connection, SOURCES).on_conflict_do_nothing(), [row])
    return connection.execute(wanted).scalar_one()


def project_source_ids(connection: Connection, project_id: str, name: str | None = None) -> list[int]:
    """Ids of the project's sources, of the named one only when a name is given."""
    wanted = sa.select(SOURCES.c.id).where(SOURCES.c.project_id == canonical(project_id)).order_by(SOURCES.c.id)
    if name is not None:
        wanted = wanted.where(SOURCES.c.name == clean(name))
    return list(connection.execute(wanted).scalars())


def _state(connection: Connection, project_id: str) -> tuple[int, int, int]:
    columns = sa.select(INDEX_STATE.c.version, INDEX_STATE.c.documents, INDEX_STATE.c.chunks)
    row = connection.execute(columns.where(INDEX_STATE.c.project_id == canonical(project_id))).first()
    return (row[0], row[1], row[2]) if row else (0, 0, 0)


def _open_counts(connection: Connection, project_id: str) -> list[tuple[str, int, int]]:
    """(status, documents, of those visible) for what is not completed, through its partial index."""
    d = DOCUMENTS.c
    sources = sa.select(SOURCES.c.id).where(SOURCES.c.project_id == canonical(project_id))
    counts = sa.select(d.status, sa.func.count(), sa.func.count(d.active_revision))
    # named one by one, statuses are a prefix of the index for SQLite too
    wanted = counts.where(d.source_id.in_(sources), d.status.in_(OPEN), COMPLETED_NOT, LIVE)
    rows = connection.execute(wanted.group_by(d.status))
    return [(status, count, shown) for status, count, shown in rows]
