"""What a document says of itself: no names that programs put there, a title from its opening heading, its words."""

from __future__ import annotations

import pytest

from engine.document import Builder
from engine.facts import count_words
from engine.records import DocumentMetadata
from engine.settings import Limits


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# Tides\n\n- high water: 6.84 m\n\n| a | b |\n| --- | --- |", 7),
        ("日本語のテスト", 7),
        ("灯台 built in 1874年", 6),
        ("— * ~ _ …", 0),
        ("", 0),
    ],
)
def test_words(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("title", "author", "wanted"),
    [
        ("PowerPoint Presentation", "python-docx", ("Season 2024", None)),
        ("(anonymous)", "(anonymous)", ("Season 2024", None)),
        ("Microsoft Word - minutes final.doc", " Maud Ellery ", ("Season 2024", "Maud Ellery")),
        (" The season ", "User Experience Guild", ("The season", "User Experience Guild")),
        ("Presentation of the lamp", "", ("Presentation of the lamp", None)),
        (None, None, ("Season 2024", None)),
    ],
)
def test_titles_and_authors(title: str | None, author: str | None, wanted: tuple[str | None, str | None]) -> None:
    builder = Builder("pptx", Limits(), metadata=DocumentMetadata(title, author))
    builder.paragraph("Skerry Point", "page_header")
    builder.heading(1, "Season 2024")
    made = builder.finish().metadata
    assert (made.title, made.author) == wanted


@pytest.mark.parametrize(("kind", "heading"), [("xlsx", "Prices"), ("docx", "Prices"), ("odp", "Slide 1")])
def test_no_heading_is_a_title_that_stands_later_or_names_a_sheet_or_a_place(kind: str, heading: str) -> None:
    builder = Builder(kind, Limits())
    if kind == "docx":
        builder.paragraph("Dear keeper,")
    builder.heading(1, heading)
    assert builder.finish().metadata.title is None
