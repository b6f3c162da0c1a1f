"""Whose turn it is: work leased to workers is shared out fairly between the groups that wait for it.

A group is a project (uploads) or a webhook (deliveries). The one with the fewest live leases comes first, among
equals the one that has waited longest, so that a thousand uploads of one project cannot hold up another's one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

Row = sa.Row[*tuple[Any, ...]]
AT_MOST = 200  # looks that may come to nothing in one transaction; the next call goes on


@dataclass(frozen=True, slots=True)
class Line:
    """Where the waiting rows of a table stand. `waiting` is the predicate of an index over (group, since),
    `leased` of one over `lease_until`."""

    group: sa.ColumnElement[str]
    since: sa.ColumnElement[datetime]
    lease_until: sa.ColumnElement[datetime]
    waiting: sa.TextClause
    leased: sa.TextClause


@dataclass(slots=True)
class Turn:
    """A group with something to do: since when, and how many live leases it has."""

    since: datetime
    live: int
    expired: bool  # a lease of it ran out


def take_turns(
    connection: Connection, line: Line, time: datetime, limit: int, take: Callable[[str, bool], list[Row] | None]
) -> list[Row]:
    """Up to `limit` rows, one turn after the other. `take(group, expired)` takes the group's next row: a list of
    what it made of it (empty when it came to nothing), None when there is none left."""
    turns = _turns(connection, line, time)
    taken: list[Row] = []
    for _ in range(limit + AT_MOST):
        if not turns or len(taken) >= limit:
            break
        group = min(turns, key=lambda g: (turns[g].live, turns[g].since, g))
        got = take(group, turns[group].expired)
        if got is not None:
            taken += got
            turns[group].live += len(got)
        elif turns[group].expired:
            turns[group].expired = False
        else:
            del turns[group]
    return taken


def _turns(connection: Connection, line: Line, time: datetime) -> dict[str, Turn]:
    given = sa.select(line.group, line.lease_until, sa.func.coalesce(line.since, line.lease_until))
    leases = connection.execute(given.where(line.leased)).all()
    live = Counter(group for group, until, _ in leases if until >= time)
    turns: dict[str, Turn] = {}
    for group, until, since in leases:
        if until < time:
            turn = turns.setdefault(group, Turn(until, live[group], True))
            turn.since = min(turn.since, since)
    for group, since in connection.execute(_waiting_groups(line)):
        if since <= time:
            turn = turns.setdefault(group, Turn(since, live[group], False))
            turn.since = min(turn.since, since)
    return turns


def _waiting_groups(line: Line) -> sa.Select[str, datetime]:
    """Each group with its longest waiting row: from one group to the next through the index, however many rows
    wait in each (a plain DISTINCT would read them all)."""
    first = sa.select(line.group).where(line.waiting).order_by(line.group).limit(1)
    groups = sa.select(first.scalar_subquery().label("id")).cte("waiting_groups", recursive=True)
    after = sa.select(line.group).where(line.waiting, line.group > groups.c.id).order_by(line.group).limit(1)
    more = sa.select(after.correlate(groups).scalar_subquery()).where(groups.c.id.is_not(None))
    groups = groups.union_all(more)
    oldest = sa.select(line.since).where(line.waiting, line.group == groups.c.id).order_by(line.since).limit(1)
    return sa.select(groups.c.id, oldest.correlate(groups).scalar_subquery()).where(groups.c.id.is_not(None))
