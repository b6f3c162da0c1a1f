"""Which blocks of a page are headings, by looks, bookmarks, tags and the kind of document."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from engine.extract.pdf.heading_chance import VETO, WEIGHTS, looks_odds, weighed
from engine.extract.pdf.looks import Looks
from engine.records import ExtractedDocument
from tests.engine.extract.pdf_files import LOREM, headings, outline, pdf, read, text_at, wrapped

FAST = {"profile": "fast"}
PLAIN = Looks(False, False, False, False, False, False, False, False, False, False, False, False, False, 0.5, 0.5, 1.0)


def document(tmp_path: Path, *pages: Callable[[Canvas], None], **options: object) -> ExtractedDocument:
    return read(pdf(tmp_path / "a.pdf", *pages, **options), tmp_path, extraction=FAST)  # pyright: ignore[reportArgumentType]


def titles(tmp_path: Path, *pages: Callable[[Canvas], None], **options: object) -> list[str]:
    return [text for _, text in headings(document(tmp_path, *pages, **options))]


def between(text: str, size: float = 11, font: str = "Helvetica", gap: float = 14) -> Callable[[Canvas], None]:
    """A line between two paragraphs of 11 points."""

    def draw(canvas: Canvas) -> None:
        top = wrapped(canvas, 72, 150, 400, LOREM * 2)
        text_at(canvas, 72, top + gap, text, size, font)
        wrapped(canvas, 72, top + 2 * gap + size, 400, LOREM * 2)

    return draw


@pytest.mark.parametrize(
    ("text", "size", "font"),
    [
        ("Set in larger type", 15, "Helvetica"),
        ("Set in bold", 11, "Helvetica-Bold"),
        ("2.3 Numbered in the body's type", 11, "Helvetica"),
        ("8. One number and slightly larger", 12, "Helvetica"),
        ("THE TEXTBOOK'S DIFFERENT SECTIONS", 11, "Helvetica"),
    ],
)
def test_what_stands_out_is_a_heading(tmp_path: Path, text: str, size: float, font: str) -> None:
    assert titles(tmp_path, between(text, size, font)) == [text]


@pytest.mark.parametrize(
    ("text", "size", "font"),
    [
        ("Table 4: Costs of the enterprise", 11, "Helvetica-Bold"),
        ("October 14, 1998", 13, "Helvetica"),
        ("Introduction ................ 7", 11, "Helvetica-Bold"),
        ("write to someone@example.org", 13, "Helvetica"),
        ("a line that ends a sentence.", 11, "Helvetica"),
    ],
)
def test_what_only_looks_like_one(tmp_path: Path, text: str, size: float, font: str) -> None:
    assert titles(tmp_path, between(text, size, font)) == []


def test_a_veto_outweighs_all_looks() -> None:
    strong = (1.0,) * len(WEIGHTS)
    vetoed = Looks(True, False, True, True, True, False, False, False, True, False, True, False, True, 2.0, 2.0, 2.0)
    assert looks_odds(vetoed) == weighed(vetoed, strong, 9.0) == VETO
    assert weighed(PLAIN, strong, 1.0) == pytest.approx(1.0 + 0.5 + 0.5 + 1.0)


def test_letters_in_pictures_are_no_headings(tmp_path: Path) -> None:
    data = io.BytesIO()
    Image.new("RGB", (300, 150), "teal").save(data, "PNG")

    def page(canvas: Canvas) -> None:
        text_at(canvas, 72, 80, "The Harbour", 20)
        wrapped(canvas, 72, 110, 400, LOREM)
        canvas.drawImage(ImageReader(data), 72, 450, 300, 150)
        text_at(canvas, 100, 320, "SHIPYARD", 24, "Helvetica-Bold")
        wrapped(canvas, 72, 420, 400, LOREM * 2)

    assert titles(tmp_path, page) == ["The Harbour"]


def test_letters_in_drawn_charts_are_no_headings(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        text_at(canvas, 72, 80, "The Harbour", 20)
        wrapped(canvas, 72, 110, 400, LOREM)
        canvas.line(72, 300, 72, 600)
        canvas.line(72, 300, 400, 300)
        for n in range(5):
            canvas.rect(100 + 60 * n, 300, 40, 60 + 50 * n)
        text_at(canvas, 76, 450, "Ships of the first class and their crews", 18)
        wrapped(canvas, 72, 580, 400, LOREM * 2)

    assert titles(tmp_path, page) == ["The Harbour"]


def test_a_widely_set_title_is_one(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        text_at(canvas, 72, 80, "What the treasurer told the committee", 16, "Helvetica-Bold")
        text_at(canvas, 72, 120, "about the state of the funds", 16, "Helvetica-Bold")
        wrapped(canvas, 72, 160, 400, LOREM * 2)

    assert titles(tmp_path, page) == ["What the treasurer told the committee about the state of the funds"]


def test_a_wrapped_numbered_title_is_one(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        top = wrapped(canvas, 72, 80, 250, LOREM)
        text_at(canvas, 72, top + 14, "9.5. Adapting to the New Normal: Changing", 11)
        text_at(canvas, 72, top + 27, "Business Models", 11)
        wrapped(canvas, 72, top + 54, 250, LOREM * 2)

    assert titles(tmp_path, page) == ["9.5. Adapting to the New Normal: Changing Business Models"]


def test_a_bookmarked_line_is_cut_from_the_text_below(tmp_path: Path) -> None:
    def page(canvas: Canvas) -> None:
        canvas.bookmarkPage("a")
        canvas.addOutlineEntry("Terms of use", "a", 0)
        text_at(canvas, 72, 100, "Terms of use")
        wrapped(canvas, 72, 113, 400, LOREM * 2)

    found = document(tmp_path, page)
    assert headings(found) == [(1, "Terms of use")]
    assert outline(found)[1] == ("paragraph", (LOREM * 2).strip())


def test_slides_are_titled_by_their_largest_text(tmp_path: Path) -> None:
    def slide(title: str) -> Callable[[Canvas], None]:
        def draw(canvas: Canvas) -> None:
            text_at(canvas, 60, 90, title, 30)
            for n in range(4):
                text_at(canvas, 80, 180 + 60 * n, f"\u2022 point number {'abcd'[n] * 3}", 24)

        return draw

    found = document(tmp_path, slide("why we are here, mostly"), slide("Where we go"), size=(960, 540))
    assert headings(found) == [(1, "why we are here, mostly"), (1, "Where we go")]
    assert found.metadata.extra["document_kind"] == "slides"


def test_tags_name_headings_that_nothing_else_shows(tmp_path: Path) -> None:
    path = tmp_path / "tagged.pdf"
    path.write_bytes(tagged_pdf(["Plainly set words", "Below them", *LOREM.split(". ")], {0: "H1", 1: "H2"}))
    assert headings(read(path, tmp_path, extraction=FAST)) == [(1, "Plainly set words"), (2, "Below them")]
    path.write_bytes(tagged_pdf(["plainly set words", *LOREM.split(". ")], {0: "H1"}, marked=False))
    assert headings(read(path, tmp_path, extraction=FAST)) == []


def tagged_pdf(lines: list[str], roles: dict[int, str], marked: bool = True) -> bytes:
    """One page of lines, each tagged: P where `roles` does not say otherwise."""
    content = "BT /F1 11 Tf 72 760 Td 14 TL "
    for n, line in enumerate(lines):
        content += f"/{roles.get(n, 'P')} <</MCID {n}>> BDC ({line}) Tj EMC T* "
    content += "ET"
    first = 7
    elements = [f"<</Type/StructElem/S/{roles.get(n, 'P')}/P 6 0 R/Pg 3 0 R/K {n}>>" for n in range(len(lines))]
    kids = " ".join(f"{first + n} 0 R" for n in range(len(lines)))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R/StructTreeRoot 6 0 R/MarkInfo<</Marked {str(marked).lower()}>>>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/StructParents 0"
        "/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(content)}>>\nstream\n{content}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Type/StructTreeRoot/K[{kids}]/ParentTree<</Nums[0[{kids}]]>>>>",
        *elements,
    ]
    data = b"%PDF-1.7\n"
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"trailer <</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{len(data)}\n%%EOF"
    return data + f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{trailer}".encode()
