"""What is drawn over a page: the elements in reading order, in the colour of their type, with a legend."""

from __future__ import annotations

from PIL import Image

from engine.document import Builder
from engine.marks import Mark, marks_of
from engine.overlay import COLOURS, draw_marks
from engine.records import Box, StructureElement
from engine.settings import Limits


def test_elements_are_numbered_as_they_are_read_page_by_page() -> None:
    builder = Builder("pdf", Limits())
    builder.start_page(1, 200, 100)
    builder.paragraph("Skerry Point", "page_header", box=Box(1, 0, 0, 200, 8))
    builder.heading(2, "Tides", box=Box(1, 10, 10, 60, 20))
    item = StructureElement("list_item", 1, "High", page_number=1, box=Box(1, 10, 30, 60, 40))
    builder.add(StructureElement("list", 1, "", [item], page_number=1, box=Box(1, 10, 30, 60, 60)))
    builder.start_page(2, 200, 100)
    builder.paragraph("Low", box=Box(2, 10, 10, 60, 20))
    builder.paragraph("nowhere")
    found = marks_of(builder.finish())
    assert [(m.type, m.number, m.label) for m in found[1]] == [
        ("page_header", 0, ""), ("heading", 1, "1 h2"), ("list_item", 2, "")
    ]  # fmt: skip
    assert found[2] == [Mark("paragraph", 1, 10, 10, 60, 20)]


def test_boxes_have_the_colour_of_their_type_and_the_legend_names_it() -> None:
    page = Image.new("RGB", (400, 200), "white")
    drawn = draw_marks(page, [Mark("table", 1, 50, 20, 150, 60), Mark("table", 2, 120, 70, 900, 95)], 2.0)
    assert drawn.width == 400 and drawn.height > 200
    assert drawn.getpixel((100, 80)) == COLOURS["table"]  # the left edge, at 2 pixels a point
    assert drawn.getpixel((399, 160)) == COLOURS["table"]  # held at the page's edge
    red, green, blue = drawn.getpixel((200, 80))  # type: ignore[misc]
    assert green < red and green < blue < 256 and green > 200  # a tint over the text, not paint
    legend = drawn.crop((0, 201, 400, drawn.height))
    assert COLOURS["table"] in {colour for _, colour in legend.getcolors(100_000) or []}
    assert page.getpixel((100, 80)) == (255, 255, 255)


def test_a_page_without_elements_says_so() -> None:
    assert draw_marks(Image.new("L", (300, 50), 255), [], 1.0).height > 50
