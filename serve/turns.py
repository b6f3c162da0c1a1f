"""Turns at slow work: so many of one project's requests at once, so many waiting, and a clear no beyond it.

Limits a minute do not do for work that takes seconds: within them one project's callers could hold every place that
there is for requests, and nobody else would be answered.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import anyio

from engine.errors import Code, CorpusError

RETRY_SECONDS = 5


class Turns:
    """One kind of slow work in this process. For one event loop."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._at_once, self._waiting = at_once, waiting
        self._projects: WeakValueDictionary[str, anyio.CapacityLimiter] = WeakValueDictionary()

    @asynccontextmanager
    async def of(self, project_id: str) -> AsyncGenerator[None]:
        """A turn of the project's. Raises CorpusError (OVERLOADED) when too many of its requests wait for one."""
        places = self._projects.get(project_id)
        if places is None:
            places = self._projects[project_id] = anyio.CapacityLimiter(self._at_once)
        if places.statistics().tasks_waiting >= self._waiting:
            message = "too many requests of this kind for this project at once"
            raise CorpusError(message, Code.OVERLOADED, details={"retry_after": RETRY_SECONDS})
        async with places:
            yield
