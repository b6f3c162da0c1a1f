"""Arrow schemas and JSON codecs of the records: the one place where they stand.

Rows between pipeline stages are thin: what the scheduler and the reports need as columns, the rest as one
encoded `body`. Bytes of source files never travel.
"""

from __future__ import annotations

from dataclasses import asdict, replace

import pyarrow as pa
from pydantic import TypeAdapter

from engine.document import derive
from engine.records import ExtractedDocument, Outcome, Prepared, SourceItem

MANIFEST = pa.schema(
    [
        ("project_id", pa.string()),
        ("source", pa.string()),
        ("key", pa.string()),
        ("uri", pa.string()),
        ("size", pa.int64()),
        ("etag", pa.string()),
        ("mtime", pa.float64()),
        ("known_generation", pa.int64()),
        ("known_sha256", pa.string()),
        ("problem", pa.string()),
    ]
)

OUTCOME = pa.schema(
    [
        ("run_id", pa.string()),
        ("document_id", pa.string()),
        ("project_id", pa.string()),
        ("source", pa.string()),
        ("key", pa.string()),
        ("parent_id", pa.string()),
        ("status", pa.string()),
        ("reason", pa.string()),
        ("code", pa.string()),
        ("stage", pa.string()),
        ("message", pa.string()),
        ("source_format", pa.string()),
        ("bytes", pa.int64()),
        ("pages", pa.int64()),
        ("chunks", pa.int64()),
        ("embedded", pa.int64()),
        ("reused", pa.int64()),
        ("tokens", pa.int64()),
        ("warnings", pa.int64()),
        ("seconds", pa.map_(pa.string(), pa.float64())),
        ("cost", pa.float64()),
    ]
)

# One prepared document between stages: identity as columns, the rest as JSON. A block holds few of them.
PREPARED_ROW = pa.schema(
    [
        ("document_id", pa.string()),
        ("key", pa.string()),
        ("chunks", pa.int64()),
        ("body", pa.large_binary()),
    ]
)

ITEM = TypeAdapter(SourceItem)
DOCUMENT = TypeAdapter(ExtractedDocument)
PREPARED = TypeAdapter(Prepared)
OUTCOME_ROW = TypeAdapter(Outcome)


def dump_document(document: ExtractedDocument) -> bytes:
    """JSON of the tree and the facts that cannot be derived from it; `load_document` derives the rest."""
    kept = replace(document, content="", tables=[], images=[], spans=[])
    return DOCUMENT.dump_json(kept)


def load_document(encoded: bytes) -> ExtractedDocument:
    """The document back, with content, spans, tables, images and page texts derived again."""
    document = DOCUMENT.validate_json(encoded)
    derive(document)
    return document


def items_table(items: list[SourceItem]) -> pa.Table:
    """Manifest rows as an Arrow table."""
    return pa.Table.from_pylist([asdict(item) for item in items], schema=MANIFEST)


def outcomes_table(outcomes: list[Outcome]) -> pa.Table:
    """Outcomes as an Arrow table."""
    rows = [{**asdict(o), "seconds": list(o.seconds.items())} for o in outcomes]
    return pa.Table.from_pylist(rows, schema=OUTCOME)


def outcomes_of(table: pa.Table) -> list[Outcome]:
    """The other way."""
    return [OUTCOME_ROW.validate_python({**row, "seconds": dict(row["seconds"] or ())}) for row in table.to_pylist()]


def items_of(table: pa.Table) -> list[SourceItem]:
    return [ITEM.validate_python(row) for row in table.to_pylist()]


def prepared_table(documents: list[Prepared]) -> pa.Table:
    """Prepared documents as an Arrow table, in order."""
    rows = [
        {"document_id": p.document_id, "key": p.key, "chunks": len(p.chunks), "body": PREPARED.dump_json(p)}
        for p in documents
    ]
    return pa.Table.from_pylist(rows, schema=PREPARED_ROW)


def prepared_of(table: pa.Table) -> list[Prepared]:
    return [PREPARED.validate_json(body.as_py()) for body in table.column("body")]
