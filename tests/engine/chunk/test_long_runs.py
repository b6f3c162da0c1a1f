"""Runs without spaces, one-line files, huge documents: an end in near-linear time, every limit kept.

Made from P36, reports of users of other engines: endless loops and oversize chunks on runs without spaces, worst
with an overlap. (A data: URI of 2 MB is in `test_blobs`.)
"""

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
    """P36: 200,000 letters, CJK without spaces, minified code, a URL, ...; the caps are checked by `chunked`."""
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


@pytest.mark.slow
@pytest.mark.parametrize("overlap", [0, 64])
def test_five_megabytes_in_one_line(overlap: int, builder: Builder, chunked) -> None:
    """P36: a JSON file of 5 MB in one line: both caps kept (by `chunked`), nothing lost, a bounded number of chunks."""
    text = "{" + ",".join(f'"key{i}":[{i * 7919},"value of {i}"]' for i in range(150_000)) + "}"
    assert len(text) > 5_000_000
    builder.paragraph(text)
    document = builder.finish()
    began = time.process_time()
    chunks = chunked(document, "auto", overlap_tokens=overlap)
    assert time.process_time() - began < 90
    assert sum(c.metadata.char_end - c.metadata.char_start for c in chunks) >= 0.99 * len(text)
    assert len(chunks) < 4 * len(text) / 250


def test_cjk_is_cut_at_sentence_marks(builder: Builder, chunked) -> None:
    builder.paragraph(CASES["cjk_sentences"][:5000])
    for chunk in chunked(builder.finish()):
        assert chunk.content.endswith("。")


def test_json_is_cut_behind_commas(builder: Builder, chunked) -> None:
    builder.paragraph(CASES["one_line_json"][:20_000])
    chunks = chunked(builder.finish())
    assert all(chunk.content[-1] in ",:" for chunk in chunks[:-1])
