"""One report for all processes of the service: a named actor holds the latest counts of each.

Workers and embedders serve no HTTP, and a scrape reaches whichever API replica the proxy picks; so every process
hands its counts to the actor every few seconds, and `/metrics` of any replica shows those of all, each series with
its `replica`. A scrape always asks the actor: copies kept elsewhere would be of different age, and a counter that
seems to go back reads as a restart. While the actor does not answer a replica reports itself alone.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import ray
from ray.exceptions import RayError

from serve.metrics import Family, Metrics, merged

log = logging.getLogger(__name__)

NAME = "corpus-metrics"
NAMESPACE = "corpus"
REPORT_SECONDS = 5.0
GONE_SECONDS = 60.0  # a process that was silent this long has ended
MOST_PROCESSES = 500
ANSWER_SECONDS = 2.0


class _Reports:
    """Runs inside the actor, one call at a time."""

    def __init__(self) -> None:
        self._latest: dict[str, tuple[float, list[Family]]] = {}  # the longest silent first

    def report(self, replica: str, families: list[Family]) -> None:
        now = time.monotonic()
        self._latest.pop(replica, None)
        self._latest[replica] = (now, families)
        for name, (at, _) in list(self._latest.items()):
            if now - at > GONE_SECONDS or len(self._latest) > MOST_PROCESSES:
                del self._latest[name]

    def exchange(self, replica: str, families: list[Family]) -> list[list[Family]]:
        """Take a report, give those of all others."""
        self.report(replica, families)
        return [theirs for name, (_, theirs) in self._latest.items() if name != replica]


class SharedMetrics(Metrics):
    """Counts of this process, reported to the actor; `text` shows all processes. `text` may block for
    `ANSWER_SECONDS`: call it in a thread."""

    def __init__(self, replica: str) -> None:
        super().__init__(replica)
        self._actor: Any = None
        self._ended = threading.Event()
        threading.Thread(target=self._report, name="corpus-metrics", daemon=True).start()

    def text(self) -> bytes:
        own = self.snapshot()
        return merged([own, *(self._ask("exchange", own) or ())])

    def close(self) -> None:
        """Report a last time and stop."""
        self._ended.set()
        self._ask("report", self.snapshot())

    def _report(self) -> None:
        while not self._ended.wait(REPORT_SECONDS):
            self._ask("report", self.snapshot())

    def _ask(self, method: str, families: list[Family]) -> Any:
        try:
            actor = self._actor or metrics_actor()
            self._actor = actor
            return ray.get(getattr(actor, method).remote(self.replica, families), timeout=ANSWER_SECONDS)
        except (RayError, ValueError) as error:
            self._actor = None
            log.warning("counts were not exchanged with other processes", extra={"error": type(error).__name__})
            return None


def metrics_actor() -> Any:
    """The actor, made when there is none."""
    options: dict[str, Any] = {"name": NAME, "namespace": NAMESPACE, "get_if_exists": True, "lifetime": "detached"}
    remote: Any = ray.remote(_Reports)
    return remote.options(num_cpus=0, max_restarts=-1, max_task_retries=0, **options).remote()


def stop_metrics() -> None:
    """End the actor, if there is one: for the shutdown of the whole service."""
    try:
        ray.kill(ray.get_actor(NAME, NAMESPACE))
    except ValueError:
        pass  # there is none
