"""One file through detection, extraction and chunking, with everything found inside it: no store, no Ray."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from engine.document import to_markdown
from engine.errors import ConfigError
from engine.prepare import NoLedger, Preparer, Run
from engine.records import Prepared, SourceItem
from engine.settings import Settings
from engine.sources.local import local_uri


def extract_file(path: Path, settings: Settings, language: str | None = None) -> list[Prepared]:
    """The file's document first, then those inside it, outer before inner, whole trees kept.

    Raises ConfigError when there is no such file. A document's own failure stands on its record.
    """
    if not path.is_file():
        raise ConfigError(f"there is no file {str(path)!r}")
    item = SourceItem("local", "local", path.name, local_uri(bytes(path.absolute())), path.stat().st_size)
    preparer = Preparer(settings, Run("extract", "", language), NoLedger(), keep_documents=True)
    try:
        found = list(preparer.prepare([item]))
    finally:
        preparer.close()
    return list(_outer_first(found))


def _outer_first(found: list[Prepared]) -> Iterator[Prepared]:
    inside: dict[str | None, list[Prepared]] = {}
    for p in found:
        inside.setdefault(p.parent_id, []).append(p)
    stack = list(reversed(inside.get(None, [])))
    while stack:
        p = stack.pop()
        yield p
        stack.extend(reversed(inside.get(p.document_id, [])))


def markdown_of(found: list[Prepared]) -> str:
    """Markdown of all documents, inner ones under a line with their path."""
    parts: list[str] = []
    for p in found:
        if p.parent_id:
            parts.append(f"<!-- inside: {p.inner_path.replace('--', '- -')} -->")
        if p.document is not None and p.failure is None:
            parts.append(to_markdown(p.document))
    return "\n\n".join(part for part in parts if part) + "\n"


def json_of(p: Prepared) -> dict[str, object]:
    """The canonical JSON of one document: metadata, chunks, tables, losses."""
    meta = p.document.metadata if p.document else None
    return {
        "document_id": p.document_id,
        "filename": p.filename,
        "inner_path": p.inner_path,
        "source_format": meta.source_format if meta else "",
        "metadata": asdict(meta) if meta else {},
        "chunks": [asdict(c) for c in p.chunks],
        "tables": [asdict(t) for t in p.document.tables] if p.document else [],
        "pages": [_page(page) for page in p.document.pages] if p.document else [],
        "warnings": [asdict(w) for w in p.document.warnings] if p.document else [],
        "skipped": p.skip_reason,
        "error": asdict(p.failure) if p.failure else None,
        "seconds": p.seconds,
    }


def _page(page: object) -> dict[str, object]:
    wanted = ("page_number", "content", "ocr_confidence", "ocr_engine", "width", "height")
    return {name: getattr(page, name) for name in wanted}
