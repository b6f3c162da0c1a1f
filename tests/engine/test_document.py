"""The tree: nesting, rendering, derived views, limits, merging of parts."""

from __future__ import annotations

import pytest

from engine.document import Builder, merge, to_markdown
from engine.errors import Code, InputError
from engine.records import ExtractedDocument, ExtractedImage, TableCell
from engine.settings import Limits
from engine.tables import has_spans, table_from_cells, table_from_rows, table_html, table_lines
from engine.text import clean_text


def _sample() -> Builder:
    b = Builder("docx", Limits())
    b.paragraph("Preface.")
    b.heading(1, "One")
    b.paragraph("Intro\nto one.")
    b.heading(3, "Deep")
    b.list_block([(1, "-", "first"), (2, "a)", "nested"), (1, "-", "second")])
    b.heading(2, "Side")
    b.table(table_from_rows([["Name", "Age"], ["Ann|Bo", "7"], ["short"]], caption="People"))
    b.heading(1, "Two")
    b.code("x = 1\n```", "python")
    b.image(ExtractedImage(b"png", "image/png", alt_text="A chart"))
    b.paragraph("running title", "page_header")
    return b


def test_content_is_rendered_in_source_order_and_spans_lie_over_it() -> None:
    d = _sample().finish()
    assert d.content == (
        "Preface.\n\n# One\n\nIntro\nto one.\n\n### Deep\n\n- first\n  a) nested\n- second\n\n## Side\n\n"
        "People\n\n| Name | Age |\n| --- | --- |\n| Ann\\|Bo | 7 |\n| short |  |\n\n# Two\n\n"
        "````python\nx = 1\n```\n````\n\nA chart"
    )
    assert [d.content[s.start : s.end] for s in d.spans][-1] == "A chart"
    assert [s.section_path for s in d.spans if s.type == "list_item"] == [["One", "Deep"]] * 3
    assert next(s.section_path for s in d.spans if s.type == "table") == ["One", "Side"]


def test_facts_are_derived_from_the_tree() -> None:
    d = _sample().finish()
    assert d.metadata.headings == ["One", "Deep", "Side", "Two"]
    assert d.tables[0].rows == [["Ann|Bo", "7"], ["short", ""]]
    assert d.images[0].image_id == "image-1"
    assert [e.content for e in d.structure if e.type == "heading"] == ["One", "Two"]
    assert "running title" not in d.content


def test_text_is_cleaned() -> None:
    assert clean_text("a\ud800b\u00adc\r\nd\x00e\u2028f") == "a\ufffdbc\nde\nf"


def test_spans_survive_in_html_and_stand_once_in_pipes() -> None:
    cells = [
        TableCell(0, 0, "Region", header=True), TableCell(0, 1, "Sales", colspan=2, header=True),
        TableCell(1, 0, "North", rowspan=2), TableCell(1, 1, "1"), TableCell(1, 2, "2 < 3"), TableCell(2, 1, "4"),
    ]  # fmt: skip
    table = table_from_cells(cells)
    assert has_spans(table)
    assert table_lines(table)[2:] == ["| North | 1 | 2 < 3 |", "|  | 4 |  |"]
    assert '<th colspan="2">Sales</th>' in table_html(table)
    assert "<td>2 &lt; 3</td>" in table_html(table)
    b = Builder("docx", Limits())
    b.table(table)
    d = b.finish()
    assert d.content.startswith("| Region | Sales |  |")
    assert to_markdown(d).startswith("<table>")


@pytest.mark.parametrize(
    ("limit", "value"), [("characters", 1000), ("elements", 100), ("table_cells", 100), ("pages", 3)]
)
def test_every_limit_ends_an_exploding_document(limit: str, value: int) -> None:
    b = Builder("txt", Limits(**{limit: value}))
    with pytest.raises(InputError, match=f"limits.{limit}") as caught:
        for n in range(1, 1000):
            b.start_page(n)
            b.table(table_from_rows([["abc", "def"]] * 2))
            b.paragraph("words " * 5)
    assert caught.value.code == Code.LIMIT_EXCEEDED


def test_an_empty_table_is_dropped_and_said() -> None:
    b = Builder("docx", Limits())
    b.table(table_from_rows([["", ""], ["", ""]]))
    d = b.finish()
    assert d.content == ""
    assert [w.code for w in d.warnings] == ["empty_table"]


def test_equal_losses_are_counted_together() -> None:
    b = Builder("docx", Limits())
    for _ in range(5):
        b.warn("image_skipped", "an image was skipped", "page 1")
    assert [(w.code, w.count) for w in b.warnings] == [("image_skipped", 5)]


def _part(numbers: list[int]) -> ExtractedDocument:
    b = Builder("pdf", Limits())
    for n in numbers:
        b.start_page(n, 100, 200)
        if n % 3 == 1:
            b.heading(1 if n == 1 else 2, f"Section {n}")
        b.paragraph(f"Text of page {n}.")
    return b.finish()


def test_a_document_does_not_show_where_it_was_cut() -> None:
    whole = _part([1, 2, 3, 4, 5, 6, 7])
    cut = merge([_part([1, 2]), _part([3, 4, 5]), _part([6, 7])], Limits())
    assert cut.content == whole.content
    assert cut.spans == whole.spans
    assert cut.structure == whole.structure
    assert cut.metadata == whole.metadata
    assert [p.content for p in cut.pages] == [p.content for p in whole.pages]


def test_deep_nesting_does_not_exhaust_the_stack() -> None:
    b = Builder("html", Limits())
    for depth in range(5000):
        b.list_block([(depth, "-", f"item {depth}")])
    assert "item 4999" in b.finish().content


def test_an_authors_line_breaks_are_breaks_in_markdown_for_people() -> None:
    for source_format, expected in (("pptx", "one\\\ntwo"), ("txt", "one\ntwo")):
        b = Builder(source_format, Limits())
        b.paragraph("one\ntwo")
        d = b.finish()
        assert (to_markdown(d), d.content) == (expected, "one\ntwo")
