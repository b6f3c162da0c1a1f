"""What an Idempotency-Key stands for: the first request owns it, later ones get its answer.

Kept under the SHA-256 of scope and key, so that neither's length or characters matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.registry.database import Database, insert, now
from engine.registry.online import Remembered
from engine.registry.online_models import IDEMPOTENCY_KEYS
from engine.registry.text import clean

K = IDEMPOTENCY_KEYS.c
NEW = Remembered("new")


class Idempotency(Database):
    """Statements about idempotency keys."""

    def remember(
        self, scope: str, key: str, request_hash: str, seconds_kept: float, seconds_running: float = 60
    ) -> Remembered:
        """Take the key for this request, or learn what it stands for. Atomic: of many askers one gets `new`.

        A request that has been running for more than `seconds_running` is taken for dead and its key given to the
        next asker with the same request; a key is free again after `seconds_kept`.
        """
        id_, time = _id(scope, key), now()
        row: dict[str, object] = {
            "id": id_,
            "request_hash": clean(request_hash),
            "status": None,
            "started_at": time,
            "expires_at": time + timedelta(seconds=seconds_kept),
            "headers": {},
            "body": "",
        }
        dead = time - timedelta(seconds=seconds_running)
        return self.write(lambda c: _remember(c, row, time, dead))

    def answer(
        self, scope: str, key: str, request_hash: str, status: int, headers: Mapping[str, str], body: str
    ) -> None:
        """Keep the answer of the request that owns the key."""
        mine = (K.id == _id(scope, key), K.request_hash == clean(request_hash), K.status.is_(None))
        change = sa.update(IDEMPOTENCY_KEYS).where(*mine)
        kept = {"status": status, "headers": dict(headers), "body": clean(body)}
        self.write(lambda c: c.execute(change.values(**kept)))

    def forget(self, scope: str, key: str) -> None:
        """Free a key whose request came to nothing, so that it may be tried again. An answered one stays."""
        gone = sa.delete(IDEMPOTENCY_KEYS).where(K.id == _id(scope, key), K.status.is_(None))
        self.write(lambda c: c.execute(gone))

    def prune_idempotency_keys(self) -> int:
        """Forget the keys whose time is over; how many."""
        gone = sa.delete(IDEMPOTENCY_KEYS).where(K.expires_at <= now())
        return self.write(lambda c: c.execute(gone).rowcount)


def _id(scope: str, key: str) -> str:
    return hashlib.sha256(f"{len(scope)}:{scope}{key}".encode("utf-8", "surrogatepass")).hexdigest()


def _remember(connection: Connection, row: dict[str, object], time: datetime, dead: datetime) -> Remembered:
    new = insert(connection, IDEMPOTENCY_KEYS).on_conflict_do_nothing().returning(K.id)
    if connection.execute(new, [row]).first() is not None:
        return NEW
    stands = connection.execute(sa.select(IDEMPOTENCY_KEYS).where(K.id == row["id"]).with_for_update()).first()
    if stands is None:  # forgotten between the two looks
        return _remember(connection, row, time, dead)
    if stands.expires_at <= time or _abandoned(stands, row, dead):
        connection.execute(sa.update(IDEMPOTENCY_KEYS).where(K.id == row["id"]).values(row))
        return NEW
    if stands.request_hash != row["request_hash"]:
        return Remembered("mismatch")
    if stands.status is None:
        return Remembered("running")
    return Remembered("done", stands.status, stands.headers, stands.body)


def _abandoned(stands: sa.Row[*tuple[Any, ...]], row: Mapping[str, object], dead: datetime) -> bool:
    same = stands.request_hash == row["request_hash"]
    return same and stands.status is None and stands.started_at < dead
