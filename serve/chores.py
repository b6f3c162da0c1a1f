"""What has to be done now and then, by whichever replica gets to it first: forgetting old events and keys, removing
what crashed work left behind.

Each chore's turn is a value in the registry that is taken by comparison, so of many replicas one does it, and the
next one only after its interval. A chore that is done twice, or broken off by a crash, does no harm.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.errors import CorpusError
from engine.object_sweep import ObjectLedger, remove_orphans, sweep_objects
from engine.objects import ObjectStore
from engine.settings import Settings
from engine.store import Store
from engine.sweep import SweepLedger, sweep

HOUR = 3600.0
DAY = 86400.0
log = logging.getLogger(__name__)


class Turns(Protocol):
    """Values that are set by comparison, see `engine.registry.named_values`."""

    def setting(self, key: str) -> object | None: ...
    def set_setting(self, key: str, value: object, expected: object = ...) -> bool: ...


class ChoreLedger(Turns, ObjectLedger, SweepLedger, Protocol):
    """What the chores need of the registry."""

    def prune_events(self, older_than_seconds: float) -> int: ...
    def prune_idempotency_keys(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Chore:
    """`work` answers how many things it dealt with."""

    name: str
    every_seconds: float
    work: Callable[[], int]


def chores(settings: Settings, registry: ChoreLedger, store: Store, objects: ObjectStore) -> list[Chore]:
    """All chores of the online API."""
    kept = settings.serve.event_days * DAY
    return [
        Chore("remove_orphans", 60, lambda: remove_orphans(objects, registry)),
        Chore("prune_idempotency_keys", HOUR, registry.prune_idempotency_keys),
        Chore("prune_events", HOUR, lambda: registry.prune_events(kept)),
        Chore("sweep_points", HOUR, lambda: sweep(store, registry)),
        Chore("sweep_objects", 6 * HOUR, lambda: sweep_objects(objects, registry)),
    ]


def do_chores(due: Sequence[Chore], registry: Turns) -> list[str]:
    """Do those whose turn it is; their names. One that fails is logged and left to its next turn."""
    done: list[str] = []
    for chore in due:
        try:
            if not _take_turn(chore, registry):
                continue
            count = chore.work()
        except CorpusError as error:
            log.warning("a chore failed", extra={"operation": chore.name, "code": error.code})
            continue
        done.append(chore.name)
        if count:
            log.info("a chore is done", extra={"operation": chore.name, "count": count})
    return done


def _take_turn(chore: Chore, registry: Turns) -> bool:
    """Whether the chore is due and this process the one that does it. A clock that was set back delays nobody for
    longer than an interval."""
    key, now = f"chore:{chore.name}", time.time()
    before = registry.setting(key)
    if isinstance(before, int | float) and before <= now < before + chore.every_seconds * random.uniform(1, 1.1):
        return False
    return registry.set_setting(key, now, expected=before)
