"""Pages that are pictures: OCR, what is kept of both readings, blanks, and bounds on rendering."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from engine.document import walk
from engine.errors import Code, InputError
from engine.extract.pdf.model import PageModel, Picture, Run, Word
from engine.extract.pdf.mupdf import pymupdf
from engine.extract.pdf.scan import wants_ocr
from engine.ocr import check_read, installed_languages
from engine.settings import Settings
from tests.engine.extract.pdf_files import LOREM, codes, pdf, read, reader, text_at, text_picture, wrapped

needs_tesseract = pytest.mark.skipif("eng" not in installed_languages(), reason="Tesseract is not installed")
LINES = ("The annual meeting was opened at nine", "and closed at twelve with thanks to all")


def scanned(path: Path, image: Image.Image) -> Path:
    return pdf(path, lambda c: c.drawImage(reader(image), 0, 600, 595, 595 * image.height / image.width))


@needs_tesseract
def test_a_scanned_page_is_read(tmp_path: Path) -> None:
    document = read(scanned(tmp_path / "a.pdf", text_picture(*LINES)), tmp_path)
    element = document.structure[0]
    assert element.type == "ocr_page" and element.page_number == 1
    assert " ".join(LINES) in document.content
    assert {c.method for c in element.children} == {"ocr"} and document.spans[0].method == "ocr"
    page = document.pages[0]
    assert page.ocr_engine == "tesseract:eng" and page.ocr_confidence is not None and page.ocr_confidence > 0.8
    assert document.pending == []
    box = element.children[0].box
    assert box is not None and 20 < box.x0 < 60 and box.x1 < 595


@needs_tesseract
@pytest.mark.parametrize("degrees", [90, 180, 270])
def test_a_scan_that_lies_on_its_side_is_read(tmp_path: Path, degrees: int) -> None:
    """P20: pixels turned by a quarter, a half, three quarters."""
    image = text_picture(*LINES, *LINES, *LINES).rotate(degrees, expand=True, fillcolor="white")
    path = pdf(tmp_path / "a.pdf", lambda c: c.drawImage(reader(image), 20, 20, image.width / 3, image.height / 3))
    document = read(path, tmp_path)
    assert "annual meeting was opened" in document.content
    assert all(0 <= e.box.x0 <= 595 and 0 <= e.box.y0 <= 842 for e in walk(document.structure) if e.box)


@needs_tesseract
def test_a_sound_text_layer_is_not_read_again(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        c.drawImage(reader(text_picture("other words")), 0, 400, 595, 200)
        wrapped(c, 72, 80, 400, LOREM * 3)

    document = read(pdf(tmp_path / "a.pdf", page), tmp_path)
    assert "treasurer" in document.content and document.pages[0].ocr_engine is None


@needs_tesseract
def test_the_better_of_a_short_layer_and_the_picture_is_kept(tmp_path: Path) -> None:
    def page(c: Canvas) -> None:
        text_at(c, 72, 830, "page 1 of 1", 6)
        c.drawImage(reader(text_picture(*LINES)), 0, 500, 595, 120)

    assert "annual meeting" in read(pdf(tmp_path / "a.pdf", page), tmp_path).content


def test_without_ocr_an_unread_page_is_no_success(tmp_path: Path) -> None:
    path = scanned(tmp_path / "a.pdf", text_picture(*LINES))
    document = read(path, tmp_path, ocr={"enabled": False})
    assert document.content == "" and "ocr_unavailable" in codes(document)
    with pytest.raises(InputError) as error:
        check_read(document)
    assert error.value.code == Code.OCR_FAILED


def test_a_blank_page_is_no_failure(tmp_path: Path) -> None:
    path = scanned(tmp_path / "a.pdf", Image.new("RGB", (800, 400), "white"))
    document = read(path, tmp_path)
    assert document.content == "" and codes(document) == {"blank_page"}
    check_read(document)


def test_a_picture_beyond_the_pixel_limit_is_not_decoded(tmp_path: Path) -> None:
    path = scanned(tmp_path / "a.pdf", text_picture(*LINES))
    document = read(path, tmp_path, limits={"image_pixels": 100_000})
    assert "page_not_rendered" in codes(document) and not list((tmp_path / "scratch").glob("page-*"))
    with pytest.raises(InputError):
        check_read(document)


def test_a_huge_sheet_is_rendered_within_bounds(tmp_path: Path) -> None:
    image = text_picture(*LINES)
    path = pdf(tmp_path / "a.pdf", lambda c: c.drawImage(reader(image), 0, 0, 9000, 2000), size=(9000, 9000))
    read(path, tmp_path, limits={"image_pixels": 1_000_000})
    with Image.open(tmp_path / "scratch" / "page-00001.png") as rendered:
        assert rendered.width * rendered.height <= 1_000_000


@needs_tesseract
def test_a_poorly_read_page_waits_for_vision(tmp_path: Path) -> None:
    path = scanned(tmp_path / "a.pdf", text_picture(*LINES))
    document = read(path, tmp_path, ocr={"confidence_threshold": 1.0})
    assert [p.page_number for p in document.pending] == [1]
    waiting = document.pending[0]
    assert Path(waiting.image_path).exists() and (waiting.width, waiting.height) == (595, 842)
    assert "page_ocr_low_confidence" in codes(document)
    off = read(path, tmp_path, ocr={"confidence_threshold": 1.0, "vision": "off"})
    assert off.pending == []


def model(text: str, *pictures: Picture, hidden: int = 0, drawings: int = 0) -> PageModel:
    words = [Word(w, 0, 0, 10, 10) for w in text.split()]
    run = Run(words, 0, 0, 100, 10, text, 10)
    return PageModel(1, 600, 800, 600, 800, [run], [], [], list(pictures), hidden_characters=hidden, drawings=drawings)


def test_which_pages_want_ocr() -> None:
    whole = Picture(0, 0, 600, 800, 5, 4_000_000)
    logo = Picture(0, 0, 40, 20, 6, 3000)
    assert wants_ocr(model("", whole), Settings())
    assert not wants_ocr(model("", logo), Settings())
    assert not wants_ocr(model(LOREM), Settings())
    assert wants_ocr(model("\ufffd" * 80), Settings())
    assert wants_ocr(model("xkcd bdfg hjkl mnpq rstv wxzb " * 8), Settings())
    assert wants_ocr(model("a stamp of sixty letters on top of a scanned page, no more", whole), Settings())
    assert wants_ocr(model("t0e qu1ck br;wn f*x ju~ps ov3r " * 8, whole, hidden=200), Settings())
    assert not wants_ocr(model(LOREM * 3, whole, hidden=500), Settings())
    assert wants_ocr(model("", drawings=400), Settings())


@pytest.mark.parametrize(
    ("layer", "picture"),
    [
        ("\ufffd\ufffd \ufffd\ufffd\ufffd " * 20, False),  # no map from glyphs to letters
        ("\ue001\ue002\ue003 \ue004\ue005 " * 20, False),  # glyphs in the private use area
        ("".join(chr((ord(c) - 94) % 26 + 97) if c.islower() else c for c in LOREM * 3), False),  # letters shifted
        ("".join(chr(ord(c) - 29) if c > " " else c for c in LOREM * 2), False),  # and shifted among the symbols
        ("«POAH «3E*» RE5EARCH F0UND4TION lNC. 4 l3tt3r fr0m Th3 Am4lg4m4t3d m3n 0f " * 4, True),  # bad old OCR
    ],
)
def test_a_text_layer_of_garbage_is_read_from_the_page(layer: str, picture: bool) -> None:
    whole = [Picture(0, 0, 600, 800, 5, 4_000_000)] if picture else []
    assert wants_ocr(model(layer, *whole, hidden=len(layer) if picture else 0), Settings())


def test_letters_drawn_as_outlines_are_read(tmp_path: Path) -> None:
    made = pymupdf.open()
    page = made.new_page()
    page.insert_text((72, 100), "Outlined words", fontsize=30)
    svg = page.get_svg_image(text_as_path=True)
    outlined = pymupdf.open(stream=svg.encode(), filetype="svg")
    (tmp_path / "a.pdf").write_bytes(outlined.convert_to_pdf())
    document = read(tmp_path / "a.pdf", tmp_path, ocr={"min_characters": 50})
    if "eng" in installed_languages():
        assert "Outlined words" in document.content


@needs_tesseract
def test_bookmarks_and_comments_of_a_scan_are_kept(tmp_path: Path) -> None:
    scanned(tmp_path / "scan.pdf", text_picture(*LINES))
    made = pymupdf.open(tmp_path / "scan.pdf")
    made.set_toc([[1, "Minutes", 1]])
    made[0].add_text_annot((50, 50), "Is this signed?").update()
    made.save(tmp_path / "a.pdf")
    document = read(tmp_path / "a.pdf", tmp_path)
    assert document.content == "# Minutes\n\n" + " ".join(LINES) + "\n\n[Comment] Is this signed?"
