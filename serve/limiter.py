"""Rate limits by a moving minute, counted in this process."""

from __future__ import annotations

import time

from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from serve.deps import Operation

MOST_IDLE = 10_000  # keys of projects that were quiet for a minute, kept before they are swept


class _PerMinute(RateLimitItemPerMinute):
    """A limit whose count goes on when its amount is changed."""

    def key_for(self, *identifiers: bytes | str | float) -> str:
        return "/".join(str(part) for part in identifiers)


class MemoryLimiter:
    """`serve.deps.Limiter` for a single process: exact there, and blind to other processes.

    Memory: one time per request let through in the last minute, and one key per project and operation; the keys of
    quiet projects are swept. Refused requests are not counted, so that a client which does not give up is let
    through as soon as there is room. Not for several threads.
    """

    def __init__(self) -> None:
        self._storage = MemoryStorage()
        self._window = MovingWindowRateLimiter(self._storage)

    async def hit(self, project_id: str, operation: Operation, limit: int) -> float:
        return self.count(project_id, operation, limit)

    def count(self, project_id: str, operation: Operation, limit: int) -> float:
        """Count one request. 0 when it may pass, else the seconds until one may (a minute when none ever may)."""
        item = _PerMinute(max(limit, 0))
        if self._window.hit(item, project_id, operation):
            self._sweep()
            return 0.0
        reset_at = self._window.get_window_stats(item, project_id, operation)[0]
        return min(max(reset_at - time.time(), 0.001), 60.0)

    def _sweep(self) -> None:
        """The library empties the lists of quiet keys but keeps the keys."""
        events = self._storage.events
        if len(events) > MOST_IDLE:
            for key in [key for key, times in events.items() if not times]:
                events.pop(key, None)
