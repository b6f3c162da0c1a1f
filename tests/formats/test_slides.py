"""Real slide decks: what their rows in the manifest ask for beyond strings.

Each check was worked out from the file itself and its printed slides.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.formats.office_checks import empty_table, grid, items, losses, outline, spans
from tests.formats.reading import FORMATS, document, elements, texts

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not FORMATS.exists(), reason="the shared documents are not there"),
]


_MERGED = {
    "Class1": (1, 3), "Class2": (1, 3), "A merged with B": (1, 2), "R3": (2, 1), "R4": (3, 1),
}  # fmt: skip


def legacy_ppt(name: str) -> None:
    found = document(name)
    assert [t for _, t in outline(found)][:2] == ["Test Table Slide", "Second slide title"]
    assert items(found)[:3] == ["- With foo", "- Bar", "- And baz things"]
    assert spans(found.tables[0]) == _MERGED
    assert grid(found.tables[0]) == grid(document("dl__powerpoint_sample.pptx").tables[0])


def line_breaks(name: str) -> None:
    assert document(name).metadata.headings == [
        "X-Library The fully customisable and copyright-free standard content template collection "
        "exclusively for our customers"
    ]


def slide_comments(name: str) -> None:
    found = document(name)
    assert texts(found, "comment")[0] == "John Reviewer: This is a sample reviewer comment"
    assert not any("sample reviewer" in t for t in texts(found, "paragraph", "list_item", "heading"))
    assert elements(found, "comment")[0].page_number == 1


def malformed_pictures(name: str) -> None:
    found = document(name)
    assert len(found.pages) == 3
    assert "image_unreadable" in losses(found)
    assert [t for t in texts(found) if t.startswith("Slide With")] == [
        "Slide With Missing BlipFill", "Slide With Dangling Rel", "Slide With Wrong Content Type",
    ]  # fmt: skip


def merged_slide_table(name: str) -> None:
    found = document(name)
    assert spans(found.tables[0]) == _MERGED
    assert [(e.page_number, e.content) for e in elements(found, "speaker_notes")] == [
        (2, "Some notes on the second slide."),
        (3, "Final notes on the third slide.\nSecond line of notes."),
    ]


def slide_charts(name: str) -> None:
    ducks, revenue = document(name).tables
    assert ducks.caption == "Chart: Wild Duck Observations by Year"
    assert grid(ducks) == [
        ["", "Freshwater Ducks", "Saltwater Ducks"],
        ["2019", "120", "80"], ["2020", "130", "95"], ["2021", "150", "110"], ["2022", "175", "130"],
    ]  # fmt: skip
    assert grid(revenue) == [["", "2026"], ["Q1", "10"], ["Q2", "20"], ["Q3", "30"]]


def chart_title(name: str) -> None:
    chart = document(name).tables[1]
    assert chart.caption == "Chart: a3f6004b-6f4f-4ea8-bee3-3741f4dc385f"
    assert grid(chart) == [["", "Series 1"], *([str(y), str(y)] for y in range(2000, 2004))]


def one_empty_slide(name: str) -> None:
    found = document(name)
    assert len(found.pages) == 1
    assert texts(found) == ["Slide 1"]


def groups(name: str) -> None:
    found = texts(document(name))
    for text in (*(f"Text box{n}" for n in (1, 2, 3, 4)), "WordArt1", "Ungrouped text box", "smart1", "Smart3"):
        assert found.count(text) == 1
    assert "Text box5 tika link" in found


def various_pptx(name: str) -> None:
    found = document(name)
    assert grid(found.tables[0])[0] == ["Row 1 Col 1", "Row 1 Col 2", "Row 1 Col 3"]
    assert texts(found, "page_header") == ["This is the header text."]
    assert texts(found, "page_footer") == ["This is the footer text."]


def nested_groups(name: str) -> None:
    """Beside one another A and the group of B over D, then the group of C to H, then I and J."""
    assert texts(document(name))[1:] == list("ABDCEFGHIJ")


def master_footer(name: str) -> None:
    assert texts(document(name), "page_footer") == ["Master footer is here"]


CHECKS: dict[str, Callable[[str], None]] = {
    "tk__testMasterFooter.odp": master_footer,
    "dl__legacy_sample.ppt": legacy_ppt,
    "dl__powerpoint_bad_text.pptx": line_breaks,
    "dl__powerpoint_comments.pptx": slide_comments,
    "dl__powerpoint_malformed_pictures.pptx": malformed_pictures,
    "dl__powerpoint_sample.pptx": merged_slide_table,
    "dl__pptx_chart.pptx": slide_charts,
    "mk__test.pptx": chart_title,
    "po__SmartArt.pptx": one_empty_slide,
    "po__table_test.pptx": empty_table,
    "px__shp-groupshape.pptx": one_empty_slide,
    "tk__testPPT_groups.pptx": groups,
    "tk__testPPT_various.pptx": various_pptx,
    "un__group-shapes-nested.pptx": nested_groups,
}


@pytest.mark.parametrize("name", CHECKS)
def test_what_the_manifest_asks_for(name: str) -> None:
    CHECKS[name](name)
