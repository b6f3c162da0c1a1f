"""Keeps the lease of an upload alive while it is worked on, and tells of the stages it goes through."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from engine.errors import Stage, StorageError
from engine.registry.online import Lease

log = logging.getLogger(__name__)


class Leases(Protocol):
    def renew(self, document_id: str, generation: int, seconds: float, stage: str = "") -> bool: ...


class Heart:
    """Beats from a thread of its own, three times a lease, between entering and leaving the context; and at every new
    stage. `lost` is called, from either thread, when the registry says that the attempt is over. A registry that is
    away stops nothing: it may come back before the lease has run out, and if not, its generation guards it."""

    def __init__(self, registry: Leases, lease: Lease, seconds: float, lost: Callable[[], None]) -> None:
        self._registry, self._lease, self._seconds, self._lost = registry, lease, seconds, lost
        self._stage = ""
        self._lock = threading.Lock()  # a late beat must not tell of the stage before
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._beat_on, name="corpus-heart", daemon=True)

    def enter(self, stage: Stage) -> None:
        """A new stage has begun."""
        with self._lock:
            if stage == self._stage:
                return
            self._stage = stage
        self._beat()

    def __enter__(self) -> Heart:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self._thread.join()

    def _beat_on(self) -> None:
        while not self._stopped.wait(self._seconds / 3):
            self._beat()

    def _beat(self) -> None:
        with self._lock:
            try:
                alive = self._registry.renew(
                    self._lease.document_id, self._lease.generation, self._seconds, self._stage
                )
            except StorageError as error:
                log.warning("a lease could not be renewed", extra={"code": error.code})
                return
        if not alive and not self._stopped.is_set():
            self._lost()
