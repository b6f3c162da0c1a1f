"""Who needs an uploaded object: an upload that has not ended, a document whose visible revision was made of it, nobody.

What nobody needs any more is noted in the same transaction, so that a crash leaves no object behind unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.registry.database import Database, chunked, insert, now
from engine.registry.online_models import INGESTS, ORIGINALS, ORPHANED_OBJECTS
from engine.registry.text import canonical


class Originals(Database):
    """Statements about uploaded objects."""

    def original(self, document_id: str) -> str | None:
        """The object key of the bytes that the document's visible revision was made of, if they were kept."""
        wanted = sa.select(ORIGINALS.c.object_key).where(ORIGINALS.c.document_id == canonical(document_id))
        return self.read(lambda c: c.execute(wanted).scalar())

    def orphaned_objects(self, limit: int = 100) -> list[str]:
        """Keys of objects that nobody needs any more, oldest first. Remove them from the object store, then call
        `forget_orphans`; after a crash in between they are simply listed again."""
        o = ORPHANED_OBJECTS.c
        wanted = sa.select(o.object_key).order_by(o.since, o.object_key).limit(limit)
        return list(self.read(lambda c: c.execute(wanted).scalars().all()))

    def forget_orphans(self, object_keys: Sequence[str]) -> None:
        """These objects are removed."""
        o = ORPHANED_OBJECTS.c

        def work(connection: Connection) -> None:
            for keys in chunked(sorted(object_keys)):
                connection.execute(sa.delete(ORPHANED_OBJECTS).where(o.object_key.in_(keys)))

        self.write(work)

    def held_objects(self, object_keys: Sequence[str]) -> set[str]:
        """Those of these uploaded objects that are needed: by an upload that has not ended, or as an original. The
        others, if older than any request can take, were left by requests that broke off."""

        def work(connection: Connection) -> set[str]:
            found: set[str] = set()
            for keys in chunked(object_keys):
                for column in (INGESTS.c.object_key, ORIGINALS.c.object_key):
                    found |= set(connection.execute(sa.select(column).where(column.in_(keys))).scalars())
            return found

        return self.read(work)


def orphan(connection: Connection, object_keys: Iterable[str]) -> None:
    """Note that nobody needs these objects any more, for whoever removes them from the object store."""
    time = now()
    rows = [{"object_key": key, "since": time} for key in sorted(set(object_keys)) if key]
    if rows:
        connection.execute(insert(connection, ORPHANED_OBJECTS).on_conflict_do_nothing(), rows)


def place_original(connection: Connection, document_id: str, object_key: str, status: str, keep: bool) -> None:
    """The bytes of a completed upload become the document's original, those before them are orphaned; of a
    failed one its own are, of a skipped one (nothing is visible any more) both."""
    if status == "failed":
        orphan(connection, [object_key])
        return
    replaced = drop_originals(connection, [document_id])
    if keep and status == "completed":
        new = {"document_id": document_id, "object_key": object_key, "created_at": now()}
        connection.execute(insert(connection, ORIGINALS), [new])
        orphan(connection, replaced - {object_key})
    else:
        orphan(connection, replaced | {object_key})


def drop_originals(connection: Connection, document_ids: Sequence[str]) -> set[str]:
    """Delete the rows of these documents' originals; their object keys."""
    gone: set[str] = set()
    for ids in chunked(document_ids):
        statement = sa.delete(ORIGINALS).where(ORIGINALS.c.document_id.in_(ids)).returning(ORIGINALS.c.object_key)
        gone |= set(connection.execute(statement).scalars())
    return gone
