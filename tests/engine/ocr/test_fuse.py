"""Two readings of one picture put together line by line."""

from __future__ import annotations

import pytest

from engine.ocr.doubt import is_sure
from engine.ocr.fuse import fused, trust, with_spaces
from engine.records import OcrLine, OcrResult, OcrWord


def line(text: str, confidence: float, row: int, x0: float = 100, x1: float = 700) -> OcrLine:
    return OcrLine(text, confidence, x0, 100 + 50 * row, x1, 140 + 50 * row)


def tesseract(*lines: OcrLine) -> OcrResult:
    weight = sum(len(n.text) for n in lines) or 1
    return OcrResult(list(lines), sum(n.confidence * len(n.text) for n in lines) / weight, "tesseract:eng")


def rapidocr(*lines: OcrLine) -> OcrResult:
    return OcrResult(list(lines), 0.95, "rapidocr")


def texts(result: OcrResult) -> list[str]:
    return [n.text for n in result.lines]


def test_each_line_comes_from_the_engine_that_is_expected_to_have_read_it_better() -> None:
    first = tesseract(line("The quick brown fox", 0.96, 0), line("jurnps ovcr thc", 0.55, 1), line("lazy dog", 0.96, 2))
    result = fused(first, rapidocr(line("jumps over the", 0.99, 1)))
    assert texts(result) == ["The quick brown fox", "jumps over the", "lazy dog"]
    assert [n.engine for n in result.lines] == ["tesseract:eng", "rapidocr", "tesseract:eng"]
    assert result.engine == "tesseract:eng+rapidocr" and 0.9 < result.confidence < 1


def test_a_weak_second_reading_changes_nothing() -> None:
    first = tesseract(line("A fairly sure reading of it", 0.88, 0))
    result = fused(first, rapidocr(line("A faily surc rcading", 0.6, 0)))
    assert texts(result) == ["A fairly sure reading of it"] and result.engine == "tesseract:eng"


def test_scripts_that_the_second_engine_does_not_know_stay() -> None:
    first = tesseract(line("안녕하세요 저희는 그룹의 팬입니다", 0.6, 0), line("Yours truly", 0.7, 1))
    result = fused(first, rapidocr(line("今YGE", 0.99, 0), line("Yours truly", 0.99, 1)))
    assert texts(result)[0].startswith("안녕하세요")
    assert [n.engine for n in result.lines] == ["tesseract:eng", "rapidocr"]


@pytest.mark.parametrize(
    ("text", "confidence", "kept"),
    [("A line Tesseract passed over", 0.9, True), ("è", 0.5, False), ("yas", 0.75, False), ("W", 1.0, True)],
)
def test_a_line_that_one_engine_alone_saw_must_be_more_than_a_stain(text: str, confidence: float, kept: bool) -> None:
    first = tesseract(line("The quick brown fox jumps over", 0.96, 0))
    assert (text in texts(fused(first, rapidocr(line(text, confidence, 3))))) == kept


def test_where_tesseract_knows_no_letter_its_noise_goes() -> None:
    first = tesseract(line("gee a SL", 0.3, 0), line("Lhnd of", 0.2, 1))
    result = fused(first, rapidocr(line("Ceci est mon testament", 0.85, 0), line("pour ma femme", 0.6, 4)))
    assert texts(result) == ["Ceci est mon testament", "pour ma femme"]
    assert result.confidence < 0.7  # handwriting is not made to look sure


def test_one_word_in_doubt_makes_a_line_unsure() -> None:
    doubtful = line("Category ne", 0.94, 0)
    doubtful.words = [OcrWord("Category", 100, 100, 300, 140, 0.97), OcrWord("ne", 320, 100, 360, 140, 0.2)]
    assert is_sure(line("Category ne", 0.94, 0)) and not is_sure(doubtful)
    cells = (line("Category", 0.99, 0, 100, 300), line("Completed", 0.99, 0, 320, 480))
    assert texts(fused(tesseract(doubtful), rapidocr(*cells))) == ["Category", "Completed"]


def test_a_second_reading_of_a_sure_line_is_not_said_twice() -> None:
    first = tesseract(line("The quick brown fox", 0.96, 0), line("jurnps", 0.5, 0, 720, 900))
    assert texts(fused(first, rapidocr(line("The quick brown fox", 0.99, 0), line("jumps", 0.99, 0, 720, 900)))) == [
        "The quick brown fox",
        "jumps",
    ]


def test_spaces_are_taken_over_where_the_letters_agree() -> None:
    assert with_spaces("HOTELD'ALBE,PARIS", "HOTEL D’ALBE, PARIS") == "HOTEL D'ALBE, PARIS"
    assert with_spaces("新鲜甘草黄酮", "新 鲜 甘草") == "新鲜甘草黄酮"
    assert with_spaces("the same", "the same") == "the same"


def test_the_scales_of_the_two_engines_differ() -> None:
    half = line("some words of a line", 0.8, 0)
    assert trust(half, second=False) > trust(half, second=True) + 0.2
