"""Turns an extracted document into chunks: chooses the strategy, holds its pieces to both token limits, adds
ids, counts and provenance.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from engine.chunk import Piece
from engine.chunk.blobs import drop_blobs
from engine.chunk.pack import next_start, text_end
from engine.chunk.prefix import Prefixes, sentence_before
from engine.chunk.provenance import Provenance, SpanIndex
from engine.chunk.ruler import Costs, Ruler, Tokens, budget_for
from engine.chunk.select import chunker_for, strategy_for
from engine.embed.limits import ModelLimits
from engine.errors import ConfigError
from engine.ids import chunk_id, content_hash
from engine.records import Chunk, ChunkConfig, ChunkMetadata, ExtractedDocument
from engine.settings import Settings
from engine.tokens import counter, grapheme_cut

_LEAST_ROOM = 4  # tokens: one code point may take as many


def make_chunks(
    document: ExtractedDocument,
    document_id: str,
    config: ChunkConfig,
    embedder_limits: ModelLimits,
    settings: Settings,
) -> list[Chunk]:
    """The document's chunks in source order; none when it has no text.

    Every chunk keeps `config.max_tokens` in cl100k_base and the model's own limit. Encoded binary data in the text is
    replaced in the document itself first (see `blobs`), so that offsets stay true. Raises ConfigError
    for an unknown strategy or limits too small for any text.
    """
    drop_blobs(document)
    if not document.content.strip():
        return []
    budget = budget_for(config.max_tokens, embedder_limits)
    if min(budget.target.standard, budget.hard.model) < _LEAST_ROOM:
        raise ConfigError("the token limits leave no room for text: raise chunking.max_tokens or embedding.max_tokens")
    ruler = Ruler(document.content, _costs(embedder_limits), budget)
    chunker = chunker_for(strategy_for(document, config.strategy), settings)
    pieces = _within(chunker(document, config, ruler), ruler.text)
    index = SpanIndex(document)
    drafts = _Limits(ruler, index, Prefixes(ruler, config.include_headings), embedder_limits, config).hold(pieces)
    return _finished(drafts, document, document_id, index)


@lru_cache(maxsize=4)
def _costs(limits: ModelLimits) -> Costs:
    return Costs(counter(), limits)


def _within(pieces: list[Piece], text: str) -> list[Piece]:
    """The pieces that hold text; offsets of a plug-in are not trusted."""
    for piece in pieces:
        piece.end = text_end(text, max(0, piece.start), min(len(text), piece.end))
        piece.start = next_start(text, max(0, piece.start), piece.end)
    return [piece for piece in pieces if piece.start < piece.end]


@dataclass(slots=True)
class _Draft:
    """A piece with its text and exact counts. `bare`: even the heading did not fit."""

    piece: Piece
    source: Provenance
    path: list[str]
    prefix: str
    content: str
    bare: bool = False
    count: Tokens = Tokens(0, 0)


class _Limits:
    """Counts exactly and cuts what is over: rarely needed after our strategies, always after a stranger's."""

    def __init__(
        self, ruler: Ruler, index: SpanIndex, prefixes: Prefixes, limits: ModelLimits, config: ChunkConfig
    ) -> None:
        self._ruler = ruler
        self._index = index
        self._prefixes = prefixes
        self._model = limits
        self._most = Tokens(config.max_tokens, limits.max_tokens)

    def hold(self, pieces: list[Piece]) -> list[_Draft]:
        drafts = self._measured([self._draft(piece) for piece in pieces])
        while not all(draft.count.within(self._most) for draft in drafts):
            parts = [[d] if d.count.within(self._most) else self._measured(self._cut(d)) for d in drafts]
            drafts = [draft for group in parts for draft in group]
        return drafts

    def _draft(self, piece: Piece, bare: bool = False) -> _Draft:
        source = self._index.provenance(piece.start, piece.end)
        path = source.path if piece.path is None else piece.path
        prefix = "" if bare or source.opens_with_heading else self._prefixes.of(path)
        repeated = "" if bare else piece.repeated
        content = prefix + repeated + self._ruler.text[piece.start : piece.end]
        return _Draft(piece, source, path, prefix, content, bare)

    def _measured(self, drafts: list[_Draft]) -> list[_Draft]:
        texts = [draft.content for draft in drafts]
        standard = self._ruler.costs.counter.count_many(texts)
        for draft, ours, models in zip(drafts, standard, self._model.count(texts), strict=True):
            draft.count = Tokens(ours, models)
        return drafts

    def _cut(self, draft: _Draft) -> list[_Draft]:
        """Two halves between words; for one word the text without heading and repeated rows; then its halves."""
        piece, ruler = draft.piece, self._ruler
        whole = ruler.cost(piece.start, piece.end)
        middle = ruler.word_cut(piece.start, Tokens(whole.standard // 2, whole.model // 2))
        if middle >= piece.end and not draft.bare:
            return [self._draft(piece, bare=True)]
        if middle >= piece.end:
            word = ruler.text[piece.start : piece.end]
            middle = piece.start + grapheme_cut(word, len(word) // 2)
        if middle == piece.start:
            raise ConfigError(f"a limit of {self._most.standard} and {self._most.model} tokens cannot hold this text")
        halves = _within([_part(piece, piece.start, middle), _part(piece, middle, piece.end)], ruler.text)
        return [self._draft(half, draft.bare) for half in halves]


def _part(piece: Piece, start: int, end: int) -> Piece:
    return Piece(start, end, piece.path, piece.repeated, piece.table_rows)


def _finished(drafts: list[_Draft], document: ExtractedDocument, document_id: str, index: SpanIndex) -> list[Chunk]:
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for number, draft in enumerate(drafts):
        digest = content_hash(draft.content[len(draft.prefix) :])
        chunks.append(
            Chunk(
                chunk_id(document_id, digest, seen[digest]),
                document_id,
                draft.content,
                digest,
                draft.count.standard,
                draft.count.model,
                _metadata(draft, number, len(drafts), document, index),
                len(draft.prefix),
                _lexical_prefix(draft, document.content, index),
            )
        )
        seen[digest] += 1
    return chunks


def _metadata(draft: _Draft, number: int, total: int, document: ExtractedDocument, index: SpanIndex) -> ChunkMetadata:
    piece, source = draft.piece, draft.source
    shift = len(draft.content) - (piece.end - piece.start)
    return ChunkMetadata(
        page_numbers=source.pages,
        section_heading=draft.path[-1] if draft.path else None,
        section_path=list(draft.path),
        chunk_index=number,
        total_chunks=total,
        element_type=source.element_type,
        chunk_type=source.chunk_type,
        source_format=document.metadata.source_format,
        extraction_method=source.method,
        char_start=piece.start,
        char_end=piece.end,
        boxes=source.boxes,
        table_rows=piece.table_rows,
        connect_to=index.relations(piece.start, piece.end, shift),
    )


def _lexical_prefix(draft: _Draft, text: str, index: SpanIndex) -> str:
    """What the sparse channels read in front of the content: the sentence before, and the heading where the
    content does not show it already (a heading read twice would count twice)."""
    shown = draft.prefix or draft.source.opens_with_heading
    heading = draft.path[-1] if draft.path and not shown else ""
    before = index.before(draft.piece.start)
    sentence = ""
    if before is not None and before.type not in ("heading", "table", "code"):
        sentence = sentence_before(text, draft.piece.start, index.section_start(draft.piece.start))
    return "\n".join(filter(None, (heading, sentence)))
