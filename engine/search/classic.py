"""Classic ranked search: channels → active revisions → fusion → duplicates folded → passages with citations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engine.analyse import query_row
from engine.embed import QueryEmbedder
from engine.errors import ConfigError, StorageError
from engine.points import chunk_of
from engine.search import active, fuse
from engine.search.gate import channel_weights
from engine.search.records import (
    DENSE,
    ChannelScore,
    SearchRequest,
    SearchResponse,
    SearchResult,
    check,
    to_filter,
)
from engine.store import Filter, Hit, Payload, Query, Record, Store

ATTEMPTS = 10  # how often the chosen passages may vanish, by a publish, before they are fetched


@dataclass(slots=True)
class _Ranked:
    """A point on its way into the answer."""

    id: str
    score: float
    document_id: str
    content_hash: str
    channels: dict[str, ChannelScore]
    alternates: list[str] = field(default_factory=lambda: list[str]())


def search(
    request: SearchRequest, store: Store, registry: active.Ledger, embedder: QueryEmbedder | None = None
) -> SearchResponse:
    """Answer `request`. `embedder` is needed by the modes hybrid and dense only.

    Raises InputError (INVALID_REQUEST) for a bad request, ConfigError without the embedder or the vectors its
    mode needs, StorageError when the store fails or documents change faster than they can be read.
    """
    check(request)
    weights = {**channel_weights(request.query, request.mode, request.fusion)}
    weights.update({c: w for c, w in request.weights.items() if c in weights})
    queries = _queries(request, list(weights), embedder)
    where = to_filter(request)
    for _ in range(ATTEMPTS):
        response = _answer(request, weights, queries, where, store, registry)
        if response is not None:
            return response
    raise StorageError(f"the passages found were replaced {ATTEMPTS} times in a row")


def _answer(
    request: SearchRequest,
    weights: Mapping[str, float],
    queries: Mapping[str, Query],
    where: Filter,
    store: Store,
    registry: active.Ledger,
) -> SearchResponse | None:
    """One try; None when a publish took a chosen passage away between finding and fetching it."""
    small = not request.thresholds and registry.visible(request.project_id)[1] <= request.top_k
    found = active.look(store, registry, request.project_id, list(queries.values()), where, ["content_hash"])
    ranked = _folded(_ranked(request, dict(zip(queries, found.lists, strict=True)), weights))[: request.top_k]
    if small:
        records = {r.id: r for r in active.read(store, registry, request.project_id, where)}
        ranked = _folded([*ranked, *_rest(records, ranked)])
    else:
        records = {r.id: r for r in store.fetch([r.id for r in ranked])}
    if any(r.id not in records for r in ranked):
        return None
    results = [_result(r, records[r.id].payload, request.explain) for r in ranked]
    return SearchResponse(results, "small_corpus" if small else "ranked", dict(weights), found.version)


def _queries(request: SearchRequest, channels: Sequence[str], embedder: QueryEmbedder | None) -> dict[str, Query]:
    """The store's query per channel."""
    made: dict[str, Query] = {}
    for channel in channels:
        threshold = request.thresholds.get(channel)
        if channel == DENSE:
            if embedder is None:
                raise ConfigError(f"search mode {request.mode} needs an embedding model")
            vector = embedder.embed_queries([request.query])[0]
            made[channel] = Query(embedder.info.vector_name, request.depth, dense=vector, threshold=threshold)
        else:
            row = query_row(request.query, request.language, channel)
            made[channel] = Query(channel, request.depth, sparse=row, threshold=threshold)
    return made


def _ranked(request: SearchRequest, lists: Mapping[str, list[Hit]], weights: Mapping[str, float]) -> list[_Ranked]:
    """Every point found, fused, best first."""
    if len(lists) == 1:
        scored = fuse.single(lists)
    elif request.fusion == "rrf":
        scored = fuse.rrf(lists, weights)
    else:
        scored = fuse.minmax(lists, weights)
    places: dict[str, dict[str, ChannelScore]] = {}
    payloads: dict[str, Payload] = {}
    for channel, hits in lists.items():
        for rank, hit in enumerate(hits):
            places.setdefault(hit.id, {})[channel] = ChannelScore(rank, hit.score)
            payloads[hit.id] = hit.payload
    return [_one(id, score, payloads[id], places[id]) for id, score in scored]


def _one(id: str, score: float, payload: Payload, channels: dict[str, ChannelScore]) -> _Ranked:
    return _Ranked(id, score, str(payload["document_id"]), str(payload["content_hash"]), channels)


def _folded(ranked: Sequence[_Ranked]) -> list[_Ranked]:
    """The best point of every text; the other documents that hold it become its alternates."""
    best: dict[str, _Ranked] = {}
    for item in ranked:
        first = best.setdefault(item.content_hash, item)
        for document in (item.document_id, *item.alternates):
            if document != first.document_id and document not in first.alternates:
                first.alternates.append(document)
    return list(best.values())


def _rest(records: Mapping[str, Record], ranked: Sequence[_Ranked]) -> list[_Ranked]:
    """What the channels did not find of a small corpus, in document order, with score 0."""
    found = {r.id for r in ranked}
    rest = sorted((r for r in records.values() if r.id not in found), key=_position)
    return [_one(r.id, 0.0, r.payload, {}) for r in rest]


def _position(record: Record) -> tuple[str, int]:
    values: dict[str, Any] = record.payload
    return values["document_id"], values["chunk_index"]


def _result(ranked: _Ranked, payload: Payload, explain: bool) -> SearchResult:
    chunk = chunk_of(payload)
    meta = chunk.metadata
    values: dict[str, Any] = payload
    return SearchResult(
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        content=chunk.content,
        score=ranked.score,
        page_numbers=meta.page_numbers,
        section_heading=meta.section_heading,
        section_path=meta.section_path,
        filename=values["filename"],
        char_start=meta.char_start,
        char_end=meta.char_end,
        boxes=meta.boxes,
        chunk_index=meta.chunk_index,
        element_type=meta.element_type,
        chunk_type=meta.chunk_type,
        source_format=meta.source_format,
        extraction_method=meta.extraction_method,
        key=values["key"],
        source=values["source"],
        title=values.get("title"),
        language=values.get("language", "und"),
        revision=values["revision"],
        alternates=ranked.alternates,
        channels=ranked.channels if explain else {},
    )
