"""Random documents: both limits hold, no text is lost, no word is cut without need, the same again gives the same."""

from __future__ import annotations

import bisect
import string
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.chunk.make import make_chunks
from engine.document import Builder
from engine.embed.make import model_limits
from engine.records import Chunk, ChunkConfig, ExtractedDocument
from engine.settings import Settings
from engine.tables import table_from_rows
from engine.tokens import counter, graphemes

SETTINGS = Settings()
LIMITS = model_limits(SETTINGS)
ALPHABETS = [
    "abc de. ",
    "漢字かなカナ。、！",
    "é à ü ñ",
    "👨‍👩‍👧‍👦👍🏽🇩🇪 ",
    "e\u0301o\u0308 ",
    "กขค ไทย",
    "0123,;{}[]",
    string.printable,
]

chunks_of_text = st.builds(
    lambda alphabet, size, draw: "".join(draw.choice(alphabet) for _ in range(size)),
    st.sampled_from(ALPHABETS),
    st.integers(1, 400),
    st.randoms(use_true_random=False),
)
words = st.lists(st.text(string.ascii_letters, min_size=1, max_size=12), min_size=1, max_size=150).map(" ".join)
runs = st.builds(
    lambda unit, times: unit * times, st.sampled_from(["a", "漢", "ab1", "👍🏽", "=", "e\u0301"]), st.integers(1, 900)
)
texts = st.one_of(words, chunks_of_text, runs, st.text(max_size=200))
rows = st.lists(st.lists(st.one_of(st.text(max_size=30), words, runs), min_size=1, max_size=6), min_size=1, max_size=8)
blocks = st.one_of(
    st.tuples(st.just("heading"), st.tuples(st.integers(1, 4), st.one_of(words, st.text(max_size=60)))),
    st.tuples(st.just("paragraph"), texts),
    st.tuples(st.just("code"), texts),
    st.tuples(st.just("list"), st.lists(texts, min_size=1, max_size=6)),
    st.tuples(st.just("table"), rows),
    st.tuples(st.just("caption"), words),
)


def build(parts: list[tuple[str, object]]) -> ExtractedDocument:
    builder = Builder("md", SETTINGS.limits)
    for kind, value in parts:
        if kind == "heading":
            builder.heading(*value)  # type: ignore[misc]
        elif kind == "code":
            builder.code(value, "text")  # type: ignore[arg-type]
        elif kind == "list":
            builder.list_block([(1 + i % 2, "-", item) for i, item in enumerate(value)])  # type: ignore[arg-type, var-annotated]
        elif kind == "table":
            builder.table(table_from_rows(value))  # type: ignore[arg-type]
        else:
            builder.paragraph(value, type=kind)  # type: ignore[arg-type]
    return builder.finish()


def uncovered(document: ExtractedDocument, chunks: list[Chunk]) -> str:
    """The text that is in no chunk, headings aside: they may stand in prefix and section path alone."""
    covered = bytearray(len(document.content))
    for chunk in chunks:
        start, end = chunk.metadata.char_start, chunk.metadata.char_end
        covered[start:end] = b"\1" * (end - start)
    for span in document.spans:
        if span.type == "heading":
            assert any(span.section_path == c.metadata.section_path[: len(span.section_path)] for c in chunks) or any(
                covered[span.start : span.end]
            )
            covered[span.start : span.end] = b"\1" * (span.end - span.start)
    return "".join(c for c, seen in zip(document.content, covered, strict=True) if not seen and not c.isspace())


def cut_words(document: ExtractedDocument, chunks: list[Chunk], max_tokens: int) -> list[str]:
    """Words of plain letters that a chunk border divides although they take less than half of a chunk."""
    text = document.content
    found: list[str] = []
    for border in (c.metadata.char_end for c in chunks):
        around = text[max(0, border - 1) : border + 1]
        if len(around) == 2 and around.isascii() and around.isalpha():
            left, right = text[:border].split()[-1], text[border:].split()[0]
            found.append(left + right)
    return [word for word in found if counter().count(word) < max_tokens // 2 and LIMITS.bare([word])[0] < 100]


@pytest.mark.parametrize("strategy", ["semantic", "recursive", "fixed", "sliding"])
@given(parts=st.lists(blocks, max_size=8), max_tokens=st.sampled_from([16, 40, 120, 512]), headings=st.booleans())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_limits_coverage_and_determinism(
    strategy: str, parts: list[tuple[str, object]], max_tokens: int, headings: bool
) -> None:
    """P38 among others: no chunk is over the model's limit in the model's own tokens."""
    document = build(parts)
    config = ChunkConfig(strategy, max_tokens, overlap_tokens=8, include_headings=headings)
    chunks = make_chunks(document, "d", config, LIMITS, SETTINGS)
    assert [c.token_count for c in chunks] == counter().count_many(c.content for c in chunks)
    assert all(c.token_count <= max_tokens for c in chunks)
    assert all(n <= 256 for n in LIMITS.count([c.content for c in chunks]))
    lost = uncovered(document, chunks).replace("|", "").replace("-", "")
    assert lost == "", lost[:100]
    assert make_chunks(build(parts), "d", config, LIMITS, SETTINGS) == chunks
    assert len({c.chunk_id for c in chunks}) == len(chunks)
    starts = [c.metadata.char_start for c in chunks]
    assert all(a <= b for a, b in pairwise(starts))
    assert not cut_words(document, chunks, max_tokens)


@given(text=st.one_of(runs, chunks_of_text), max_tokens=st.sampled_from([16, 60]))
@settings(max_examples=50, deadline=None)
def test_no_grapheme_of_usual_size_is_cut(text: str, max_tokens: int) -> None:
    builder = Builder("txt", SETTINGS.limits)
    builder.paragraph(text)
    document = builder.finish()
    borders: list[int] = [0]
    for grapheme in graphemes(document.content):
        borders.append(borders[-1] + len(grapheme))
    for chunk in make_chunks(document, "d", ChunkConfig("semantic", max_tokens), LIMITS, SETTINGS):
        at = bisect.bisect_left(borders, chunk.metadata.char_end)
        inside = borders[at] != chunk.metadata.char_end
        assert not inside or borders[at] - borders[at - 1] > 4
