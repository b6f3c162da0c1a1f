"""What every chunk carries: exact counts, ids, hashes, offsets, provenance, prefixes."""

from __future__ import annotations

import pytest

from engine.chunk.make import make_chunks
from engine.chunk.provenance import merged_boxes
from engine.document import Builder
from engine.embed.limits import ModelLimits
from engine.errors import ConfigError
from engine.ids import chunk_id, content_hash
from engine.records import Box, ChunkConfig, ExtractedImage
from engine.settings import Settings
from engine.tokens import counter

SENTENCE = "Turbines in hall {} were inspected by the night crew before sunrise. "


def prose(sentences: int) -> str:
    return "".join(SENTENCE.format(i) for i in range(sentences)).strip()


def test_counts_are_exact(builder: Builder, chunked, limits: ModelLimits) -> None:
    builder.heading(1, "Report")
    builder.paragraph(prose(60))
    chunks = chunked(builder.finish())
    assert [c.token_count for c in chunks] == counter().count_many(c.content for c in chunks)
    assert [c.embed_token_count for c in chunks] == limits.count([c.content for c in chunks])


def test_the_text_behind_the_prefix_is_a_slice_of_the_document(builder: Builder, chunked) -> None:
    builder.heading(1, "Report")
    builder.paragraph(prose(30))
    builder.list_block([(1, "1.", "first"), (2, "-", "second")])
    builder.code("if x:\n    y()", "python")
    document = builder.finish()
    for strategy in ("semantic", "recursive", "fixed", "sliding"):
        for chunk in chunked(document, strategy):
            meta = chunk.metadata
            assert chunk.content[chunk.prefix_length :] == document.content[meta.char_start : meta.char_end]


def test_ids_follow_document_text_and_occurrence(builder: Builder, chunked) -> None:
    for _ in range(3):
        builder.heading(1, "Same")
        builder.paragraph("The same words stand here. " * 20)
    chunks = chunked(builder.finish())
    digest = content_hash(chunks[0].content[chunks[0].prefix_length :])
    assert [c.content_hash for c in chunks] == [digest] * 3
    assert [c.chunk_id for c in chunks] == [chunk_id("doc", digest, i) for i in range(3)]


def test_the_hash_ignores_the_heading_and_white_space(settings: Settings, chunked) -> None:
    hashes: list[str] = []
    for heading, text in (("One", "The  same\ntext, ﬁne"), ("Two", "The same text, fine")):
        builder = Builder("md", settings.limits)
        builder.heading(1, heading)
        builder.paragraph(text)
        builder.heading(1, "Rest")
        builder.paragraph(prose(30))
        hashes.append(chunked(builder.finish())[0].content_hash)
    assert hashes[0] == hashes[1]


def test_pages_boxes_and_method(builder: Builder, chunked) -> None:
    builder.start_page(4, 600, 800)
    builder.paragraph("First part.", box=Box(4, 50, 100, 300, 120))
    builder.paragraph("Second part.", box=Box(4, 50, 130, 310, 150), method="ocr")
    builder.start_page(5, 600, 800)
    builder.paragraph("Third part.", box=Box(5, 50, 50, 300, 70))
    (chunk,) = chunked(builder.finish())
    assert chunk.metadata.page_numbers == [4, 5]
    assert chunk.metadata.boxes == [Box(4, 50, 100, 310, 150), Box(5, 50, 50, 300, 70)]
    assert chunk.metadata.extraction_method == "mixed"


def test_boxes_are_bounded() -> None:
    columns = [Box(1, x, y, x + 40, y + 5) for y in range(0, 100, 10) for x in (0, 100)]
    assert merged_boxes(columns) == [Box(1, 0, 0, 140, 95)]
    two = [Box(1, 0, 0, 40, 50), Box(1, 100, 0, 140, 50)]
    assert merged_boxes(two) == two


def test_pictures_are_named_and_linked(builder: Builder, chunked) -> None:
    builder.image(ExtractedImage(b"", "image/png"))
    builder.image(ExtractedImage(b"", "image/png", caption="A red turbine"))
    (chunk,) = chunked(builder.finish())
    assert (chunk.metadata.element_type, chunk.metadata.chunk_type) == ("image_caption", "image")
    assert [(r.target, r.relation, r.position) for r in chunk.metadata.connect_to] == [("image-2", "embeds", 0)]


def test_the_lexical_prefix_is_the_sentence_before_and_a_heading_not_yet_shown(builder: Builder, chunked) -> None:
    builder.heading(1, "Report")
    builder.paragraph(prose(40))
    document = builder.finish()
    first, second = chunked(document)[:2]
    assert first.lexical_prefix == ""
    before = first.content.rstrip(".").rsplit(". ", 1)[1]
    assert second.lexical_prefix == f"{before}."
    assert second.content.startswith("## Report")
    bare = chunked(document, include_headings=False)
    assert bare[0].content.startswith("# Report")
    assert bare[0].lexical_prefix == ""
    assert bare[1].lexical_prefix.startswith("Report\nTurbines")


def test_the_sentence_before_does_not_cross_a_heading(builder: Builder, chunked) -> None:
    for name in ("A", "B"):
        builder.heading(1, name)
        builder.paragraph(prose(14))
    assert chunked(builder.finish())[1].lexical_prefix == ""


def test_the_model_prefix_counts(builder: Builder, settings: Settings, limits: ModelLimits) -> None:
    long = "passage of a very long instruction that the model wants to see in front of every text: "
    prefixed = ModelLimits(limits.max_tokens, long, limits.special, limits.tokenizer, limits.encode)
    builder.paragraph(prose(60))
    chunks = make_chunks(builder.finish(), "d", ChunkConfig("semantic"), prefixed, settings)
    counts = limits.encode([long + c.content for c in chunks], True)
    assert [c.embed_token_count for c in chunks] == counts
    assert max(counts) <= 256


def test_a_keyword_at_the_end_of_a_512_token_text_is_inside_a_chunk_that_the_model_sees(
    builder: Builder, chunked, limits: ModelLimits
) -> None:
    """P38: what stands last in a text of 512 tokens is not cut off by a model that takes 256."""
    builder.paragraph(prose(36) + " The password of the gate is xylophone.")
    chunks = chunked(builder.finish())
    (holder,) = [c for c in chunks if "xylophone" in c.content]
    assert limits.count([holder.content])[0] <= 256


def test_small_caps_hold(builder: Builder, chunked) -> None:
    builder.heading(1, "A heading of several words")
    builder.paragraph(prose(10) + " 👨‍👩‍👧‍👦👨‍👩‍👧‍👦 漢字漢字漢字 " + "e" + "\u0301" * 300)
    assert len(chunked(builder.finish(), max_tokens=16)) > 10


def test_limits_without_room_are_a_configuration_error(
    builder: Builder, settings: Settings, limits: ModelLimits
) -> None:
    builder.paragraph("text")
    tight = ModelLimits(limits.max_tokens, "word " * 254, limits.special, limits.tokenizer, limits.encode)
    with pytest.raises(ConfigError, match="no room"):
        make_chunks(builder.finish(), "d", ChunkConfig(), tight, settings)


def test_an_empty_document_has_no_chunks(builder: Builder, chunked) -> None:
    assert chunked(builder.finish()) == []


def test_positions_and_totals(builder: Builder, chunked) -> None:
    builder.paragraph(prose(60))
    chunks = chunked(builder.finish())
    assert [c.metadata.chunk_index for c in chunks] == list(range(len(chunks)))
    assert {c.metadata.total_chunks for c in chunks} == {len(chunks)}
    assert {c.metadata.source_format for c in chunks} == {"md"}
