"""What the server counts, in Prometheus form.

Every process counts for itself and marks its series with its `replica`, so that series of several replicas never
mix, whichever of them a scrape happens to reach: sum over `replica` in queries. Behind a balancer a scrape sees one
replica; `merged` puts the reports of several processes into one (`serve.ray_metrics` collects them under Ray).

Labels are bounded: routes are templates (what matches none is `unmatched`), codes and modes come from closed sets,
no label holds an id, a name or a word of a caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import generate_latest
from prometheus_client.metrics_core import Metric

from engine.errors import Code

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
UNMATCHED = "unmatched"
OTHER = "other"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
MODES = frozenset({"hybrid", "lexical", "dense", "content", "path", "term", "agent"})
CODES = frozenset({"completed", "empty", "superseded", "released"} | {code.value for code in Code})
OUTCOMES = frozenset({"delivered", "retried", "failed"})
OPERATIONS = frozenset({"parse", "batch", "search", "chunks"})
MOST_ROUTES = 200

REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
SEARCH_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
INGEST_SECONDS = (0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)

Family = tuple[str, str, str, list[tuple[str, dict[str, str], float]]]  # name, kind, help, samples


class Metrics:
    """This process's counters. Thread-safe; has a registry of its own, so that several may live in one process."""

    def __init__(self, replica: str = "local") -> None:
        self.replica = replica
        registry = self._registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._routes: set[str] = set()
        requests = "HTTP requests by method, route template and status class."
        self._requests = Counter("corpus_http_requests", requests, ["method", "route", "status"], registry=registry)
        self._seconds = Histogram(
            "corpus_http_request_seconds", "Time until the answer was sent, of an event stream until it began.",
            ["route"], buckets=REQUEST_SECONDS, registry=registry,
        )  # fmt: skip
        self._open = Gauge("corpus_http_requests_in_progress", "HTTP requests being answered.", registry=registry)
        self._limited = Counter("corpus_rate_limited", "Requests refused with 429.", ["operation"], registry=registry)
        self._unlimited = Counter(
            "corpus_rate_limiter_unreachable", "Requests let through uncounted: the limiter did not answer.",
            registry=registry,
        )  # fmt: skip
        self._ingest_metrics()
        self._search_metrics()

    def _ingest_metrics(self) -> None:
        registry = self._registry
        self._upload_bytes = Counter("corpus_upload_bytes", "Bytes of files taken.", registry=registry)
        self._uploads = Counter("corpus_uploads", "Files taken.", registry=registry)
        self._queue = Gauge("corpus_ingest_queue", "Uploads that wait or are worked on.", ["state"], registry=registry)
        self._ingested = Counter("corpus_ingested", "Attempts that ended, by outcome.", ["code"], registry=registry)
        self._ingest_seconds = Histogram(
            "corpus_ingest_seconds", "From lease to outcome.", buckets=INGEST_SECONDS, registry=registry
        )
        self._deliveries = Counter(
            "corpus_webhook_deliveries", "Tries to deliver an event.", ["outcome"], registry=registry
        )

    def _search_metrics(self) -> None:
        registry = self._registry
        self._searches = Histogram(
            "corpus_search_seconds", "Searches by mode.", ["mode"], buckets=SEARCH_SECONDS, registry=registry
        )
        self._batch = Histogram(
            "corpus_embed_batch_size", "Queries that shared a forward pass.", buckets=BATCHES, registry=registry
        )
        self._truncated = Counter(
            "corpus_truncated_inputs", "Texts cut before embedding. Anything but 0 is a defect.", registry=registry
        )

    # ------------------------------------------------------------ what happened
    def request_began(self) -> None:
        self._open.inc()

    def request_ended(self, method: str, route: str, status: int, seconds: float) -> None:
        """`route`: the template; `status`: as sent, counted by class (`2xx`)."""
        self._open.dec()
        route = self._bounded_route(route)
        self._requests.labels(_of(METHODS, method), route, f"{status // 100}xx").inc()
        self._seconds.labels(route).observe(seconds)

    def uploaded(self, size: int) -> None:
        """A file of `size` bytes was taken."""
        self._uploads.inc()
        self._upload_bytes.inc(size)

    def ingested(self, code: str, seconds: float | None = None) -> None:
        """An attempt ended: completed, empty, superseded, released, or a failure's code."""
        self._ingested.labels(_of(CODES, code)).inc()
        if seconds is not None:
            self._ingest_seconds.observe(seconds)

    def queue(self, waiting: int, leased: int) -> None:
        """How deep the queue is now; the same for all replicas, so take the maximum over them."""
        self._queue.labels("waiting").set(waiting)
        self._queue.labels("leased").set(leased)

    def searched(self, mode: str, seconds: float) -> None:
        self._searches.labels(_of(MODES, mode)).observe(seconds)

    def embedded(self, size: int) -> None:
        """One forward pass over `size` queries."""
        self._batch.observe(size)

    def truncated(self, count: int = 1) -> None:
        self._truncated.inc(count)

    def delivered(self, outcome: str) -> None:
        """A webhook try ended: delivered, retried (it will be tried again) or failed (given up)."""
        self._deliveries.labels(_of(OUTCOMES, outcome)).inc()

    def rate_limited(self, operation: str) -> None:
        self._limited.labels(_of(OPERATIONS, operation)).inc()

    def limiter_unreachable(self) -> None:
        self._unlimited.inc()

    def _bounded_route(self, route: str) -> str:
        if route not in self._routes:
            if len(self._routes) >= MOST_ROUTES:
                return OTHER
            self._routes.add(route)
        return route

    # ------------------------------------------------------------ reports
    def snapshot(self) -> list[Family]:
        """All series now, each with its `replica`, as plain values that travel between processes."""
        return [
            (m.name, m.type, m.documentation, [
                (s.name, {**s.labels, "replica": self.replica}, s.value)
                for s in m.samples if not s.name.endswith("_created")
            ])
            for m in self._registry.collect()
        ]  # fmt: skip

    def text(self) -> bytes:
        """The exposition format 0.0.4 of this process."""
        return merged([self.snapshot()])


def merged(snapshots: Sequence[Sequence[Family]]) -> bytes:
    """The exposition format of several processes: each family once, with the series of all."""
    return generate_latest(_Merged(snapshots))


class _Merged:
    """A collector over snapshots."""

    def __init__(self, snapshots: Sequence[Sequence[Family]]) -> None:
        self._snapshots = snapshots

    def collect(self) -> Iterable[Metric]:
        families: dict[str, Metric] = {}
        for name, kind, documentation, samples in (family for snapshot in self._snapshots for family in snapshot):
            metric = families.setdefault(name, Metric(name, documentation, kind))
            for sample, labels, value in samples:
                metric.add_sample(sample, labels, value)
        return families.values()


def _of(known: frozenset[str], value: str) -> str:
    return value if value in known else OTHER
