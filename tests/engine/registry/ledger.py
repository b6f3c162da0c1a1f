"""Makers of claims and publications for the registry's tests."""

from __future__ import annotations

from uuid import NAMESPACE_URL, uuid5

from engine.registry import Claim, Known, Project, Publication
from engine.registry.queries import Registry


def document_id(key: str) -> str:
    return str(uuid5(NAMESPACE_URL, key.encode("utf-8", "replace").decode()))


def claim(project: Project, key: str, **other: object) -> Claim:
    values: dict[str, object] = {
        "document_id": document_id(key),
        "project_id": project.id,
        "source": "files",
        "key": key,
        "uri": f"file:///files/{key}",
        "filename": key.rsplit("/", 1)[-1],
        "size": 10,
        "etag": "e1",
        "mtime": 1.5,
    }
    return Claim(**(values | other))  # type: ignore[arg-type]


def child(project: Project, parent: str, key: str, generation: int | None = None) -> Claim:
    return claim(project, key, parent_id=document_id(parent), inner_path=key, parent_generation=generation)


def publication(project: Project, key: str, generation: int, revision: str = "r1", **other: object) -> Publication:
    values: dict[str, object] = {
        "document_id": document_id(key),
        "project_id": project.id,
        "generation": generation,
        "revision": revision,
        "content_sha256": f"sha-{revision}",
        "fingerprint": "fp1",
        "source_format": "pdf",
        "page_count": 2,
        "word_count": 30,
        "chunk_count": 3,
        "language": "en",
        "title": "Title",
        "author": None,
        "parse_seconds": 0.5,
        "warnings": [{"code": "image_skipped", "count": 1}],
        "metadata": {"extra": "x"},
    }
    return Publication(**(values | other))  # type: ignore[arg-type]


def ingest(registry: Registry, project: Project, *keys: str, revision: str = "r1") -> dict[str, int]:
    """Claim and publish; key → generation."""
    generations = registry.claim([claim(project, key) for key in keys])
    taken = {key: generations[document_id(key)] for key in keys}
    flipped = registry.publish([publication(project, key, g, revision) for key, g in taken.items()])
    assert flipped == set(generations)
    return taken


def keys_of(known: list[Known]) -> list[str]:
    return [k.key for k in known]
