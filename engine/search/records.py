"""What is asked of a search and what comes back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from engine.errors import Code, InputError
from engine.points import EVERYONE
from engine.records import Box
from engine.store import PAYLOAD_INDEXES, SPARSE_CHANNELS, Condition, Filter

DENSE = "dense"
CHANNELS = (DENSE, *SPARSE_CHANNELS)
# hybrid: dense and lexical; lexical: the sparse channels without an embedder; the rest: that channel alone
Mode = Literal["hybrid", "lexical", "dense", "content", "path", "term"]
Fusion = Literal["minmax", "rrf"]
MAX_TOP_K = 100
_SURROGATES = re.compile("[\ud800-\udfff]").search
MAX_QUERY_CHARACTERS = 10_000


def _strings() -> list[str]:
    return []


@dataclass(slots=True)
class SearchFilters:
    """All of these at once; an empty list does not restrict."""

    document_ids: list[str] = field(default_factory=_strings)
    exclude_document_ids: list[str] = field(default_factory=_strings)
    source_format: list[str] = field(default_factory=_strings)
    element_type: list[str] = field(default_factory=_strings)
    chunk_type: list[str] = field(default_factory=_strings)
    filename: list[str] = field(default_factory=_strings)


@dataclass(slots=True)
class SearchRequest:
    """One question to one project.

    `thresholds`: channel → least score in that channel (cosine for dense); never applied to a fused score.
    `weights`: channel → weight, over the fusion's defaults. `principals`: who asks; chunks with an access list
    are found only by those on it, so that the empty default sees open chunks only; None is a trusted caller
    who sees all. `language`: ISO 639-1 of the query when known. `depth`: candidates per channel.
    """

    project_id: str
    query: str
    top_k: int = 10
    mode: str = "hybrid"  # one of Mode
    fusion: str = "minmax"  # one of Fusion
    thresholds: Mapping[str, float] = field(default_factory=lambda: dict[str, float]())
    weights: Mapping[str, float] = field(default_factory=lambda: dict[str, float]())
    filters: SearchFilters = field(default_factory=SearchFilters)
    principals: list[str] | None = field(default_factory=_strings)
    language: str | None = None
    explain: bool = False
    depth: int = 100


@dataclass(slots=True)
class ChannelScore:
    """Where a result stood in one channel: 0-based rank, and the channel's own score."""

    rank: int
    score: float


@dataclass(slots=True)
class SearchResult:
    """A passage with what a citation needs. `alternates`: other documents that hold the same text."""

    chunk_id: str
    document_id: str
    content: str
    score: float
    page_numbers: list[int]
    section_heading: str | None
    section_path: list[str]
    filename: str
    char_start: int
    char_end: int
    boxes: list[Box]
    chunk_index: int
    element_type: str
    chunk_type: str
    source_format: str
    extraction_method: str
    key: str
    source: str
    title: str | None
    language: str
    revision: str
    alternates: list[str] = field(default_factory=_strings)
    channels: dict[str, ChannelScore] = field(default_factory=lambda: dict[str, ChannelScore]())


@dataclass(slots=True)
class SearchResponse:
    """`results`, best first. `route`: "small_corpus" when the project has no more chunks than asked for and all
    are returned, else "ranked". `weights`: the channels asked and their weights. `index_version`: what the
    answer was read from, for caches."""

    results: list[SearchResult]
    route: Literal["ranked", "small_corpus"]
    weights: dict[str, float]
    index_version: int


def check(request: SearchRequest) -> None:
    """Raise InputError (INVALID_REQUEST) naming what is wrong with the request."""
    problems = [
        (not request.query.strip(), "the query is empty"),
        (_SURROGATES(request.query) is not None, "the query is not valid text"),
        (_length(request.query) > MAX_QUERY_CHARACTERS, f"the query has more than {MAX_QUERY_CHARACTERS} characters"),
        (not 1 <= request.top_k <= MAX_TOP_K, f"top_k must be between 1 and {MAX_TOP_K}"),
        (not request.top_k <= request.depth <= 1000, "depth must be between top_k and 1000"),
        (request.mode not in get_args(Mode), f"mode must be one of {', '.join(get_args(Mode))}"),
        (request.fusion not in get_args(Fusion), f"fusion must be one of {', '.join(get_args(Fusion))}"),
        (not {*request.thresholds, *request.weights} <= set(CHANNELS), f"channels are {', '.join(CHANNELS)}"),
        (any(w < 0 for w in request.weights.values()), "a weight must not be negative"),
    ]
    for wrong, message in problems:
        if wrong:
            raise InputError(message, Code.INVALID_REQUEST)


def _length(query: str) -> int:
    """Characters as the analyser will see them: one of a few ligatures becomes eighteen."""
    return len(query if len(query) > MAX_QUERY_CHARACTERS else unicodedata.normalize("NFKC", query))


def to_filter(request: SearchRequest) -> Filter:
    """The request's filters, tenant and access list as the store's conditions."""
    filters = request.filters
    where = Filter([_any("project_id", [request.project_id])])
    if request.principals is not None:
        where.must.append(_any("acl", [EVERYONE, *request.principals]))
    if filters.document_ids:
        where.must.append(_any("document_id", filters.document_ids))
    if filters.exclude_document_ids:
        where.must_not.append(_any("document_id", filters.exclude_document_ids))
    for name in ("source_format", "element_type", "chunk_type", "filename"):
        values: list[str] = getattr(filters, name)
        if values:
            where.must.append(_any(name, values))
    return where


def _any(name: str, values: list[str]) -> Condition:
    assert name in PAYLOAD_INDEXES
    return Condition(name, "any", [*values])
