"""Fixed and sliding windows: even size, overlap, word and line boundaries, full coverage."""

from __future__ import annotations

from itertools import pairwise

import pytest

from engine.document import Builder
from engine.tokens import counter

WORDS = " ".join(f"word{i}" for i in range(1500))
LOG = "\n".join(f"2026-11-30 12:00:{i % 60:02d} INFO worker {i} finished its task in {i * 7} ms" for i in range(200))


def test_fixed_windows_end_between_words_and_overlap(builder: Builder, chunked) -> None:
    builder.paragraph(WORDS)
    document = builder.finish()
    chunks = chunked(document, "fixed", overlap_tokens=40)
    for left, right in pairwise(chunks):
        shared = document.content[right.metadata.char_start : left.metadata.char_end]
        assert 20 <= counter().count(shared) <= 40
        assert right.content.startswith("word")
        assert document.content[left.metadata.char_end] == " "
    assert chunks[-1].content.endswith("word1499")


def test_without_overlap_windows_are_disjoint(builder: Builder, chunked) -> None:
    builder.paragraph(WORDS)
    chunks = chunked(builder.finish(), "fixed", overlap_tokens=0)
    assert " ".join(c.content for c in chunks) == WORDS


def test_overlap_never_takes_more_than_half_a_window(builder: Builder, chunked) -> None:
    builder.paragraph(WORDS)
    chunks = chunked(builder.finish(), "fixed", max_tokens=64, overlap_tokens=10_000)
    starts = [c.metadata.char_start for c in chunks]
    assert starts == sorted(set(starts))
    assert len(chunks) < 4 * len(WORDS) / 64


def test_sliding_windows_keep_log_lines_whole(builder: Builder, chunked) -> None:
    builder.paragraph(LOG)
    chunks = chunked(builder.finish(), "sliding", overlap_tokens=64)
    for chunk in chunks:
        assert chunk.content.startswith("2026-11-30")
        assert chunk.content.endswith("ms")
    assert chunks[1].metadata.char_start < chunks[0].metadata.char_end


@pytest.mark.parametrize("strategy", ["fixed", "sliding"])
def test_windows_carry_the_heading_they_begin_under(strategy: str, builder: Builder, chunked) -> None:
    builder.heading(1, "Start")
    builder.paragraph(WORDS)
    chunks = chunked(builder.finish(), strategy)
    assert chunks[0].content.startswith("# Start\n\nword0")
    assert chunks[1].content.startswith("## Start\n\nword")
    assert chunks[1].metadata.section_path == ["Start"]
