"""The run's account: totals as outcomes arrive, outcome files, the final report. Constant memory.

Inputs are the objects of the source; documents found inside them are counted beside, since nobody listed
them. `inputs = published + skipped + failed` always, or the report says by how much it is off.
"""

from __future__ import annotations

import heapq
import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.parquet as pq

from engine.records import Outcome
from engine.schema import outcomes_table

SLOWEST = 20
FAILURES_SHOWN = 200
FLUSH_ROWS = 2000


@dataclass
class Totals:
    """Counts of one run. `skipped` by reason, `failed` by code, `formats` by format and status."""

    started: float = field(default_factory=time.time)
    inputs: int = 0
    published: int = 0
    skipped: Counter[str] = field(default_factory=lambda: Counter[str]())
    failed: Counter[str] = field(default_factory=lambda: Counter[str]())
    inside_published: int = 0
    inside_skipped: Counter[str] = field(default_factory=lambda: Counter[str]())
    inside_failed: Counter[str] = field(default_factory=lambda: Counter[str]())
    formats: dict[str, Counter[str]] = field(default_factory=lambda: dict[str, Counter[str]]())
    seconds: Counter[str] = field(default_factory=lambda: Counter[str]())
    bytes: int = 0
    pages: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    tokens: int = 0
    warnings: int = 0
    cost: float = 0.0
    known: int = 0  # documents of this source that the registry had before
    missing: int = 0  # of those, no longer in the source
    unlisted: int = 0  # folders that could not be listed
    deleted: int = 0
    finished: float | None = None
    listed: float | None = None  # when listing and comparing were done
    slowest: list[tuple[float, str]] = field(default_factory=lambda: list[tuple[float, str]]())
    failures: list[dict[str, str]] = field(default_factory=lambda: list[dict[str, str]]())

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Count finished documents."""
        for o in outcomes:
            self._count(o)
            self.formats.setdefault(o.source_format or "unknown", Counter())[o.status] += 1
            self.seconds.update(o.seconds)
            for name in ("bytes", "pages", "chunks", "embedded", "reused", "tokens", "warnings", "cost"):
                setattr(self, name, getattr(self, name) + getattr(o, name))
            heapq.heappush(self.slowest, (round(sum(o.seconds.values()), 3), o.key))
            if len(self.slowest) > SLOWEST:
                heapq.heappop(self.slowest)

    def _count(self, o: Outcome) -> None:
        inside = o.parent_id is not None
        if o.status == "published":
            if inside:
                self.inside_published += 1
            else:
                self.published += 1
        elif o.status == "skipped":
            (self.inside_skipped if inside else self.skipped)[o.reason] += 1
        else:
            (self.inside_failed if inside else self.failed)[o.code] += 1
            if len(self.failures) < FAILURES_SHOWN:
                self.failures.append({"key": o.key, "code": o.code, "stage": o.stage, "message": o.message})

    @property
    def done(self) -> int:
        """Inputs that have ended."""
        return self.published + self.skipped.total() + self.failed.total()

    @property
    def all_failed(self) -> int:
        return self.failed.total() + self.inside_failed.total()

    def as_dict(self) -> dict[str, object]:
        """JSON values, rates included (per wall second since the listing was done)."""
        wall = (self.finished or time.time()) - self.started
        working = max((self.finished or time.time()) - (self.listed or self.started), 1e-9)
        return {
            "inputs": self.inputs,
            "published": self.published,
            "skipped": {"total": self.skipped.total(), **self.skipped},
            "failed": {"total": self.failed.total(), **self.failed},
            "accounted": self.done == self.inputs,
            "inside": {
                "published": self.inside_published,
                "skipped": {"total": self.inside_skipped.total(), **self.inside_skipped},
                "failed": {"total": self.inside_failed.total(), **self.inside_failed},
            },
            "not_reached": max(self.inputs - self.done, 0),
            "missing": self.missing,
            "unlisted_folders": self.unlisted,
            "deleted": self.deleted,
            "formats": {name: dict(counts) for name, counts in sorted(self.formats.items())},
            "bytes": self.bytes,
            "pages": self.pages,
            "chunks": self.chunks,
            "embedded": self.embedded,
            "reused": self.reused,
            "tokens": self.tokens,
            "warnings": self.warnings,
            "cost": round(self.cost, 6),
            "stage_seconds": {name: round(value, 3) for name, value in sorted(self.seconds.items())},
            "wall_seconds": round(wall, 3),
            "listing_seconds": round((self.listed or self.started) - self.started, 3),
            "documents_per_second": round((self.published + self.inside_published) / working, 3),
            "pages_per_second": round(self.pages / working, 3),
            "chunks_per_second": round(self.chunks / working, 3),
            "slowest": [{"seconds": s, "key": key} for s, key in sorted(self.slowest, reverse=True)],
            "failures": self.failures,
        }


@dataclass
class OutcomeFiles:
    """Outcome rows as Parquet parts in a folder. A killed run loses at most the rows of the open part, and
    the registry still knows them."""

    folder: Path
    _waiting: list[Outcome] = field(default_factory=lambda: list[Outcome]())
    _parts: int = 0

    def add(self, outcomes: list[Outcome]) -> None:
        self._waiting.extend(outcomes)
        if len(self._waiting) >= FLUSH_ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what waits as one more part."""
        if self._waiting:
            self.folder.mkdir(parents=True, exist_ok=True)
            pq.write_table(outcomes_table(self._waiting), self.folder / f"outcomes-{self._parts:05}.parquet")
            self._waiting, self._parts = [], self._parts + 1


def write_report(folder: Path, run: dict[str, object]) -> Path:
    """`report.json` and a readable `report.html`; the path of the page."""
    from jinja2 import Environment, PackageLoader

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(run, indent=2, ensure_ascii=False) + "\n", "utf-8")
    templates = Environment(loader=PackageLoader("engine", "pages"), autoescape=True)
    page = folder / "report.html"
    page.write_text(templates.get_template("report.html").render(run=run), "utf-8")
    return page
