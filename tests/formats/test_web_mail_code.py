"""Every `expect_other` sentence of the shared web, mail, data, text, archive and picture files as a machine check."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Callable

import pytest
from formats.reading import FORMATS, document, elements, failure_code, markdown, read, rows_of, texts

from engine.records import ExtractedTable, Prepared

pytestmark = [pytest.mark.shared, pytest.mark.skipif(not FORMATS.exists(), reason="needs the shared documents")]

FAMILY = ("html", "csv", "eml", "txt", "rtf", "zip", "md", "msg", "xml", "bin", "epub", "ipynb", "mbox", "org")
PICTURES = ("jpg", "png", "tiff", "webp")


def only_table(name: str) -> ExtractedTable:
    tables = document(name).tables
    assert len(tables) == 1
    return tables[0]


def grid(table: ExtractedTable) -> list[list[str]]:
    return [table.headers, *table.rows] if table.headers else table.rows


def in_order(text: str, *parts: str) -> bool:
    """Whether the parts follow one another in the text."""
    at = -1
    for part in parts:
        at = text.find(part, at + 1)
        if at < 0:
            return False
    return True


def children(name: str) -> list[Prepared]:
    return read(name)[1:]


def words(name: str) -> str:
    return " ".join(document(name).content.split())


# ---------------------------------------------------------------- delimited
def comma_in_cell() -> None:
    assert grid(only_table("dl__csv-comma-in-cell.csv"))[2] == ["a", ",", "c", "d"]


def inconsistent_header() -> None:
    table = only_table("dl__csv-inconsistent-header.csv")
    assert table.headers[:3] == ["1", "2", "3"]
    assert table.rows == [["a", "b", "c", "d"]] * 4


def semicolon() -> None:
    table = only_table("dl__csv-semicolon.csv")
    assert len(table.headers) == 12
    assert {len(row) for row in table.rows} == {12}
    assert table.headers[-1] == "Website"
    assert table.rows[0][-1] == "http://www.stephenson.com/"


def cp932() -> None:
    assert grid(only_table("mk__test_mskanji.csv"))[3] == ["髙橋淳", "35", "名古屋"]


def pipes() -> None:
    cells = grid(only_table("un__csv-with-line-delimiter.csv"))
    assert cells == [["col1", "col2", "col3"], ["a", "b", "c"], ["d", "e", "f"], ["g", "h", "i"]]


def long_lines() -> None:
    """Every cell of the file is in the table, and every number of the longest row in the chunks."""
    name = "un__csv-with-long-lines.csv"
    with (FORMATS / name).open(encoding="utf-8", newline="") as file:
        wanted = [[" ".join(cell.split()) for cell in row] for row in csv.reader(file) if any(row)]
    found = grid(only_table(name))
    assert [
        [" ".join(cell.split()) for cell in row[: len(want)]] for row, want in zip(found, wanted, strict=True)
    ] == wanted
    chunks = read(name)[0].chunks
    assert max(chunk.token_count for chunk in chunks) <= 512
    text = " ".join(chunk.content for chunk in chunks)
    longest = max(wanted, key=lambda row: len(",".join(row)))
    assert [cell for cell in longest if cell and cell not in text] == []


# ---------------------------------------------------------------- mail
def attachment_eml() -> None:
    name = "dl__eml_with_attachment.eml"
    meta = document(name).metadata
    assert meta.title == "Email with Attachment"
    assert "alice@example.com" in (meta.author or "")
    assert [child.filename for child in children(name)] == ["test.txt"]
    assert "test.txt" in document(name).content


def empty_eml() -> None:
    outer = read("un__empty.eml")[0]
    assert outer.failure is None
    assert outer.skip_reason == "empty"


def utf16_eml() -> None:
    text = markdown("un__fake-email-utf-16-be.eml")
    assert "Fri, 16 Dec 2022" in text
    assert "This is a test email to use for unit tests." in text
    assert "\0" not in text
    assert document("un__fake-email-utf-16-be.eml").metadata.created_date.date().isoformat() == "2022-12-16"


def encrypted_eml() -> None:
    assert failure_code("un__fake-encrypted.eml") == "ENCRYPTED_DOCUMENT"
    assert not read("un__fake-encrypted.eml")[0].chunks


def two_forms() -> None:
    """One body, or both under a label each: what both forms say stands once unless labelled."""
    text = words("un__mime-different-plain-html.eml")
    assert text.count("on ARPANET, marking the beginning") == 1 or ("HTML version" in text and "Plain" in text)


def encoded_subject() -> None:
    assert document("un__mime-word-encoded-subject.eml").metadata.title == "Simple email with ☸☿ Unicode subject"


def mailbox() -> None:
    found = children("tk__complex.mbox")
    assert len(found) == 3
    assert all(child.document and "core-user@hadoop.apache.org" in child.document.content for child in found)
    assert [child.document.metadata.created_date.day for child in found if child.document] == [1, 1, 1]


def attachment_msg() -> None:
    name = "dl__msg_with_attachment.msg"
    assert document(name).metadata.title == "Email with Attachment"
    assert [child.filename for child in children(name)] == ["test.txt", "report.pdf"]


def chinese_msg() -> None:
    found = document("tk__testMSG_chinese.msg")
    assert found.metadata.title == "Alfresco MSG format testing ( MSG 格式測試 )"
    assert "中文測試" in found.content


def outlook_attachment() -> None:
    assert [child.filename for child in children("un__fake-email-attachment.msg")] == ["fake-attachment.txt"]


# ---------------------------------------------------------------- web
def nested_tables() -> None:
    """Two layout cells, then a 3 × 2 table whose middle cell holds a table in a table: each cell once, in order."""
    content = document("dl__table_06.html").content
    inner = document("dl__table_06.html").tables[-1]
    assert ["A1", "B1", "C1"] in grid(inner)
    assert [row[0] + row[2] for row in grid(inner) if row[0] == "D1"] == ["D1F1"]
    assert in_order(
        content, "This is the first paragraph.", "A1", "C1", "D1", "III", "E1", "E2", "E3", "E4", "VII", "F1"
    )
    assert in_order(content, "F1", "2...", "After table")


def encyclopedia() -> None:
    found = document("dl__wiki_duck.html")
    headings = found.metadata.headings
    assert in_order("\n".join(headings), "Duck", "Etymology", "Taxonomy", "Morphology", "Distribution", "Behaviour")
    start = found.content[:1500]
    assert "Duck is the common name for numerous species of waterfowl" in found.content[:4000]
    assert "Jump to content" not in found.content
    assert "Main menu" not in start
    lines = [line for line in found.content.split("\n") if line.strip()]
    assert sum(len(line) for line in lines if len(line) > 150) > 0.5 * sum(map(len, lines))
    assert {e.level for e in elements(found, "heading") if e.content in ("Etymology", "Taxonomy")} == {2}


def sales_table() -> None:
    table = document("kr__complex_table.html").tables[0]
    cells = {(cell.row, cell.col): cell for cell in table.cells}
    assert (cells[0, 0].text, cells[0, 0].rowspan) == ("Region", 2)
    assert (cells[0, 1].text, cells[0, 1].colspan) == ("2024 Sales (in thousands)", 4)
    assert (cells[2, 0].text, cells[2, 0].colspan) == ("North America", 6)
    assert [cells[3, col].text for col in range(6)] == ["USA", "$150", "$180", "$165", "$200", "$695"]


def western_not_central() -> None:
    content = document("un__fake-html-cp1252.html").content
    for words_in in ("köstlich", "été était très", "niño comió paella", "köttbullar", "João", "Preis betrug 15,50 €"):
        assert words_in in content
    assert "\ufffd" not in content


def book() -> None:
    found = document("mk__test.epub")
    assert (found.metadata.title, found.metadata.author) == ("Test EPUB Document", "Test Author")
    assert in_order("\n".join(found.metadata.headings), "Chapter 1", "Chapter 2")


def notebook() -> None:
    found = document("mk__test_notebook.ipynb")
    kinds = [(e.type, e.attributes.get("cell", "")) for e in elements(found) if e.type in ("heading", "code")]
    assert kinds == [
        ("heading", ""), ("code", "code"), ("code", "output"), ("heading", ""), ("code", "code"), ("code", "output"),
    ]  # fmt: skip
    assert {e.attributes.get("language") for e in elements(found, "code") if e.attributes["cell"] == "code"} == {
        "python"
    }


# ---------------------------------------------------------------- text and data
def entities_once() -> None:
    found = document("dl__escaped_characters.md")
    table = found.tables[0]
    assert [row[1] for row in table.rows] == ["&", "<", ">", '"', "'", "| | |"]
    assert "## & < > \" '" in found.content
    assert "&amp; &lt; &gt; &quot; &#39;" in texts(found, "code")[0]  # code is shown as written
    assert "&amp; &lt; &gt; &quot; &#39;" in texts(found, "paragraph")  # so is inline code


def nested_lists() -> None:
    found = document("dl__nested.md")
    levels = {e.content: e.level for e in elements(found, "list_item")}
    assert levels["abc"] == 1
    assert levels["abc123"] == levels["def1234："] == 2
    assert levels["abc1234"] == 3
    assert levels["abc12345"] == 4
    assert (levels["Second item with subitems:"], levels["Subitem 1"]) == (1, 2)


def lone_surrogates() -> None:
    text = markdown("tk__testRTFInvalidUnicode.rtf")
    text.encode("utf-8")
    assert "Unpaired hi \ufffd here" in text
    assert "Unpaired lo \ufffd here" in text
    assert "Mismatched pair \ufffd\ufffd here" in text


def all_scripts() -> None:
    name = "un__UDHR_first_article_all.txt"
    content = document(name).content
    original = (FORMATS / name).read_text(encoding="utf-8")
    assert "".join(content.split()) == "".join(original.removeprefix("\ufeff").split())
    assert all(chunk.content.encode("utf-8").decode("utf-8") == chunk.content for chunk in read(name)[0].chunks)
    assert not any("\ufffd" in chunk.content for chunk in read(name)[0].chunks)


def empty_text() -> None:
    outer = read("un__empty.txt")[0]
    assert (outer.failure, outer.skip_reason, outer.chunks) == (None, "empty", [])


def white_space() -> None:
    assert read("un__fake-text-all-whitespace.txt")[0].chunks == []


def no_external_dtd() -> None:
    outer = read("tk__testXXE.xml")[0]
    assert outer.failure is None
    assert outer.document is not None
    assert "entity_ignored" in {loss.code for loss in outer.document.warnings}


def random_bytes() -> None:
    outer = read("mk__random.bin")[0]
    assert failure_code("mk__random.bin") == "UNSUPPORTED_FORMAT"
    assert "not supported" in outer.failure.message
    assert not outer.chunks


# ---------------------------------------------------------------- archives
def droste() -> None:
    found = children("tk__droste.zip")
    assert len(found) <= 12
    assert {child.failure.code for child in found if child.failure} == {"LIMIT_EXCEEDED"}


def gbk_names() -> None:
    child = children("tk__gbk.zip")[0]
    assert child.inner_path == "审计压缩包文件检索测试/集团邮件审计系统2021年自动巡检需求文档_V4.0.doc"
    assert child.size == 0


def corrupted_archive() -> None:
    assert failure_code("tk__testZIP_corrupted_oom.zip") == "EXTRACTION_FAILED"


def relative_path() -> None:
    child = children("tk__testZip_relative.zip")[0]
    assert child.inner_path == "dangerous/dont/touch.pl"
    assert not (FORMATS / "../../../dangerous").exists()


def two_members() -> None:
    found = children("un__simple.zip")
    with zipfile.ZipFile(FORMATS / "un__simple.zip") as archive:
        assert sorted(c.inner_path for c in found) == sorted(archive.namelist())
    assert len({child.document_id for child in found}) == 2
    assert all(child.chunks for child in found)


# ---------------------------------------------------------------- pictures
def chinese_picture() -> None:
    assert "适用人群" in "".join(document("un__chi_sim_image.jpeg").content.split())


def spaced_words() -> None:
    assert words("tk__testOCR_spacing.png") == "The quick brown fox"


def two_scripts() -> None:
    text = document("un__english-and-korean.png").content
    assert "RULES AND INSTRUCTIONS" in text
    assert "안녕하세요" in text


def pictured_table() -> None:
    table = only_table("un__table-multi-row-column-cells.png")
    rows = [[" ".join(cell.split()) for cell in row] for row in grid(table)]
    assert ["Blind", "5", "1", "4", "34.5%, n=1", "1199 sec, n=1"] in rows
    assert any(row[0] == "Mobility" and row[1:3] == ["3", "3"] and "95.4%" in row[4] for row in rows)
    assert [cell.colspan for cell in table.cells if cell.text.strip() == "Results"] == [2]


def two_frames() -> None:
    pages = document("tk__testTIFF_multipage.tif").pages
    assert ["Page 1" in pages[0].content, "Page 2" in pages[1].content] == [True, True]


def webp() -> None:
    assert "Docling bundles PDF document conversion to JSON and Markdown" in words("dl__webp-test.webp")


CHECKS: dict[str, Callable[[], None]] = {
    "dl__csv-comma-in-cell.csv": comma_in_cell,
    "dl__csv-inconsistent-header.csv": inconsistent_header,
    "dl__csv-semicolon.csv": semicolon,
    "mk__test_mskanji.csv": cp932,
    "un__csv-with-line-delimiter.csv": pipes,
    "un__csv-with-long-lines.csv": long_lines,
    "dl__eml_with_attachment.eml": attachment_eml,
    "un__empty.eml": empty_eml,
    "un__fake-email-utf-16-be.eml": utf16_eml,
    "un__fake-encrypted.eml": encrypted_eml,
    "un__mime-different-plain-html.eml": two_forms,
    "un__mime-word-encoded-subject.eml": encoded_subject,
    "tk__complex.mbox": mailbox,
    "dl__msg_with_attachment.msg": attachment_msg,
    "tk__testMSG_chinese.msg": chinese_msg,
    "un__fake-email-attachment.msg": outlook_attachment,
    "dl__table_06.html": nested_tables,
    "dl__wiki_duck.html": encyclopedia,
    "kr__complex_table.html": sales_table,
    "un__fake-html-cp1252.html": western_not_central,
    "mk__test.epub": book,
    "mk__test_notebook.ipynb": notebook,
    "dl__escaped_characters.md": entities_once,
    "dl__nested.md": nested_lists,
    "tk__testRTFInvalidUnicode.rtf": lone_surrogates,
    "un__UDHR_first_article_all.txt": all_scripts,
    "un__empty.txt": empty_text,
    "un__fake-text-all-whitespace.txt": white_space,
    "tk__testXXE.xml": no_external_dtd,
    "mk__random.bin": random_bytes,
    "tk__gbk.zip": gbk_names,
    "tk__testZIP_corrupted_oom.zip": corrupted_archive,
    "tk__testZip_relative.zip": relative_path,
    "un__simple.zip": two_members,
}
LONG_CHECKS: dict[str, Callable[[], None]] = {
    "tk__droste.zip": droste,
    "un__chi_sim_image.jpeg": chinese_picture,
    "tk__testOCR_spacing.png": spaced_words,
    "un__english-and-korean.png": two_scripts,
    "un__table-multi-row-column-cells.png": pictured_table,
    "tk__testTIFF_multipage.tif": two_frames,
    "dl__webp-test.webp": webp,
}


def test_every_row_with_a_sentence_has_a_check() -> None:
    wanted = {name for name, row in rows_of(*FAMILY, *PICTURES).items() if row["expect_other"]}
    assert wanted == {*CHECKS, *LONG_CHECKS}


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_as_the_manifest_says(name: str) -> None:
    CHECKS[name]()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LONG_CHECKS))
def test_pictures_and_their_like(name: str) -> None:
    LONG_CHECKS[name]()
