"""When a page that Tesseract read is worth a second look by another engine, and which lines of it are not."""

from __future__ import annotations

from pathlib import Path

from engine.ocr.ink import ink, small_grey
from engine.ocr.layout import joined
from engine.ocr.quality import worth
from engine.records import OcrLine, OcrResult
from engine.settings import Settings

_SURE_LINE = 0.92
_SURE_WORD = 0.6  # one word read less surely may be two columns run together
_WEAK_LINE = 0.88
_WEAK_SHARE = 0.06  # of the letters; less is usual on clean pages
_FEW_LETTERS = 20  # a picture that gives fewer is worth a second look, however sure the reading
_SOME_LETTERS = 150  # fewer may be the letterhead of a page whose handwriting was passed over:
_SMALL = 900  # pixels of the longer side that ink is measured on
_FAINT = 24  # grey levels; letters made small are faint
_MUCH_INK = 0.25  # more than this share of the dark pixels outside the lines read says so


def is_sure(line: OcrLine) -> bool:
    """Whether Tesseract's reading of a line need not be compared with another engine's."""
    return line.confidence >= _SURE_LINE and all(w.confidence >= _SURE_WORD for w in line.words if len(w.text) > 1)


def weak_share(result: OcrResult) -> float:
    """Share of the letters that stand in lines read unsurely."""
    total = sum(len(line.text) for line in result.lines)
    return sum(len(line.text) for line in result.lines if line.confidence < _WEAK_LINE) / total if total else 0.0


def result_worth(result: OcrResult) -> float:
    """How many of the letters read can be relied on."""
    return worth(joined([line.text for line in result.lines]), result.confidence)


def is_doubtful(picture: Path, result: OcrResult, settings: Settings) -> bool:
    """Whether a vision engine should read the page: too little confidence, too few letters, much unread ink; and
    where it costs nothing but time, weak lines or much unread ink on a page that is sure as a whole.

    `picture`: the upright one."""
    value = result_worth(result)
    if result.confidence < settings.ocr.confidence_threshold or value < _FEW_LETTERS:
        return True
    local = settings.ocr.vision == "local"
    if local and weak_share(result) > _WEAK_SHARE:
        return True
    return (local or value < _SOME_LETTERS) and unread_ink(picture, result) > _MUCH_INK


def unread_ink(picture: Path, result: OcrResult) -> float:
    """Share of the picture's dark pixels that lie outside the lines read."""
    small, factor = small_grey(picture, _SMALL)
    dark = ink(small, _FAINT)
    total = int(dark.sum())
    for line in result.lines:
        x0, y0 = int(line.x0 / factor), int(line.y0 / factor)
        dark[max(y0 - 1, 0) : int(line.y1 / factor) + 2, max(x0 - 1, 0) : int(line.x1 / factor) + 2] = False
    return int(dark.sum()) / total if total else 0.0
