"""Reads a page picture with Tesseract: turned upright first, in the language that the page shows.

A page is first read in the likeliest language; only when that reads poorly are orientation, skew, script and
uneven ink looked at, each of which costs another pass, and only then or when the text turns out to be in another
language is it read again.
"""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from PIL import Image

from engine.errors import Code, InputError, Stage
from engine.ocr.languages import first_languages, in_its_language, script_languages, with_other_scripts
from engine.ocr.pictures import enlarged
from engine.ocr.program import (
    INSTALL_COMMAND,
    OcrUnavailableError,
    Orientation,
    Reading,
    installed_languages,
    orientation,
    recognise,
)
from engine.ocr.upright import Turn, ink_of, mapped, skew_of, stands_sideways, upright_copy
from engine.records import OcrLine, OcrResult, OcrWord
from engine.settings import Settings

ENGINE = "tesseract"
_GOOD = 0.8  # a reading this sure is not doubted
_ORIENTATION_CONFIDENCE = 2.0  # below it, Tesseract's idea of what is up is a guess
_SLOPE = 1.0  # degrees by which the words of most lines climb or fall, from which on the page is levelled first
_HOPELESS = 0.45  # a reading less sure is no text in any language: what is up is tried, languages are not
_TURN_GAIN = 1.5  # how much more a page must say the other way up, where only trying tells
_FEW_LETTERS = 20
_SOME_LETTERS = 200  # of a page with more, which way is up would have been seen


def read(image_path: Path, settings: Settings, language: str | None = None, likely: str | None = None) -> OcrResult:
    """Read one picture. `language`: ISO 639-1, as told by the caller; `likely`: Tesseract's name of the language
    to try first (that of the page before). Boxes are in the picture's own pixels.

    Raises OcrUnavailableError without the program or any language data, InputError (OCR_FAILED) when it
    fails on this picture, EXTRACTION_TIMEOUT past limits.tool_seconds.
    """
    result, turn = read_upright(image_path, settings, language, likely)
    back = turn.back()
    for line in result.lines:
        for part in (line, *line.words):
            part.x0, part.y0, part.x1, part.y1 = mapped(back, (part.x0, part.y0, part.x1, part.y1))
    return result


def read_upright(
    image_path: Path, settings: Settings, language: str | None = None, likely: str | None = None
) -> tuple[OcrResult, Turn]:
    """As `read`, with boxes in the pixels of the picture made upright, and how it was turned."""
    if not installed_languages() - {"osd"}:
        raise OcrUnavailableError(
            f"text recognition needs Tesseract with language data; install it with: {INSTALL_COMMAND}", stage=Stage.OCR
        )
    with tempfile.TemporaryDirectory(prefix="ocr-", dir=image_path.parent) as folder:
        scratch = Path(folder)
        picture, scale = enlarged(image_path, scratch)
        with Image.open(picture) as image:
            turn = Turn(*image.size)
        deadline = time.monotonic() + settings.limits.tool_seconds
        look = _Look(picture, picture, scratch, settings, (language, likely), turn, deadline)
        reading = look.best()
    for line in reading.lines:
        for part in (line, *line.words):
            _shrink(part, scale)
    turn = look.turn
    with Image.open(image_path) as image:
        turn = replace(turn, width=image.width, height=image.height)
    return OcrResult(reading.lines, round(reading.confidence, 4), f"{ENGINE}:{reading.languages}"), turn


def _shrink(part: OcrLine | OcrWord, scale: float) -> None:
    part.x0, part.y0, part.x1, part.y1 = part.x0 / scale, part.y0 / scale, part.x1 / scale, part.y1 / scale


@dataclass(slots=True)
class _Look:
    """One picture being read: the copy that is upright as far as known, and how it was turned."""

    original: Path
    picture: Path
    scratch: Path
    settings: Settings
    hints: tuple[str | None, str | None]
    turn: Turn
    deadline: float

    def best(self) -> Reading:
        """The best of as many passes as there is time for; `picture` and `turn` are those it was made under."""
        first = self._read(self.picture, first_languages(self.settings, *self.hints))
        way = self.picture, self.turn
        try:
            return self._improved(first)
        except InputError as error:
            if error.code != Code.EXTRACTION_TIMEOUT:
                raise
            self.picture, self.turn = way
            return first

    def _improved(self, first: Reading) -> Reading:
        reading = self._levelled(self._laid_down(first))
        if reading.confidence < _GOOD or len(reading.text) < _FEW_LETTERS:
            reading = self._turned(reading)
            reading = self._unskewed(reading) if reading.confidence < _GOOD else reading
            if _HOPELESS <= reading.confidence < _GOOD and self.settings.ocr.vision != "local":  # else that looks
                even = recognise(self.picture, reading.languages, self._seconds, uneven=True)
                reading = even if even.worth > reading.worth else reading
        if self.settings.ocr.languages or self.hints[0] or reading.confidence < _HOPELESS:
            return reading
        reading = in_its_language(self.picture, reading, self._seconds)
        return with_other_scripts(self.picture, reading, self.scratch, self._seconds)

    @property
    def _seconds(self) -> float:
        """What is left of the page's time: all passes together have limits.tool_seconds."""
        return max(self.deadline - time.monotonic(), 0.01)

    def _read(self, picture: Path, languages: str) -> Reading:
        return recognise(picture, languages, self._seconds)

    def _laid_down(self, first: Reading) -> Reading:
        """A page of text that runs up or down reads well as it stands; its lines are brought into upright order."""
        rotate = sideways(first.lines)
        return self._better(first, self._copy(rotate), first.languages) if rotate else first

    def _levelled(self, first: Reading) -> Reading:
        """Lines that slope read well and yet others are passed over; the angle is measured on the page itself."""
        return self._unskewed(first) if abs(tilt(first.lines)) >= _SLOPE else first

    def _turned(self, first: Reading) -> Reading:
        """The reading by orientation and script as Tesseract sees them, or as trying tells where it cannot."""
        seen = orientation(self.picture, self._seconds)
        languages = self.settings.ocr.languages or script_languages(seen, first.languages)
        if seen is not None and seen.rotate and seen.confidence >= _ORIENTATION_CONFIDENCE:
            return self._better(first, self._copy(seen.rotate), languages)
        if languages != first.languages:
            first = self._better(first, (self.picture, self.turn), languages)
        if first.confidence < _GOOD and not _is_sure(seen):
            first = self._by_trying(first)
        return first

    def _by_trying(self, first: Reading) -> Reading:
        """The page the other way up, where its lines look as if they ran that way."""
        ways = (90, 270) if stands_sideways(ink_of(self.picture)) else (180,)
        if len(first.text) > (_SOME_LETTERS if first.confidence <= _HOPELESS else _FEW_LETTERS):
            return first
        best, tries = first, [self._copy(rotate) for rotate in ways]
        for picture, turn in tries:
            reading = self._read(picture, first.languages)
            if reading.worth > (_TURN_GAIN if best is first else 1.0) * best.worth and reading.confidence > 0.5:
                best, self.picture, self.turn = reading, picture, turn
        return best

    def _unskewed(self, first: Reading) -> Reading:
        skew = skew_of(ink_of(self.picture)) if first.lines and not self.turn.skew else 0.0
        if not skew:
            return first
        turn = replace(self.turn, skew=skew)
        level = Turn(*self.turn.size, 0, skew)
        copy = upright_copy(self.picture, level, self.scratch / "level.png")
        return self._better(first, (copy, turn), first.languages)

    def _better(self, first: Reading, way: tuple[Path, Turn], languages: str) -> Reading:
        """`first`, or the reading of another copy or in other languages, which then is the one to go on with."""
        second = self._read(way[0], languages)
        if second.worth < first.worth:
            return first
        self.picture, self.turn = way
        return second

    def _copy(self, rotate: int) -> tuple[Path, Turn]:
        """The picture turned by `rotate` degrees more than it is."""
        turn = replace(self.turn, rotate=(self.turn.rotate + rotate) % 360)
        return upright_copy(self.original, turn, self.scratch / f"turned-{turn.rotate}.png"), turn


def sideways(lines: list[OcrLine]) -> int:
    """Degrees clockwise that lay down lines of which most run up or down; 0 for lines that lie."""
    up = down = level = 0
    for line in lines:
        if len(line.words) < 2 or line.y1 - line.y0 < line.x1 - line.x0:
            level += len(line.text)
        elif line.words[-1].y0 > line.words[0].y0:
            down += len(line.text)
        else:
            up += len(line.text)
    if max(up, down) <= level:
        return 0
    return 90 if up > down else 270


def tilt(lines: list[OcrLine]) -> float:
    """Degrees by which lines of several words fall to the right, by the middles of their first and last words."""
    angles = [
        math.degrees(math.atan2(b.y0 + b.y1 - a.y0 - a.y1, b.x0 + b.x1 - a.x0 - a.x1))
        for a, b in ((line.words[0], line.words[-1]) for line in lines if len(line.words) > 3)
    ]
    return statistics.median(angles) if len(angles) > 2 else 0.0


def _is_sure(seen: Orientation | None) -> bool:
    return seen is not None and seen.confidence >= _ORIENTATION_CONFIDENCE
