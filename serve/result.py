"""Builds the canonical result of a document out of what its reader may see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.artifacts import kept_images, load_tree
from engine.errors import Code, InputError
from engine.nav import nav_of, walk_sections
from engine.nav.manifest import images_of, losses_of
from engine.nav.tables import TablesFound, tables_of
from engine.records import ExtractedDocument
from engine.search.view import DocumentView, view_document
from serve.deps import Caller, Deps
from serve.schemas import iso
from serve.schemas.content import Result, ResultChunk, ResultImage, ResultLoss, ResultMetadata, ResultTable

MOST_CHUNKS = 20_000  # of one answer; more are read page by page
MOST_NUMBERS = 10_000_000  # of all embeddings of one answer
_DECIMALS = 8  # of unit vectors: what float32 can tell


def visible(
    deps: Deps, caller: Caller, document_id: str, vector: str = "", only: Sequence[str] | None = None
) -> DocumentView:
    """The document as the caller may see it; `vector`: a vector name to read along, `only`: see `view_document`.
    Raises InputError (LIMIT_EXCEEDED) for a whole document too large for one answer, before it is read."""
    row = deps.registry.document(document_id)
    if row is not None and only is None:
        _check_size(row.chunk_count, row.chunk_count * deps.model.dimensions if vector else 0)
    return view_document(deps.store, deps.registry, document_id, caller.principals, [vector] if vector else [], only)


def kept_tree(deps: Deps, view: DocumentView) -> ExtractedDocument | None:
    """The document's tree, if it was kept."""
    return load_tree(deps.objects, view.row.project_id, view.row.document_id, view.revision)


def result_of(deps: Deps, view: DocumentView, vector: str = "") -> Result:
    """The document in the standard's canonical form."""
    tree = kept_tree(deps, view)
    nav = nav_of(view, tree)
    kept = kept_images(deps.objects, view.row.project_id, view.row.document_id, view.revision)
    tables = tables_of(view, tree)
    row = view.row
    return Result(
        document_id=row.document_id,
        filename=row.filename,
        source_format=row.source_format,
        revision=view.revision,
        metadata=ResultMetadata(
            title=None if view.closed else row.title,
            author=None if view.closed else row.author,
            created_date=_moment(row.metadata.get("created_date")),
            modified_date=_moment(row.metadata.get("modified_date")),
            page_count=row.page_count,
            word_count=row.word_count,
            language=row.language,
            headings=[section.title for section in walk_sections(nav.sections)],
        ),
        chunks=[_chunk(payload, view.vectors.get(payload["chunk_id"], {}).get(vector)) for payload in view.chunks],
        tables=[
            ResultTable(id=t.table_id, headers=t.headers, rows=t.rows, page_number=t.page_number, caption=t.caption)
            for t in tables.tables
        ],
        images=[ResultImage(**_fields(i)) for i in images_of(view, nav, tree, kept)],
        warnings=[ResultLoss(**_fields(loss)) for loss in losses_of(view)] + _own_losses(view, tables),
    )


def _check_size(chunks: int, numbers: int) -> None:
    if chunks > MOST_CHUNKS or numbers > MOST_NUMBERS:
        raise InputError(
            "the document is too large for one answer: read it page by page from …/chunks"
            + (", or ask without embeddings" if numbers else ""),
            Code.LIMIT_EXCEEDED,
            details={"chunks": chunks, "most_chunks": MOST_CHUNKS, "most_numbers": MOST_NUMBERS},
        )


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}


def _chunk(payload: dict[str, Any], vector: NDArray[np.float32] | None) -> ResultChunk:
    shown = {name: payload[name] for name in ResultChunk.model_fields if name in payload}
    numbers = None if vector is None else np.round(vector.astype(np.float64), _DECIMALS).tolist()
    return ResultChunk(id=payload["chunk_id"], index=payload["chunk_index"], embedding=numbers, **shown)


def _own_losses(view: DocumentView, tables: TablesFound) -> list[ResultLoss]:
    found: list[ResultLoss] = []
    if tables.rebuilt and tables.tables:
        message = "the tables were put together from the chunks: spans of cells are not shown"
        found.append(ResultLoss(code="tables_rebuilt", message=message, place="", count=len(tables.tables)))
    for table_id in tables.incomplete:
        message = "the table was cut inside a row, and cannot be put together whole from the chunks"
        found.append(ResultLoss(code="table_incomplete", message=message, place=table_id, count=1))
    if not view.whole:
        message = "a part of the document is not shown to this caller"
        found.append(ResultLoss(code="chunks_withheld", message=message, place="", count=1))
    return found


def _moment(value: object) -> str | None:
    """A stored moment with Z; one without a zone is taken as UTC."""
    if not isinstance(value, str):
        return None
    moment = datetime.fromisoformat(value)
    shown = iso(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    return shown.replace(".000Z", "Z")
