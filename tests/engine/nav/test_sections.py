"""The section tree, out of the kept tree and out of the chunks alone: the same wherever both can know."""

from __future__ import annotations

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.document import Builder
from engine.nav import nav_of, walk_sections
from engine.nav.draft import first_sentence
from engine.nav.records import DocumentNav, NavSection
from engine.records import ExtractedDocument, ExtractedImage
from engine.settings import Settings
from engine.tables import table_from_rows

SENTENCE = "Turbines in hall {} were inspected by the night crew before sunrise. "


def prose(sentences: int, name: str = "A") -> str:
    return "".join(SENTENCE.format(f"{name}{i}") for i in range(sentences)).strip()


def report(builder: Builder, sentences: int = 40) -> ExtractedDocument:
    """Two chapters with sections, on pages, with a table and pictures."""
    builder.metadata.title = "Inspection"
    builder.start_page(1)
    builder.paragraph("A word before any heading.")
    builder.heading(1, "Chapter one")
    builder.paragraph("The first chapter is about halls. " + prose(sentences, "a"))
    builder.heading(2, "Findings")
    builder.paragraph("Findings of chapter one. " + prose(sentences, "b"))
    builder.start_page(2)
    builder.table(table_from_rows([["Hall", "State"], ["1", "good"]], caption="States"))
    builder.image(ExtractedImage(b"", "image/png"))
    builder.start_page(3)
    builder.heading(1, "Chapter two")
    builder.heading(2, "Findings")
    builder.paragraph("Findings of chapter two. " + prose(sentences, "c"))
    builder.image(ExtractedImage(b"", "image/png", caption="A hall"))
    return builder.finish()


def shape(sections: list[NavSection]) -> list[object]:
    return [(s.title, s.level, shape(s.children)) for s in sections]


def by_path(nav: DocumentNav) -> dict[tuple[str, ...], NavSection]:
    return {tuple(s.path): s for s in walk_sections(nav.sections)}


SHAPE = [("Chapter one", 1, [("Findings", 2, [])]), ("Chapter two", 1, [("Findings", 2, [])])]


@pytest.mark.parametrize("basis", ["tree", "chunks"])
@pytest.mark.parametrize("sentences", [1, 6, 40])
def test_sections_pages_and_summaries(builder: Builder, viewed, basis: str, sentences: int) -> None:
    document = report(builder, sentences)
    view = viewed(document)
    nav = nav_of(view, document if basis == "tree" else None)
    assert nav.basis == basis
    assert shape(nav.sections) == SHAPE
    found = by_path(nav)
    assert found["Chapter one",].summary == "The first chapter is about halls."
    assert found["Chapter two", "Findings"].summary == "Findings of chapter two."
    assert nav.chunk_count == len(view.chunks)
    assert nav.token_count == sum(p["token_count"] for p in view.chunks)
    for section in walk_sections(nav.sections):
        assert section.chunk_ids == [view.chunks[i]["chunk_id"] for i in section.chunk_indexes]
        assert section.chunk_count >= len(section.chunk_indexes)
    # every chunk is somewhere, and a section's text is in the chunks it names
    everywhere = {i for s in walk_sections(nav.sections) for i in s.chunk_indexes} | set(nav.chunk_indexes)
    assert everywhere == set(range(len(view.chunks)))
    for path, words in ((("Chapter one", "Findings"), "hall b0 "), (("Chapter two", "Findings"), "hall c0 ")):
        holding = [p["chunk_index"] for p in view.chunks if words in p["content"]]
        assert set(holding) & set(found[path].chunk_indexes)
        others = {i for p, s in found.items() if p != path and path[: len(p)] != p for i in s.chunk_indexes}
        if sentences == 40:
            assert not set(holding) & others
            assert found["Chapter two", "Findings"].page_range == (3, 3)


def test_the_tree_knows_resources_that_no_chunk_shows(builder: Builder, viewed) -> None:
    document = report(builder)
    view = viewed(document)
    from_tree, from_chunks = by_path(nav_of(view, document)), by_path(nav_of(view))
    ids = [(r.id, r.type, r.caption, r.page_number) for r in from_tree["Chapter one", "Findings"].resources]
    assert ids == [("table-1", "table", "States", 2), ("image-1", "image", None, 2)]
    assert [r.id for r in from_chunks["Chapter one", "Findings"].resources] == ["table-1"]
    assert [r.id for r in from_tree["Chapter two", "Findings"].resources] == ["image-2"]
    assert [r.id for r in from_chunks["Chapter two", "Findings"].resources] == ["image-2"]


def test_ids_stay_when_text_changes_and_tell_equal_headings_apart(builder: Builder, viewed, settings) -> None:
    first = nav_of(viewed(report(builder, 5)))
    second_builder = Builder("md", settings.limits)
    document = report(second_builder, 40)
    second = nav_of(viewed(document), document)
    assert [s.id for s in walk_sections(first.sections)] == [s.id for s in walk_sections(second.sections)]
    assert len({s.id for s in walk_sections(first.sections)}) == 4
    twins = Builder("md", settings.limits)
    for n in range(3):
        twins.heading(1, "Same")
        twins.paragraph(prose(30, str(n)))
    made = twins.finish()
    for tree in (made, None):
        nav = nav_of(viewed(made), tree)
        assert [s.title for s in nav.sections] == ["Same"] * 3
        assert len({s.id for s in nav.sections}) == 3
        assert [i for s in nav.sections for i in s.chunk_indexes] == list(range(nav.chunk_count))


@pytest.mark.parametrize("strategy", ["fixed", "sliding", "recursive"])
def test_chunks_that_overlap_show_each_heading_once(builder: Builder, viewed, strategy: str) -> None:
    document = report(builder, 12)
    view = viewed(document, strategy=strategy, max_tokens=100, overlap_tokens=40)
    nav = nav_of(view)
    assert shape(nav.sections) == SHAPE
    assert shape(nav_of(view, document).sections) == SHAPE


def test_nothing_of_a_hidden_section_shows(builder: Builder, viewed) -> None:
    document = report(builder)
    whole = viewed(document)
    hidden = {p["chunk_index"] for p in whole.chunks if p["section_path"][:1] == ["Chapter two"]}
    assert hidden
    nav = nav_of(viewed(document, hidden=hidden), document)
    assert nav.basis == "chunks"
    assert [s.title for s in nav.sections] == ["Chapter one"]
    assert nav.chunk_count == len(whole.chunks) - len(hidden)
    assert "two" not in repr(nav)


def test_number_signs_in_code_are_no_headings(builder: Builder, viewed) -> None:
    builder.heading(1, "Setup")
    builder.code("# Install\nmake all", "sh")
    builder.paragraph("# Install\n\nis only a comment here.")
    builder.heading(2, "Install")
    builder.paragraph("Run it.")
    document = builder.finish()
    nav = nav_of(viewed(document))
    assert shape(nav.sections)[0][0] == "Setup"  # type: ignore[index]
    titles = [s.title for s in walk_sections(nav.sections)]
    assert titles.count("Install") <= 2  # a paragraph that looks exactly like a heading cannot be told from one
    assert shape(nav_of(viewed(document), document).sections) == [("Setup", 1, [("Install", 2, [])])]


def test_documents_without_headings_have_no_sections(builder: Builder, viewed) -> None:
    builder.paragraph(prose(60))
    document = builder.finish()
    for tree in (document, None):
        nav = nav_of(viewed(document), tree)
        assert nav.sections == []
        assert nav.chunk_indexes == list(range(nav.chunk_count))


def test_deep_and_wide_outlines_end_in_time(builder: Builder, viewed) -> None:
    for n in range(1500):
        builder.heading(1 + n % 6, f"Heading {n}")
        builder.paragraph(f"Text {n}.")
    document = builder.finish()
    view = viewed(document)
    tree = nav_of(view, document)
    assert sum(1 for _ in walk_sections(tree.sections)) == 1500
    assert nav_of(view).sections


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("One thing. Another.", "One thing."),
        ("- item without end", "- item without end"),
        ("| a | b |\n| --- | --- |", ""),
        ("", ""),
        ("word " * 200, ("word " * 48).strip() + "…"),
    ],
)
def test_first_sentence(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence


TITLES, LENGTHS = ["Scope", "Terms", "Pay", "End"], [0, 1, 3, 25]
SECTION = st.tuples(st.integers(1, 3), st.sampled_from(TITLES), st.sampled_from(LENGTHS))


@given(st.lists(SECTION, min_size=1, max_size=12), st.sampled_from(["semantic", "fixed", "sliding", "recursive"]))
@hypothesis.settings(max_examples=80, deadline=None, derandomize=True)
def test_chunks_alone_show_the_sections_that_hold_text(viewed, sections: list, strategy: str) -> None:
    builder = Builder("md", Settings().limits)
    for number, (level, title, sentences) in enumerate(sections):
        builder.heading(level, f"{title} {level}")  # one that repeats the title above it cannot be told from it
        builder.paragraph(prose(sentences, f"s{number}x"))
    document = builder.finish()
    view = viewed(document, strategy=strategy, max_tokens=120, overlap_tokens=20)
    tree, chunks = nav_of(view, document), nav_of(view)
    with_text = {tuple(span.section_path) for span in document.spans if span.type == "paragraph"}
    shown = {tuple(s.path) for s in walk_sections(chunks.sections)}
    every = {tuple(s.path) for s in walk_sections(tree.sections)}
    assert every >= with_text
    assert shown >= with_text
    assert sum(len(s.chunk_ids) > 0 for s in walk_sections(chunks.sections)) > 0 or not view.chunks
    # what the tree files under a section's own text, the chunks file there as well
    for section in walk_sections(tree.sections):
        for index in section.chunk_indexes:
            filed = [s.path for s in walk_sections(chunks.sections) if index in s.chunk_indexes]
            assert filed or index in chunks.chunk_indexes
