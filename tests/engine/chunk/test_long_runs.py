"""Runs without spaces, one-line files, huge documents: an end in near-linear time, every limit kept."""

from __future__ import annotations

import time

import pytest

from engine.document import Builder

CASES = {
    "letters": "a" * 200_000,
    "cjk": "汉字漢語没有空格" * 12_500,
    "cjk_sentences": "汉字漢語，没有空格。" * 10_000,
    "one_line_json": "{" + ",".join(f'"key{i}":{i * 7919}' for i in range(20_000)) + "}",
    "minified": "function(a,b){return a+b};" * 10_000,
    "emoji": "👨‍👩‍👧‍👦" * 10_000,
    "one_grapheme": "e" + "\u0301" * 50_000,
    "lines": "x\n" * 50_000,
    "spaces": "word" + " " * 200_000 + "word",
    "url": "https://example.org/" + "segment/" * 20_000,
}


@pytest.mark.parametrize("strategy", ["semantic", "recursive", "fixed", "sliding"])
@pytest.mark.parametrize("name", CASES)
def test_it_ends_and_keeps_every_character(name: str, strategy: str, builder: Builder, chunked) -> None:
    builder.paragraph(CASES[name])
    document = builder.finish()
    began = time.process_time()
    chunks = chunked(document, strategy, overlap_tokens=64)
    assert time.process_time() - began < 8
    end = 0
    for chunk in chunks:
        assert document.content[end : max(end, chunk.metadata.char_start)].strip() == ""
        end = max(end, chunk.metadata.char_end)
    assert document.content[end:].strip() == ""


def test_time_grows_with_length(builder: Builder, chunked) -> None:
    def seconds(copies: int) -> float:
        fresh = Builder("txt", builder.limits)
        fresh.paragraph(CASES["one_line_json"] * copies)
        document = fresh.finish()
        began = time.process_time()
        chunked(document)
        return time.process_time() - began

    seconds(1)
    assert seconds(8) < 8 * 3 * max(seconds(1), 0.05)


def test_cjk_is_cut_at_sentence_marks(builder: Builder, chunked) -> None:
    builder.paragraph(CASES["cjk_sentences"][:5000])
    for chunk in chunked(builder.finish()):
        assert chunk.content.endswith("。")


def test_json_is_cut_behind_commas(builder: Builder, chunked) -> None:
    builder.paragraph(CASES["one_line_json"][:20_000])
    chunks = chunked(builder.finish())
    assert all(chunk.content[-1] in ",:" for chunk in chunks[:-1])
