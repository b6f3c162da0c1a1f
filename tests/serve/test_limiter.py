"""The moving minute: what passes, how long the rest waits, and what it costs in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import pytest

from serve.limiter import MOST_IDLE, MemoryLimiter

A, B = "project-a", "project-b"


class Clock:
    now = 1_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """The wall clock the library reads, in our hands."""
    clock = Clock()
    monkeypatch.setattr(time, "time", clock.time)
    yield clock


def test_as_many_pass_as_the_limit_says_and_the_rest_are_told_when(clock: Clock) -> None:
    limiter = MemoryLimiter()
    assert [limiter.count(A, "search", 3) for _ in range(3)] == [0, 0, 0]
    clock.now += 10
    assert limiter.count(A, "search", 3) == pytest.approx(50)
    clock.now += 49.9
    assert limiter.count(A, "search", 3) == pytest.approx(0.1)
    clock.now += 0.2
    assert limiter.count(A, "search", 3) == 0


def test_the_window_moves_so_no_burst_passes_at_a_boundary(clock: Clock) -> None:
    limiter = MemoryLimiter()
    clock.now = 1_000_019.0  # a second before a whole minute
    assert [limiter.count(A, "parse", 5) for _ in range(5)] == [0] * 5
    clock.now += 2
    assert all(limiter.count(A, "parse", 5) > 50 for _ in range(5))


def test_refused_requests_do_not_push_the_end_away(clock: Clock) -> None:
    limiter = MemoryLimiter()
    limiter.count(A, "batch", 1)
    for _ in range(59):
        clock.now += 1
        assert limiter.count(A, "batch", 1) > 0
    clock.now += 1.1
    assert limiter.count(A, "batch", 1) == 0


def test_projects_and_operations_do_not_share(clock: Clock) -> None:
    limiter = MemoryLimiter()
    assert limiter.count(A, "search", 1) == limiter.count(B, "search", 1) == limiter.count(A, "chunks", 1) == 0
    assert limiter.count(A, "search", 1) > 0


def test_a_changed_limit_counts_what_was_already_asked(clock: Clock) -> None:
    limiter = MemoryLimiter()
    for _ in range(5):
        limiter.count(A, "search", 5)
    assert limiter.count(A, "search", 6) == 0
    assert limiter.count(A, "search", 3) > 0


def test_a_limit_of_nothing_lets_nothing_pass(clock: Clock) -> None:
    limiter = MemoryLimiter()
    assert limiter.count(A, "search", 0) == 60
    assert limiter.count(A, "search", -1) == 60


def test_it_is_the_protocols_limiter() -> None:
    assert asyncio.run(MemoryLimiter().hit(A, "search", 1)) == 0


def test_quiet_projects_are_forgotten() -> None:
    limiter = MemoryLimiter()
    for number in range(MOST_IDLE + 1):
        limiter._storage.events[f"idle-{number}/search"] = []
    limiter.count(A, "search", 5)
    assert len(limiter._storage.events) == 1


def test_counting_is_cheap() -> None:
    limiter = MemoryLimiter()
    began = time.perf_counter()
    for _ in range(2000):
        limiter.count(A, "search", 1000)
    assert (time.perf_counter() - began) / 2000 < 0.002
