"""Reads a page picture with the Tesseract program: language by what the page shows, turned upright first.

The program is run directly (one process a pass, one thread, killed at its deadline). A page is first read in
the likeliest language; only when that reads poorly are orientation and script looked at, which costs another
pass, and only then or when the text turns out to be in another language is it read again.
"""

from __future__ import annotations

import csv
import functools
import io
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from engine.errors import Code, CorpusError, InputError, Stage
from engine.ocr.layout import joined, mean_confidence
from engine.ocr.pictures import enlarged, turned, unrotated
from engine.ocr.quality import worth
from engine.ocr.scripts import LANGUAGES, LATIN, READ_LATIN, SCRIPTS
from engine.records import OcrLine, OcrResult
from engine.settings import Settings

INSTALL_COMMAND = "apt-get install tesseract-ocr"
ENGINE = "tesseract"
_GOOD = 0.8  # a reading this sure is not doubted
_ORIENTATION_CONFIDENCE = 2.0  # below it, Tesseract's idea of what is up is a guess
_SCRIPT_CONFIDENCE = 0.5
_LANGUAGE_MARGIN = 0.02  # by how much less sure a reading in the text's own language may be
_SCRIPT_GAIN = 0.2  # how much surer another script must make a poor passage
_POOR_LINE = 0.65  # lines read less surely than this, among sure ones, may be in another script


class OcrUnavailableError(CorpusError):
    """Tesseract or the language data it needs is not installed."""

    default_code = Code.MISSING_DEPENDENCY


@dataclass(frozen=True, slots=True)
class Orientation:
    """What Tesseract's script detection sees. `rotate`: degrees clockwise that make the page upright."""

    rotate: int
    confidence: float
    script: str
    script_confidence: float


@dataclass(slots=True)
class _Reading:
    lines: list[OcrLine]
    languages: str
    confidence: float

    @property
    def text(self) -> str:
        return joined([line.text for line in self.lines])

    @property
    def worth(self) -> float:
        return worth(self.text, self.confidence)


@functools.cache
def installed_languages() -> frozenset[str]:
    """Language data on this machine; empty when Tesseract is not installed."""
    program = shutil.which("tesseract")
    if program is None:
        return frozenset()
    try:
        listed = subprocess.run([program, "--list-langs"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    return frozenset(line.strip() for line in listed.stdout.splitlines()[1:] if line.strip())


def read(image_path: Path, settings: Settings, language: str | None = None, likely: str | None = None) -> OcrResult:
    """Read one picture. `language`: ISO 639-1, as told by the caller; `likely`: Tesseract's name of the language
    to try first (that of the page before). Boxes are in the picture's own pixels.

    Raises OcrUnavailableError without the program or any language data, InputError (OCR_FAILED) when it
    fails on this picture, EXTRACTION_TIMEOUT past limits.tool_seconds.
    """
    if not installed_languages() - {"osd"}:
        raise OcrUnavailableError(
            f"text recognition needs Tesseract with language data; install it with: {INSTALL_COMMAND}", stage=Stage.OCR
        )
    seconds = settings.limits.tool_seconds
    with tempfile.TemporaryDirectory(prefix="ocr-", dir=image_path.parent) as folder:
        scratch = Path(folder)
        picture, scale = enlarged(image_path, scratch)
        reading, rotate, size = _best_reading(picture, scratch, settings, (language, likely), seconds)
    for line in reading.lines:
        x0, y0, x1, y1 = unrotated((line.x0, line.y0, line.x1, line.y1), rotate, size)
        line.x0, line.y0, line.x1, line.y1 = x0 / scale, y0 / scale, x1 / scale, y1 / scale
    return OcrResult(reading.lines, round(reading.confidence, 4), f"{ENGINE}:{reading.languages}")


def _best_reading(
    picture: Path, scratch: Path, settings: Settings, hints: tuple[str | None, str | None], seconds: float
) -> tuple[_Reading, int, tuple[int, int]]:
    """The best of at most three passes, the rotation it was read under, and the picture's size."""
    with Image.open(picture) as image:
        size = image.size
    first = _recognise(picture, _first_languages(settings, *hints), seconds)
    best, rotate = first, 0
    if first.confidence < _GOOD or len(first.text) < 20:
        seen = orientation(picture, seconds)
        upright = picture
        if seen and seen.rotate and seen.confidence >= _ORIENTATION_CONFIDENCE:
            upright, rotate = turned(picture, seen.rotate, scratch), seen.rotate
        languages = settings.ocr.languages or _script_languages(seen, first.languages)
        if rotate or languages != first.languages:
            best = _recognise(upright, languages, seconds)
        if best.worth < first.worth:
            best, rotate, upright = first, 0, picture
        picture = upright
    if not settings.ocr.languages and not hints[0]:
        better = _in_its_language(picture, best, seconds)
        if better is not None and better.confidence > best.confidence - _LANGUAGE_MARGIN:
            best = better
        best = _with_other_scripts(picture, best, scratch, seconds)
    return best, rotate, size


def _first_languages(settings: Settings, language: str | None, likely: str | None) -> str:
    if settings.ocr.languages:
        return settings.ocr.languages
    have = installed_languages()
    for wanted in (LANGUAGES.get(language or ""), likely, "eng"):
        if wanted and set(wanted.split("+")) <= have:
            return wanted
    return sorted(have - {"osd"})[0]


def _script_languages(seen: Orientation | None, default: str) -> str:
    """Installed languages of the script seen; Latin text beside another script is read as well."""
    have = installed_languages()
    sure = seen is not None and seen.script_confidence >= _SCRIPT_CONFIDENCE
    wanted = [name for name in SCRIPTS.get(seen.script, []) if name in have] if seen and sure else []
    if not wanted:
        return default
    alone = wanted[0] in READ_LATIN or "eng" not in have
    return wanted[0] if alone else f"{wanted[0]}+eng"


def _in_its_language(picture: Path, reading: _Reading, seconds: float) -> _Reading | None:
    """Read again when the text is in another installed language of Latin script than it was read in."""
    text = reading.text
    if len(text) < 60 or reading.languages not in LATIN:
        return None
    found = LANGUAGES.get(_language_of(text), reading.languages)
    if found == reading.languages or found not in installed_languages() or found not in LATIN:
        return None
    return _recognise(picture, found, seconds)


def _language_of(text: str) -> str:
    import py3langid  # loads its model at first use

    return str(py3langid.classify(text)[0])


def _with_other_scripts(picture: Path, reading: _Reading, scratch: Path, seconds: float) -> _Reading:
    """Where a passage of an otherwise good reading is poor, find its script and read the page in both.

    The passage alone is tried in each installed language of another script, so most tries are cheap.
    """
    poor = [line for line in reading.lines if line.confidence < _POOR_LINE]
    sure = [line for line in reading.lines if line.confidence >= _GOOD]
    others = sorted({n for names in SCRIPTS.values() for n in names} & installed_languages() - {"deu"})
    if len(poor) < 2 or len(sure) < len(poor) or not others or "+" in reading.languages:
        return reading
    x0, y0 = min(line.x0 for line in poor), min(line.y0 for line in poor)
    x1, y1 = max(line.x1 for line in poor), max(line.y1 for line in poor)
    if any(y0 < (line.y0 + line.y1) / 2 < y1 for line in sure):
        return reading  # scattered: not a passage in another script
    crop = scratch / "passage.png"
    with Image.open(picture) as image:
        image.crop((max(0, int(x0) - 8), max(0, int(y0) - 8), int(x1) + 8, int(y1) + 8)).save(crop)
    tries = {name: _recognise(crop, name, seconds).confidence for name in others}
    best = max(tries, key=lambda name: tries[name])
    if tries[best] < mean_confidence(poor) + _SCRIPT_GAIN:
        return reading
    both = _recognise(picture, f"{reading.languages}+{best}", seconds)
    return both if both.worth > reading.worth else reading


# ---------------------------------------------------------------- one pass
def _recognise(picture: Path, languages: str, seconds: float) -> _Reading:
    out = _run([str(picture), "stdout", "-l", languages, "--psm", "3", "tsv"], seconds)
    lines = parse_tsv(out)
    if not lines:  # page segmentation found no text block: look for scattered words
        lines = parse_tsv(_run([str(picture), "stdout", "-l", languages, "--psm", "11", "tsv"], seconds))
    return _Reading(lines, languages, mean_confidence(lines))


def orientation(picture: Path, seconds: float) -> Orientation | None:
    """Orientation and script of a picture; None when there are too few letters to tell."""
    if "osd" not in installed_languages():
        return None
    try:
        out = _run([str(picture), "stdout", "-l", "osd", "--psm", "0"], seconds)
    except InputError as error:
        if error.code == Code.EXTRACTION_TIMEOUT:
            raise
        return None
    values = dict(re.findall(r"^([\w ]+): (.+)$", out, re.MULTILINE))
    if "Rotate" not in values:
        return None
    return Orientation(
        int(values["Rotate"]) % 360,
        float(values.get("Orientation confidence", 0)),
        values.get("Script", ""),
        float(values.get("Script confidence", 0)),
    )


def _run(arguments: list[str], seconds: float) -> str:
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}
    try:
        done = subprocess.run(
            ["tesseract", *arguments], capture_output=True, timeout=seconds, env=environment, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(
            f"text recognition took more than {seconds:g} seconds for one page", Code.EXTRACTION_TIMEOUT, Stage.OCR
        ) from error
    except OSError as error:
        raise OcrUnavailableError(f"Tesseract does not start; install it with: {INSTALL_COMMAND}") from error
    if done.returncode != 0:
        message = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise InputError(f"Tesseract failed: {(message or ['no message'])[-1][:200]}", Code.OCR_FAILED, Stage.OCR)
    return done.stdout.decode("utf-8", "replace")


def parse_tsv(tsv: str) -> list[OcrLine]:
    """Lines of Tesseract's TSV output (levels page, block, paragraph, line, word; confidence 0-100)."""
    lines: list[OcrLine] = []
    weights: list[int] = []
    last: tuple[str, str, str] | None = None
    paragraphs: dict[tuple[str, str], int] = {}
    for row in csv.DictReader(io.StringIO(tsv), delimiter="\t", quoting=csv.QUOTE_NONE):
        text = (row.get("text") or "").strip()
        if row.get("level") != "5" or not text or float(row["conf"]) < 0:
            continue
        x, y = float(row["left"]), float(row["top"])
        right, bottom = x + float(row["width"]), y + float(row["height"])
        confidence = float(row["conf"]) / 100
        place = (row["block_num"], row["par_num"], row["line_num"])
        if place != last:
            paragraph = paragraphs.setdefault(place[:2], len(paragraphs))
            lines.append(OcrLine(text, confidence, x, y, right, bottom, paragraph))
            weights.append(len(text))
            last = place
            continue
        line, weight = lines[-1], weights[-1]
        line.confidence = (line.confidence * weight + confidence * len(text)) / (weight + len(text))
        line.text = joined([line.text, text]) if not line.text.endswith("-") else f"{line.text} {text}"
        line.x0, line.y0 = min(line.x0, x), min(line.y0, y)
        line.x1, line.y1 = max(line.x1, right), max(line.y1, bottom)
        weights[-1] += len(text)
    return [line for line in lines if line.confidence >= 0.5 or any(c.isalnum() for c in line.text)]
