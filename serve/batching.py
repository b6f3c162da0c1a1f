"""Queries that arrive together share one forward pass.

A pass over many short texts costs little more than one over a single text. So a query waits a moment for others,
and while a pass runs the next queries gather by themselves.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from engine.errors import CorpusError, EmbeddingError

Embed = Callable[[list[str]], NDArray[np.float32]]
_Waiting = tuple[str, "asyncio.Future[NDArray[np.float32]]"]


class Batcher:
    """Call it with a text: its vector. `embed` runs in a thread, one pass at a time, at most `size` texts a pass.

    Belongs to one event loop. A pass that fails fails all of its queries with the same error.
    """

    def __init__(
        self, embed: Embed, size: int, wait_seconds: float, observed: Callable[[int], None] | None = None
    ) -> None:
        self._embed, self._size, self._wait = embed, size, wait_seconds
        self._observed = observed
        self._queue: list[_Waiting] = []
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, text: str) -> NDArray[np.float32]:
        """The unit vector of a query. Raises EmbeddingError."""
        future: asyncio.Future[NDArray[np.float32]] = asyncio.get_running_loop().create_future()
        self._queue.append((text, future))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        try:
            await asyncio.sleep(self._wait)
            while self._queue:
                batch, self._queue = self._queue[: self._size], self._queue[self._size :]
                await self._pass([(text, future) for text, future in batch if not future.done()])
        finally:
            self._running = None

    async def _pass(self, batch: list[_Waiting]) -> None:
        if not batch:  # all of them gave up waiting
            return
        if self._observed is not None:
            self._observed(len(batch))
        try:
            vectors = await asyncio.to_thread(self._embed, [text for text, _ in batch])
        except Exception as error:  # noqa: BLE001 - handed on to everyone who waits for this pass
            failure = error if isinstance(error, CorpusError) else EmbeddingError(f"the embedder failed: {error!r}")
            for _, future in batch:
                if not future.done():
                    future.set_exception(failure)
            return
        for (_, future), vector in zip(batch, vectors, strict=True):
            if not future.done():
                future.set_result(vector)
