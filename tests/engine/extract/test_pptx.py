"""Decks: slides as pages, reading order, groups, tables, charts, notes, hidden slides."""

from __future__ import annotations

from pathlib import Path

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches, Pt

from engine.extract import extract
from engine.extract.drawing import chart_blocks
from engine.extract.flow import image_block
from tests.engine.extract.office_files import codes, context, outline, read


def save(tmp_path: Path, deck):
    deck.save(str(tmp_path / "a.pptx"))
    return read(tmp_path / "a.pptx", "pptx", tmp_path)


def box(shapes, text: str, left: float, top: float) -> None:
    shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.5)).text_frame.text = text


def test_slides_titles_bullets_and_notes(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Plan"
    frame = slide.placeholders[1].text_frame
    frame.text = "first"
    inner = frame.add_paragraph()
    inner.text, inner.level = "inner", 1
    slide.notes_slide.notes_text_frame.text = "say hello"
    deck.slides.add_slide(deck.slide_layouts[6])
    document = save(tmp_path, deck)
    assert document.content == "# Plan\n\n- first\n  - inner\n\nSpeaker notes: say hello\n\n# Slide 2"
    assert [p.page_number for p in document.pages] == [1, 2]
    assert document.pages[0].width == 720
    assert document.spans[1].page_number == 1


def test_groups_are_read_through_in_reading_order(tmp_path: Path) -> None:
    deck = Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    box(shapes, "right column", 6, 1)
    outer = shapes.add_group_shape()
    inner = outer.shapes.add_group_shape()
    box(inner.shapes, "left below", 1, 3)
    box(inner.shapes, "left top", 1, 1)
    box(shapes, "right below", 6, 3.2)
    texts = [text for kind, text in outline(save(tmp_path, deck)) if kind == "paragraph"]
    assert texts == ["left top", "left below", "right column", "right below"]


def test_tables_keep_spans(tmp_path: Path) -> None:
    deck = Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    table = shapes.add_table(2, 3, Inches(1), Inches(1), Inches(6), Inches(2)).table
    table.cell(0, 0).merge(table.cell(0, 1))
    for row, column, text in ((0, 0, "wide"), (0, 2, "c"), (1, 0, "x"), (1, 1, "y"), (1, 2, "z")):
        table.cell(row, column).text = text
    found = [(c.text, c.row, c.col, c.colspan) for c in save(tmp_path, deck).tables[0].cells]
    assert found == [("wide", 0, 0, 2), ("c", 0, 2, 1), ("x", 1, 0, 1), ("y", 1, 1, 1), ("z", 1, 2, 1)]


def test_charts_become_tables(tmp_path: Path) -> None:
    deck = Presentation()
    data = CategoryChartData(number_format="0%")
    data.categories = ["Q1", "Q2"]
    data.add_series("Share", (0.25, 0.5))
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    frame = shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), data)
    frame.chart.has_title = True
    frame.chart.chart_title.text_frame.text = "Market"
    table = save(tmp_path, deck).tables[0]
    assert (table.caption, table.headers, table.rows) == (
        "Chart: Market",
        ["", "Share"],
        [["Q1", "25%"], ["Q2", "50%"]],
    )


def test_notes_without_the_body_placeholder(tmp_path: Path) -> None:
    deck = Presentation()
    notes = deck.slides.add_slide(deck.slide_layouts[6]).notes_slide
    notes.notes_text_frame.text = "typed elsewhere"
    body = notes.notes_placeholder._element
    body.nvSpPr.nvPr.remove(body.nvSpPr.nvPr.ph)  # now an ordinary text box
    assert ("speaker_notes", "typed elsewhere") in outline(save(tmp_path, deck))


def test_hidden_slides_are_kept_and_marked(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Backup"
    slide._element.set("show", "0")
    document = save(tmp_path, deck)
    assert (document.content, codes(document)) == ("# Backup (hidden)", {"hidden_slide"})


def test_line_breaks_and_escapes(tmp_path: Path) -> None:
    deck = Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    box(shapes, "one\vtwo", 1, 1)
    assert outline(save(tmp_path, deck))[-1] == ("paragraph", "one\ntwo")


def test_malformed_pictures_are_tolerated(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (4, 4), "red").save(tmp_path / "p.png")
    deck = Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    good = shapes.add_picture(str(tmp_path / "p.png"), Inches(1), Inches(1))
    good._element.nvPicPr.cNvPr.set("descr", "a red square")
    bad = shapes.add_picture(str(tmp_path / "p.png"), Inches(1), Inches(3))
    bad._element.remove(bad._element.blipFill)
    document = save(tmp_path, deck)
    assert ("image", "a red square") in outline(document)
    assert (document.images[0].mime_type, document.images[0].data[:4]) == ("image/png", b"\x89PNG")
    assert "image_unreadable" in codes(document)


def test_a_slide_without_title_placeholder_is_named_by_what_looks_like_one(tmp_path: Path) -> None:
    made = Presentation()
    for sizes in ((40, 18), (20, 18)):
        slide = made.slides.add_slide(made.slide_layouts[6])
        for number, size in enumerate(sizes):
            shape = slide.shapes.add_textbox(Inches(1), Inches(1 + number), Inches(4), Inches(0.5))
            run = shape.text_frame.paragraphs[0].add_run()
            run.text, run.font.size = f"text {number}", Pt(size)
    document = save(tmp_path, made)
    assert document.metadata.headings == ["text 0", "Slide 2"]
    assert document.content == "# text 0\n\ntext 1\n\n# Slide 2\n\ntext 0\n\ntext 1"


def test_hidden_slides_and_footers_by_settings(tmp_path: Path) -> None:
    made = Presentation()
    for number in range(3):
        slide = made.slides.add_slide(made.slide_layouts[5])
        assert slide.shapes.title is not None
        slide.shapes.title.text = f"Slide called {number}"
    made.slides[1]._element.set("show", "0")  # pyright: ignore[reportPrivateUsage]
    made.save(str(tmp_path / "b.pptx"))
    dropping = context(tmp_path, "pptx")
    dropping.settings.extraction.hidden = "drop"
    document = extract(tmp_path / "b.pptx", dropping)
    assert document.metadata.headings == ["Slide called 0", "Slide called 2"]
    assert [p.page_number for p in document.pages] == [1, 3]
    assert [(w.code, w.place) for w in document.warnings] == [("hidden_slide", "slide 2")]


def test_file_names_and_automatic_descriptions_are_no_alt_text() -> None:
    described = {
        "photo_0012.JPG": None,
        "A lamp by the sea. Description automatically generated": "A lamp by the sea.",
        "A graph\n\nAI-generated content may be incorrect.": "A graph",
        "Figure 3.png shows a lamp": "Figure 3.png shows a lamp",
    }
    for given, kept in described.items():
        image = image_block(b"", "image/png", given).image
        assert image is not None
        assert image.alt_text == kept


def test_a_chart_of_the_newer_kinds_becomes_a_table() -> None:
    cx = "http://schemas.microsoft.com/office/drawing/2014/chartex"
    a = "http://schemas.openxmlformats.org/drawingml/2006/main"
    points = [["Rent", "Fuel"], ["1200.5", "80"]]
    levels = ["".join(f'<cx:pt idx="{n}">{text}</cx:pt>' for n, text in enumerate(values)) for values in points]
    xml = (
        f'<cx:chartSpace xmlns:cx="{cx}" xmlns:a="{a}"><cx:chartData><cx:data id="0"><cx:strDim type="cat"><cx:lvl>'
        f'{levels[0]}</cx:lvl></cx:strDim><cx:numDim type="val"><cx:lvl formatCode="#,##0.00">{levels[1]}</cx:lvl>'
        "</cx:numDim></cx:data></cx:chartData><cx:chart><cx:title><cx:tx><cx:rich><a:p><a:r><a:t>Costs</a:t></a:r>"
        '</a:p></cx:rich></cx:tx></cx:title><cx:plotArea><cx:plotAreaRegion><cx:series layoutId="waterfall"><cx:tx>'
        '<cx:txData><cx:v>Euro</cx:v></cx:txData></cx:tx><cx:dataId val="0"/></cx:series></cx:plotAreaRegion>'
        "</cx:plotArea></cx:chart></cx:chartSpace>"
    )
    (block,) = chart_blocks(etree.fromstring(xml))
    assert block.table is not None
    assert block.table.caption == "Chart: Costs"
    assert [block.table.headers, *block.table.rows] == [["", "Euro"], ["Rent", "1,200.50"], ["Fuel", "80.00"]]
