"""Looking things up for the command line: search, documents, runs; and removing them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from engine.errors import Code, InputError
from engine.registry import DocumentRow
from engine.registry.queries import Registry, open_registry
from engine.settings import Settings
from engine.store import Condition, Filter
from engine.store.open import open_store
from engine.sweep import remove_deleted, sweep

if TYPE_CHECKING:
    from engine.store import Store

Found = dict[str, Any]


@contextmanager
def opened(settings: Settings) -> Generator[tuple[Registry, Store]]:
    """Registry and store of the settings, closed afterwards."""
    registry, store = open_registry(settings), open_store(settings, ray=False)
    try:
        yield registry, store
    finally:
        store.close()


# ---------------------------------------------------------------- search
def run_search(settings: Settings, project: str, query: str, top_k: int, mode: str, explain: bool) -> Found:
    """Search one project with the configured model."""
    from engine.embed.make import make_embedder
    from engine.search.classic import SearchRequest, search
    from jobs.backfill import check_points

    with opened(settings) as (registry, store):
        found = registry.project(project)
        check_points(registry, store, found)
        request = SearchRequest(
            project_id=found.id,
            query=query,
            top_k=top_k,
            mode=mode,
            explain=explain,
            principals=None,  # the command line belongs to whoever owns the files
        )
        response = search(request, store, registry, make_embedder(settings))
    return asdict(response)


def search_text(found: Found) -> str:
    """Hits for people: rank, score, citation, passage."""
    blocks: list[str] = []
    for rank, hit in enumerate(found["results"], 1):
        pages = ", ".join(map(str, hit["page_numbers"]))
        place = " › ".join(hit["section_path"])
        cited = ", ".join(filter(None, [_line(hit["filename"]), f"page {pages}" if pages else "", place]))
        passage = "\n".join(f"    {line}" for line in hit["content"].strip().splitlines()[:8])
        blocks.append(f"{rank}. {cited}  ({hit['score']:.3f})\n{passage}")
    return "\n\n".join(blocks) or "nothing found"


def _line(text: str) -> str:
    """A name in one line: names may hold line feeds."""
    return text.replace("\n", "\\n").replace("\r", "\\r")


# ---------------------------------------------------------------- documents
def find_document(registry: Registry, document: str, project: str | None) -> DocumentRow:
    """A document by id, or by key inside a project. Raises InputError(DOCUMENT_NOT_FOUND)."""
    owner = registry.project(project).id if project else None
    row = registry.document(document, owner)
    if row is None and owner:
        row = _by_key(registry, owner, document)
    if row is None:
        raise InputError(f"there is no document {document!r}", Code.DOCUMENT_NOT_FOUND)
    return row


def _by_key(registry: Registry, project_id: str, key: str) -> DocumentRow | None:
    """By the key of a source's object, or `outer!/inner` for a document found inside one."""
    from engine.ids import child_id, document_id_for

    outer, *inside = key.split("!/")
    for source in registry.sources(project_id):
        row = registry.document(document_id_for(project_id, source, key), project_id)
        identity = document_id_for(project_id, source, outer)
        for path in inside:
            identity = child_id(identity, path)
        row = row or registry.document(identity, project_id)
        if row is not None:
            return row
    return None


def show_document(settings: Settings, document: str, project: str | None) -> Found:
    """The registry's row, the documents inside it, and its visible chunks in order."""
    with opened(settings) as (registry, store):
        row = find_document(registry, document, project)
        inside = [
            {"document_id": c.document_id, "key": c.key, "status": c.status} for c in registry.children(row.document_id)
        ]
        return {**asdict(row), "inside": inside, "chunks": visible_chunks(store, row)}


def visible_chunks(store: Store, row: DocumentRow) -> list[Found]:
    """Payloads of the document's visible revision, by chunk_index."""
    if not row.active_revision:
        return []
    where = Filter(
        [Condition("document_id", "any", [row.document_id]), Condition("revision", "any", [row.active_revision])]
    )
    payloads: list[Found] = [record.payload for batch in store.scroll(where) for record in batch]
    return sorted(payloads, key=lambda payload: int(payload["chunk_index"]))


def show_text(found: Found) -> str:
    """A document for people."""
    lines = [f"{found['filename']}  [{found['status']}]  {found['document_id']}", f"  key      {found['key']}"]
    facts = ("source_format", "title", "author", "language", "page_count", "word_count", "chunk_count", "updated_at")
    lines += [f"  {name:<14} {found[name]}" for name in facts if found[name]]
    if found["error_code"]:
        lines.append(f"  error          {found['error_code']} ({found['error_stage']}): {found['error_message']}")
    lines += [f"  loss           {w['code']} {w['place']} ×{w['count']}: {w['message']}" for w in found["warnings"]]
    lines += [f"  inside         {c['key']} [{c['status']}]" for c in found["inside"]]
    for chunk in found["chunks"]:
        pages = ", ".join(map(str, chunk["page_numbers"]))
        lines.append(f"\n--- chunk {chunk['chunk_index']}" + (f", page {pages}" if pages else ""))
        lines.append(str(chunk["content"]))
    return "\n".join(lines)


def delete_document(settings: Settings, document: str, project: str | None) -> list[str]:
    """Tombstone a document and all inside it, then remove their points; the ids."""
    with opened(settings) as (registry, store):
        row = find_document(registry, document, project)
        gone = registry.delete(row.document_id, row.project_id)
        remove_deleted(store, registry, gone)
    return gone


def sweep_store(settings: Settings, older_than: float) -> int:
    """Remove leftovers; how many documents had any."""
    with opened(settings) as (registry, store):
        registry.interrupt_silent_runs(older_than)
        return sweep(store, registry, older_than)


# ---------------------------------------------------------------- runs
def status_of(settings: Settings, run_id: str | None) -> Found:
    """One run, or all projects with their latest runs."""
    registry = open_registry(settings)
    if run_id is None:
        return {"projects": [_project(registry, p.id, p.slug) for p in registry.projects()]}
    row = registry.run(run_id)
    if row is None:
        raise InputError(f"there is no run {run_id!r}", Code.JOB_NOT_FOUND)
    return {**asdict(row), "report": str(settings.home / "runs" / row.run_id / "report.html")}


def _project(registry: Registry, project_id: str, slug: str) -> Found:
    runs = [{**asdict(row), "options": None} for row in registry.runs(project_id, 5)]
    return {"id": project_id, "slug": slug, "documents": registry.stats(project_id), "runs": runs}


def status_text(found: Found) -> str:
    """Projects or a run for people."""
    if "projects" not in found:
        totals = found["totals"] or {}
        counts = f"{totals.get('published', 0)} published, {totals.get('failed', {}).get('total', 0)} failed"
        lines = [f"run {found['run_id']}: {found['status']}, {counts} of {totals.get('inputs', 0)}", found["report"]]
        lines += [f"  {f['code']:<20} {_line(f['key'])}: {_line(f['message'])}" for f in totals.get("failures", [])]
        return "\n".join(lines)
    lines: list[str] = []
    for project in found["projects"]:
        documents = project["documents"]
        lines.append(f"{project['slug']}: " + ", ".join(f"{n} {name}" for name, n in documents.items()))
        lines += [f"  run {r['run_id']}  {r['status']}  {r['started_at']:%Y-%m-%d %H:%M}" for r in project["runs"]]
    return "\n".join(lines) or "no projects yet"
