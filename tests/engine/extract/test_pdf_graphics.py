"""Drawn lines read from the boxes of the text page: what they are taken for, and when the paths are read instead."""

from pathlib import Path

import pytest

from engine.extract.pdf.model import PageModel
from engine.extract.pdf.mupdf import open_document, pymupdf
from engine.extract.pdf.read import read_page


def read(tmp_path: Path, content: str, rotation: int = 0) -> PageModel:
    """The model of one page of 600 by 800 points with these drawing instructions."""
    document = pymupdf.open()
    page = document.new_page(width=600, height=800)
    xref = document.get_new_xref()
    document.update_object(xref, "<<>>")
    document.update_stream(xref, content.encode())
    page.set_contents(xref)
    document.xref_set_key(page.xref, "Resources", "<</Font<</F <</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>")
    page.set_rotation(rotation)
    path = tmp_path / "drawn.pdf"
    document.save(path)
    return read_page(open_document(path, [])[0], 1)


def sides(model: PageModel) -> list[tuple[float, ...]]:
    return sorted((round(r.x0, 1), round(r.y0, 1), round(r.x1, 1), round(r.y1, 1), r.weak) for r in model.rules)


RECTANGLE = [(100, 350, 100, 400), (100, 350, 300, 350), (100, 400, 300, 400), (300, 350, 300, 400)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("2 w 100 700 m 300 700 l S", [(100, 100, 300, 100, False)]),
        ("q 0.1 0 0 0.1 0 0 cm 5 w 1000 7000 m 3000 7000 l S Q", [(100, 100, 300, 100, False)]),  # pen in user space
        (  # pieces of one line by a pen that looks thick as a box
            "q 0.1 0 0 0.1 0 0 cm 50 w 1000 7000 m 2000 7000 l S 2000 7000 m 3000 7000 l S Q",
            [(100, 100, 200, 100, False), (200, 100, 300, 100, False)],
        ),
        ("0.5 w 200 600 m 200 700 l S", [(200, 100, 200, 200, False)]),
        ("[3] 0 d 100 700 m 300 700 l S", [(100, 100, 300, 100, False)]),
        ("100 280 200 1 re f", [(100, 519.5, 300, 519.5, False)]),  # a line drawn as a thin rectangle
        ("1 w 100 400 200 50 re S", [(*s, False) for s in RECTANGLE]),
        ("100 400 200 50 re f", [(*s, True) for s in RECTANGLE]),  # a mere background
        ("1 w 100 400 200 50 re B", sorted([(*s, w) for s in RECTANGLE for w in (False, True)])),
        ("0 0 600 800 re f", []),  # the page's own background
        ("400 700 m 500 750 l S", []),
        ("1 w 100 700 m 300 700 l 300 600 l S", [(100, 100, 300, 100, False), (300, 100, 300, 200, False)]),
        ("q 100 300 50 50 re W n 50 320 200 1 re f Q", [(100, 479.5, 150, 479.5, False)]),  # clipped
    ],
)
def test_drawings_become_rules(tmp_path: Path, content: str, expected: list[tuple[float, ...]]) -> None:
    assert sides(read(tmp_path, content)) == expected


def test_filled_and_outlined_rectangles_need_no_second_look(tmp_path: Path) -> None:
    model = read(tmp_path, "2 w 100 400 200 50 re 100 300 200 50 re B 100 200 m 300 200 l S")
    assert model.drawings == 5  # boxes: each rectangle twice; read as paths they would be three steps
    assert len(model.rules) == 17


def test_a_map_is_not_read_twice(tmp_path: Path) -> None:
    model = read(tmp_path, "\n".join(f"{n % 599} 100 m 300 {n % 500 + 200} l S" for n in range(20_100)))
    assert model.graphics_skipped and model.drawings > 20_000 and not model.rules


def test_letters_drawn_as_outlines_count_as_drawings(tmp_path: Path) -> None:
    model = read(tmp_path, "\n".join(f"{n * 10} 100 m {n * 10 + 8} 100 l {n * 10 + 4} 108 l h f" for n in range(1, 9)))
    assert model.drawings >= 40 and not model.rules


def test_a_line_under_words_does_not_part_the_line_of_text(tmp_path: Path) -> None:
    show = "BT /F 12 Tf 1 0 0 1 {} 700 Tm ({}) Tj ET\n"
    link = show.format(72, "See the ") + show.format(117.4, "plan") + "0.5 w 117 698 m 141 698 l S\n"
    model = read(tmp_path, link + show.format(140.7, "ning of the harbour"))
    assert [run.text for run in model.runs] == ["See the planning of the harbour"]
    assert [w.text for w in model.runs[0].words][2] == "planning"
    assert sides(model) == [(117, 102, 141, 102, False)]


def test_rules_follow_a_turned_page(tmp_path: Path) -> None:
    text = "BT /F 12 Tf 0 1 -1 0 300 100 Tm (Written upwards on a sheet laid on its side) Tj ET\n"
    model = read(tmp_path, text + "1 w 310 100 m 310 400 l S", rotation=90)
    assert model.runs[0].text.startswith("Written upwards")
    (rule,) = model.rules
    assert rule.horizontal and rule.x1 - rule.x0 == pytest.approx(300, abs=0.1)
    assert rule.y0 > model.runs[0].y0


def test_letters_that_are_small_drawings_stay_in_their_line(tmp_path: Path) -> None:
    document = pymupdf.open()
    page = document.new_page(width=600, height=800)
    streams = [b"BT /T 12 Tf 1 0 0 1 50 700 Tm (abab ba) Tj ET 100 100 m 300 100 l S"]
    streams += [b"600 0 d0 0 0 500 700 re f", b"600 0 d0 200 0 60 700 re f", b"300 0 d0"]
    numbers: list[int] = []
    for stream in streams:
        numbers.append(document.get_new_xref())
        document.update_object(numbers[-1], "<<>>")
        document.update_stream(numbers[-1], stream)
    page.set_contents(numbers[0])
    letters = " ".join(f"/{name} {xref} 0 R" for name, xref in zip(("a", "b", "space"), numbers[1:], strict=True))
    font = "/Type/Font/Subtype/Type3/FontBBox[0 0 500 700]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 97/LastChar 98"
    font += f"/Widths[600 600]/Encoding<</Differences[97/a/b 32/space]>>/CharProcs<<{letters}>>"
    document.xref_set_key(page.xref, "Resources", f"<</Font<</T <<{font}>>>>>>")
    document.save(tmp_path / "drawn.pdf")
    model = read_page(open_document(tmp_path / "drawn.pdf", [])[0], 1)
    assert [run.text for run in model.runs] == ["abab ba"]
    assert (100, 700, 300, 700, False) in sides(model)
