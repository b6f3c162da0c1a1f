"""The first half of a worker: fetch objects and have them prepared in an isolated child.

Documents found inside a document (attachments, archive members) are claimed and prepared like any other,
each under its own deadline; they come out before the document that holds them, so that "done" on the outer
one means that everything inside was recorded.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from engine.errors import Code, CorpusError, InputError, SourceError, Stage
from engine.fetch import fetch, file_sha256
from engine.ids import child_id, document_id_for
from engine.isolate import Slot
from engine.process import (
    PAGES_AT_A_LOOK,
    SUPERSEDED,
    Answer,
    Task,
    ask,
    failed,
    leave,
    look,
    perform,
    timed,
    waits_for_headings,
)
from engine.records import ChildDocument, Prepared, SourceItem
from engine.registry import Claim, Touch
from engine.registry.text import key_problem
from engine.scratch import empty, make_scratch
from engine.settings import Settings
from engine.sources import filename_of, public_uri

HANDLER = "engine.process:handle"
# settings that are about the world outside the child, keys to it among them
OUTSIDE = {"gateway", "registry", "store", "objects", "serve", "auth", "webhooks", "telemetry"}
CHILD_ENVIRONMENT = {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"}
UNCHANGED = "unchanged"
Fetch = Callable[[SourceItem, Path, Settings], tuple[int, str]]


class Claims(Protocol):
    """What preparing needs of the registry."""

    def claim(self, claims: Sequence[Claim], run_id: str | None = None) -> dict[str, int]: ...
    def touch(self, touches: Sequence[Touch]) -> set[str]: ...


class NoLedger:
    """A ledger for preparing without a registry: every claim is the first."""

    def claim(self, claims: Sequence[Claim], run_id: str | None = None) -> dict[str, int]:
        return {claim.document_id: 1 for claim in claims}

    def touch(self, touches: Sequence[Touch]) -> set[str]:
        return {touch.document_id for touch in touches}


@dataclass(frozen=True, slots=True)
class Run:
    """What all documents of one run share."""

    run_id: str
    fingerprint: str
    language: str | None = None


def child_settings(settings: Settings) -> str:
    """The settings as JSON for an isolated child: without keys to anything outside, with the passwords
    it needs to open documents."""
    tree = settings.model_dump(mode="json", exclude=OUTSIDE)
    tree["password"] = [p.get_secret_value() for p in settings.password]
    return json.dumps(tree)


def new_document(item: SourceItem, run: Run) -> Prepared:
    """The document of a manifest row, nothing done yet."""
    identity = document_id_for(item.project_id, item.source, item.key)
    return Prepared(
        identity,
        item.project_id,
        item.source,
        item.key,
        item.uri,
        filename_of(item.key),
        item.size,
        item.etag,
        item.mtime,
        fingerprint=run.fingerprint,
    )


def claim_of(p: Prepared, parent_generation: int | None = None) -> Claim:
    """The wish to work on this document now; for a child with the generation of the attempt that found it."""
    return Claim(
        p.document_id,
        p.project_id,
        p.source,
        p.key,
        public_uri(p.uri),
        p.filename,
        p.size,
        p.etag,
        p.mtime,
        p.parent_id,
        p.inner_path,
        parent_generation,
    )


OnStage = Callable[[Stage], None]


def silent(stage: Stage) -> None:
    """Nobody wants to know what is being done."""


@dataclass
class Preparer:
    """Owns a private scratch folder, and one isolated child unless it is given one (`slot`) that outlives it.

    `fetch` brings an object's bytes into scratch; `on_stage` hears what is being done, as far as it is known here.
    """

    settings: Settings
    run: Run
    registry: Claims
    keep_documents: bool = False  # hand back whole trees, for callers that show them
    slot: Slot | None = None
    fetch: Fetch = fetch
    on_stage: OnStage = silent
    _slot: Slot = field(init=False)
    _scratch: Path = field(init=False)
    _encoded: str = field(init=False)

    def __post_init__(self) -> None:
        self._slot = self.slot or Slot(HANDLER, self.settings.limits, CHILD_ENVIRONMENT)
        self._scratch = make_scratch(self.settings)
        self._encoded = child_settings(self.settings)

    def close(self) -> None:
        """End the child, if it is the preparer's own, and remove the scratch folder."""
        if self.slot is None:
            self._slot.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    def prepare(self, items: Iterable[SourceItem]) -> Iterator[Prepared]:
        """Every item's document and those found inside it, inner ones first."""
        items = list(items)
        fresh = [new_document(item, self.run) for item in items]
        self._claim([p for p, item in zip(fresh, items, strict=True) if not item.known_sha256])
        for p, item in zip(fresh, items, strict=True):
            yield from self._family(p, item)
            empty(self._scratch)

    def prepare_one(self, p: Prepared, item: SourceItem) -> Iterator[Prepared]:
        """Like `prepare`, for a document whose identity is given rather than derived from `item`."""
        self._claim([p])
        yield from self._family(p, item)
        empty(self._scratch)

    def _claim(self, group: list[Prepared], parent_generation: int | None = None) -> None:
        """Take each document's next generation. A child whose parent was deleted or taken anew gets none."""
        for p in group:
            if problem := key_problem(p.key):
                failed(p, InputError(problem), Stage.EXTRACT)
        storable = [p for p in group if p.failure is None or not key_problem(p.key)]
        claims = [claim_of(p, parent_generation) for p in storable]
        generations = self.registry.claim(claims, self.run.run_id) if claims else {}
        for p in storable:
            p.generation = generations.get(p.document_id, 0)
            if not p.generation:
                p.skip_reason = SUPERSEDED

    def _family(self, p: Prepared, item: SourceItem) -> Iterator[Prepared]:
        path = self._scratch / "input"
        self.on_stage(Stage.FETCH)
        try:
            p.size, p.content_sha256 = self.fetch(item, path, self.settings)
        except CorpusError as error:
            failed(p, error, Stage.FETCH)
        except Exception as error:  # noqa: BLE001 - client libraries raise anything; it becomes this object's record
            failed(p, SourceError(f"reading failed: {type(error).__name__}: {error}"), Stage.FETCH)
        if item.known_sha256 and item.known_sha256 == p.content_sha256:
            self.registry.touch([Touch(p.document_id, item.known_generation, p.size, p.etag, p.mtime)])
            p.skip_reason = UNCHANGED
        elif not p.generation:
            self._claim([p])
        if p.failure is not None or p.skip_reason:
            yield p
        else:
            yield from self._descend(p, path, _Budget(self.settings))

    def _descend(self, p: Prepared, path: Path, budget: _Budget, depth: int = 0) -> Iterator[Prepared]:
        answer = self._parse(p, path, depth)
        attached = answer.document.attached if answer.document else []
        children = [self._child(answer, member) for member in attached]
        answer.child_ids = [child.document_id for child, _ in children]
        self._claim([child for child, _ in children], p.generation)
        for child, member in children:
            if child.failure is None and not child.skip_reason:
                budget.check(child, Path(member.path), depth + 1)
            if child.failure is not None or child.skip_reason:
                yield child
            else:
                yield from self._descend(child, Path(member.path), budget, depth + 1)
        yield answer

    def _child(self, parent: Prepared, member: ChildDocument) -> tuple[Prepared, ChildDocument]:
        identity = child_id(parent.document_id, member.inner_path)
        child = replace(
            parent,
            document_id=identity,
            key=f"{parent.key}!/{member.inner_path}",
            filename=member.filename,
            parent_id=parent.document_id,
            inner_path=member.inner_path,
            document=None,
            chunks=[],
            seconds={},
            size=0,
            failure=None,
            skip_reason="",
            child_ids=[],
            redactions=[],
            content_sha256="",
        )
        if member.error_code:
            failed(child, InputError(member.error_message, Code(member.error_code)), Stage.EXTRACT)
        else:
            child.size = Path(member.path).stat().st_size
            child.content_sha256 = file_sha256(Path(member.path))
        return child, member

    def _parse(self, p: Prepared, path: Path, depth: int) -> Prepared:
        self.on_stage(Stage.EXTRACT)
        # a folder of its own: documents inside this one wait there while their own insides are unpacked
        scratch = tempfile.mkdtemp(dir=self._scratch)
        task = Task(
            "prepare",
            p,
            self._encoded,
            scratch,
            str(path),
            depth,
            language=self.run.language,
            keep_document=self.keep_documents,
        )
        task.source_format = _many_paged(path)
        if task.source_format:
            cut = self._ask(replace(task, op="parts"))
            if cut.prepared.failure is not None:
                return cut.prepared
            if cut.ranges:
                task = replace(task, prepared=cut.prepared, path=cut.path, losses=cut.losses)
                return self._look(self._in_parts(task, cut.ranges))
        return self._look(self._ask(task).prepared)

    def _in_parts(self, task: Task, ranges: list[tuple[int, int]]) -> Prepared:
        """A big document, range by range, each under its own deadline; the trees wait in scratch."""
        trees: list[str] = []
        for number, (first, last) in enumerate(ranges):
            tree = str(Path(task.scratch) / f"part-{number}.json")
            part = replace(task, op="part", first_page=first, last_page=last, tree_path=tree)
            answer = self._ask(part)
            if answer.prepared.failure is not None:
                answer.prepared.failure.message += f" (pages {first} to {last})"
                return answer.prepared
            task.prepared, trees = answer.prepared, [*trees, tree]
        return self._ask(replace(task, op="merge", tree_paths=trees)).prepared

    def _look(self, p: Prepared) -> Prepared:
        """Headings in doubt, then vision over the pages that wait: in the child with the local engine, here with a
        gateway (the child has no network). A look that dies costs its pages their second reading, not the document
        its first."""
        if p.failure is not None or p.document is None:
            return p
        named, vision = self._name_headings(p), self.settings.ocr.vision
        task = Task("look", p, self._encoded, str(self._scratch), keep_document=self.keep_documents)
        if p.document.pending and vision != "off":
            self.on_stage(Stage.VISION)
            while task.prepared.document is not None and task.prepared.document.pending:
                kept = deepcopy(task.prepared)
                answer = self._ask(task).prepared if vision == "local" else self._look_here(task.prepared)
                task.prepared = self._without_look(kept, answer) if answer.failure is not None else answer
        elif not named:
            return p
        return self._ask(replace(task, op="finish")).prepared

    def _name_headings(self, p: Prepared) -> bool:
        """Let the gateway's model decide about headings in doubt, here, because the child has no network; whether
        there were any."""
        if p.document is None or not waits_for_headings(p, self.settings):
            return False
        from engine.extract.pdf.heading_model import name_headings

        with timed(p, Stage.EXTRACT):
            p.document = name_headings(p.document, self.settings)
        return True

    def _look_here(self, p: Prepared) -> Prepared:
        from engine.ocr import vision_engine

        look(p, vision_engine(self.settings))
        return p

    def _without_look(self, kept: Prepared, answer: Prepared) -> Prepared:
        assert kept.document is not None and answer.failure is not None
        for page in kept.document.pending[:PAGES_AT_A_LOOK]:
            leave(kept.document, page, answer.failure.message)
        kept.document.pending = kept.document.pending[PAGES_AT_A_LOOK:]
        return kept

    def _ask(self, task: Task) -> Answer:
        return ask(self._slot, task) if self.settings.pipeline.isolation else perform(task)


_SMALL = {"pdf": 200_000, "tiff": 20_000}  # bytes; a smaller file is never worth the look for parts


def _many_paged(path: Path) -> str:
    """pdf or tiff where a file may be big enough to be read in parts, by its first bytes; else nothing."""
    with path.open("rb") as file:
        head = file.read(1024)
    found = "tiff" if head[:4] in (b"II*\0", b"MM\0*") else "pdf" if head.lstrip().startswith(b"%PDF") else ""
    return found if found and path.stat().st_size > _SMALL[found] else ""


@dataclass
class _Budget:
    """What all documents inside one input may take together (settings limits.container_*)."""

    settings: Settings
    members: int = 0
    bytes: int = 0

    def check(self, child: Prepared, path: Path, depth: int) -> None:
        limits = self.settings.limits
        self.members += 1
        self.bytes += path.stat().st_size
        for name, value, bound in (
            ("container_depth", depth, limits.container_depth),
            ("container_members", self.members, limits.container_members),
            ("container_mb", self.bytes >> 20, limits.container_mb),
        ):
            if value > bound:
                failed(child, _over(name, bound), Stage.EXTRACT)


def _over(name: str, bound: int) -> InputError:
    return InputError(f"passes the limit of {bound} (setting limits.{name})", Code.LIMIT_EXCEEDED, Stage.EXTRACT)
