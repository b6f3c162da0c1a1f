"""Real PDFs and pictures from the folder beside the checkout: what their manifest says must come out."""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from engine.document import derive, merge, to_markdown, walk
from engine.errors import Code, InputError
from engine.extract.pdf import extract_pages
from engine.extract.pdf.mupdf import TEXT_FLAGS, open_document
from engine.extract.scans import apply_vision
from engine.ocr import check_read, installed_languages, vision_engine
from engine.records import ExtractedDocument
from tests.engine.extract.pdf_files import codes, context, headings, read

FORMATS = Path(__file__).resolve().parents[3] / "../shared/corpora/formats"
OCR = FORMATS.parent / "ocr"
PASSWORDS = ["1234", "asdfzxcv", "password"]
# Strings that no faithful reading can satisfy: MuPDF maps a glyph of a self-referring font otherwise; the
# page itself prints "BBOOLLDD" as an example; the folded ligature is a part of what must be there.
IMPOSSIBLE = {"ab", "BBOOLLDD", "\ufb03"}
pytestmark = [pytest.mark.shared, pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")]


def rows(*formats: str) -> list[dict[str, str]]:
    if not FORMATS.exists():
        return []
    with (FORMATS / "manifest.csv").open(encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["format"] in formats]


def fold(text: str) -> str:
    return re.sub(r"[\s\u00ad\u2010-\u2015\u2212-]+", "", unicodedata.normalize("NFKC", text))


def pdf_text(name: str, tmp_path: Path, **groups: object) -> ExtractedDocument:
    return read(FORMATS / name, tmp_path, passwords=PASSWORDS, **groups)


TEXT_ROWS = [Path(row["path"]).name for row in rows("pdf") if row["expect_contains"] != "[]"]


@pytest.mark.parametrize("name", TEXT_ROWS)
def test_text_layers(name: str, tmp_path: Path) -> None:
    row = next(r for r in rows("pdf") if r["path"].endswith(name))
    got = fold(to_markdown(pdf_text(name, tmp_path, ocr={"enabled": False})))
    wanted, unwanted = json.loads(row["expect_contains"]), json.loads(row["expect_absent"])
    assert [s for s in wanted if fold(s) not in got and s not in IMPOSSIBLE] == []
    assert [s for s in unwanted if fold(s) in got and s not in IMPOSSIBLE] == []


@pytest.mark.parametrize(
    "name", ["pj__GHOSTSCRIPT-698804-1-fuzzed.pdf", "pj__poppler-395-0-fuzzed.pdf", "pp__empty.pdf"]
)
def test_broken_files_fail_cleanly(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        pdf_text(name, tmp_path)
    assert error.value.code == Code.EXTRACTION_FAILED


def test_a_bomb_in_the_content_is_not_unpacked(tmp_path: Path) -> None:
    assert "GIANT JBIG2 BOMB" in pdf_text("pj__bomb_giant.pdf", tmp_path).content


def test_passwords_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read(FORMATS / "un__password.pdf", tmp_path)
    assert error.value.code == Code.ENCRYPTED_DOCUMENT


def test_heading_trees_from_bookmarks(tmp_path: Path) -> None:
    found = headings(pdf_text("dl__bookmark_sample.pdf", tmp_path))
    assert found[:3] == [(1, "PART I - DEFINITIONS"), (2, "1. Interpretation"), (2, "2. Construction of Terms")]
    assert (3, "3.1 Payment Schedule") in found
    nested = [level for level, _ in headings(pdf_text("pj__nested_outline.pdf", tmp_path))]
    assert nested == [1, 2, 2, 1, 2, 2, 1, 2, 2]


def test_reading_order(tmp_path: Path) -> None:
    def order(name: str, *words: str) -> None:
        text = fold(pdf_text(name, tmp_path).content)
        places = [text.index(fold(w)) for w in words]
        assert places == sorted(places), name

    order("pm__jo.pdf", "すべてがわたくしの中のみんなであるやうに", "みんなのおのおののなかのすべてですから")
    order("tk__testPDFTwoTextBoxes.pdf", "Left column line 2", "Right column line 1")
    order(
        "dl__amt_handbook_sample.pdf",
        "Plates must be attached",
        "nuts currently in use",
        "part of the nut",
        "the most common ranges",
    )
    order("un__multi-column.pdf", "Dense Passage Retrieval", "Vladimir Karpukhin", "Abstract", "1 Introduction")
    order("mk__masterformat_partial_numbering.pdf", ".1 The intent of this", ".2 Available information")


def test_cells_do_not_shift(tmp_path: Path) -> None:
    sparse = pdf_text("mk__SPARSE-2024-INV-1234_borderless_table.pdf", tmp_path).tables[0]
    assert sparse.headers[:3] == ["Product Code", "Location", "Expected"]
    assert sparse.rows[0] == ["SKU-8847", "A-12", "450", "", "", ""]
    nics = pdf_text("pp__nics-background-checks-2015-11.pdf", tmp_path).tables[0]
    alabama = next(row for row in nics.rows if row[0] == "Alabama")
    assert alabama[1:4] == ["18,870", "23,022", "22,650"] and alabama[-1] == "71,137" and len(alabama) == 25
    assert alabama[16:18] == ["", ""]


def test_what_pdfs_carry(tmp_path: Path) -> None:
    child = pdf_text("pj__attachment.pdf", tmp_path).attached[0]
    assert child.inner_path == "foo.txt" and Path(child.path).read_text().strip() == "bar baz"
    assert "foobar" in pdf_text("pj__prefilled_f1040.pdf", tmp_path).content
    numbered = pdf_text("pp__scotus-transcript-p1.pdf", tmp_path)
    assert "line_numbers_dropped" in codes(numbered) and "\n24\n" not in numbered.content
    code = [e.content for e in walk(pdf_text("dl__code_and_formula.pdf", tmp_path).structure) if e.type == "code"]
    assert code == ["function add(a, b) {\n    return a + b;\n}\nconsole.log(add(3, 5));"]


def test_parts_of_a_real_paper(tmp_path: Path) -> None:
    path = FORMATS / "pj__tracemonkey.pdf"
    whole = read(path, tmp_path)
    parts = [extract_pages(path, context(tmp_path), a, b) for a, b in ((1, 4), (5, 9), (10, 14))]
    merged = merge(parts, context(tmp_path).settings.limits)
    assert merged.content == whole.content and headings(merged) == headings(whole)


# ---------------------------------------------------------------- pictures of text
SCANS = [
    ("dl__ocr_test.pdf", "pdf", ["Docling bundles PDF document conversion to JSON and Markdown"]),
    ("dl__ocr_test_rotated_90.pdf", "pdf", ["Docling bundles PDF document conversion to JSON and Markdown"]),
    ("dl__webp-test.webp", "webp", ["Docling bundles PDF document conversion to JSON and Markdown"]),
    ("un__pdf-with-ocr-text.pdf", "pdf", ["Sugar Company accepting membership and enclosing"]),
    ("tk__testTIFF_multipage.tif", "tiff", ["Multipage", "Page 1", "Page 2"]),
    ("un__english-and-korean.png", "png", ["RULES AND INSTRUCTIONS", "안녕하세요"]),
    ("un__chi_sim_image.jpeg", "jpg", ["适用人群"]),
]


@pytest.mark.slow
@pytest.mark.skipif(not {"eng", "kor"} <= installed_languages(), reason="Tesseract is not installed")
@pytest.mark.parametrize(("name", "source_format", "wanted"), SCANS)
def test_scans(name: str, source_format: str, wanted: list[str], tmp_path: Path) -> None:
    document = read(FORMATS / name, tmp_path, source_format)
    engine = vision_engine(context(tmp_path).settings)
    for page in list(document.pending):
        apply_vision(document, page, engine.read(Path(page.image_path), page.reading))
    derive(document)
    check_read(document)
    assert [w for w in wanted if fold(w) not in fold(document.content)] == []


def letters(text: str) -> Counter[str]:
    return Counter(c for c in text if c.isalnum())


@pytest.mark.parametrize("name", [n for n in TEXT_ROWS if "scotus" not in n])
def test_no_letter_of_the_text_layer_is_lost(name: str, tmp_path: Path) -> None:
    document = pdf_text(name, tmp_path, ocr={"enabled": False})
    found: Counter[str] = Counter()
    for element in walk(document.structure):
        found += letters(element.content + element.attributes.get("marker", ""))
        for cell in element.table.cells if element.table else ():
            found += letters(cell.text)
        found += letters(element.table.caption or "") if element.table else Counter()
    pages = open_document(FORMATS / name, PASSWORDS)
    printed = Counter[str]()
    for number in range(pages.page_count):
        if not (name == "pj__Pages-tree-refs.pdf" and number == 1):  # the page whose tree is a loop
            printed += letters(pages[number].get_text(flags=TEXT_FLAGS))
    lost = (printed - found).total()
    assert lost <= 0.002 * printed.total() + 2
    assert ("page_unreadable" in codes(document)) == (name == "pj__Pages-tree-refs.pdf")
