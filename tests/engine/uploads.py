"""A bench for uploads: registry, embedded store and object folder, all real, and a fast embedder."""

from __future__ import annotations

import hashlib
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

from fake_embedder import SIZE, FakeEmbedder

from engine.ids import upload_id_for
from engine.ingest import IngestWorker
from engine.objects.local import LocalObjects
from engine.records import Outcome
from engine.registry import DocumentRow
from engine.registry.online import Lease, Upload
from engine.registry.queries import Registry, open_registry
from engine.settings import Settings, load
from engine.store import Condition, Filter, Store
from engine.store.edge import EdgeStore


@dataclass
class Bench:
    settings: Settings
    registry: Registry
    store: Store
    objects: LocalObjects
    embedder: FakeEmbedder
    project: str
    worker: IngestWorker = field(init=False)

    def __post_init__(self) -> None:
        self.worker = IngestWorker(self.settings, self.registry, self.store, self.objects, self.embedder)

    def renew(self) -> None:
        """An empty project, nothing waiting, nothing in the object store, the worker as at first."""
        for row in self.registry.documents(self.project, limit=1000):
            self.registry.delete(row.document_id)
        self.registry.forget_orphans(self.registry.orphaned_objects(1000))
        for prefix in ("uploads/", "artifacts/"):
            self.objects.delete_prefix(prefix)
        self.project = self.registry.project(f"demo-{uuid.uuid4()}", create=True).id
        self.embedder.refuse, self.embedder.embedded = "", []
        worker = self.worker
        worker.settings, worker.store, worker.embedder = self.settings, self.store, self.embedder

    def upload(self, data: bytes, filename: str = "a.txt", source_id: str | None = None, **options: object) -> str:
        """Accept a file as the API does; the document's id."""
        document = upload_id_for(self.project, source_id) if source_id else str(uuid.uuid4())
        key = f"uploads/{self.project}/{document}/{uuid.uuid4().hex}"
        self.objects.put(key, data)
        digest = hashlib.sha256(data).hexdigest()
        one = Upload(document, self.project, source_id or document, filename, len(data), digest, key, options)
        self.registry.accept([one])
        return document

    def lease(self, seconds: float = 60) -> Lease:
        (lease,) = self.registry.lease("test", seconds)
        return lease

    def process(self, **project_settings: object) -> list[Outcome]:
        """Take the next upload and see it to its end."""
        lease = self.lease()
        outcomes = self.worker.process(lease, project_settings)
        keep = self.worker.keeps_original(lease, project_settings)
        assert self.registry.settle(lease.document_id, lease.generation, keep)
        return outcomes

    def row(self, document_id: str) -> DocumentRow:
        row = self.registry.document(document_id)
        assert row is not None
        return row

    def points(self, document_id: str) -> list[dict[str, object]]:
        """Every stored payload of a document, visible or not, in the order of the chunks."""
        where = Filter([Condition("document_id", "any", [document_id])])
        found = [r.payload for batch in self.store.scroll(where) for r in batch]
        return sorted(found, key=lambda p: (str(p["revision"]), int(str(p["chunk_index"]))))

    def keys(self, prefix: str) -> list[str]:
        return [stored.key for stored in self.objects.list(prefix)]

    def terminal_events(self, document_id: str) -> list[str]:
        types = [e.type for e in self.registry.events(document_id)]
        return [t for t in types if t in ("document.completed", "document.failed", "document.deleted")]


def box(**files: str) -> bytes:
    """A zip archive."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


@contextmanager
def benches(folder: Path, **overrides: object) -> Iterator[Bench]:
    home = folder / "home"
    settings = load({"home": home, "scratch": folder / "scratch", **overrides}, environ={})
    registry = open_registry(settings)
    project = registry.project("demo", create=True).id
    store = EdgeStore(home / "store")
    store.ensure({"fake": SIZE})
    bench = Bench(settings, registry, store, LocalObjects(home / "objects"), FakeEmbedder(), project)
    try:
        yield bench
    finally:
        bench.worker.close()
        store.close()
        registry.close()
