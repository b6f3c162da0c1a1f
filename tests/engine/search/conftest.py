"""A small world for search: a registry and an embedder behind the real interfaces, documents published for real."""

import hashlib
import itertools
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from engine.embed import ModelInfo
from engine.ids import chunk_id, content_hash, document_id_for
from engine.points import PointContext, build_points
from engine.records import Chunk, ChunkMetadata
from engine.store import Condition, Filter
from engine.store.edge import EdgeStore

SIZE = 48


class FakeRegistry:
    """The registry's promises to readers: one flip at a time, each raising the version."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: dict[str, str] = {}
        self._chunks: dict[str, int] = {}
        self._version = 0

    def flip(self, document_id: str, revision: str | None, chunks: int = 0) -> None:
        with self._lock:
            self._version += 1
            if revision is None:
                self._active.pop(document_id, None)
                self._chunks.pop(document_id, None)
            else:
                self._active[document_id] = revision
                self._chunks[document_id] = chunks

    def active(self, document_ids):
        with self._lock:
            return {d: self._active[d] for d in document_ids if d in self._active}

    def index_version(self, project_id: str) -> int:
        with self._lock:
            return self._version

    def visible(self, project_id: str) -> tuple[int, int]:
        with self._lock:
            return len(self._active), sum(self._chunks.values())


class BagEmbedder:
    """Words hashed into a unit vector: texts that share words are near each other."""

    info = ModelInfo("bag", "bag", SIZE, 256, "", "", "bag-1")

    def count_tokens(self, texts):
        return [len(t.split()) for t in texts]

    def embed_documents(self, texts):
        rows = np.zeros((len(texts), SIZE), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.casefold().split():
                row[int(hashlib.blake2b(word.encode(), digest_size=4).hexdigest(), 16) % SIZE] += 1
            row /= np.linalg.norm(row) or 1
        return rows

    embed_queries = embed_documents


class World:
    def __init__(self, store) -> None:
        self.store = store
        self.registry = FakeRegistry()
        self.embedder = BagEmbedder()
        self._generations = itertools.count(1)
        store.ensure({"bag": SIZE})

    def upload(self, key: str, texts: list[str], revision: str, project: str = "p", **meta: object) -> tuple[str, int]:
        """Write the points of a revision; (document id, generation)."""
        document_id = document_id_for(project, "s", key)
        generation = next(self._generations)
        chunks = [_chunk(document_id, i, len(texts), text, dict(meta)) for i, text in enumerate(texts)]
        context = PointContext(project, document_id, revision, generation, key.rsplit("/", 1)[-1], key, "s", "en", key)
        vectors = self.embedder.embed_documents(texts)
        self.store.upsert(build_points(chunks, vectors, "bag", [content_hash(t) for t in texts], context))
        return document_id, generation

    def publish(self, key: str, texts: list[str], revision: str = "r1", project: str = "p", **meta: object) -> str:
        """Upload, flip, delete what was before."""
        document_id, generation = self.upload(key, texts, revision, project, **meta)
        self.registry.flip(document_id, revision, len(texts))
        older = [
            Condition("document_id", "any", [document_id]),
            Condition("generation", "range", [None, generation]),
        ]
        self.store.delete(Filter(older))
        return document_id


def _chunk(document_id: str, index: int, total: int, text: str, meta: dict) -> Chunk:
    hash = content_hash(text)
    metadata = ChunkMetadata(
        page_numbers=[index + 1],
        section_heading=meta.pop("heading", None),
        section_path=meta.pop("section_path", []),
        chunk_index=index,
        total_chunks=total,
        element_type=meta.pop("element_type", "text"),
        chunk_type="text",
        source_format=meta.pop("source_format", "txt"),
        extraction_method="text",
        char_start=index * 100,
        char_end=index * 100 + len(text),
        **meta,
    )
    return Chunk(
        chunk_id(document_id, hash, 0), document_id, text, hash, len(text.split()), len(text.split()), metadata
    )


@pytest.fixture
def world(tmp_path):
    store = EdgeStore(tmp_path / "store")
    yield World(store)
    store.close()


@pytest.fixture(scope="session")
def corpus() -> SimpleNamespace:
    """Twelve one-passage documents on different things, and filler that matches nothing asked."""
    filler = [f"unrelated filler number {n} about gardening tulips weather" for n in range(30)]
    return SimpleNamespace(
        documents={
            "reports/finance/q3-report.pdf": "Total revenue grew in the third quarter by twenty percent",
            "reports/finance/q4-report.pdf": "Operating expenses fell while margins widened strongly",
            "manuals/pump.md": "Replace the gasket XR-4711-BZ before starting the pump again",
            "manuals/valve.md": "The valve housing carries the number XR-9922-KL on its side",
            "code/parser.py": "def parseHttpHeader(raw): return split_header_lines(raw)",
            "ja/weather.txt": "東京都の天気予報では明日は雨が降るでしょう",
            "ja/food.txt": "大阪のたこ焼きはとても美味しいです",
            "de/haus.txt": "Die Häuser in der alten Stadt wurden im Sommer renoviert",
        },
        filler=filler,
    )
