"""Every `expect_other` sentence of the shared PDF files as a machine check, made by looking at the pages."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from formats.reading import FORMATS, document, elements, failure_code, folded, read, rows_of, texts

from engine.records import ExtractedTable

pytestmark = [pytest.mark.shared, pytest.mark.skipif(not FORMATS.exists(), reason="needs the shared documents")]


def words(name: str) -> str:
    return " ".join(document(name).content.split())


def rows(table: ExtractedTable) -> list[list[str]]:
    """Every row, head rows too, cells in one line."""
    found = [table.headers, *table.rows] if table.headers else table.rows
    return [[" ".join(cell.split()) for cell in row] for row in found]


def tree(name: str) -> list[tuple[int, str]]:
    return [(e.level or 0, e.content) for e in elements(document(name), "heading")]


def assert_order(text: str, *parts: str) -> None:
    at = -1
    for part in parts:
        following = text.find(part, at + 1)
        assert following > at, f"{part!r} is missing or stands before what it should follow"
        at = following


def losses(name: str) -> set[str]:
    return {loss.code for loss in document(name).warnings}


# ---------------------------------------------------------------- passwords and damage
def opens_with_1234() -> None:
    assert failure_code("dl__2206.01062_pg3.pdf", password=False) == "ENCRYPTED_DOCUMENT"
    assert failure_code("dl__2206.01062_pg3.pdf") == ""


def opens_with_asdfzxcv() -> None:
    assert failure_code("py__r6-user-password.pdf", password=False) == "ENCRYPTED_DOCUMENT"
    assert "pdf encryption test" in words("py__r6-user-password.pdf")


def opens_with_password() -> None:
    assert failure_code("un__password.pdf", password=False) == "ENCRYPTED_DOCUMENT"
    assert "File with password" in words("un__password.pdf")


def empty_password() -> None:
    assert "pdf encryption test" in words("py__r2-empty-password.pdf")


def speech() -> None:
    assert len(document("tk__testPDF_protected.pdf").pages) == 41


def owner_password() -> None:
    assert "LayoutParser: A Unified Toolkit" in words("un__copy-protected.pdf")


def self_referring_glyph() -> None:
    assert len(document("pj__ContentStreamCycleType3insideType3.pdf").content) < 100


def ends_cleanly(name: str) -> Callable[[], None]:
    def check() -> None:
        assert failure_code(name) in ("", "EXTRACTION_FAILED", "LIMIT_EXCEEDED")

    return check


def circular_page_tree() -> None:
    found = document("pj__Pages-tree-refs.pdf")
    assert len(found.pages) <= 2
    assert found.content.count("Testcase") == 1


def jbig2_bomb() -> None:
    outer = read("pj__bomb_giant.pdf")[0]
    assert outer.failure is not None or "GIANT JBIG2 BOMB" in outer.document.content  # pyright: ignore


def recursive_forms() -> None:
    assert 1 <= document("pm__issue-1113-evil-xobjects.pdf").content.count("Hello world") <= 2


def zero_bytes() -> None:
    outer = read("pp__empty.pdf")[0]
    assert outer.failure is not None or outer.skip_reason == "empty"
    assert not outer.chunks


# ---------------------------------------------------------------- order of the text
def handbook_columns() -> None:
    assert_order(
        words("dl__amt_handbook_sample.pdf"),
        "pulleys, provided the inner race",
        "The two general types of self-locking nuts",
        "Boots Self-Locking Nut",
        "The wing type that is",
        "the most common ranges in size for No. 6",
        "Stainless Steel Self-Locking Nut",
        "Elastic Stop Nut",
    )


def right_to_left() -> None:
    content = document("dl__right_to_left_01.pdf").content
    assert_order(content, "تحسين الإنتاجية وحل المشكلات", "تعتبر البرمجة بلغة", "عندما يجتمع", "في النهاية")
    assert "الإنتاجية" in content  # the pair lam-alef as two letters
    assert not re.search("[\ufe70-\ufeff\ufb50-\ufdff]", content)


def broken_arabic() -> None:
    name = "dl__right_to_left_02.pdf"
    assert folded("الحكومة المصرية") in folded(document(name).content)
    read_anew = {page.ocr_engine for page in document(name).pages} - {None}
    assert read_anew or losses(name) & {"text_layer_suspect", "text_layer_garbled", "page_low_quality"}


def japanese_stanzas() -> None:
    content = folded(document("pm__jo.pdf").content)
    assert_order(
        content,
        "わたくしといふ現象は",
        "これらは二十二箇月の",
        "（すべてがわたくしの中のみんなであるやうに".replace("（", "("),
        "みんなのおのおののなかのすべてですから",
        "けれどもこれら新世代沖積世の",
        "大正十三年一月廿日",
    )


def vertical() -> None:
    found = document("pj__vertical.pdf")
    assert len(found.pages) == 3
    assert_order(folded(found.content), "あいうえお", "日本語")


def rotated_hellos() -> None:
    found = document("pj__hello_world_rotated.pdf")
    assert len(found.pages) == 5
    assert sum("Hello world" in page.content for page in found.pages) >= 4


def two_rotations() -> None:
    pages = document("pj__rotation.pdf").pages
    assert len(pages) == 2
    assert_order(pages[0].content, "This is my first page with normal layout.", "second line on the page")
    assert_order(pages[1].content, "This is my second page.", "It will have a landscape layout.", "Second line here.")


def turned_page() -> None:
    """The lines run down the page; a reader who tilts the head meets the rightmost first."""
    content = words("un__rotated-page-90.pdf")
    assert_order(content, "Hello World Test Text", "Second line of text here", "Rotated page fixture")


def trace_monkey() -> None:
    found = document("pj__tracemonkey.pdf")
    assert len(found.pages) == 14
    assert_order(
        found.pages[0].content,
        "Trace-based Just-in-Time Type Specialization for Dynamic Languages",
        "Abstract",
        "Dynamic languages such as JavaScript are more difficult",
        "General Terms",
        "Introduction",
        "used for the application logic of",
        "Compilers for statically typed languages rely on type information",
    )


def passage_retrieval() -> None:
    found = document("un__multi-column.pdf")
    assert len(found.pages) == 13
    assert_order(
        found.pages[0].content,
        "Dense Passage Retrieval for Open-Domain Question Answering",
        "Vladimir Karpukhin",
        "Abstract",
        "Open-domain question answering relies on efficient passage retrieval",
        "Introduction",
        "Retrieval in open-domain QA is usually implemented",
    )


def two_boxes() -> None:
    assert_order(
        words("tk__testPDFTwoTextBoxes.pdf"),
        "Left column line 1", "Left column line 2", "Right column line 1", "Right column line 2",
    )  # fmt: skip


def spread_letters() -> None:
    assert "Here is some formatted text" in words("tk__testExtraSpaces.pdf")


def ligatures() -> None:
    assert folded(document("pj__copy_paste_ligatures.pdf").content) == "abcdeffffiflffifflststghijklmno"


def bold_by_drawing_twice() -> None:
    assert words("un__fake-bold-sample.pdf").count("BOLD TEXT SAMPLE") == 1


def crazy_ones() -> None:
    """The page has no apostrophes, although a reader expects some."""
    content = words("py__crazyones.pdf")
    assert_order(
        content,
        "The Crazy Ones",
        "October 14, 1998",
        "The round pegs in the square holes.",
        "Theyre not fond of rules. And they have no respect for the status quo.",
        "Maybe they have to be crazy.",
        "are the ones who do.",
    )


def transcript() -> None:
    found = document("pp__scotus-transcript-p1.pdf")
    assert_order(
        words("pp__scotus-transcript-p1.pdf"),
        "IN THE SUPREME COURT OF THE UNITED STATES",
        "MICHAEL A. KNOWLES,",
        "WARDEN,",
        "Petitioner",
        "No. 07-1315",
        "ALEXANDRE MIRZAYANCE.",
        "Washington, D.C.",
        "Tuesday, January 13, 2009",
        "The above-entitled matter came on for oral",
        "argument before the Supreme Court of the United States",
        "APPEARANCES:",
        "STEVEN E. MERCER, ESQ., Deputy Attorney General, Los",
        "Angeles, Cal.; on behalf of the Petitioner.",
        "CHARLES M. SEVILLA, ESQ., San Diego, Cal.; on behalf",
        "of the Respondent.",
    )
    assert found.tables == []


# ---------------------------------------------------------------- headings, tables, code
def outline_tree() -> None:
    assert tree("dl__bookmark_sample.pdf") == [
        (1, "PART I - DEFINITIONS"), (2, "1. Interpretation"), (2, "2. Construction of Terms"),
        (1, "PART II - OBLIGATIONS"), (2, "3. Payment Terms"), (3, "3.1 Payment Schedule"), (2, "4. Termination"),
        (1, "PART III - MISCELLANEOUS"),
    ]  # fmt: skip
    assert len(document("dl__bookmark_sample.pdf").pages) == 3


def nested_outline() -> None:
    assert tree("pj__nested_outline.pdf") == [
        (1, "Introduction"), (2, "Background"), (2, "Motivation"), (1, "Main Content"), (2, "First Topic"),
        (2, "Second Topic"), (1, "Conclusion"), (2, "Summary"), (2, "Future Work"),
    ]  # fmt: skip
    assert len(document("pj__nested_outline.pdf").pages) == 9


def numeric_table() -> None:
    found = document("dl__2305.03393v1-pg9.pdf")
    table = rows(found.tables[0])
    assert ["OTSL", "0.965", "0.934", "0.955", "0.88", "2.73"] in [row[2:] for row in table]
    assert ["HTML", "0.969", "0.927", "0.955", "0.857", "5.39"] in [row[2:] for row in table]
    assert sum(row[2] in ("OTSL", "HTML") for row in table) == 8
    heads = {cell.text for cell in found.tables[0].cells if cell.row < 2}
    assert {"TEDs", "simple", "complex", "all"} <= heads
    assert any("mAP" in head for head in heads)
    assert [e.content for e in elements(found, "page_header")] == [
        "Optimized Table Tokenization for Table Structure Recognition", "9"
    ]  # fmt: skip


def listing_and_formula() -> None:
    found = document("dl__code_and_formula.pdf")
    assert texts(found, "code") == ["function add(a, b) {\n    return a + b;\n}\nconsole.log(add(3, 5));"]
    assert "nonumy eirmod tempor" in found.content
    assert "sed diam voluptua." in found.content
    assert not re.search(r"eir-\s|volup-\s", found.content)


def word_processors() -> None:
    name = "dl__multi_page.pdf"
    assert len(document(name).pages) == 5
    assert all(chunk.metadata.page_numbers for chunk in read(name)[0].chunks)
    assert {n for chunk in read(name)[0].chunks for n in chunk.metadata.page_numbers} == {1, 2, 3, 4, 5}


def hideous_name() -> None:
    assert len(document("kr__the_hideous_name_1985_pike85hideous.pdf").pages) == 8


def sparse_table() -> None:
    table = rows(document("mk__SPARSE-2024-INV-1234_borderless_table.pdf").tables[0])
    assert table[0] == ["Product Code", "Location", "Expected", "Actual", "Variance", "Status"]
    assert table[1] == ["SKU-8847", "A-12", "450", "", "", ""]
    assert table[2] == ["", "B-07", "", "289", "-23", ""]
    assert table[5] == ["SKU-4563", "D-22", "", "156", "", "CRITICAL"]


def numbers_with_their_sentences() -> None:
    content = words("mk__masterformat_partial_numbering.pdf")
    assert re.search(r"\.1[ |]{1,3}The intent of this Request for Proposal", content)
    assert re.search(r"\.2[ |]{1,3}Available information relative to the project", content)


def background_checks() -> None:
    for table in document("pp__nics-background-checks-2015-11.pdf").tables:
        for row in rows(table):
            if row[0] == "Alabama":
                assert row[1:6] == ["18,870", "23,022", "22,650", "859", "1,178"]
                # Admin, pawn, redemption, disposition; then two blank rentals; sales, returns, total.
                assert row[6:16] == ["0", "14", "15", "0", "2,179", "2,307", "11", "0", "0", "0"]
                assert row[16:] == ["", "", "13", "14", "0", "3", "2", "0", "71,137"]
                return
    raise AssertionError("no row Alabama")


# ---------------------------------------------------------------- forms and attachments
def text_widgets() -> None:
    content = document("pj__annotation-text-widget.pdf").content
    assert "Lorem ipsum dolor sit amet" in content
    assert "abcdefghijklmnopqrstuvwxyz" in folded(content)


def tax_form() -> None:
    assert "foobar" in document("pj__prefilled_f1040.pdf").pages[1].content


def drawn_form() -> None:
    assert len(document("pp__pdffill-demo.pdf").pages) == 7


def one_attachment() -> None:
    child = read("pj__attachment.pdf")[1]
    assert child.filename == "foo.txt"
    assert child.document is not None
    assert child.document.content == "bar baz"


def attachments_listed() -> None:
    assert [child.filename for child in document("py__attachment.pdf").attached] == ["jpeg.pdf"]


def attachments_in_a_name_tree() -> None:
    found = document("tk__testPDF_deeplyEmbeddedAttachments.pdf")
    assert found.content == "a"
    assert len(found.attached) == 20
    assert all(re.match(r"orig( ?\(\d+\))?\.pdf", child.filename) for child in found.attached)
    assert all(p.failure is None or p.failure.code == "LIMIT_EXCEEDED" for p in read(
        "tk__testPDF_deeplyEmbeddedAttachments.pdf"
    ))  # fmt: skip


# ---------------------------------------------------------------- scans
def scanned(name: str) -> Callable[[], None]:
    def check() -> None:
        text = "Docling bundles PDF document conversion to JSON and Markdown in an easy self contained package"
        assert text in words(name)
        assert document(name).pages[0].ocr_confidence

    return check


def german_letter() -> None:
    name = "kr__image_only_german_pdf.pdf"
    assert len(document(name).pages) == 3
    for part in ("Heimat Bayern", "München, 01. August 2025", "Stellungnahme Archivgesetz; Verbändeanhörung"):
        assert part in words(name)


def noisy_layer() -> None:
    name = "un__pdf-with-ocr-text.pdf"
    assert document(name).pages[0].ocr_engine or losses(name) & {"text_layer_suspect", "text_layer_garbled"}
    content = words(name)
    assert "SUGAR RESEARCH FOUNDATION, INC." in content
    assert re.search(r"A letter from The Amalgamated Sugar Company", content)


def pictured_table() -> None:
    table = document("un__table-multi-row-column-cells.pdf").tables[0]
    found = rows(table)
    assert ["Blind", "5", "1", "4", "34.5%, n=1", "1199 sec, n=1"] in found
    assert any(row[0] == "Mobility" and row[1:4] == ["3", "3", "0"] and "95.4%, n=3" in row[4] for row in found)
    assert [cell.colspan for cell in table.cells if cell.text.strip() == "Results"] == [2]


CHECKS: dict[str, Callable[[], None]] = {
    "dl__2206.01062_pg3.pdf": opens_with_1234,
    "dl__2305.03393v1-pg9.pdf": numeric_table,
    "dl__amt_handbook_sample.pdf": handbook_columns,
    "dl__bookmark_sample.pdf": outline_tree,
    "dl__code_and_formula.pdf": listing_and_formula,
    "dl__multi_page.pdf": word_processors,
    "dl__right_to_left_01.pdf": right_to_left,
    "dl__right_to_left_02.pdf": broken_arabic,
    "kr__the_hideous_name_1985_pike85hideous.pdf": hideous_name,
    "mk__SPARSE-2024-INV-1234_borderless_table.pdf": sparse_table,
    "mk__masterformat_partial_numbering.pdf": numbers_with_their_sentences,
    "pj__ContentStreamCycleType3insideType3.pdf": self_referring_glyph,
    "pj__GHOSTSCRIPT-698804-1-fuzzed.pdf": ends_cleanly("pj__GHOSTSCRIPT-698804-1-fuzzed.pdf"),
    "pj__Pages-tree-refs.pdf": circular_page_tree,
    "pj__annotation-text-widget.pdf": text_widgets,
    "pj__attachment.pdf": one_attachment,
    "pj__bomb_giant.pdf": jbig2_bomb,
    "pj__copy_paste_ligatures.pdf": ligatures,
    "pj__hello_world_rotated.pdf": rotated_hellos,
    "pj__nested_outline.pdf": nested_outline,
    "pj__poppler-395-0-fuzzed.pdf": ends_cleanly("pj__poppler-395-0-fuzzed.pdf"),
    "pj__prefilled_f1040.pdf": tax_form,
    "pj__rotation.pdf": two_rotations,
    "pj__vertical.pdf": vertical,
    "pm__issue-1113-evil-xobjects.pdf": recursive_forms,
    "pm__jo.pdf": japanese_stanzas,
    "pp__empty.pdf": zero_bytes,
    "pp__nics-background-checks-2015-11.pdf": background_checks,
    "pp__pdffill-demo.pdf": drawn_form,
    "pp__scotus-transcript-p1.pdf": transcript,
    "py__attachment.pdf": attachments_listed,
    "py__crazyones.pdf": crazy_ones,
    "py__r2-empty-password.pdf": empty_password,
    "py__r6-user-password.pdf": opens_with_asdfzxcv,
    "tk__testExtraSpaces.pdf": spread_letters,
    "tk__testPDFTwoTextBoxes.pdf": two_boxes,
    "tk__testPDF_deeplyEmbeddedAttachments.pdf": attachments_in_a_name_tree,
    "un__copy-protected.pdf": owner_password,
    "un__fake-bold-sample.pdf": bold_by_drawing_twice,
    "un__password.pdf": opens_with_password,
    "un__rotated-page-90.pdf": turned_page,
}
LONG_CHECKS: dict[str, Callable[[], None]] = {
    "dl__ocr_test.pdf": scanned("dl__ocr_test.pdf"),
    "dl__ocr_test_rotated_90.pdf": scanned("dl__ocr_test_rotated_90.pdf"),
    "kr__image_only_german_pdf.pdf": german_letter,
    "pj__tracemonkey.pdf": trace_monkey,
    "tk__testPDF_protected.pdf": speech,
    "un__multi-column.pdf": passage_retrieval,
    "un__pdf-with-ocr-text.pdf": noisy_layer,
    "un__table-multi-row-column-cells.pdf": pictured_table,
}


def test_every_row_with_a_sentence_has_a_check() -> None:
    assert {name for name, row in rows_of("pdf").items() if row["expect_other"]} == {*CHECKS, *LONG_CHECKS}


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_as_the_manifest_says(name: str) -> None:
    CHECKS[name]()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(LONG_CHECKS))
def test_scans_and_long_papers(name: str) -> None:
    LONG_CHECKS[name]()
