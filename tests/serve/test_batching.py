"""Queries that share a forward pass."""

from __future__ import annotations

import asyncio
import threading
import time

import numpy as np
import pytest
from fake_embedder import FakeEmbedder

from engine.errors import EmbeddingError
from serve.batching import Batcher


def test_queries_that_come_together_share_passes_and_each_gets_its_own_vector() -> None:
    model, passes = FakeEmbedder(), list[int]()
    texts = [f"question {n}" for n in range(10)]

    async def ask() -> list[np.ndarray]:
        batcher = Batcher(model.embed_queries, 4, 0.01, passes.append)
        return list(await asyncio.gather(*(batcher(text) for text in texts)))

    assert np.array_equal(np.stack(asyncio.run(ask())), model.embed_queries(texts))
    assert passes == [4, 4, 2]


def test_while_a_pass_runs_the_next_ones_gather_and_passes_never_overlap() -> None:
    busy, passes = threading.Lock(), list[int]()

    def embed(texts: list[str]) -> np.ndarray:
        assert busy.acquire(blocking=False)
        time.sleep(0.05)
        busy.release()
        return np.ones((len(texts), 2), np.float32)

    async def ask() -> None:
        batcher = Batcher(embed, 100, 0, passes.append)
        first = asyncio.create_task(batcher("first"))
        await asyncio.sleep(0.02)
        await asyncio.gather(first, *(batcher(str(n)) for n in range(7)))

    asyncio.run(ask())
    assert passes == [1, 7]


def test_an_error_reaches_all_who_waited_and_the_next_query_works() -> None:
    broken = [True]

    def embed(texts: list[str]) -> np.ndarray:
        if broken.pop() if broken else False:
            raise RuntimeError("out of memory")
        return np.ones((len(texts), 2), np.float32)

    async def ask() -> tuple[list[object], np.ndarray]:
        batcher = Batcher(embed, 8, 0.01)
        failed = await asyncio.gather(batcher("a"), batcher("b"), return_exceptions=True)
        return list(failed), await batcher("c")

    failed, vector = asyncio.run(ask())
    assert [type(error) for error in failed] == [EmbeddingError, EmbeddingError]
    assert vector.tolist() == [1, 1]


def test_who_gave_up_waiting_is_left_out() -> None:
    seen: list[str] = []

    def embed(texts: list[str]) -> np.ndarray:
        seen.extend(texts)
        return np.ones((len(texts), 2), np.float32)

    async def ask() -> None:
        batcher = Batcher(embed, 8, 0.05)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(batcher("impatient"), 0.01)
        await batcher("patient")

    asyncio.run(ask())
    assert seen == ["patient"]
