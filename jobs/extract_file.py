"""One file through detection, extraction and chunking, with everything found inside it: no store, no Ray."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from engine.document import to_markdown, walk
from engine.errors import ConfigError
from engine.prepare import NoLedger, Preparer, Run
from engine.records import ExtractedImage, Prepared, SourceItem, StructureElement
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
    """The canonical JSON of one document: metadata, the elements of its tree in reading order, chunks, tables,
    pictures (without their bytes), pages, losses."""
    meta = p.document.metadata if p.document else None
    return {
        "document_id": p.document_id,
        "filename": p.filename,
        "inner_path": p.inner_path,
        "source_format": meta.source_format if meta else "",
        "metadata": asdict(meta) if meta else {},
        "elements": [_element(e) for e in walk(p.document.structure)] if p.document else [],
        "chunks": [asdict(c) for c in p.chunks],
        "tables": [asdict(t) for t in p.document.tables] if p.document else [],
        "images": [_image(i) for i in p.document.images] if p.document else [],
        "pages": [_page(page) for page in p.document.pages] if p.document else [],
        "warnings": [asdict(w) for w in p.document.warnings] if p.document else [],
        "skipped": p.skip_reason,
        "error": asdict(p.failure) if p.failure else None,
        "seconds": p.seconds,
    }


def _element(element: StructureElement) -> dict[str, object]:
    shown = {"type": element.type, "level": element.level, "content": element.content, "page": element.page_number}
    asset = element.table.table_id if element.table else element.image.image_id if element.image else ""
    box = asdict(element.box) if element.box else None
    return {**shown, "box": box, "method": element.method, "attributes": element.attributes, "asset": asset}


def _image(image: ExtractedImage) -> dict[str, object]:
    facts = {name: getattr(image, name) for name in ("image_id", "mime_type", "caption", "alt_text", "page_number")}
    return {**facts, "box": asdict(image.box) if image.box else None, "bytes": len(image.data)}


def _page(page: object) -> dict[str, object]:
    wanted = ("page_number", "content", "ocr_confidence", "ocr_engine", "layout", "width", "height")
    return {name: getattr(page, name) for name in wanted}
