"""The semantic strategy keeps sections, lists, tables and code together, and loses no heading."""

from __future__ import annotations

from engine.document import Builder
from engine.records import Chunk
from engine.tables import table_from_rows

SENTENCE = "The quick brown fox number {} jumps over the lazy dog near the river bank. "


def prose(sentences: int, offset: int = 0) -> str:
    return "".join(SENTENCE.format(i + offset) for i in range(sentences)).strip()


def text(chunk: Chunk) -> str:
    return chunk.content[chunk.prefix_length :]


def test_a_document_that_fits_is_one_chunk(builder: Builder, chunked) -> None:
    builder.heading(1, "Title")
    builder.heading(2, "First")
    builder.paragraph("One.")
    builder.heading(2, "Second")
    builder.paragraph("Two.")
    document = builder.finish()
    (chunk,) = chunked(document)
    assert chunk.content == document.content == "# Title\n\n## First\n\nOne.\n\n## Second\n\nTwo."
    assert chunk.metadata.section_path == ["Title"]
    assert chunk.prefix_length == 0


def test_sections_are_chunks_under_their_heading(builder: Builder, chunked) -> None:
    for name in ("Alpha", "Beta"):
        builder.heading(2, name)
        builder.paragraph(f"{name} begins. " + prose(8))
    first, second = chunked(builder.finish())
    assert first.content.startswith("## Alpha\n\nAlpha begins.")
    assert second.content.startswith("## Beta\n\nBeta begins.")
    assert "Beta" not in first.content
    assert second.metadata.section_heading == "Beta"
    assert second.prefix_length == len("## Beta\n\n")


def test_a_section_with_its_subsections_stays_whole_when_it_fits(builder: Builder, chunked) -> None:
    builder.heading(1, "Long")
    builder.paragraph(prose(20))
    builder.heading(1, "Short")
    builder.heading(2, "A")
    builder.paragraph("Little.")
    builder.heading(2, "B")
    builder.paragraph("Less.")
    last = chunked(builder.finish())[-1]
    assert last.content == "# Short\n\n## A\n\nLittle.\n\n## B\n\nLess."
    assert last.metadata.section_path == ["Short"]


def test_a_long_section_is_cut_between_paragraphs_then_sentences(builder: Builder, chunked) -> None:
    builder.heading(1, "Foxes")
    for i in range(6):
        builder.paragraph(prose(4, i * 4))
    chunks = chunked(builder.finish())
    assert len(chunks) > 1
    for chunk in chunks:
        assert chunk.content.startswith("## Foxes\n\n")
        assert text(chunk).startswith("The quick")
        assert text(chunk).endswith("river bank.")
    builder = Builder("md", builder.limits)
    builder.paragraph(prose(60))
    for chunk in chunked(builder.finish()):
        assert text(chunk).endswith("river bank.")
        assert chunk.embed_token_count <= 204 or chunk is chunks[-1]


def test_pieces_fill_the_target_and_leave_no_crumbs(builder: Builder, chunked) -> None:
    builder.paragraph(prose(100))
    counts = [chunk.embed_token_count for chunk in chunked(builder.finish())]
    assert min(counts) > 100
    assert sum(counts) / len(counts) > 170


def test_a_list_stays_with_the_paragraph_before_it(builder: Builder, chunked) -> None:
    builder.paragraph(prose(9))
    builder.paragraph("Bring the following:")
    builder.list_block([(1, "-", f"item number {i} with a few more words") for i in range(9)])
    chunks = chunked(builder.finish())
    (holder,) = [c for c in chunks if "Bring the following:" in c.content]
    assert all(f"item number {i} " in holder.content for i in range(9))


def test_a_list_over_the_limit_is_cut_between_items(builder: Builder, chunked) -> None:
    builder.paragraph("Bring the following:")
    builder.list_block([(1 + i % 2, "-", f"item {i}: " + prose(1, i)) for i in range(40)])
    chunks = chunked(builder.finish())
    assert text(chunks[0]).startswith("Bring the following:\n\n- item 0:")
    for chunk in chunks[1:]:
        assert text(chunk).lstrip().startswith("- item")
        assert text(chunk).endswith("bank.")


def test_code_is_whole_unless_it_alone_is_too_long(builder: Builder, chunked) -> None:
    code = "def add(a, b):\n    total = a + b\n    return total"
    builder.paragraph(prose(10))
    builder.code(code, "python")
    builder.paragraph(prose(10, 10))
    chunks = chunked(builder.finish())
    assert sum(f"```python\n{code}\n```" in c.content for c in chunks) == 1


def test_long_code_is_cut_between_functions(builder: Builder, chunked) -> None:
    functions = [
        f"def function_{i}(first, second):\n    value = first * {i} + second\n\n    return value - {i}"
        for i in range(40)
    ]
    builder.code("\n\n\n".join(functions), "python")
    chunks = chunked(builder.finish())
    assert len(chunks) > 2
    for chunk in chunks[1:]:
        assert chunk.content.startswith("def function_")
        assert chunk.metadata.element_type == "code"
        assert chunk.metadata.chunk_type == "text"


def test_headings_without_a_body_go_with_the_next_section(builder: Builder, chunked) -> None:
    builder.heading(1, "Book")
    builder.heading(2, "Empty sister")
    builder.heading(2, "Chapter")
    builder.paragraph(prose(8))
    builder.heading(2, "Next")
    builder.paragraph(prose(8))
    chunks = chunked(builder.finish())
    assert chunks[0].content.startswith("# Book\n\n## Empty sister\n\n## Chapter\n\nThe quick")
    assert chunks[0].metadata.section_path == ["Book", "Chapter"]
    assert chunks[1].content.startswith("## Next\n\nThe quick")


def test_a_heading_at_the_end_is_not_lost(builder: Builder, chunked) -> None:
    builder.paragraph(prose(16))
    builder.heading(1, "To be written")
    assert chunked(builder.finish())[-1].content == "# To be written"


def test_without_heading_prefixes_the_heading_stands_in_its_place(builder: Builder, chunked) -> None:
    builder.heading(1, "Foxes")
    builder.paragraph(prose(40))
    chunks = chunked(builder.finish(), include_headings=False)
    assert chunks[0].content.startswith("# Foxes\n\nThe quick")
    assert all(c.prefix_length == 0 for c in chunks)
    assert chunks[1].metadata.section_path == ["Foxes"]


def test_a_heading_over_the_cap_is_shortened_with_a_mark(builder: Builder, chunked) -> None:
    builder.heading(1, "very long heading indeed " * 60)
    builder.paragraph(prose(30))
    for chunk in chunked(builder.finish()):
        prefix = chunk.content[: chunk.prefix_length]
        assert prefix.startswith("## very long heading")
        assert prefix.endswith("…\n\n")
        assert len(text(chunk)) > 100


def test_structure_can_be_ignored(builder: Builder, chunked) -> None:
    builder.heading(1, "One")
    builder.paragraph(prose(6))
    builder.heading(1, "Two")
    builder.table(table_from_rows([["a", "b"], ["1", "2"]]))
    builder.paragraph(prose(6))
    chunks = chunked(builder.finish(), respect_structure=False)
    assert any("# Two" in c.content and "| a | b |" in c.content for c in chunks)


def test_a_table_is_its_own_chunk_with_its_caption(builder: Builder, chunked) -> None:
    builder.heading(1, "Prices")
    builder.paragraph(prose(14))
    builder.paragraph("Table 1: prices", type="caption")
    builder.table(table_from_rows([["item", "price"], ["pen", "2"]]))
    builder.paragraph(prose(14))
    (table,) = [c for c in chunked(builder.finish()) if c.metadata.chunk_type == "table"]
    assert table.content == "## Prices\n\nTable 1: prices\n\n| item | price |\n| --- | --- |\n| pen | 2 |"
    assert table.metadata.element_type == "table"
    assert table.metadata.table_rows == (0, 0)
    assert [(r.target, r.relation) for r in table.metadata.connect_to] == [("table-1", "embeds")]
