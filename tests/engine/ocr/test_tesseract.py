"""The Tesseract program: its output, its languages, its orientation, and its absence."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from engine.errors import Code, InputError
from engine.ocr import OcrUnavailableError, installed_languages, read_page
from engine.ocr.program import parse_tsv
from engine.settings import Settings
from tests.engine.extract.pdf_files import text_picture

needs_tesseract = pytest.mark.skipif("eng" not in installed_languages(), reason="Tesseract is not installed")
LINES = ("The annual meeting was opened at nine", "and closed at twelve with thanks to all")
HEAD = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"


def picture(tmp_path: Path, image: Image.Image) -> Path:
    image.save(tmp_path / "page.png")
    return tmp_path / "page.png"


def test_words_become_lines_and_paragraphs() -> None:
    rows = [
        "5\t1\t1\t1\t1\t1\t10\t10\t30\t10\t90\tOne",
        '5\t1\t1\t1\t1\t2\t50\t10\t50\t12\t60\ttwo"x',
        "5\t1\t1\t1\t2\t1\t10\t30\t30\t10\t95\tnext",
        "4\t1\t1\t1\t2\t0\t10\t30\t30\t10\t-1\t",
        "5\t1\t2\t1\t1\t1\t10\t60\t30\t10\t20\t~|",
        "5\t1\t3\t1\t1\t1\t10\t90\t30\t10\t80\tlast",
    ]
    lines = parse_tsv("\n".join([HEAD, *rows]) + "\n")
    assert [(line.text, line.paragraph) for line in lines] == [('One two"x', 0), ("next", 0), ("last", 2)]
    assert lines[0].confidence == pytest.approx((0.9 * 3 + 0.6 * 5) / 8)
    assert (lines[0].x0, lines[0].y0, lines[0].x1, lines[0].y1) == (10, 10, 100, 22)


@needs_tesseract
def test_reading_a_page(tmp_path: Path) -> None:
    result = read_page(picture(tmp_path, text_picture(*LINES)), Settings())
    assert [line.text for line in result.lines] == list(LINES)
    assert result.confidence > 0.85 and result.engine == "tesseract:eng"
    assert result.lines[0].x0 == pytest.approx(80, abs=12) and result.lines[0].y0 == pytest.approx(68, abs=15)


@needs_tesseract
def test_boxes_of_an_enlarged_and_turned_picture_are_in_its_own_pixels(tmp_path: Path) -> None:
    image = text_picture(*LINES, *LINES, *LINES, width=800, size=20).rotate(180)
    result = read_page(picture(tmp_path, image), Settings())
    assert "annual meeting" in " ".join(line.text for line in result.lines)
    assert all(0 <= line.x0 < line.x1 <= 800 and 0 <= line.y0 < line.y1 <= image.height for line in result.lines)
    assert result.lines[0].y0 > result.lines[-1].y0


@needs_tesseract
@pytest.mark.skipif("deu" not in installed_languages(), reason="German data is not installed")
def test_the_language_of_the_text_is_used(tmp_path: Path) -> None:
    lines = (
        "Die Verhandlungen über die Gewährung der",
        "Zuschüsse für die Gemeinden wurden gestern",
        "ohne Ergebnis unterbrochen, hieß es später",
    )
    result = read_page(picture(tmp_path, text_picture(*lines)), Settings())
    assert result.engine == "tesseract:deu"
    assert "Gewährung" in " ".join(line.text for line in result.lines)
    hinted = read_page(picture(tmp_path, text_picture(*lines)), Settings(), "de")
    assert hinted.engine == "tesseract:deu"


@needs_tesseract
def test_a_deadline_ends_the_program(tmp_path: Path) -> None:
    settings = Settings.model_validate({"limits": {"tool_seconds": 0.05}})
    with pytest.raises(InputError) as error:
        read_page(picture(tmp_path, text_picture(*LINES * 12)), settings)
    assert error.value.code == Code.EXTRACTION_TIMEOUT


def test_a_missing_program_is_said_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    installed_languages.cache_clear()
    try:
        with pytest.raises(OcrUnavailableError, match="apt-get install tesseract-ocr"):
            read_page(picture(tmp_path, text_picture("x")), Settings())
    finally:
        installed_languages.cache_clear()
