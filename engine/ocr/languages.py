"""In which of the installed languages a page is read: by hint, by script, by the text that came out."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from engine.ocr.layout import mean_confidence
from engine.ocr.program import Orientation, Reading, installed_languages, recognise
from engine.ocr.scripts import LANGUAGES, LATIN, READ_LATIN, SCRIPTS
from engine.settings import Settings

_SCRIPT_CONFIDENCE = 0.5
_LANGUAGE_MARGIN = 0.03  # by how much less sure a reading in the text's own language may be
_SCRIPT_GAIN = 0.2  # how much surer another script must make a poor passage
_SURE_LINE = 0.8
_POOR_LINE = 0.65  # lines read less surely than this, among sure ones, may be in another script


def first_languages(settings: Settings, language: str | None, likely: str | None) -> str:
    """What to read a page in first. `language`: ISO 639-1; `likely`: Tesseract's name."""
    if settings.ocr.languages:
        return settings.ocr.languages
    have = installed_languages()
    for wanted in (LANGUAGES.get(language or ""), likely, "eng"):
        if wanted and set(wanted.split("+")) <= have:
            return wanted
    return sorted(have - {"osd"})[0]


def script_languages(seen: Orientation | None, default: str) -> str:
    """Installed languages of the script seen; Latin text beside another script is read as well."""
    have = installed_languages()
    sure = seen is not None and seen.script_confidence >= _SCRIPT_CONFIDENCE
    wanted = [name for name in SCRIPTS.get(seen.script, []) if name in have] if seen and sure else []
    if not wanted:
        return default
    alone = wanted[0] in READ_LATIN or "eng" not in have
    return wanted[0] if alone else f"{wanted[0]}+eng"


def in_its_language(picture: Path, reading: Reading, seconds: float) -> Reading:
    """Read again when the text is in another installed language of Latin script than it was read in."""
    text = reading.text
    if len(text) < 60 or reading.languages not in LATIN:
        return reading
    found = LANGUAGES.get(_language_of(text), reading.languages)
    if found == reading.languages or found not in installed_languages() or found not in LATIN:
        return reading
    better = recognise(picture, found, seconds)
    return better if better.confidence > reading.confidence - _LANGUAGE_MARGIN else reading


def _language_of(text: str) -> str:
    import py3langid  # loads its model at first use

    return str(py3langid.classify(text)[0])


def with_other_scripts(picture: Path, reading: Reading, scratch: Path, seconds: float) -> Reading:
    """Where a passage of an otherwise good reading is poor, find its script and read the page in both.

    The passage alone is tried in each installed language of another script, so most tries are cheap.
    """
    poor = [line for line in reading.lines if line.confidence < _POOR_LINE]
    sure = [line for line in reading.lines if line.confidence >= _SURE_LINE]
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
    tries = {name: recognise(crop, name, seconds).confidence for name in others}
    best = max(tries, key=lambda name: tries[name])
    if tries[best] < mean_confidence(poor) + _SCRIPT_GAIN:
        return reading
    both = recognise(picture, f"{reading.languages}+{best}", seconds)
    return both if both.worth > reading.worth else reading
