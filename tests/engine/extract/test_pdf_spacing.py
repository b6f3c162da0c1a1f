"""Repairs of single lines, from their glyphs."""

from __future__ import annotations

from engine.extract.pdf.paragraphs import join_lines
from engine.extract.pdf.pictures import without_metadata
from engine.extract.pdf.spacing import Glyph, fix_ligatures, is_letterspaced, is_rtl, respace, undouble


def spread(text: str, step: float, width: float) -> list[Glyph]:
    """Letters set at a fixed step, spaces left out."""
    return [Glyph(c, n * step, n * step + width, n * step) for n, c in enumerate(text) if c != " "]


def test_letter_spacing_is_told_from_word_spacing() -> None:
    assert respace(spread("Testing words", 9, 5), 10) == "Testing words"


def test_what_counts_as_letterspaced() -> None:
    assert is_letterspaced("H e re i s s o me t e x t")
    assert not is_letterspaced("I have a plan for a better world than this")
    assert not is_letterspaced("東 京 都 の 人")


def test_doubled_letters() -> None:
    assert undouble("BBOOLLDD TTEEXXTT") == "BOLD TEXT"
    assert undouble("------------") == "------------"
    assert undouble("aabb") == "aabb"
    assert undouble("bookkeeper") == "bookkeeper"


def test_letters_of_a_ligature_change_places() -> None:
    lam, alef, meem = "\u0644", "\u0627", "\u0645"
    glyphs = [Glyph(meem, 20, 26, 20), Glyph(alef, 20, 20, 20), Glyph(lam, 12, 20, 12)]
    assert "".join(g.text for g in fix_ligatures(glyphs)) == meem + lam + alef


def test_marks_without_width_stay_with_their_letter() -> None:
    beh, fathatan = "\u0628", "\u064b"
    glyphs = [Glyph(beh, 10, 18, 10), Glyph(fathatan, 10, 10, 10)]
    assert "".join(g.text for g in fix_ligatures(glyphs)) == beh + fathatan


def test_direction_of_text() -> None:
    assert is_rtl("البرمجة بلغة R") and not is_rtl("Python و R")


def test_joining_lines() -> None:
    assert join_lines(["exam-", "ple"]) == "example"
    assert join_lines(["Smith-", "Jones"]) == "Smith-Jones"
    assert join_lines(["pages 10-", "12"]) == "pages 10- 12"
    assert join_lines(["東京", "都"]) == "東京都"


def test_exif_is_cut_out_of_jpeg_streams() -> None:
    app0 = b"\xff\xe0\x00\x04JF"
    app1 = b"\xff\xe1\x00\x08Exif\x00\x00"
    scan = b"\xff\xda\x00\x04abdata\xff\xd9"
    assert without_metadata(b"\xff\xd8" + app0 + app1 + scan) == b"\xff\xd8" + app0 + scan
    assert without_metadata(b"GIF89a") == b"GIF89a"
