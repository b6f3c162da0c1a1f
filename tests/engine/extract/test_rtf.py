"""RTF: code pages, Unicode, structure, what must not show."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from engine.errors import Code, InputError
from tests.engine.extract.office_files import codes, outline, read


def rtf(tmp_path: Path, body: str | bytes, head: str = r"\ansi\ansicpg1252"):
    path = tmp_path / "a.rtf"
    data = body if isinstance(body, bytes) else body.encode("ascii")
    path.write_bytes(b"{\\rtf1" + head.encode("ascii") + b" " + data + b"}")
    return read(path, "rtf", tmp_path)


def test_code_pages_by_font(tmp_path: Path) -> None:
    fonts = r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset128 MS Mincho;}{\f2\fcharset204 Arial Cyr;}}"
    document = rtf(tmp_path, fonts + r"\f0 caf\'e9 \f1\'82\'b1\'83\\ \f2\'cf\'f0\'e8\'e2\'e5\'f2\f0  end")
    assert document.content == "café こソ Привет end"


def test_the_default_code_page(tmp_path: Path) -> None:
    assert rtf(tmp_path, r"\'c7\'e4\'f0", r"\ansi\ansicpg1251").content == "Здр"
    assert rtf(tmp_path, r"\'8e", r"\mac").content == "é"


def test_unicode_and_its_fallback_characters(tmp_path: Path) -> None:
    text = r"\u1055?\uc2\u1056 xx\u-9?? {\uc0\u1057}end \uc1\u-10187?\u-9138?"
    document = rtf(tmp_path, text)
    assert document.content.startswith("ПР")
    assert "С" in document.content
    assert document.content.endswith("\U0001d44e")
    assert rtf(tmp_path, r"a\u-10187? b").content == "a\ufffd b"


def test_paragraphs_signs_and_groups(tmp_path: Path) -> None:
    document = rtf(tmp_path, r"one \b bold\b0\~x\par two\line three\emdash four\-five\_six\{\}\par")
    assert document.content == "one bold\u00a0x\n\ntwo\nthree—fourfive-six{}"


def test_headings_by_outline_level_of_the_style(tmp_path: Path) -> None:
    styles = r"{\stylesheet{\s0 Normal;}{\s1\outlinelevel0 heading 1;}{\s2\outlinelevel1 heading 2;}}"
    body = styles + r"\pard\s1 Top\par\pard\s2 Below\par\pard\s0 Text\par"
    assert rtf(tmp_path, body).content == "# Top\n\n## Below\n\nText"


def test_headings_by_the_name_of_the_style_and_raised_digits(tmp_path: Path) -> None:
    body = (
        r"{\stylesheet{\s2 heading 2;}{\s3 Normal heading;}}\pard\s2 Named\par\pard\s3 Not one\par"
        r"\pard 10{\super 6}, 4{\super th}, H{\sub 2}O\par"
    )
    assert outline(rtf(tmp_path, body)) == [
        ("heading", "Named"), ("paragraph", "Not one"), ("paragraph", "10⁶, 4th, H2O"),
    ]  # fmt: skip


def test_tables_with_merged_cells(tmp_path: Path) -> None:
    first = r"\trowd\clmgf\cellx1000\clmrg\cellx2000\clvmgf\cellx3000\pard\intbl wide\cell\cell tall\cell\row"
    second = r"\trowd\cellx1000\cellx2000\clvmrg\cellx3000\pard\intbl a\cell b\cell\cell\row"
    document = rtf(tmp_path, first + second + r"\pard after\par")
    found = [(c.text, c.row, c.col, c.rowspan, c.colspan) for c in document.tables[0].cells]
    assert found == [("wide", 0, 0, 1, 2), ("tall", 0, 2, 2, 1), ("a", 1, 0, 1, 1), ("b", 1, 1, 1, 1)]
    assert document.content.endswith("after")


def test_nested_tables_stand_once(tmp_path: Path) -> None:
    nested = r"\pard\intbl\itap2 in1\nestcell in2\nestcell{\*\nesttableprops\trowd\cellx500\cellx900\nestrow}"
    document = rtf(
        tmp_path,
        r"\pard\intbl\itap1 outer\par " + nested + r"\pard\intbl\itap1\cell b\cell\trowd\cellx1000\cellx2000\row\pard",
    )
    assert [[c.text for c in t.cells] for t in document.tables] == [["outer", "b"], ["in1", "in2"]]


def test_lists_show_their_markers(tmp_path: Path) -> None:
    body = (
        r"\pard\ls1{\listtext 1.\tab}one\par\pard\ls1\ilvl1{\listtext a)\tab}sub\par"
        r"\pard{\listtext\'b7\tab}dot\par"
    )
    assert rtf(tmp_path, body).content == "1. one\n  a) sub\n- dot"


def test_notes_comments_boxes_and_furniture(tmp_path: Path) -> None:
    body = (
        r"{\header\pard Head\par}\pard A claim{\footnote\pard the note}"
        r"{\*\atnauthor Ann}{\*\annotation\pard check} goes on"
        r"{\shp{\*\shpinst{\sp{\sn name}{\sv value}}{\shptxt\pard boxed\par}}}\par next\par"
    )
    assert outline(rtf(tmp_path, body)) == [
        ("paragraph", "A claim[^1] goes on"),
        ("note", "[^1]: the note"),
        ("comment", "Ann: check"),
        ("paragraph", "boxed"),
        ("paragraph", "next"),
        ("page_header", "Head"),
    ]


def test_field_results_not_codes_and_nothing_hidden(tmp_path: Path) -> None:
    body = (
        r"{\field{\*\fldinst HYPERLINK x}{\fldrslt the link}} {\v secret}{\deleted gone}{\*\unknown junk}"
        r"{\pict\pngblip 89504e47}seen"
    )
    document = rtf(tmp_path, body)
    assert document.content == "the link seen"
    assert codes(document) == {"hidden_text", "tracked_changes"}
    assert document.images[0].data == b"\x89PNG"


def test_metadata(tmp_path: Path) -> None:
    body = r"{\info{\title My title}{\author Ann}{\creatim\yr2024\mo3\dy1\hr8\min30}}text"
    meta = rtf(tmp_path, body).metadata
    assert (meta.title, meta.author) == ("My title", "Ann")
    assert meta.created_date == datetime(2024, 3, 1, 8, 30, tzinfo=UTC)


def test_binary_data_is_stepped_over(tmp_path: Path) -> None:
    assert rtf(tmp_path, b"before {\\pict\\bin5 {{{{{}after").content == "before after"


def test_hostile_and_foreign_files(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        rtf(tmp_path, "{" * 30_000)
    assert caught.value.code is Code.LIMIT_EXCEEDED
    path = tmp_path / "b.rtf"
    path.write_text("plain words")
    with pytest.raises(InputError, match="not an RTF file"):
        read(path, "rtf", tmp_path)
    path.write_text(r"{\rtf1\ansi cut off in {\b bold")
    assert read(path, "rtf", tmp_path).content == "cut off in bold"
