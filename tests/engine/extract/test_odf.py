"""OpenDocument files built part by part."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from engine.errors import Code, InputError
from engine.extract import extract
from tests.engine.extract.office_files import codes, context, outline, read

_NS = "urn:oasis:names:tc:opendocument:xmlns:"
NAMES = " ".join(
    f'xmlns:{short}="{_NS}{name}:1.0"'
    for short, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style", "meta": "meta",
        "fo": "xsl-fo-compatible", "svg": "svg-compatible", "presentation": "presentation",
    }.items()
) + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'  # fmt: skip


def odf(path: Path, kind: str, body: str, styles: str = "", parts: dict[str, str] | None = None) -> Path:
    content = (
        f"<office:document-content {NAMES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", f"application/vnd.oasis.opendocument.{kind}")
        for name, data in {"content.xml": content, **(parts or {})}.items():
            file.writestr(name, data)
    return path


def odt(tmp_path: Path, body: str, styles: str = "", parts: dict[str, str] | None = None):
    return read(odf(tmp_path / "a.odt", "text", body, styles, parts), "odt", tmp_path)


def test_headings_notes_comments_and_spaces(tmp_path: Path) -> None:
    body = (
        '<text:h text:outline-level="2">Title</text:h><text:p>Some<text:s text:c="2"/>text<text:note>'
        "<text:note-citation>1</text:note-citation><text:note-body><text:p>Footnote text</text:p>"
        "</text:note-body></text:note>"
        "<text:span> with<text:tab/>a note.</text:span><office:annotation><dc:creator>Ann</dc:creator>"
        "<text:p>check</text:p></office:annotation></text:p>"
    )
    assert outline(odt(tmp_path, body)) == [
        ("heading", "Title"),
        ("paragraph", "Some  text with a note."),
        ("note", "[^1]: Footnote text"),
        ("comment", "Ann: check"),
    ]


LIST = (
    '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1" '
    'style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>'
    '</text:list-style><text:list-style style:name="B"><text:list-level-style-bullet text:level="1"/></text:list-style>'
)


def test_lists_are_numbered_and_nested(tmp_path: Path) -> None:
    body = (
        '<text:list text:style-name="L"><text:list-item><text:p>one</text:p>'
        "<text:list><text:list-item><text:p>sub</text:p>"
        "</text:list-item></text:list></text:list-item><text:list-item><text:p>two</text:p></text:list-item></text:list>"
        '<text:p>between</text:p><text:list text:style-name="L" text:continue-numbering="true"><text:list-item>'
        "<text:p>three</text:p></text:list-item></text:list>"
        '<text:list text:style-name="B"><text:list-item><text:p>dot</text:p>'
        "</text:list-item></text:list>"
    )
    assert odt(tmp_path, body, LIST).content == "1. one\n  a) sub\n2. two\n\nbetween\n\n3. three\n- dot"


def test_tracked_deletions_and_hidden_text_are_dropped(tmp_path: Path) -> None:
    styles = (
        '<style:style style:name="H" style:family="text"><style:text-properties text:display="none"/></style:style>'
    )
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>deleted</text:p></text:deletion>"
        "</text:changed-region></text:tracked-changes><text:p>seen"
        '<text:span text:style-name="H">unseen</text:span></text:p>'
    )
    document = odt(tmp_path, body, styles)
    assert document.content == "seen"
    assert codes(document) == {"tracked_changes", "hidden_text"}


def test_tables_with_spans_and_header_rows(tmp_path: Path) -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"

    wide = cell("wide", 'table:number-columns-spanned="2"')
    body = (
        f"<table:table><table:table-header-rows><table:table-row>{wide}<table:covered-table-cell/></table:table-row>"
        f"</table:table-header-rows><table:table-row>{cell('a')}{cell('b')}</table:table-row></table:table>"
    )
    table = odt(tmp_path, body).tables[0]
    assert [(c.text, c.row, c.col, c.colspan, c.header) for c in table.cells] == [
        ("wide", 0, 0, 2, True),
        ("a", 1, 0, 1, False),
        ("b", 1, 1, 1, False),
    ]


def test_frames_hold_text_boxes_once(tmp_path: Path) -> None:
    body = "<text:p>anchor<draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></text:p>"
    assert odt(tmp_path, body).content == "anchor\n\nboxed"


def test_headers_and_metadata(tmp_path: Path) -> None:
    parts = {
        "styles.xml": f"<office:document-styles {NAMES}><office:master-styles><style:master-page><style:footer>"
        "<text:p>Foot</text:p></style:footer></style:master-page></office:master-styles></office:document-styles>",
        "meta.xml": f"<office:document-meta {NAMES}><office:meta><dc:title>Named</dc:title><dc:creator>Ann</dc:creator>"
        "</office:meta></office:document-meta>",
    }
    document = odt(tmp_path, "<text:p>Body</text:p>", parts=parts)
    assert outline(document) == [("paragraph", "Body"), ("page_footer", "Foot")]
    assert (document.content, document.metadata.title, document.metadata.author) == ("Body", "Named", "Ann")


def test_encrypted_files_say_so(tmp_path: Path) -> None:
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"><manifest:file-entry '
        'manifest:full-path="content.xml"><manifest:encryption-data/></manifest:file-entry></manifest:manifest>'
    )
    with pytest.raises(InputError) as caught:
        odt(tmp_path, "", parts={"META-INF/manifest.xml": manifest})
    assert caught.value.code is Code.ENCRYPTED_DOCUMENT


def test_slides(tmp_path: Path) -> None:
    def frame(text: str, x: int, y: int, kind: str = "") -> str:
        css = f'presentation:class="{kind}"' if kind else ""
        return (
            f'<draw:frame {css} svg:x="{x}cm" svg:y="{y}cm" svg:width="5cm" svg:height="1cm"><draw:text-box>'
            f"<text:p>{text}</text:p></draw:text-box></draw:frame>"
        )

    body = (
        f"<draw:page>{frame('below', 1, 9)}<draw:g>{frame('middle', 1, 5)}</draw:g>{frame('The title', 1, 1, 'title')}"
        f"<presentation:notes>{frame('spoken', 1, 1, 'notes')}</presentation:notes></draw:page>"
    )
    document = read(odf(tmp_path / "a.odp", "presentation", body), "odp", tmp_path)
    assert document.content == "# The title\n\nmiddle\n\nbelow\n\nSpeaker notes: spoken"
    assert document.spans[0].page_number == 1


def test_sheets_show_displayed_text_and_skip_the_unused_rest(tmp_path: Path) -> None:
    cells = (
        '<table:table-cell office:value-type="date" office:date-value="2024-03-01T00:00:00">'
        "<text:p>01.03.24</text:p></table:table-cell>"
        '<table:table-cell office:value-type="percentage" office:value="0.125">'
        "<text:p>12.5%</text:p></table:table-cell>"
        '<table:table-cell office:value-type="float" office:value="7"/>'
        '<table:table-cell table:number-columns-repeated="16000"/>'
    )
    rows = (
        '<table:table-row><table:table-cell table:number-columns-repeated="2"><text:p>head</text:p></table:table-cell>'
        "<table:table-cell><text:p>last</text:p><office:annotation><text:p>why</text:p></office:annotation></table:table-cell>"
        f"</table:table-row><table:table-row>{cells}</table:table-row>"
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
    )
    styles = (
        '<style:style style:name="off" style:family="table"><style:table-properties table:display="false"/>'
        "</style:style>"
    )
    hidden = '<table:table table:name="T" table:style-name="off"></table:table>'
    body = f'<table:table table:name="S">{rows}</table:table>{hidden}'
    document = read(odf(tmp_path / "a.ods", "spreadsheet", body, styles), "ods", tmp_path)
    assert document.tables[0].headers == ["head", "head", "last"]
    assert document.tables[0].rows == [["2024-03-01", "12.5%", "7"]]
    assert ("comment", "C1: why") in outline(document)
    assert document.metadata.headings == ["S", "T (hidden)"]


def test_sheets_show_what_is_drawn_over_them_and_hide_by_settings(tmp_path: Path) -> None:
    chart = (
        f'<office:document-content {NAMES} xmlns:chart="{_NS}chart:1.0"><office:body><office:chart><chart:chart>'
        '<chart:title><text:p>Catch</text:p></chart:title><table:table table:name="local-table">'
        "<table:table-row><table:table-cell/><table:table-cell><text:p>tons</text:p></table:table-cell></table:table-row>"
        "<table:table-row><table:table-cell><text:p>2024</text:p></table:table-cell><table:table-cell><text:p>3</text:p>"
        "</table:table-cell></table:table-row></table:table></chart:chart></office:chart></office:body>"
        "</office:document-content>"
    )
    frame = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
    note = "<office:annotation><dc:creator>Ann</dc:creator><text:p>why</text:p></office:annotation>"
    rows = (
        f"<table:table-row><table:table-cell><text:p>a</text:p>{note}{frame}</table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row>"
        '<table:table-row table:visibility="collapse"><table:table-cell><text:p>c</text:p></table:table-cell>'
        "<table:table-cell><text:p>d</text:p></table:table-cell></table:table-row>"
        "<table:table-row><table:table-cell><text:p>e</text:p></table:table-cell>"
        "<table:table-cell><text:p>f</text:p></table:table-cell></table:table-row>"
    )
    box = "<table:shapes><draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame></table:shapes>"
    body = f'<table:table table:name="S">{box}{rows}</table:table>'
    path = odf(tmp_path / "a.ods", "spreadsheet", body, parts={"Object 1/content.xml": chart})
    document = read(path, "ods", tmp_path)
    assert [t.rows for t in document.tables] == [[["c", "d"], ["e", "f"]], [["2024", "3"]]]
    assert outline(document)[1:] == [("paragraph", "boxed"), ("caption", "Chart: Catch"), ("comment", "A1: Ann: why")]
    dropping = context(tmp_path, "ods")
    dropping.settings.extraction.hidden = "drop"
    assert extract(path, dropping).tables[0].rows == [["e", "f"]]
