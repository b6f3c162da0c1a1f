"""Chunks to stored points and back: the payload's fields, the point ids, the sparse rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.analyse import document_rows
from engine.ids import point_id
from engine.records import Box, Chunk, ChunkMetadata, Relation
from engine.store import SPARSE_CHANNELS, Payload, Points

# Stored instead of an empty access list: a filter can ask for "one of these principals", not for "none at all".
EVERYONE = "*"


@dataclass(frozen=True, slots=True)
class PointContext:
    """What a chunk's point says of the document and the attempt it belongs to."""

    project_id: str
    document_id: str
    revision: str
    generation: int
    filename: str
    key: str
    source: str
    language: str = "und"
    title: str | None = None


def build_points(
    chunks: Sequence[Chunk],
    vectors: NDArray[np.float32],
    vector_name: str,
    hashes: Sequence[str],
    context: PointContext,
) -> Points:
    """One point per chunk. `vectors` (n, size) under `vector_name`; `hashes` of the embedder inputs.

    The point id is UUIDv5 of (chunk id, revision): the same revision written again is the same points,
    another one stands beside it.
    """
    ids = [point_id(chunk.chunk_id, context.revision) for chunk in chunks]
    payloads = [payload_of(chunk, hash, context) for chunk, hash in zip(chunks, hashes, strict=True)]
    sparse = {
        channel: document_rows([_text(channel, chunk, context) for chunk in chunks], context.language, channel)
        for channel in SPARSE_CHANNELS
    }
    return Points(ids, {vector_name: np.asarray(vectors, dtype=np.float32)}, sparse, payloads)


def _text(channel: str, chunk: Chunk, context: PointContext) -> str:
    """What a channel knows of a chunk. `term` also finds paths, so that a part of a file's name finds its chunks."""
    meta = chunk.metadata
    path = [context.filename, context.key if context.key != context.filename else "", *meta.section_path]
    match channel:
        case "content":
            return "\n".join([chunk.lexical_prefix, chunk.content, meta.summary, *meta.keywords])
        case "path":
            return "\n".join(path)
        case _:
            return "\n".join([chunk.content[chunk.prefix_length :], *path])


def payload_of(chunk: Chunk, embed_hash: str, context: PointContext) -> Payload:
    """The stored fields of a chunk: its metadata flat beside its text and its document's names.

    `boxes` are [page, x0, y0, x1, y1] each; an empty `acl` is stored as [EVERYONE].
    """
    meta = chunk.metadata
    payload: Payload = {name: getattr(meta, name) for name in ChunkMetadata.__slots__}
    payload["boxes"] = [[b.page, b.x0, b.y0, b.x1, b.y1] for b in meta.boxes]
    payload["connect_to"] = [asdict(relation) for relation in meta.connect_to]
    payload["table_rows"] = list(meta.table_rows) if meta.table_rows else None
    payload["acl"] = sorted(set(meta.acl)) or [EVERYONE]
    payload.update(
        chunk_id=chunk.chunk_id,
        document_id=context.document_id,
        project_id=context.project_id,
        revision=context.revision,
        generation=context.generation,
        content=chunk.content,
        prefix_length=chunk.prefix_length,
        lexical_prefix=chunk.lexical_prefix,
        content_hash=chunk.content_hash,
        embed_hash=embed_hash,
        token_count=chunk.token_count,
        embed_token_count=chunk.embed_token_count,
        filename=context.filename,
        key=context.key,
        source=context.source,
        language=context.language,
        title=context.title,
    )
    return payload


def chunk_of(payload: Mapping[str, object]) -> Chunk:
    """The chunk that `payload_of` stored. Fields of newer versions are ignored, missing ones take their defaults."""
    fields: dict[str, Any] = dict(payload)
    meta: dict[str, Any] = {name: fields[name] for name in ChunkMetadata.__slots__ if name in fields}
    meta["boxes"] = [Box(int(b[0]), *b[1:]) for b in meta.get("boxes") or []]
    meta["connect_to"] = [Relation(**relation) for relation in meta.get("connect_to") or []]
    rows = meta.get("table_rows")
    meta["table_rows"] = (rows[0], rows[1]) if rows else None
    meta["acl"] = [principal for principal in meta.get("acl") or [] if principal != EVERYONE]
    return Chunk(
        chunk_id=fields["chunk_id"],
        document_id=fields["document_id"],
        content=fields["content"],
        content_hash=fields["content_hash"],
        token_count=fields["token_count"],
        embed_token_count=fields["embed_token_count"],
        metadata=ChunkMetadata(**meta),
        prefix_length=fields.get("prefix_length", 0),
        lexical_prefix=fields.get("lexical_prefix", ""),
    )


def context_of(payload: Mapping[str, object]) -> PointContext:
    """The document's side of what `payload_of` stored; with `chunk_of` enough to rebuild the sparse rows."""
    fields: dict[str, Any] = dict(payload)
    return PointContext(**{name: fields[name] for name in PointContext.__slots__ if name in fields})
