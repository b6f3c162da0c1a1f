"""What users of other engines report of Word, PowerPoint and Excel files, each made anew from its report.

The names P22 to P31 are those reports' in the list of what hurts.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import docx as python_docx
import openpyxl
import pptx as python_pptx
from docx.oxml import parse_xml
from docx.text.paragraph import Paragraph
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from engine.document import to_markdown
from engine.extract import extract
from engine.records import ExtractedDocument
from tests.engine.extract.office_files import W_NAMES, codes, context, docx, outline, paragraph, read, relationships


def saved(tmp_path: Path, made: object, kind: str) -> ExtractedDocument:
    made.save(str(tmp_path / f"a.{kind}"))  # pyright: ignore[reportAttributeAccessIssue]
    return read(tmp_path / f"a.{kind}", kind, tmp_path)


def add(target: Paragraph, xml: str) -> None:
    target._p.append(parse_xml(xml))  # pyright: ignore[reportPrivateUsage]


# ---------------------------------------------------------------- Word
def test_p22_tracked_changes_give_the_final_view_and_a_flag(tmp_path: Path) -> None:
    """P22: insertions kept, deletions dropped, moved text once, whole paragraphs and rows under tracking."""
    made = python_docx.Document()
    first = made.add_paragraph("keep ")
    add(first, f'<w:ins {W_NAMES} w:id="1" w:author="A"><w:r><w:t>inserted</w:t></w:r></w:ins>')
    add(first, f'<w:del {W_NAMES} w:id="2" w:author="A"><w:r><w:delText>deleted</w:delText></w:r></w:del>')
    whole = made.add_paragraph()
    whole._p.get_or_add_pPr().append(parse_xml(f'<w:rPr {W_NAMES}><w:ins w:id="3" w:author="A"/></w:rPr>'))
    add(whole, f'<w:ins {W_NAMES} w:id="4" w:author="A"><w:r><w:t>A paragraph put in.</w:t></w:r></w:ins>')
    source, target = made.add_paragraph("from: "), made.add_paragraph("to: ")
    run = "<w:r><w:t>moved</w:t></w:r>"
    add(source, f'<w:moveFrom {W_NAMES} w:id="5" w:author="A">{run}</w:moveFrom>')
    add(target, f'<w:moveTo {W_NAMES} w:id="6" w:author="A">{run}</w:moveTo>')
    document = saved(tmp_path, made, "docx")
    assert document.content == "keep inserted\n\nA paragraph put in.\n\nfrom:\n\nto: moved"
    assert "tracked_changes" in codes(document)


def test_p22_what_follows_a_deleted_paragraph_mark_is_never_lost(tmp_path: Path) -> None:
    mark = '<w:rPr><w:del w:id="1" w:author="A"/></w:rPr>'
    table = "<w:tbl><w:tr>" + "".join(f"<w:tc>{paragraph(t)}</w:tc>" for t in ("a", "b")) + "</w:tr></w:tbl>"
    document = read(
        docx(tmp_path / "a.docx", paragraph("before", mark) + table + paragraph("end", mark)), "docx", tmp_path
    )
    assert outline(document)[0] == ("paragraph", "before")
    assert [c.text for c in document.tables[0].cells] == ["a", "b"]
    assert outline(document)[-1] == ("paragraph", "end")


_RESTART = '<w:vMerge w:val="restart"/>'
_VML = "<w:pict><v:shape><v:textbox><w:txbxContent>{}</w:txbxContent></v:textbox></v:shape></w:pict>"
_WPS = (
    '<w:drawing><wp:anchor xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing">'
    '<a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData>{}'
    "</a:graphicData></a:graphic></wp:anchor></w:drawing>"
)
_SHAPE = "<wps:wsp><wps:txbx><w:txbxContent>{}</w:txbxContent></wps:txbx></wps:wsp>"


def test_p23_text_boxes_stand_once_at_their_anchor(tmp_path: Path) -> None:
    """P23: VML alone, DrawingML with its VML twin, a group of two, a content control inside a box."""
    control = f"<w:sdt><w:sdtContent>{paragraph('controlled')}</w:sdtContent></w:sdt>"
    group = (
        "<wpg:wgp xmlns:wpg='http://schemas.microsoft.com/office/word/2010/wordprocessingGroup'>{}</wpg:wgp>".format(
            _SHAPE.format(paragraph("left")) + _SHAPE.format(paragraph("right"))
        )
    )
    twin = (
        f'<mc:AlternateContent><mc:Choice Requires="wps">{_WPS.format(_SHAPE.format(paragraph("modern")))}</mc:Choice>'
        f"<mc:Fallback>{_VML.format(paragraph('modern'))}</mc:Fallback></mc:AlternateContent>"
    )
    parts = [_VML.format(paragraph("old") + control), twin, _WPS.format(group)]
    xml = "".join(f"<w:p><w:r><w:t>anchor {n}</w:t></w:r><w:r>{part}</w:r></w:p>" for n, part in enumerate(parts))
    document = read(docx(tmp_path / "a.docx", xml), "docx", tmp_path)
    assert [text for _, text in outline(document)] == [
        "anchor 0", "old", "controlled", "anchor 1", "modern", "anchor 2", "left", "right",
    ]  # fmt: skip


def test_p24_notes_and_comments_stay_with_their_paragraph(tmp_path: Path) -> None:
    """P24: a page of nothing but a footnote's reference, an endnote, a comment on two words, one in a table."""

    def ref(kind: str, key: int) -> str:
        return f'<w:r><w:{kind}Reference w:id="{key}"/></w:r>'

    def notes(kind: str, texts: dict[int, str]) -> str:
        inner = "".join(f'<w:{kind} w:id="{k}">{paragraph(t)}</w:{kind}>' for k, t in texts.items())
        return f"<w:{kind}s {W_NAMES}>{inner}</w:{kind}s>"

    comment = f'<w:comments {W_NAMES}><w:comment w:id="7" w:author="Ann">{paragraph("Sure?")}</w:comment></w:comments>'
    xml = (
        f"<w:p>{ref('footnote', 1)}</w:p>"
        '<w:p><w:r><w:t xml:space="preserve">It holds </w:t></w:r><w:commentRangeStart w:id="7"/>'
        '<w:r><w:t>ten metres</w:t></w:r><w:commentRangeEnd w:id="7"/><w:r><w:commentReference w:id="7"/></w:r>'
        f"<w:r><w:t>.</w:t></w:r>{ref('endnote', 2)}</w:p>"
        f"<w:tbl><w:tr><w:tc><w:p><w:r><w:t>cell</w:t></w:r>{ref('footnote', 3)}</w:p></w:tc>"
        f"<w:tc>{paragraph('next')}</w:tc></w:tr></w:tbl>"
    )
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(
            ("f", "footnotes", "footnotes.xml"), ("e", "endnotes", "endnotes.xml"), ("c", "comments", "comments.xml")
        ),
        "word/footnotes.xml": notes("footnote", {1: "Only this.", 3: "In a cell."}),
        "word/endnotes.xml": notes("endnote", {2: "At the end."}),
        "word/comments.xml": comment,
    }
    document = read(docx(tmp_path / "a.docx", xml, parts), "docx", tmp_path)
    assert outline(document) == [
        ("note", "[^1]: Only this."),
        ("paragraph", "It holds ten metres."),
        ("comment", "Ann on “ten metres”: Sure?"),
        ("note", "[^i]: At the end."),
        ("note", "[^2]: In a cell."),
    ]
    assert document.tables[0].headers == [] and document.tables[0].rows == [["cell", "next"]]


def test_p26_merged_cells_stand_once_with_their_spans(tmp_path: Path) -> None:
    """P26: four columns merged, three rows merged, a nested table, an irregular grid."""
    made = python_docx.Document()
    table = made.add_table(5, 4)
    table.cell(0, 0).merge(table.cell(0, 3)).text = "across"
    table.cell(1, 0).merge(table.cell(3, 0)).text = "down"
    for row in range(1, 5):
        for column in range(1, 4):
            table.cell(row, column).text = f"{row}.{column}"
    inner = table.cell(4, 0).add_table(1, 2)
    inner.cell(0, 0).text, inner.cell(0, 1).text = "in 1", "in 2"
    document = saved(tmp_path, made, "docx")
    cells = {c.text: (c.row, c.col, c.rowspan, c.colspan) for c in document.tables[0].cells}
    assert cells["across"] == (0, 0, 1, 4)
    assert cells["down"] == (1, 0, 3, 1)
    assert document.content.count("across") == document.content.count("down") == document.content.count("in 1") == 1
    assert document.tables[1].rows == [["in 1", "in 2"]]
    assert '<th colspan="4">across</th>' in to_markdown(document)
    assert '<td rowspan="3">down</td>' in to_markdown(document)


def test_p26_the_older_merge_and_rows_of_continued_cells_only(tmp_path: Path) -> None:
    def tc(text: str, properties: str = "") -> str:
        return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text)}</w:tc>"

    wide = tc("wide", '<w:hMerge w:val="restart"/>') + tc("", '<w:hMerge w:val="continue"/>')
    rows = (
        f"<w:tr>{wide}{tc('tall', _RESTART)}</w:tr>"
        f'<w:tr><w:trPr><w:gridBefore w:val="2"/></w:trPr>{tc("", "<w:vMerge/>")}</w:tr>'
    )
    (table,) = read(docx(tmp_path / "a.docx", f"<w:tbl>{rows}</w:tbl>"), "docx", tmp_path).tables
    assert [(c.text, c.row, c.col, c.rowspan, c.colspan) for c in table.cells if c.text] == [
        ("wide", 0, 0, 1, 2),
        ("tall", 0, 2, 2, 1),
    ]
    assert max(c.row for c in table.cells) == 1


def test_p26_merged_sheet_cells_stand_once(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row in (["all four"], ["a", "b", "c", "d"], [1, 2, 3, 4], [None, 6, 7, 8]):
        sheet.append(row)
    sheet.merge_cells("A1:D1")
    sheet.merge_cells("A3:A4")
    document = saved(tmp_path, book, "xlsx")
    assert document.content.count("all four") == 1
    assert [(c.text, c.rowspan) for c in document.tables[0].cells if c.rowspan > 1] == [("1", 2)]


# ---------------------------------------------------------------- slides
def test_p27_everything_in_groups_is_read_in_place(tmp_path: Path) -> None:
    """P27: a group in a group, a chart and a table put into a group, in the order of their places."""
    made = python_pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    low = slide.shapes.add_textbox(Inches(1), Inches(6), Inches(2), Inches(0.5))
    low.text_frame.text = "below"
    outer = slide.shapes.add_group_shape()
    inner = outer.shapes.add_group_shape()
    for top, text in ((2, "second"), (1, "first")):
        box = inner.shapes.add_textbox(Inches(1), Inches(top), Inches(2), Inches(0.5))
        box.text_frame.text = text
    data = CategoryChartData()
    data.categories = ["2023", "2024"]
    data.add_series("tons", (3, 4))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.BAR_CLUSTERED, Inches(1), Inches(3), Inches(2), Inches(1), data)
    chart.chart.has_title = True
    chart.chart.chart_title.text_frame.text = "Catch"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(4.5), Inches(2), Inches(1))
    table.table.cell(0, 0).text = "in a group"
    for frame in (chart, table):
        outer._element.append(frame._element)  # pyright: ignore[reportPrivateUsage]
    document = saved(tmp_path, made, "pptx")
    assert [t for _, t in outline(document)][1:] == ["first", "second", "below"]
    caught, grouped = document.tables
    assert (caught.caption, caught.rows) == ("Chart: Catch", [["2023", "3"], ["2024", "4"]])
    assert grouped.headers == ["in a group", ""]


def test_p28_notes_without_the_usual_placeholder_are_kept_and_labelled(tmp_path: Path) -> None:
    """P28: as Google Slides writes them: a text box instead of the notes placeholder; a slide without notes."""
    made = python_pptx.Presentation()
    for number in range(2):
        slide = made.slides.add_slide(made.slide_layouts[6])
        if number == 0:
            page = slide.notes_slide
            for shape in list(page.placeholders):
                shape._element.getparent().remove(shape._element)  # pyright: ignore[reportPrivateUsage]
            box = slide.shapes.add_textbox(0, 0, 100, 100)._element  # pyright: ignore[reportPrivateUsage]
            page.shapes._spTree.append(box)  # pyright: ignore[reportPrivateUsage]
            page.shapes[-1].text_frame.text = "Say it slowly."  # pyright: ignore[reportAttributeAccessIssue]
    document = saved(tmp_path, made, "pptx")
    assert [(e.type, e.content, e.page_number) for e in document.structure[0].children] == [
        ("speaker_notes", "Say it slowly.", 1)
    ]
    assert "Speaker notes: Say it slowly." in document.content


# ---------------------------------------------------------------- sheets
def test_p31_dates_are_dates_and_hidden_rows_are_told(tmp_path: Path) -> None:
    """P31: no serial numbers, no midnight; both epochs; hidden rows and sheets by policy."""
    for epoch in (openpyxl.utils.datetime.WINDOWS_EPOCH, openpyxl.utils.datetime.MAC_EPOCH):  # pyright: ignore
        book = openpyxl.Workbook()
        book.epoch = epoch
        sheet = book.active
        assert sheet is not None
        sheet.append(["day", "sum", "moment"])
        sheet.append([datetime(2024, 5, 17), 1, datetime(2024, 5, 17, 9, 30)])
        sheet.append([datetime(2024, 5, 18), 2, datetime(2024, 5, 18, 9, 30)])
        sheet.append([datetime(2024, 5, 19), 3, datetime(2024, 5, 19, 9, 30)])
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["B"].hidden = True
        book.create_sheet("secret").append(["behind"])
        book["secret"].sheet_state = "hidden"
        document = saved(tmp_path, book, "xlsx")
        assert document.tables[0].rows[0] == ["2024-05-17", "1", "2024-05-17 09:30:00"]
        assert "secret (hidden)" in document.metadata.headings
        (table,) = [e for e in document.structure[0].children if e.table is not None]
        assert table.attributes == {"range": "A1:C4", "hidden_rows": "3", "hidden_columns": "B"}
        assert {"hidden_rows", "hidden_columns", "hidden_sheet"} <= codes(document)

    settings = context(tmp_path, "xlsx")
    settings.settings.extraction.hidden = "drop"
    dropped = extract(tmp_path / "a.xlsx", settings)
    assert dropped.tables[0].rows == [
        ["2024-05-17", "2024-05-17 09:30:00"],
        ["2024-05-19", "2024-05-19 09:30:00"],
    ]
    assert dropped.metadata.headings == ["Sheet"]
    assert [(w.code, w.message, w.count) for w in dropped.warnings] == [
        ("hidden_rows", "hidden rows were left out (setting extraction.hidden): 3", 1),
        ("hidden_columns", "hidden columns were left out (setting extraction.hidden): B", 1),
        ("hidden_sheet", "a hidden sheet was left out (setting extraction.hidden)", 1),
    ]
