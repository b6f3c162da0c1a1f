"""Rate limits over all replicas: one named actor counts for everybody.

Availability goes before exactness: while the actor does not answer (its node died, it is being restarted),
requests pass uncounted, a metric and a log line say so, and the actor is asked again a second later. Its counts live
in its memory: a restarted actor begins with an empty minute.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import ray
from ray.exceptions import RayError

from serve.deps import Operation
from serve.limiter import MemoryLimiter

log = logging.getLogger(__name__)

NAME = "corpus-limiter"
NAMESPACE = "corpus"
ANSWER_SECONDS = 1.0  # a request waits no longer for its count
RETRY_SECONDS = 1.0  # after a failure, before the actor is asked again
START_SECONDS = 60.0


class _Counter:
    """Runs inside the actor, one call at a time."""

    def __init__(self) -> None:
        self._limiter = MemoryLimiter()

    def count(self, project_id: str, operation: Operation, limit: int) -> float:
        return self._limiter.count(project_id, operation, limit)

    def ready(self) -> bool:
        return True


class RayLimiter:
    """`serve.deps.Limiter` over all processes of a Ray cluster.

    `unreachable` is called for every request that passes uncounted. Belongs to one event loop.
    """

    def __init__(self, unreachable: Callable[[], None]) -> None:
        self._unreachable = unreachable
        self._actor: Any = None
        self._ask_again_at = 0.0

    async def hit(self, project_id: str, operation: Operation, limit: int) -> float:
        if time.monotonic() < self._ask_again_at:
            return self._pass()
        try:
            actor = self._actor or await asyncio.to_thread(limiter_actor)
            self._actor = actor
            return float(await asyncio.wait_for(actor.count.remote(project_id, operation, limit), ANSWER_SECONDS))
        except (RayError, TimeoutError, ValueError) as error:  # ValueError: the name vanished while it was looked up
            self._ask_again_at = time.monotonic() + RETRY_SECONDS
            self._actor = None  # looked up by its name again: it may have been replaced
            log.warning("the rate limiter does not answer, requests pass", extra={"error": type(error).__name__})
            return self._pass()

    def _pass(self) -> float:
        self._unreachable()
        return 0.0


def limiter_actor() -> Any:
    """The actor, made when there is none. Detached: it outlives the replica that happened to ask first."""
    options: dict[str, Any] = {"name": NAME, "namespace": NAMESPACE, "get_if_exists": True, "lifetime": "detached"}
    remote: Any = ray.remote(_Counter)
    return remote.options(num_cpus=0, max_restarts=-1, max_task_retries=0, **options).remote()


def start_limiter(unreachable: Callable[[], None]) -> RayLimiter:
    """A limiter whose actor answers already, so that the first requests are counted. Blocking; raises RayError when
    the cluster cannot start it."""
    ray.get(limiter_actor().ready.remote(), timeout=START_SECONDS)
    return RayLimiter(unreachable)


def stop_limiter() -> None:
    """End the actor, if there is one: for the shutdown of the whole service."""
    try:
        ray.kill(ray.get_actor(NAME, NAMESPACE))
    except ValueError:
        pass  # there is none
