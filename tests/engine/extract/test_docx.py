"""Word documents built part by part, with the structure that must come out."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import docx as python_docx
import pytest

from engine.document import to_markdown, walk
from engine.errors import Code, InputError
from engine.extract import extract
from tests.engine.extract.office_files import (
    W_NAMES,
    codes,
    context,
    docx,
    outline,
    package,
    paragraph,
    read,
    relationships,
)


def body(tmp_path: Path, xml: str, parts: dict[str, str | bytes] | None = None):
    return read(docx(tmp_path / "a.docx", xml, parts), "docx", tmp_path)


def test_a_file_of_the_usual_library_comes_out_in_order(tmp_path: Path) -> None:
    made = python_docx.Document()
    made.core_properties.title, made.core_properties.author = "Annual report", "A. Writer"
    made.add_heading("Results", 1)
    made.add_paragraph("First words.")
    made.add_paragraph("apples", style="List Bullet")
    made.add_paragraph("pears", style="List Bullet")
    made.add_heading("Details", 2)
    table = made.add_table(2, 2)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "Both"
    table.cell(1, 0).text, table.cell(1, 1).text = "left", "right"
    made.save(str(tmp_path / "a.docx"))
    document = read(tmp_path / "a.docx", "docx", tmp_path)
    assert outline(document) == [
        ("heading", "Results"),
        ("paragraph", "First words."),
        ("list_item", "apples"),
        ("list_item", "pears"),
        ("heading", "Details"),
    ]
    cell = document.tables[0].cells[0]
    assert (cell.text, cell.colspan, document.content.count("Both")) == ("Both", 2, 1)
    assert (document.metadata.title, document.metadata.author) == ("Annual report", "A. Writer")


def test_tracked_changes_are_read_as_accepted(tmp_path: Path) -> None:
    document = body(
        tmp_path,
        '<w:p><w:r><w:t xml:space="preserve">keep </w:t></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins>'
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>"
        "<w:p><w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom>"
        "<w:moveTo><w:r><w:t>moved here</w:t></w:r></w:moveTo></w:p>",
    )
    assert document.content == "keep new\n\nmoved here"
    assert "tracked_changes" in codes(document)


def test_a_deleted_paragraph_mark_joins_two_paragraphs(tmp_path: Path) -> None:
    mark = '<w:rPr><w:del w:id="1"/></w:rPr>'
    assert body(tmp_path, paragraph("one ", mark) + paragraph("line")).content == "one line"


def test_a_text_box_stands_once_at_its_anchor(tmp_path: Path) -> None:
    inner = f"<w:txbxContent>{paragraph('boxed')}</w:txbxContent>"
    box = (
        "<w:p><w:r><w:t>anchor</w:t></w:r><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing>"
        f"<wps:txbx>{inner}</wps:txbx></w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{inner}</v:textbox>"
        "</w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert body(tmp_path, box + paragraph("after")).content == "anchor\n\nboxed\n\nafter"
    vml = f"<w:p><w:r><w:pict><v:shape><v:textbox>{inner}</v:textbox></v:shape></w:pict></w:r></w:p>"
    assert body(tmp_path, vml).content == "boxed"


def test_notes_and_comments_follow_their_paragraph(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(
            ("f", "footnotes", "footnotes.xml"), ("c", "comments", "comments.xml"), ("e", "endnotes", "endnotes.xml")
        ),
        "word/footnotes.xml": f'<w:footnotes {W_NAMES}><w:footnote w:id="0" w:type="separator">{paragraph("---")}'
        f'</w:footnote><w:footnote w:id="2">{paragraph("the note")}</w:footnote></w:footnotes>',
        "word/endnotes.xml": f'<w:endnotes {W_NAMES}><w:endnote w:id="2">{paragraph("the end")}</w:endnote>'
        "</w:endnotes>",
        "word/comments.xml": f'<w:comments {W_NAMES}><w:comment w:id="5" w:author="Ann">{paragraph("check this")}'
        "</w:comment></w:comments>",
    }
    xml = (
        '<w:p><w:r><w:t>A claim</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
        '<w:r><w:t xml:space="preserve"> goes on</w:t></w:r><w:r><w:endnoteReference w:id="2"/></w:r>'
        '<w:r><w:commentReference w:id="5"/></w:r></w:p>' + paragraph("Next.")
    )
    assert outline(body(tmp_path, xml, parts)) == [
        ("paragraph", "A claim goes on"),
        ("note", "[^1]: the note"),
        ("note", "[^i]: the end"),
        ("comment", "Ann: check this"),
        ("paragraph", "Next."),
    ]


def test_fields_show_results_and_an_unclosed_one_swallows_nothing(tmp_path: Path) -> None:
    field = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>PAGE</w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>17</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    unclosed = '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:t>lost code</w:t></w:r></w:p>'
    assert body(tmp_path, field + unclosed + paragraph("still here")).content == "17\n\nstill here"


def test_check_boxes_keep_their_state(tmp_path: Path) -> None:
    def box(value: int, text: str) -> str:
        return (
            f'<w:p><w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="{value}"/></w14:checkbox></w:sdtPr>'
            f'<w:sdtContent/></w:sdt><w:r><w:t xml:space="preserve"> {text}</w:t></w:r></w:p>'
        )

    legacy = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox>'
        '<w:default w:val="1"/></w:checkBox></w:ffData>'
        '</w:fldChar></w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
        '<w:r><w:t xml:space="preserve"> old</w:t></w:r></w:p>'
    )
    assert body(tmp_path, box(1, "yes") + box(0, "no") + legacy).content == "☒ yes\n\n☐ no\n\n☒ old"


NUMBERING = f"""<w:numbering {W_NAMES}>
<w:abstractNum w:abstractNumId="0">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>
<w:lvl w:ilvl="2"><w:start w:val="1"/><w:numFmt w:val="bullet"/><w:lvlText w:val="•"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="0"/>
<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride></w:num>
</w:numbering>"""
STYLES = f"""<w:styles {W_NAMES}>
<w:style w:type="paragraph" w:styleId="Base"><w:name w:val="Überschrift 2"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="My head"/><w:basedOn w:val="Base"/>
<w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="Flat"><w:name w:val="Flat"/><w:basedOn w:val="Base"/>
<w:pPr><w:outlineLvl w:val="9"/></w:pPr></w:style>
<w:style w:type="paragraph" w:styleId="SC"><w:name w:val="Source Code"/></w:style>
<w:style w:type="character" w:styleId="Gone"><w:name w:val="Gone"/><w:rPr><w:vanish/></w:rPr></w:style>
</w:styles>"""
STYLED: dict[str, str | bytes] = {
    "word/_rels/document.xml.rels": relationships(("n", "numbering", "numbering.xml"), ("s", "styles", "styles.xml")),
    "word/numbering.xml": NUMBERING,
    "word/styles.xml": STYLES,
}


def numbered(text: str, list_id: int, level: int) -> str:
    return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>')


def test_automatic_numbers_are_computed(tmp_path: Path) -> None:
    items = [("one", 1, 0), ("sub", 1, 1), ("sub two", 1, 1), ("dot", 1, 2), ("two", 1, 0), ("sub again", 1, 1)]
    items += [("seven", 2, 0), ("eight", 2, 0)]
    document = body(tmp_path, "".join(numbered(*item) for item in items), STYLED)
    assert document.content.splitlines() == [
        "1. one",
        "  1.a) sub",
        "  1.b) sub two",
        "    - dot",
        "2. two",
        "  2.a) sub again",
        "7. seven",
        "8. eight",
    ]


def test_headings_by_inherited_and_localised_styles(tmp_path: Path) -> None:
    xml = (
        paragraph("Numbered", '<w:pStyle w:val="Mine"/>')
        + paragraph("Body", '<w:pStyle w:val="Flat"/>')
        + paragraph("Direct", '<w:outlineLvl w:val="0"/>')
    )
    document = body(tmp_path, xml, STYLED)
    assert document.content == "## 1. Numbered\n\nBody\n\n# Direct"


def test_code_and_hidden_text(tmp_path: Path) -> None:
    hidden = (
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>"
        '<w:r><w:rPr><w:rStyle w:val="Gone"/></w:rPr><w:t>x</w:t></w:r></w:p>'
    )
    code = paragraph("if a:", '<w:pStyle w:val="SC"/>') + paragraph("    b()", '<w:pStyle w:val="SC"/>')
    document = body(tmp_path, hidden + code, STYLED)
    assert document.content == "```\nif a:\n    b()\n```"
    assert {(w.code, w.count) for w in document.warnings} == {("hidden_text", 2)}


def test_typewriter_paragraphs_are_code_only_when_they_look_like_it(tmp_path: Path) -> None:
    def mono(text: str) -> str:
        return f'<w:p><w:r><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr><w:t>{text}</w:t></w:r></w:p>'

    document = body(tmp_path, mono("int x = f(y);") + paragraph("between") + mono("A letter typed on an old machine."))
    assert [e.type for e in document.structure] == ["code", "paragraph", "paragraph"]


def test_small_signs(tmp_path: Path) -> None:
    xml = (
        "<w:p><w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:softHyphen/><w:t>c\u00add</w:t><w:br/>"
        '<w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:font="Symbol" w:char="F061"/></w:r></w:p>'
        '<w:p><w:hyperlink><w:r><w:t xml:space="preserve">link </w:t></w:r></w:hyperlink>'
        "<w:r><w:t>text</w:t></w:r></w:p>"
    )
    assert body(tmp_path, xml).content == "a-bcd\n☒α\n\nlink text"


def test_equations_are_linear_latex(tmp_path: Path) -> None:
    xml = (
        "<w:p><w:r><w:t xml:space='preserve'>so </w:t></w:r><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num>"
        "<m:den><m:sSup><m:e><m:r><m:t>b</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f>"
        "</m:oMath></w:p>"
    )
    assert body(tmp_path, xml).content == r"so $\frac{a}{b^{2}}$"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{paragraph(text) if text else '<w:p/>'}</w:tc>"


def test_table_spans_offsets_and_nested_tables(tmp_path: Path) -> None:
    nested = f"<w:tbl><w:tr>{cell('in1')}{cell('in2')}</w:tr></w:tbl>"
    wide, tall = cell("wide", '<w:gridSpan w:val="2"/>'), cell("tall", '<w:vMerge w:val="restart"/>')
    rows = (
        f"<w:tr>{wide}{tall}</w:tr>"
        f'<w:tr><w:trPr><w:gridBefore w:val="1"/></w:trPr>{cell("late")}{cell("", "<w:vMerge/>")}</w:tr>'
        f"<w:tr><w:trPr><w:del/></w:trPr>{cell('deleted row')}</w:tr>"
        f"<w:tr><w:tc>{paragraph('outer')}{nested}<w:p/></w:tc>{cell('b')}{cell('c')}</w:tr>"
    )
    document = body(tmp_path, f"<w:tbl>{rows}</w:tbl>")
    found = [(c.row, c.col, c.text, c.rowspan, c.colspan) for c in document.tables[0].cells]
    assert found == [
        (0, 0, "wide", 1, 2),
        (0, 2, "tall", 2, 1),
        (1, 1, "late", 1, 1),
        (2, 0, "outer", 1, 1),
        (2, 1, "b", 1, 1),
        (2, 2, "c", 1, 1),
    ]
    assert [c.text for c in document.tables[1].cells] == ["in1", "in2"]
    assert document.content.count("in1") == 1
    assert 'rowspan="2"' in to_markdown(document)


def test_a_table_of_one_cell_is_a_frame(tmp_path: Path) -> None:
    document = body(tmp_path, f"<w:tbl><w:tr>{cell('framed')}</w:tr></w:tbl>")
    assert (document.content, document.tables) == ("framed", [])


def test_headers_are_furniture_and_unused_first_page_ones_absent(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("h", "header", "h.xml"), ("f", "header", "f.xml")),
        "word/h.xml": f"<w:hdr {W_NAMES}>{paragraph('Page head')}</w:hdr>",
        "word/f.xml": f"<w:hdr {W_NAMES}>{paragraph('Unused')}</w:hdr>",
    }
    section = (
        '<w:sectPr><w:headerReference w:type="default" r:id="h"/>'
        '<w:headerReference w:type="first" r:id="f"/></w:sectPr>'
    )
    document = body(tmp_path, paragraph("Body") + section, parts)
    assert outline(document) == [("paragraph", "Body"), ("page_header", "Page head")]
    assert document.content == "Body"


def test_an_embedded_document_becomes_a_child(tmp_path: Path) -> None:
    inner = docx(tmp_path / "inner.docx", paragraph("inside")).read_bytes()
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("o", "package", "embeddings/one.docx")),
        "word/embeddings/one.docx": inner,
    }
    xml = '<w:p><w:r><w:object><o:OLEObject Type="Embed" ProgID="Word.Document.12" r:id="o"/></w:object></w:r></w:p>'
    document = body(tmp_path, xml, parts)
    (child,) = document.attached
    assert (child.filename, child.inner_path) == ("one.docx", "word/embeddings/one.docx")
    assert Path(child.path).read_bytes() == inner


def test_strict_namespaces_are_understood(tmp_path: Path) -> None:
    path = docx(tmp_path / "a.docx", paragraph("strict text"))
    with zipfile.ZipFile(path) as old:
        parts = {i.filename: old.read(i) for i in old.infolist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, data in parts.items():
            data = data.replace(
                b"schemas.openxmlformats.org/wordprocessingml/2006", b"purl.oclc.org/ooxml/wordprocessingml"
            )
            data = data.replace(
                b"schemas.openxmlformats.org/officeDocument/2006", b"purl.oclc.org/ooxml/officeDocument"
            )
            new.writestr(name, data)
    assert read(path, "docx", tmp_path).content == "strict text"


def test_external_entities_are_not_expanded(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    document_xml = (
        f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]><w:document {W_NAMES}><w:body>'
        "<w:p><w:r><w:t>before &e; after</w:t></w:r></w:p></w:body></w:document>"
    )
    path = docx(tmp_path / "a.docx", "")
    package(path, "word/document.xml", {"word/document.xml": document_xml})
    document = read(path, "docx", tmp_path)
    assert document.content == "before  after"
    assert "entity_ignored" in codes(document)


def test_bombs_end_at_a_limit(tmp_path: Path) -> None:
    big = paragraph("abcdefgh " * 100) * 60_000
    with pytest.raises(InputError) as caught:
        body(tmp_path, big)
    assert caught.value.code is Code.LIMIT_EXCEEDED
    path = docx(tmp_path / "b.docx", paragraph("word " * 1000) * 10)
    with pytest.raises(InputError) as caught:
        read(path, "docx", tmp_path, characters=10_000)
    assert caught.value.code is Code.LIMIT_EXCEEDED
    deep = "<w:tbl><w:tr><w:tc>" * 300 + paragraph("x") + "</w:tc></w:tr></w:tbl>" * 300
    with pytest.raises(InputError) as caught:
        body(tmp_path, deep)
    assert caught.value.code is Code.LIMIT_EXCEEDED


@pytest.mark.parametrize("data", [b"../documents/word_sample.docx", b"PK\x03\x04 cut off", b""])
def test_what_is_no_word_file_is_refused_clearly(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(data)
    with pytest.raises(InputError, match="not a readable Word document") as caught:
        read(path, "docx", tmp_path)
    assert caught.value.code is Code.EXTRACTION_FAILED


def test_malformed_xml_is_read_as_far_as_possible(tmp_path: Path) -> None:
    broken = f"<w:document {W_NAMES}><w:body>{paragraph('good')}<w:p><w:r><w:t>cut"
    document = read(package(tmp_path / "a.docx", "word/document.xml", {"word/document.xml": broken}), "docx", tmp_path)
    assert document.content.startswith("good")
    assert "malformed_xml" in codes(document)


def test_numbers_in_a_format_spelt_out_by_example(tmp_path: Path) -> None:
    def level(index: int, example: str) -> str:
        return (
            f'<w:lvl w:ilvl="{index}"><w:start w:val="8"/><mc:AlternateContent><mc:Choice Requires="w14">'
            f'<w:numFmt w:val="custom" w:format="{example}"/></mc:Choice><mc:Fallback><w:numFmt w:val="decimal"/>'
            f'</mc:Fallback></mc:AlternateContent><w:lvlText w:val="No. %{index + 1}"/></w:lvl>'
        )

    numbering = (
        f'<w:numbering {W_NAMES}><w:abstractNum w:abstractNumId="0">{level(0, "001, 002, 003, ...")}'
        f"{level(1, 'α, β, γ, ...')}</w:abstractNum>"
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    parts = {**STYLED, "word/numbering.xml": numbering}
    xml = "".join(numbered(*item) for item in (("one", 1, 0), ("two", 1, 0), ("deep", 1, 1)))
    assert body(tmp_path, xml, parts).content.split("\n") == ["No. 008 one", "No. 009 two", "  No. θ deep"]


def test_content_controls_around_anything_are_looked_through(tmp_path: Path) -> None:
    def control(content: str) -> str:
        return f"<w:sdt><w:sdtPr/><w:sdtContent>{content}</w:sdtContent></w:sdt>"

    run = "<w:r><w:t xml:space='preserve'>{}</w:t></w:r>"
    inline = f"<w:p>{run.format('in ')}{control(run.format('line') + control(run.format(' deeper')))}</w:p>"
    first = f"<w:tr>{cell('a').replace(paragraph('a'), control(paragraph('a')))}{control(cell('b'))}</w:tr>"
    table = f"<w:tbl>{first}{control(_row('c', 'd'))}</w:tbl>"
    document = body(tmp_path, control(control(paragraph("block"))) + inline + table)
    assert [t for _, t in outline(document)] == ["block", "in line deeper"]
    assert [c.text for c in document.tables[0].cells] == ["a", "b", "c", "d"]


def _row(*texts: str) -> str:
    return f"<w:tr>{''.join(map(cell, texts))}</w:tr>"


LONG = "It was a long day, and the men went home by the river, content with the work that they had done."


def look(text: str, half_points: int = 20, bold: bool = False) -> str:
    weight = "<w:b/>" if bold else ""
    return f'<w:p><w:r><w:rPr>{weight}<w:sz w:val="{half_points}"/></w:rPr><w:t>{text}</w:t></w:r></w:p>'


def test_headings_by_look_where_no_style_names_any(tmp_path: Path) -> None:
    vetoed = [
        "Table 1 Prices",
        "17 May 2024",
        "A whole sentence.",
        "To: everyone",
        "page ......... 4",
        "name@port.org",
    ]
    xml = look("Report of the harbour", 36, True) + look(LONG) + look("Fuel", bold=True) + look(LONG)
    xml += look("Crew", 28) + look(LONG) + look("Pay", bold=True) + look(LONG)
    xml += "".join(look(text, bold=True) + look(LONG) for text in vetoed)
    document = body(tmp_path, xml)
    found = [(e.level, e.content) for e in walk(document.structure) if e.type == "heading"]
    assert found == [(1, "Report of the harbour"), (3, "Fuel"), (2, "Crew"), (3, "Pay")]
    assert not any("look" in e.attributes for e in walk(document.structure))


@pytest.mark.parametrize(
    "xml",
    [
        "".join(look(line, bold=True) for line in ("Harbour Trust", "12 Quay Street", "Port Town")) + look(LONG),
        look(LONG) + look("Yours faithfully", bold=True),  # heads nothing
        "".join(look(f"All is bold here {n}", bold=True) + look("short") for n in range(8)),  # too many
        paragraph("Real", '<w:outlineLvl w:val="0"/>') + look(LONG) + paragraph("Head", '<w:outlineLvl w:val="1"/>')
        + look(LONG) + look("Bold line", bold=True) + look(LONG),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_heading_stays_a_paragraph(tmp_path: Path, xml: str) -> None:
    document = body(tmp_path, xml)
    assert [
        e.content for e in walk(document.structure) if e.type == "heading" and e.content not in {"Real", "Head"}
    ] == []


def test_pictures_in_a_text_box_come_out_once(tmp_path: Path) -> None:
    names = (
        'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
        'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    )
    inside = (
        f'<w:drawing {names}><wp:inline><wp:docPr id="1" name="p" descr="A lamp"/><a:graphic><a:graphicData>'
        '<a:blip r:embed="i"/></a:graphicData></a:graphic></wp:inline></w:drawing>'
    )
    box = f"<wps:wsp><wps:txbx><w:txbxContent><w:p><w:r>{inside}</w:r></w:p></w:txbxContent></wps:txbx></wps:wsp>"
    xml = f"<w:p><w:r><w:drawing {names}><wp:anchor><a:graphic>{box}</a:graphic></wp:anchor></w:drawing></w:r></w:p>"
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("i", "image", "media/i.png")),
        "word/media/i.png": b"\x89PNG",
    }
    assert [i.alt_text for i in body(tmp_path, xml, parts).images] == ["A lamp"]


def test_a_flood_of_embedded_files_costs_no_more_than_their_number(tmp_path: Path) -> None:
    """It was quadratic once: 600 objects, each looked at for every other."""
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(*((f"e{n}", "package", "embeddings/a.docx") for n in range(1200)))
    }
    inner = tmp_path / "inner.docx"
    parts["word/embeddings/a.docx"] = docx(inner, paragraph("inside")).read_bytes()
    xml = "".join(f'<w:p><w:r><w:object><o:OLEObject r:id="e{n}"/></w:object></w:r></w:p>' for n in range(1200))
    start = time.process_time()
    document = body(tmp_path, xml, parts)
    assert time.process_time() - start < 3
    assert len(document.attached) == 1001
    assert document.attached[-1].error_code == Code.LIMIT_EXCEEDED
    assert "members_left_out" in codes(document)
    assert document.attached[1].inner_path == "word/embeddings/a (2).docx"


def test_headers_stand_in_the_text_when_settings_ask_for_it(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(("h", "header", "h.xml"), ("f", "footer", "f.xml")),
        "word/h.xml": f"<w:hdr {W_NAMES}>{paragraph('On every page')}</w:hdr>",
        "word/f.xml": f"<w:ftr {W_NAMES}>{paragraph('At the foot')}</w:ftr>",
    }
    section = '<w:sectPr><w:headerReference r:id="h"/><w:footerReference r:id="f"/></w:sectPr>'
    path = docx(
        tmp_path / "a.docx", paragraph("Title", '<w:outlineLvl w:val="0"/>') + paragraph("body") + section, parts
    )
    assert read(path, "docx", tmp_path).content == "# Title\n\nbody"
    keeping = context(tmp_path, "docx")
    keeping.settings.extraction.furniture = "keep"
    assert extract(path, keeping).content == "On every page\n\n# Title\n\nbody\n\nAt the foot"
