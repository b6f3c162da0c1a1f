"""Big documents read in parts: the plan, each part's result, and who comes last.

A countdown row per plan makes "last" exact: every finished part takes one off it under its lock, and the
one that reaches zero merges.
"""

from __future__ import annotations

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.errors import StorageError
from engine.registry.database import Database, insert
from engine.registry.models import PART_SETS, PARTS
from engine.registry.text import canonical, required_id


class Parts(Database):
    """Statements about the parts of a document."""

    def begin_parts(self, document_id: str, generation: int, ranges: Sequence[tuple[int, int]]) -> list[int]:
        """Store the plan (`ranges`: first and last page or row of part 0, 1, ...); numbers of unfinished parts.

        Repeating it keeps what is finished. Plans of older generations are dropped. Raises StorageError
        when this generation already has another plan.
        """
        id_ = required_id(document_id)

        def work(connection: Connection) -> list[int]:
            connection.execute(sa.delete(PART_SETS).where(PART_SETS.c.document_id == id_, _older(generation)))
            plan = {"document_id": id_, "generation": generation, "remaining": len(ranges)}
            connection.execute(insert(connection, PART_SETS).on_conflict_do_nothing(), [plan])
            rows = [_part(id_, generation, number, range_) for number, range_ in enumerate(ranges)]
            connection.execute(insert(connection, PARTS).on_conflict_do_nothing(), rows)
            return _unfinished(connection, id_, generation, ranges)

        return self.write(work) if ranges else []

    def finish_part(self, document_id: str, generation: int, part_no: int, path: str) -> bool:
        """Store where a part's result lies. True exactly once: for the call that finished the last part.

        Finishing a part again changes nothing.
        """
        p, s, id_ = PARTS.c, PART_SETS.c, canonical(document_id)
        done = sa.update(PARTS).where(p.document_id == id_, p.generation == generation, p.part_no == part_no)
        one_less = sa.update(PART_SETS).where(s.document_id == id_, s.generation == generation)
        one_less = one_less.values(remaining=s.remaining - 1).returning(s.remaining)

        def work(connection: Connection) -> bool:
            first_time = connection.execute(done.where(p.path.is_(None)).values(path=path)).rowcount == 1
            return first_time and connection.execute(one_less).scalar_one() == 0

        return self.write(work)

    def part_paths(self, document_id: str, generation: int) -> list[str]:
        """Results of the finished parts, in the order of the parts."""
        p = PARTS.c
        wanted = sa.select(p.path).where(p.document_id == canonical(document_id), p.generation == generation)
        rows = self.read(lambda c: c.execute(wanted.where(p.path.is_not(None)).order_by(p.part_no)).scalars().all())
        return [path for path in rows if path is not None]

    def drop_parts(self, document_id: str, generation: int | None = None) -> None:
        """Forget the document's plan, of one generation or of all."""
        s = PART_SETS.c
        gone = sa.delete(PART_SETS).where(s.document_id == canonical(document_id))
        if generation is not None:
            gone = gone.where(s.generation == generation)
        self.write(lambda c: c.execute(gone))


def _older(generation: int) -> sa.ColumnElement[bool]:
    return PART_SETS.c.generation < generation


def _part(document_id: str, generation: int, number: int, range_: tuple[int, int]) -> dict[str, object]:
    first, last = range_
    return {
        "document_id": document_id,
        "generation": generation,
        "part_no": number,
        "first": first,
        "last": last,
        "path": None,
    }


def _unfinished(
    connection: Connection, document_id: str, generation: int, ranges: Sequence[tuple[int, int]]
) -> list[int]:
    p = PARTS.c
    mine = sa.select(p.first, p.last, p.path, p.part_no).where(p.document_id == document_id, p.generation == generation)
    rows = connection.execute(mine.order_by(p.part_no)).all()
    if [(row.first, row.last) for row in rows] != [tuple(range_) for range_ in ranges]:
        raise StorageError(f"document {document_id} already has another plan of parts")
    return [row.part_no for row in rows if row.path is None]
