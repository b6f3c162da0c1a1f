"""Taking documents for processing: a claim makes or updates the row and takes the next generation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import Connection

from engine.errors import Code, InputError, StorageError
from engine.registry import Claim
from engine.registry.database import chunked, insert, now
from engine.registry.models import DOCUMENTS
from engine.registry.projects import Projects
from engine.registry.text import canonical, clean, key_problem, known_ids, required_id

# What a claim overwrites on a row that is there; everything else belongs to the visible revision.
CLAIMED = ("source_id", "parent_id", "claim_run", "claimed_at", "key", "size", "etag", "mtime", "uri", "filename")


class Claims(Projects):
    """The statement that opens an attempt."""

    def claim(self, claims: Sequence[Claim], run_id: str | None = None) -> dict[str, int]:
        """Take these documents for processing: document → generation of this attempt.

        One transaction. Readers go on seeing the revision that was visible; a tombstone is revived.
        A child is left out of the answer when its parent is deleted, unknown, or (`parent_generation`)
        has been taken by a newer attempt. Of several claims on one document the last counts.
        Raises InputError for ids or keys that cannot be stored (see `text.key_problem`).
        """
        for claim in claims:
            if problem := key_problem(claim.key):
                raise InputError(problem, Code.INVALID_REQUEST, details={"document_id": claim.document_id})
        latest = {required_id(claim.document_id): claim for claim in claims}
        if not latest:
            return {}
        sources = self.source_ids(sorted({(claim.project_id, claim.source) for claim in latest.values()}))
        run = None if run_id is None else required_id(run_id)

        def work(connection: Connection) -> dict[str, int]:
            time = now()
            welcome = _welcome(connection, latest)
            rows = [_row(id_, c, sources[c.project_id, c.source], run, time) for id_, c in sorted(welcome.items())]
            return _take(connection, rows) if rows else {}

        taken = self.write(work)
        self._expect(latest, taken)
        return taken

    @staticmethod
    def _expect(claims: Mapping[str, Claim], taken: Mapping[str, int]) -> None:
        """A top-level claim fails only where its id already belongs to another project."""
        foreign = [id_ for id_, claim in claims.items() if claim.parent_id is None and id_ not in taken]
        if foreign:
            raise StorageError(f"document {foreign[0]} belongs to another project", details={"count": len(foreign)})


def _welcome(connection: Connection, claims: Mapping[str, Claim]) -> dict[str, Claim]:
    """Without the children whose parent is gone or was taken anew. The parents stay locked until commit,
    so that a deletion comes wholly before or wholly after."""
    parents: dict[str, int] = {}
    d = DOCUMENTS.c
    for ids in chunked(known_ids(c.parent_id for c in claims.values() if c.parent_id)):
        alive = sa.select(d.id, d.generation).where(d.id.in_(ids), d.deleted_at.is_(None)).order_by(d.id)
        parents.update((row.id, row.generation) for row in connection.execute(alive.with_for_update(read=True)))

    def welcome(claim: Claim) -> bool:
        if claim.parent_id is None:
            return True
        generation = parents.get(canonical(claim.parent_id) or "")
        return generation is not None and claim.parent_generation in (None, generation)

    return {id_: claim for id_, claim in claims.items() if welcome(claim)}


def _row(document_id: str, claim: Claim, source_id: int, run: str | None, time: datetime) -> dict[str, object]:
    return {
        "id": document_id,
        "project_id": required_id(claim.project_id),
        "source_id": source_id,
        "parent_id": canonical(claim.parent_id) if claim.parent_id else None,
        "status": "processing",
        "generation": 1,
        "claim_run": run,
        "claimed_at": time,
        "key": claim.key,
        "size": claim.size,
        "etag": clean(claim.etag),
        "mtime": claim.mtime,
        "uri": clean(claim.uri),
        "filename": clean(claim.filename),
        "inner_path": clean(claim.inner_path),
        "created_at": time,
        "updated_at": time,
        "warnings": [],
        "metadata": {},
    }


def _take(connection: Connection, rows: list[dict[str, object]]) -> dict[str, int]:
    statement = _upsert(insert(connection, DOCUMENTS))
    taken: dict[str, int] = {}
    # RETURNING with a list of rows is one statement of many VALUES, in the order given: ascending ids, so that
    # two overlapping batches wait for one another instead of blocking each other.
    for id_, generation in connection.execute(statement, rows):
        taken[id_] = generation
    return taken


def _upsert(new: postgresql.Insert | sqlite.Insert) -> sa.Executable:
    d = DOCUMENTS.c
    changes: dict[str, object] = {name: new.excluded[name] for name in (*CLAIMED, "inner_path", "updated_at")}
    changes |= {
        "status": "processing",
        "generation": d.generation + 1,
        "deleted_at": None,
        "created_at": sa.case((d.deleted_at.is_not(None), new.excluded.created_at), else_=d.created_at),
    }
    same_project = d.project_id == new.excluded.project_id
    upsert = new.on_conflict_do_update(index_elements=["id"], set_=changes, where=same_project)
    return upsert.returning(d.id, d.generation)
