"""A small library served for real: documents prepared, kept and published by the product's own functions, and the
API over them, in this process and without a network. Only the embedder and the callers are made up."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from fake_embedder import FakeEmbedder
from fastapi.testclient import TestClient
from numpy.typing import NDArray

from engine.artifacts import keep_artifacts
from engine.errors import Code, InputError
from engine.fingerprint import pipeline_fingerprint
from engine.isolate import Slot
from engine.prepare import CHILD_ENVIRONMENT, HANDLER, Preparer, Run
from engine.process import slim
from engine.records import Chunk, Outcome, Prepared, SourceItem
from engine.registry.queries import open_registry
from engine.settings import Settings, load
from engine.sources.local import local_uri
from engine.store.open import open_store
from engine.worker import Finisher
from serve.api import build_api
from serve.assemble import introduce, make_deps
from serve.deps import Caller, Deps
from serve.limiter import MemoryLimiter
from serve.metrics import Metrics

Access = Callable[[Chunk], list[str]]


@dataclass
class Callers:
    """Bearer tokens by name. Without a token: everything."""

    required: bool = True
    known: dict[str, Caller] = field(default_factory=dict)

    def authenticate(self, token: str | None) -> Caller:
        if token is None:
            return Caller("root", {"*": "admin"}, None)
        if token not in self.known:
            raise InputError("unknown token", Code.UNAUTHENTICATED)
        return self.known[token]


@dataclass
class Library:
    settings: Settings
    deps: Deps
    client: TestClient
    callers: Callers
    embedder: FakeEmbedder
    project: str
    folder: Path
    slot: Slot

    def reader(self, *principals: str, role: str = "read", project: str | None = None) -> TestClient:
        """A client whose caller has a role in the project and these principals."""
        token = f"token-{len(self.callers.known)}"
        roles = {project or self.project: role}
        self.callers.known[token] = Caller(token, roles, list(principals))  # type: ignore[arg-type]
        return TestClient(self.client.app, headers={"Authorization": f"Bearer {token}"})

    def backfill(self, name: str, data: bytes, access: Access = lambda chunk: [], **settings: object) -> str:
        """Publish a file as a backfill does: no tree is kept, its bytes stay where they are. The document's id."""
        return self._publish(name, data, access, False, settings)

    def upload(self, name: str, data: bytes, access: Access = lambda chunk: [], **settings: object) -> str:
        """Publish a file as an upload is: its tree, pictures and bytes are kept. The document's id."""
        return self._publish(name, data, access, True, settings)

    def _publish(self, name: str, data: bytes, access: Access, keep: bool, changed: dict[str, object]) -> str:
        path = self.folder / name
        path.write_bytes(data)
        groups = {**{group: {} for group in ("chunking", "security")}}
        for dotted, value in changed.items():
            group, _, leaf = dotted.partition("__")
            groups.setdefault(group, {})[leaf] = value
        settings = self.settings.model_copy(
            update={g: getattr(self.settings, g).model_copy(update=values) for g, values in groups.items() if values}
        )
        run = Run(str(uuid.uuid4()), pipeline_fingerprint(settings, self.embedder.info.fingerprint))
        item = SourceItem(self.project, "library", name, local_uri(bytes(path.absolute())), len(data))
        preparer = Preparer(settings, run, self.deps.registry, keep, self.slot)
        object_key = f"uploads/{self.project}/{hashlib.sha256(data).hexdigest()}"
        if keep:
            self.deps.objects.put(object_key, data)

        def facts(p: Prepared) -> dict[str, object]:
            return {"source_object": object_key if keep and p.parent_id is None else ""}

        finisher = Finisher(settings, run, self.deps.registry, self.deps.store, self.embedder, facts)
        try:
            documents = self._kept(preparer.prepare([item]), access, keep)
            outcomes = [outcome for group in finisher.finish(documents) for outcome in group]
        finally:
            preparer.close()
        return _published(outcomes)

    def _kept(self, documents: Iterator[Prepared], access: Access, keep: bool) -> Iterator[Prepared]:
        for p in documents:
            for chunk in p.chunks:
                chunk.metadata.acl = access(chunk)
            if keep and p.document is not None and p.failure is None:
                keep_artifacts(self.deps.objects, p)
                slim(p.document)
            yield p


def _published(outcomes: list[Outcome]) -> str:
    last = outcomes[-1]
    assert last.status == "published", last
    return last.document_id


@contextmanager
def open_library(home: Path, **settings: object) -> Iterator[Library]:
    """A library in a folder of its own."""
    plenty = {f"serve.{name}_per_minute": 1_000_000 for name in ("parse", "batch", "search", "chunks")}
    chosen = load({"home": home, "scratch": home / "scratch", "ocr.enabled": False, **plenty, **settings}, environ={})
    registry, store, embedder = open_registry(chosen), open_store(chosen, ray=False), FakeEmbedder()
    folder = home / "files"
    folder.mkdir(parents=True)

    async def embed_query(text: str) -> NDArray[np.float32]:
        return embedder.embed_queries([text])[0]

    async def wake() -> None:
        pass

    introduce(embedder.info, registry, store)
    deps = make_deps(chosen, registry, store, embedder.info, embed_query, MemoryLimiter(), Metrics(), wake)
    callers = Callers()
    deps.authenticator = callers
    project = registry.project("library", create=True).id
    slot = Slot(HANDLER, chosen.limits, CHILD_ENVIRONMENT)
    try:
        yield Library(chosen, deps, TestClient(build_api(deps)), callers, embedder, project, folder, slot)
    finally:
        slot.close()
        deps.inspector.close()
        store.close()
