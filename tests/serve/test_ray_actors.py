"""The two actors all replicas share, on a real local Ray: exact together, harmless when dead."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

pytestmark = pytest.mark.ray
ROOT = Path(__file__).resolve().parents[2]
PROJECT = "0b7c9a52-8f5c-4b39-9f0c-1a6c1b7f9d10"


@pytest.fixture(scope="module")
def local_ray() -> Iterator[None]:
    import ray  # noqa: TID251 - a fixture for the tests marked `ray`

    if ray.is_initialized():
        yield
        return
    environment = {"env_vars": {"PYTHONPATH": str(ROOT)}}
    ray.init(
        address="local",  # never a cluster that somebody else left on this machine
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        runtime_env=environment,
        _metrics_export_port=0,
    )
    yield
    ray.shutdown()


@pytest.fixture
def limiter_of(local_ray: None) -> Iterator[Callable[[list[int]], Any]]:
    """Makes limiters that note in a list how many requests passed uncounted."""
    from serve.ray_limiter import start_limiter, stop_limiter

    yield lambda passed: start_limiter(lambda: passed.append(1))
    stop_limiter()


def pid_of(actor: Any) -> int:
    import ray  # noqa: TID251

    return ray.get(actor.__ray_call__.remote(lambda _: os.getpid()), timeout=30)


def test_all_replicas_share_one_count(limiter_of: Callable[[list[int]], Any]) -> None:
    from serve.ray_limiter import RayLimiter

    passed: list[int] = []
    one = limiter_of(passed)
    other = RayLimiter(lambda: passed.append(1))  # as in another replica

    async def ask() -> list[float]:
        both = [one.hit(PROJECT, "search", 10) if n % 2 else other.hit(PROJECT, "search", 10) for n in range(16)]
        return list(await asyncio.gather(*both))

    waits = asyncio.run(ask())
    assert waits.count(0.0) == 10
    assert all(50 < wait <= 60 for wait in waits if wait)
    assert passed == []
    assert asyncio.run(one.hit(PROJECT, "chunks", 1)) == 0


def test_another_process_counts_along(limiter_of: Callable[[list[int]], Any]) -> None:
    import ray  # noqa: TID251

    limiter = limiter_of([])

    @ray.remote(num_cpus=0)
    def elsewhere() -> float:
        from serve.ray_limiter import RayLimiter

        return asyncio.run(RayLimiter(lambda: None).hit(PROJECT, "batch", 1))

    assert ray.get(elsewhere.remote(), timeout=60) == 0
    assert asyncio.run(limiter.hit(PROJECT, "batch", 1)) > 50


def test_requests_pass_while_the_actor_is_dead_and_are_counted_again_afterwards(
    limiter_of: Callable[[list[int]], Any], caplog: pytest.LogCaptureFixture
) -> None:
    from serve.ray_limiter import limiter_actor

    passed: list[int] = []
    limiter = limiter_of(passed)

    async def run() -> tuple[float, float]:
        assert await limiter.hit(PROJECT, "parse", 1) == 0
        assert await limiter.hit(PROJECT, "parse", 1) > 0
        os.kill(pid_of(limiter_actor()), signal.SIGKILL)
        await asyncio.sleep(0.2)
        slowest = 0.0
        began = time.monotonic()
        while True:  # until it is back: its minute is empty then
            asked = time.monotonic()
            count = len(passed)
            assert await limiter.hit(PROJECT, "parse", 1) == 0
            slowest = max(slowest, time.monotonic() - asked)
            if len(passed) == count:
                return slowest, time.monotonic() - began
            assert time.monotonic() - began < 60
            await asyncio.sleep(0.05)

    slowest, back = asyncio.run(run())
    print(f"slowest request {slowest:.2f} s, back after {back:.2f} s, {len(passed)} passed uncounted")
    assert passed
    assert slowest < 2.5
    assert asyncio.run(limiter.hit(PROJECT, "parse", 1)) > 0
    assert "requests pass" in caplog.text


def test_a_replaced_actor_is_found_by_its_name(limiter_of: Callable[[list[int]], Any]) -> None:
    from serve.ray_limiter import RETRY_SECONDS, start_limiter, stop_limiter

    passed: list[int] = []
    limiter = limiter_of(passed)
    assert asyncio.run(limiter.hit(PROJECT, "parse", 5)) == 0
    stop_limiter()
    assert asyncio.run(limiter.hit(PROJECT, "parse", 5)) == 0
    start_limiter(lambda: None)
    time.sleep(RETRY_SECONDS)
    before = len(passed)
    assert asyncio.run(limiter.hit(PROJECT, "parse", 5)) == 0
    assert len(passed) == before
    stop_limiter()
    stop_limiter()  # nothing to stop is no error


# ---------------------------------------------------------------- metrics
def uploads(text: bytes) -> dict[str, float]:
    """Replica → files taken."""
    return {
        sample.labels["replica"]: sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
        if sample.name == "corpus_uploads_total"
    }


@pytest.fixture
def shared(local_ray: None) -> Iterator[Callable[[str], Any]]:
    from serve.ray_metrics import SharedMetrics, stop_metrics

    made: list[Any] = []

    def make(replica: str) -> Any:
        made.append(SharedMetrics(replica))
        return made[-1]

    yield make
    for metrics in made:
        metrics.close()
    stop_metrics()


def test_any_replica_reports_for_all_and_no_counter_goes_back(shared: Callable[[str], Any]) -> None:
    import ray  # noqa: TID251

    from serve.ray_metrics import metrics_actor

    ray.get(metrics_actor().report.remote("ingest-1", []), timeout=60)
    one, other = shared("api-1"), shared("api-2")
    one.uploaded(5)
    assert uploads(one.text()) == {"api-1": 1}
    other.uploaded(5)
    seen: dict[str, float] = {}
    for scrape in range(20):
        one.uploaded(1)
        found = uploads((one if scrape % 3 else other).text())
        assert all(found.get(replica, 0) >= value for replica, value in seen.items()), (seen, found)
        seen = found
    assert set(uploads(other.text())) == {"api-1", "api-2"}


def test_a_process_that_has_ended_left_its_last_counts(shared: Callable[[str], Any]) -> None:
    metrics, ingest = shared("api-1"), shared("ingest-1")
    metrics.text()
    ingest.uploaded(5)
    ingest.close()
    assert uploads(metrics.text()) == {"api-1": 0, "ingest-1": 1}


def test_without_the_actor_a_replica_reports_itself(
    shared: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from serve import ray_metrics

    def none() -> Any:
        raise ValueError("there is no such actor")

    monkeypatch.setattr(ray_metrics, "metrics_actor", none)
    metrics = shared("api-1")
    began = time.monotonic()
    assert uploads(metrics.text()) == {"api-1": 0}
    assert time.monotonic() - began < 1


def test_silent_processes_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    from serve import ray_metrics

    now = [0.0]
    monkeypatch.setattr(ray_metrics.time, "monotonic", lambda: now[0])
    reports = ray_metrics._Reports()
    reports.report("old", [])
    now[0] = ray_metrics.GONE_SECONDS
    assert len(reports.exchange("new", [])) == 1
    now[0] += 1
    assert reports.exchange("new", []) == []
    for number in range(ray_metrics.MOST_PROCESSES + 50):
        reports.report(f"r{number}", [])
    assert len(reports._latest) == ray_metrics.MOST_PROCESSES
