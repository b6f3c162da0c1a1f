"""Arrow schemas and JSON codecs of the records: the one place where they stand.

Rows between pipeline stages are thin: what the scheduler and the reports need as columns, the rest as one
encoded `body` (or, when large, a path in scratch), so that no block outgrows memory.
"""

from __future__ import annotations

import pyarrow as pa
from pydantic import TypeAdapter

from engine.records import Chunk, ExtractedDocument, Outcome, Prepared, SourceItem

MANIFEST = pa.schema(
    [
        ("project_id", pa.string()),
        ("source", pa.string()),
        ("key", pa.string()),
        ("uri", pa.string()),
        ("size", pa.int64()),
        ("etag", pa.string()),
        ("mtime", pa.float64()),
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

ITEM = TypeAdapter(SourceItem)
DOCUMENT = TypeAdapter(ExtractedDocument)
CHUNKS = TypeAdapter(list[Chunk])
PREPARED = TypeAdapter(Prepared)
OUTCOME_ROW = TypeAdapter(Outcome)
