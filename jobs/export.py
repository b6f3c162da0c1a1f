"""Corpus files of a project: per document `chunks.json`, `doc_nav.json` and `manifest.json` (seed: agent search)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.registry import DocumentRow
from engine.registry.queries import Registry
from engine.scratch import make_folder
from engine.settings import Settings
from jobs.lookup import opened, visible_chunks

SCHEMA_VERSION = 1
Found = dict[str, Any]


def export_project(settings: Settings, project: str, folder: Path) -> dict[str, int]:
    """Write every visible document of the project; counts of documents and chunks."""
    documents = chunks = 0
    make_folder(folder, "of the export")
    with opened(settings) as (registry, store):
        for row in _visible(registry, registry.project(project).id):
            payloads = visible_chunks(store, row)
            _write(folder / row.document_id, row, payloads)
            documents, chunks = documents + 1, chunks + len(payloads)
    return {"documents": documents, "chunks": chunks}


def _visible(registry: Registry, project_id: str) -> Iterator[DocumentRow]:
    after: str | None = None
    while rows := registry.documents(project_id, after=after, limit=200):
        yield from (row for row in rows if row.active_revision)
        after = rows[-1].document_id


def _write(folder: Path, row: DocumentRow, payloads: list[Found]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tree = section_tree(payloads)
    files: dict[str, object] = {
        "chunks.json": {"schema_version": SCHEMA_VERSION, "document_id": row.document_id, "chunks": payloads},
        "doc_nav.json": {"schema_version": SCHEMA_VERSION, "document_id": row.document_id, "sections": tree},
        "manifest.json": _manifest(row, payloads, tree),
    }
    for name, value in files.items():
        text = json.dumps(value, indent=1, ensure_ascii=False, default=str)
        (folder / name).write_text(text + "\n", "utf-8")


def section_tree(payloads: list[Found]) -> list[Found]:
    """The heading tree as the chunks' section paths show it, each section with its own chunks' ids."""
    roots: list[Found] = []
    for payload in payloads:
        level = roots
        section: Found | None = None
        for title in payload["section_path"]:
            section = level[-1] if level and level[-1]["title"] == title else None
            if section is None:
                section = {"title": title, "chunk_count": 0, "chunk_ids": [], "children": []}
                level.append(section)
            section["chunk_count"] += 1
            level = section["children"]
        if section is not None:
            section["chunk_ids"].append(payload["chunk_id"])
    return roots


def _manifest(row: DocumentRow, payloads: list[Found], tree: list[Found]) -> Found:
    return {
        "schema_version": SCHEMA_VERSION,
        "document_id": row.document_id,
        "revision": row.active_revision,
        "source": {"name": row.source, "key": row.key, "uri": row.uri, "filename": row.filename, "size": row.size},
        "content_sha256": row.content_sha256,
        "pipeline_fingerprint": row.fingerprint,
        "statistics": {
            "page_count": row.page_count,
            "word_count": row.word_count,
            "chunk_count": len(payloads),
            "tokens": sum(int(p["token_count"]) for p in payloads),
        },
        "metadata": {"title": row.title, "author": row.author, "language": row.language, **row.metadata},
        "warnings": row.warnings,
        "HIERARCHY": _titles(tree),
    }


def _titles(tree: list[Found]) -> Found:
    return {section["title"]: _titles(section["children"]) for section in tree}
