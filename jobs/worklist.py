"""The work of a run: the listing compared with the registry, written as manifest shards.

Millions of objects pass through here one at a time; on disk they lie as Parquet shards of the manifest schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from engine.changes import Change, changes
from engine.errors import Code, Stage
from engine.ids import document_id_for
from engine.records import Outcome, SourceItem
from engine.registry.text import key_problem
from engine.report import OutcomeFiles, Totals
from engine.schema import items_of, items_table
from engine.sources import Source

if TYPE_CHECKING:
    from jobs.backfill import Session

DUPLICATE = "duplicate_key"
UNCHANGED = "unchanged"


@dataclass
class WorkList:
    """Shards of what has to be done. `bytes` and `count` of that work; `capped`: --max-documents cut it."""

    folder: Path
    shard_rows: int
    count: int = 0
    bytes: int = 0
    capped: bool = False
    _buffer: list[SourceItem] = field(default_factory=lambda: list[SourceItem]())
    _shards: list[Path] = field(default_factory=lambda: list[Path]())

    def add(self, item: SourceItem) -> None:
        self._buffer.append(item)
        self.count += 1
        self.bytes += item.size
        if len(self._buffer) >= self.shard_rows:
            self.flush()

    def flush(self) -> None:
        if self._buffer:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"work-{len(self._shards):05}.parquet"
            pq.write_table(items_table(self._buffer), path)
            self._shards.append(path)
            self._buffer = []

    def note_missing(self, document_id: str) -> None:
        """A known document that the source no longer has."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "missing.jsonl").open("a") as file:
            file.write(json.dumps(document_id) + "\n")

    def missing(self) -> Iterator[str]:
        path = self.folder / "missing.jsonl"
        if path.exists():
            with path.open() as file:
                yield from map(json.loads, file)

    def shards(self) -> Iterator[list[SourceItem]]:
        """One shard's items at a time; a shard's file goes when it is done."""
        for path in self._shards:
            yield items_of(pq.read_table(path))
            path.unlink()

    def sample(self, count: int, seed: int) -> list[SourceItem]:
        """Up to `count` items drawn evenly over all shards."""
        import random

        draw = random.Random(seed)
        chosen: list[SourceItem] = []
        seen = 0
        for path in self._shards:
            for item in items_of(pq.read_table(path)):
                seen += 1
                if len(chosen) < count:
                    chosen.append(item)
                elif (place := draw.randrange(seen)) < count:
                    chosen[place] = item
        return chosen


def collect(
    session: Session, source: Source, folder: Path, run_id: str, totals: Totals, files: OutcomeFiles
) -> WorkList:
    """List, compare, and write down what has to be done. What needs no work is counted on `totals`."""
    options = session.options
    work = WorkList(folder, session.settings.pipeline.shard_documents)
    known = session.registry.known(session.project.id, session.source_name)
    for change in changes(source.list(), known, session.fingerprint):
        totals.known += change.known is not None
        totals.unlisted += change.listed is not None and change.listed.key.endswith("/")
        if change.verdict == "missing":
            totals.missing += 1
            if options.delete_missing and change.known:
                work.note_missing(change.known.document_id)
            continue
        assert change.listed is not None
        totals.inputs += 1
        if change.verdict == "unchanged":
            totals.skipped[UNCHANGED] += 1
        elif change.verdict == "duplicate" or key_problem(change.listed.key):
            _unclaimed(session, change, run_id, totals, files)
        elif options.only_failed and change.verdict != "again":
            totals.skipped["not_failed"] += 1
        elif options.max_documents is not None and work.count >= options.max_documents:
            totals.inputs -= 1
            work.capped = True
            break
        else:
            work.add(_item(session, change))
    work.flush()
    return work


def _item(session: Session, change: Change) -> SourceItem:
    listed, known = change.listed, change.known
    assert listed is not None
    return SourceItem(
        session.project.id,
        session.source_name,
        listed.key,
        listed.uri,
        listed.size,
        listed.etag,
        listed.mtime,
        known.generation if known and change.sha256 else 0,
        change.sha256,
        listed.problem,
    )


def _unclaimed(session: Session, change: Change, run_id: str, totals: Totals, files: OutcomeFiles) -> None:
    """The outcome of an object that cannot have a row of its own: a second one of its key, an impossible key."""
    listed = change.listed
    assert listed is not None
    identity = document_id_for(session.project.id, session.source_name, listed.key)
    outcome = Outcome(run_id, identity, session.project.id, session.source_name, listed.key, None, "skipped", DUPLICATE)
    outcome.message = f"a second object with this key: {listed.uri}"
    if change.verdict != "duplicate":
        outcome.status, outcome.reason, outcome.stage = "failed", "", Stage.LIST
        outcome.code, outcome.message = Code.SOURCE_UNAVAILABLE, key_problem(listed.key)
        outcome.key = listed.key.encode("utf-8", "replace").decode()
    totals.add([outcome])
    files.add([outcome])
