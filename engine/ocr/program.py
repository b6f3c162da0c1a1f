"""The Tesseract program: what is installed, one pass over one picture, and its output as lines.

It is run directly (one process a pass, one thread, killed at its deadline).
"""

from __future__ import annotations

import csv
import functools
import io
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Code, CorpusError, InputError, Stage
from engine.ocr.layout import joined, mean_confidence
from engine.ocr.quality import worth
from engine.records import OcrLine, OcrWord

INSTALL_COMMAND = "apt-get install tesseract-ocr"
_SAUVOLA = ("-c", "thresholding_method=2")  # by the surroundings of each pixel: for uneven ink and paper


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
class Reading:
    """One pass: its lines, the languages it was made in, and the mean confidence by letters."""

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


def recognise(picture: Path, languages: str, seconds: float, uneven: bool = False) -> Reading:
    """Read one picture as it stands. `uneven`: with ink and paper told apart by the surroundings.

    Raises OcrUnavailableError, or InputError: OCR_FAILED, EXTRACTION_TIMEOUT.
    """
    options = ["-l", languages, *(_SAUVOLA if uneven else ())]
    lines = parse_tsv(_run([str(picture), "stdout", *options, "--psm", "3", "tsv"], seconds))
    if not lines:  # page segmentation found no text block: look for scattered words
        lines = parse_tsv(_run([str(picture), "stdout", *options, "--psm", "11", "tsv"], seconds))
    return Reading(lines, languages, mean_confidence(lines))


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
            "text recognition took more than limits.tool_seconds for one page", Code.EXTRACTION_TIMEOUT, Stage.OCR
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
        confidence = float(row["conf"]) / 100
        word = OcrWord(text, x, y, x + float(row["width"]), y + float(row["height"]), confidence)
        place = (row["block_num"], row["par_num"], row["line_num"])
        if place != last:
            paragraph = paragraphs.setdefault(place[:2], len(paragraphs))
            lines.append(OcrLine(text, confidence, word.x0, word.y0, word.x1, word.y1, paragraph, [word]))
            weights.append(len(text))
            last = place
            continue
        _append(lines[-1], word, weights[-1])
        weights[-1] += len(text)
    return [line for line in lines if line.confidence >= 0.5 or any(c.isalnum() for c in line.text)]


def _append(line: OcrLine, word: OcrWord, weight: int) -> None:
    """Put a word at the end of a line of `weight` letters so far."""
    size = len(word.text)
    line.confidence = (line.confidence * weight + word.confidence * size) / (weight + size)
    line.text = joined([line.text, word.text]) if not line.text.endswith("-") else f"{line.text} {word.text}"
    line.x0, line.y0 = min(line.x0, word.x0), min(line.y0, word.y0)
    line.x1, line.y1 = max(line.x1, word.x1), max(line.y1, word.y1)
    line.words.append(word)
