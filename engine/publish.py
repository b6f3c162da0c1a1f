"""From prepared documents to visible ones: embed what is new, write the points, flip the revision.

Order of a publish: upsert the new revision's points beside the old ones → one registry transaction makes it
the visible one, if this attempt's generation is still the newest → delete the points of older generations.
A crash in between leaves points nobody sees; `engine.sweep` removes them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import CorpusError, EmbeddingError, Stage
from engine.ids import embed_hash
from engine.points import PointContext, build_points
from engine.process import SUPERSEDED, failed
from engine.records import Failure, Outcome, Prepared
from engine.registry import INCOMPLETE, DocumentRow, Publication, Skip
from engine.store import Condition, Filter, Points, Store

if TYPE_CHECKING:
    from engine.embed import Embedder

Vectors = NDArray[np.float32]


class Ledger(Protocol):
    """What publishing needs of the registry."""

    def publish(self, publications: Sequence[Publication]) -> set[str]: ...
    def fail(self, failures: Sequence[tuple[str, int, Failure]]) -> set[str]: ...
    def skip(self, skips: Sequence[Skip]) -> set[str]: ...
    def retire_children(self, parent_id: str, keep: set[str], generation: int | None = None) -> list[str]: ...
    def swept(self, attempts: Sequence[tuple[str, int]]) -> None: ...
    def children(self, document_id: str) -> list[DocumentRow]: ...
    def document(self, document_id: str, project_id: str | None = None) -> DocumentRow | None: ...


@dataclass(slots=True)
class Embedded:
    """A prepared document with its vectors. `hashes[i]` identifies the embedder input of chunk i."""

    prepared: Prepared
    vectors: Vectors
    hashes: list[str]
    computed: int = 0
    tokens: int = 0


# ---------------------------------------------------------------- embed
def embed(group: Sequence[Prepared], embedder: Embedder, store: Store) -> list[Embedded]:
    """Vectors for every chunk of the group; equal inputs are embedded once, and not at all when the project
    already has them. When the embedder refuses the group, documents are tried one by one and the culprits
    marked failed."""
    try:
        return _embed(group, embedder, store)
    except EmbeddingError as error:
        if len(group) == 1:
            failed(group[0], error, Stage.EMBED)
            return []
        return [made for p in group for made in embed([p], embedder, store)]


def _embed(group: Sequence[Prepared], embedder: Embedder, store: Store) -> list[Embedded]:
    start = time.monotonic()
    inputs: dict[tuple[str, str], str] = {}  # (project, hash) → text
    found: dict[tuple[str, str], Vectors] = {}
    hashes = [[embed_hash(embedder.info.fingerprint, c.content) for c in p.chunks] for p in group]
    for p, own in zip(group, hashes, strict=True):
        inputs.update({(p.project_id, h): c.content for h, c in zip(own, p.chunks, strict=True)})
    for project in {p.project_id for p in group}:
        wanted = [h for owner, h in inputs if owner == project]
        found.update({(project, h): v for h, v in stored_vectors(store, project, wanted, embedder.info.vector_name)})
    missing = [key for key in inputs if key not in found]
    computed = embedder.embed_documents([inputs[key] for key in missing])
    found.update(zip(missing, computed, strict=True))
    made = [
        _gather(p, own, found, set(missing), embedder.info.dimensions) for p, own in zip(group, hashes, strict=True)
    ]
    _share_seconds(made, time.monotonic() - start)
    return made


def _gather(
    p: Prepared, hashes: list[str], found: dict[tuple[str, str], Vectors], missing: set[tuple[str, str]], size: int
) -> Embedded:
    rows = [found[p.project_id, h] for h in hashes]
    vectors = np.stack(rows) if rows else np.zeros((0, size), np.float32)
    fresh = [c.embed_token_count for h, c in zip(hashes, p.chunks, strict=True) if (p.project_id, h) in missing]
    return Embedded(p, vectors, hashes, len(fresh), sum(fresh))


def _share_seconds(made: Sequence[Embedded], seconds: float) -> None:
    whole = sum(e.computed for e in made) or 1
    for e in made:
        e.prepared.seconds[Stage.EMBED] = seconds * e.computed / whole


def stored_vectors(
    store: Store, project_id: str, hashes: Sequence[str], vector_name: str
) -> Iterable[tuple[str, Vectors]]:
    """(embedder-input hash, vector) of those inputs that the project has embedded before."""
    for start in range(0, len(hashes), 256):
        asked = set(hashes[start : start + 256])
        while asked:  # one page at a time: a text repeated all over the project has more points than anyone wants
            wanted: list[str | int | None] = [*asked]
            where = Filter([Condition("project_id", "any", [project_id]), Condition("embed_hash", "any", wanted)])
            page = next(iter(store.scroll(where, with_dense=[vector_name], fields=["embed_hash"])), [])
            found = {str(r.payload["embed_hash"]): r.dense[vector_name] for r in page if vector_name in r.dense}
            yield from found.items()
            if not found:
                break
            asked -= found.keys()


# ---------------------------------------------------------------- publish
@dataclass(slots=True)
class Publisher:
    """Writes finished documents."""

    store: Store
    ledger: Ledger
    vector_name: str
    run_id: str
    batch_points: int
    price_per_million: float = 0.0
    facts: Callable[[Prepared], Mapping[str, object]] = lambda p: {}  # recorded with a document, beside its own

    def publish(self, embedded: Sequence[Embedded], others: Sequence[Prepared]) -> list[Outcome]:
        """Make the embedded documents visible, record the others (failed or skipped); one outcome each."""
        start = time.monotonic()
        lost = self._write(embedded)
        ready = [e for e in embedded if e.prepared.document_id not in lost]
        others = [*others, *(e.prepared for e in embedded if e.prepared.document_id in lost)]
        skipped = self._record(others)
        inside = Inside(self.ledger, [*(e.prepared for e in ready), *others])
        publications = [self._publication(e, inside.failures(e.prepared)) for e in ready]
        flipped = self.ledger.publish(publications) if publications else set[str]()
        done = [e.prepared for e in ready if e.prepared.document_id in flipped]
        done += [p for p in others if p.document_id in skipped]
        self._retire(done)
        share = (time.monotonic() - start) / (len(ready) or 1)
        for e in ready:
            e.prepared.seconds[Stage.PUBLISH] = share
        outcomes = [self._outcome(e, e.prepared.document_id in flipped) for e in ready]
        self._clean(done, [e.prepared for e in ready if e.prepared.document_id not in flipped])
        return [*outcomes, *(outcome_of(p, self.run_id) for p in others)]

    def _write(self, embedded: Sequence[Embedded]) -> set[str]:
        """Upsert every point; the ids of documents the store refused, their failure recorded."""
        try:
            for points in _batches(self._points(embedded), self.batch_points):
                self.store.upsert(points)
        except CorpusError as error:
            if len(embedded) > 1:
                return {lost for e in embedded for lost in self._write([e])}
            failed(embedded[0].prepared, error, Stage.PUBLISH)
            return {embedded[0].prepared.document_id}
        return set()

    def _points(self, embedded: Sequence[Embedded]) -> Iterable[Points]:
        for e in embedded:
            p = e.prepared
            assert p.document is not None
            context = PointContext(
                project_id=p.project_id,
                document_id=p.document_id,
                revision=p.revision,
                generation=p.generation,
                filename=p.filename,
                key=p.key,
                source=p.source,
                language=p.document.metadata.language,
                title=p.document.metadata.title,
            )
            if p.chunks:
                yield build_points(p.chunks, e.vectors, self.vector_name, e.hashes, context)

    def _publication(self, e: Embedded, inside: int) -> Publication:
        p = e.prepared
        assert p.document is not None
        meta = p.document.metadata
        return Publication(
            document_id=p.document_id,
            project_id=p.project_id,
            generation=p.generation,
            revision=p.revision,
            content_sha256=p.content_sha256,
            fingerprint=INCOMPLETE if inside else p.fingerprint,
            source_format=meta.source_format,
            page_count=meta.page_count,
            word_count=meta.word_count,
            chunk_count=len(p.chunks),
            language=meta.language,
            title=meta.title,
            author=meta.author,
            parse_seconds=sum(p.seconds.values()),
            warnings=[asdict(w) for w in p.document.warnings],
            metadata={**_facts(p, inside), **self.facts(p)},
        )

    def _record(self, others: Sequence[Prepared]) -> set[str]:
        """Tell the registry of failures and skips; the ids that are skipped now. One whose attempt was overtaken
        is superseded instead: what its winner shows is not touched."""
        failures = [(p.document_id, p.generation, p.failure) for p in others if p.failure is not None and p.generation]
        if failures:
            self.ledger.fail(failures)
        claimed = [p for p in others if p.failure is None and p.generation]
        if not claimed:
            return set()
        skips = [
            Skip(p.document_id, p.generation, p.skip_reason, p.content_sha256, p.fingerprint, _format(p))
            for p in claimed
        ]
        skipped = self.ledger.skip(skips)
        for p in claimed:
            if p.document_id not in skipped:
                p.skip_reason = SUPERSEDED
        return skipped

    def _retire(self, done: Sequence[Prepared]) -> None:
        """Tombstone the documents that were inside an earlier revision and no longer are."""
        for p in done:
            if p.generation > 1:
                for gone in self.ledger.retire_children(p.document_id, set(p.child_ids), p.generation):
                    self.store.delete(Filter([Condition("document_id", "any", [gone])]))

    def _clean(self, done: Sequence[Prepared], lost: Sequence[Prepared]) -> None:
        """Delete the points nobody may see any more.

        Two attempts at the same bytes write the same points, whoever is last giving them its generation; so
        nothing of a revision that somebody shows, or may be about to, is ever deleted by generation alone.
        """
        for p in lost:
            self._withdraw(p)
        replaced = [p for p in done if p.generation > 1]
        for p in replaced:
            keep = "" if p.skip_reason else p.revision
            self.store.delete(generations(p.document_id, None, p.generation, keep))
        if replaced:
            self.ledger.swept([(p.document_id, p.generation) for p in replaced])

    def _withdraw(self, p: Prepared) -> None:
        """Remove the points of an attempt that lost, unless the winner may need them: while it is still at work it
        removes them itself if it does not."""
        row = self.ledger.document(p.document_id)
        if row is not None and (row.status == "processing" or row.active_revision == p.revision):
            return
        self.store.delete(generations(p.document_id, p.generation, p.generation + 1))

    def _outcome(self, e: Embedded, visible: bool) -> Outcome:
        outcome = outcome_of(e.prepared, self.run_id)
        outcome.status, outcome.reason = ("published", "") if visible else ("skipped", SUPERSEDED)
        outcome.embedded, outcome.reused = e.computed, len(e.hashes) - e.computed
        outcome.tokens = e.tokens
        outcome.cost = e.tokens * self.price_per_million / 1e6
        return outcome


class Inside:
    """How many documents directly inside another one have failed, or hold one that has."""

    def __init__(self, ledger: Ledger, group: Sequence[Prepared]) -> None:
        self._ledger = ledger
        self._group = {p.document_id: p for p in group}

    def failures(self, p: Prepared) -> int:
        """Of documents in the same group their own records tell, of others the registry; one that is still at work
        somewhere else counts as failed, since nobody can vouch for it yet."""
        here = [self._group[c] for c in p.child_ids if c in self._group]
        failed_here = sum(c.failure is not None or self.failures(c) > 0 for c in here)
        elsewhere = set(p.child_ids) - self._group.keys()
        if not elsewhere:
            return failed_here
        rows = [row for row in self._ledger.children(p.document_id) if row.document_id in elsewhere]
        return failed_here + sum(r.status not in ("completed", "skipped") or r.fingerprint == INCOMPLETE for r in rows)


def generations(document_id: str, first: int | None, before: int, keep_revision: str = "") -> Filter:
    """The document's points of generations `first` (None: the oldest) up to, not including, `before`, except those
    of `keep_revision`."""
    keep = [Condition("revision", "any", [keep_revision])] if keep_revision else []
    of_document = Condition("document_id", "any", [document_id])
    return Filter([of_document, Condition("generation", "range", [first, before])], keep)


def _facts(p: Prepared, failed_inside: int) -> dict[str, object]:
    assert p.document is not None
    meta = p.document.metadata
    facts: dict[str, object] = {"headings": meta.headings[:200], "extra": meta.extra, "children": len(p.child_ids)}
    facts["created_date"] = meta.created_date.isoformat() if meta.created_date else None
    facts["modified_date"] = meta.modified_date.isoformat() if meta.modified_date else None
    facts["pages"] = [
        {"page": page.page_number, "ocr_confidence": page.ocr_confidence, "ocr_engine": page.ocr_engine}
        for page in p.document.pages
        if page.ocr_engine
    ]
    if p.redactions:
        facts["redactions"] = [asdict(r) for r in p.redactions]
    if failed_inside:
        facts["failed_inside"] = failed_inside
    return facts


def outcome_of(p: Prepared, run_id: str) -> Outcome:
    """The outcome of a document that needs no publish, or the frame of one that had it."""
    made = Outcome(run_id, p.document_id, p.project_id, p.source, p.key, p.parent_id, "skipped", p.skip_reason)
    made.bytes, made.seconds, made.chunks = p.size, dict(p.seconds), len(p.chunks)
    if p.failure is not None:
        made.status, made.reason = "failed", ""
        made.code, made.stage, made.message = p.failure.code, p.failure.stage, p.failure.message
    if p.document is not None:
        meta = p.document.metadata
        made.source_format, made.pages, made.warnings = (
            meta.source_format,
            meta.page_count or 0,
            len(p.document.warnings),
        )
    return made


def _format(p: Prepared) -> str:
    return p.document.metadata.source_format if p.document else ""


def _batches(parts: Iterable[Points], size: int) -> Iterable[Points]:
    """Join and cut point batches to `size` points, so that a search never waits for a big write."""
    waiting: list[Points] = []
    count = 0
    for part in parts:
        for start in range(0, len(part), size):
            piece = part.cut(start, start + size)
            if count + len(piece) > size and waiting:
                yield Points.joined(waiting)
                waiting, count = [], 0
            waiting.append(piece)
            count += len(piece)
    if waiting:
        yield Points.joined(waiting)
