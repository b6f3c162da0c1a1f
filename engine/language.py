"""Tells the language of a text: ISO 639-1, or "und" when there is too little to go by."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache
from types import ModuleType

_PIECE = 1500  # characters of one sample piece
_NOISE = re.compile(r"https?://\S+|\S+@\S+|\S*[\d_/\\<>{}=|]\S*")
# Scripts that one language all but owns; enough even for a line.
_BY_SCRIPT = {
    "HIRAGANA": "ja", "KATAKANA": "ja", "HANGUL": "ko", "THAI": "th", "GREEK": "el", "HEBREW": "he", "GEORGIAN": "ka",
    "ARMENIAN": "hy", "TAMIL": "ta", "TELUGU": "te", "KANNADA": "kn", "MALAYALAM": "ml", "GUJARATI": "gu",
    "GURMUKHI": "pa", "SINHALA": "si", "KHMER": "km", "LAO": "lo", "MYANMAR": "my", "TIBETAN": "bo", "ETHIOPIC": "am",
    "ORIYA": "or", "CJK": "zh",
}  # fmt: skip
_MIN_LETTERS = 12  # for languages that share a script
_MIN_OWN_SCRIPT = 4
_SHORT = 60
# Natural logarithm by which the best language must lead the second.
_MIN_LEAD_SHORT = 6.0
_MIN_LEAD = 3.0
# The same for each letter of its distinct words (repetition tells nothing new). Over the Universal Declaration in 50
# languages the lead is 0.5 or more, but between near relatives; over numbers, names and codes that are no sentences,
# and over many languages in one text, 0.1 or less.
_MIN_LEAD_PER_LETTER = 0.15
_RELATIVES = ({"bs", "hr", "sr", "sl"}, {"da", "nb", "nn", "no", "sv"}, {"id", "ms"}, {"xh", "zu"})
# Constructed, liturgical or tiny languages that short technical text is mistaken for.
_NOT_WRITTEN = {"vo", "ie", "ia", "io", "cu", "ae", "pi", "ho", "hz", "kj", "ng", "mh", "na"}


def language_of(text: str) -> str:
    """Language of `text` by a bounded sample from its beginning, middle and end."""
    sample = _NOISE.sub(" ", _sample(text))
    letters = [c for c in sample if unicodedata.category(c)[0] in "LM"]
    scripts = Counter(map(_script, letters))
    own = _own_script(scripts, len(letters))
    if own:
        return own
    if len(letters) < _MIN_LETTERS:
        return "und"
    (best, first), (other, second) = rank(sample)[:2]
    needed = _MIN_LEAD_SHORT if len(letters) < _SHORT else _MIN_LEAD
    if not any({best, other} <= family for family in _RELATIVES):
        needed = max(needed, _MIN_LEAD_PER_LETTER * sum(map(len, set(sample.split()))))
    return best if first - second >= needed else "und"


def rank(text: str) -> list[tuple[str, float]]:
    """Languages (ISO 639-1) with their log-likelihoods, best first."""
    return [(str(name), float(score)) for name, score in _model().rank(text)]


def _sample(text: str) -> str:
    if len(text) <= 3 * _PIECE:
        return text
    middle = len(text) // 2
    return "\n".join((text[:_PIECE], text[middle : middle + _PIECE], text[-_PIECE:]))


def _script(char: str) -> str:
    return unicodedata.name(char, "").split(" ", 1)[0].split("-", 1)[0]


def _own_script(scripts: Counter[str], letters: int) -> str | None:
    """The language whose own script fills more than half of the letters; kana beside Han is Japanese."""
    counts: Counter[str] = Counter()
    for script, count in scripts.items():
        if script in _BY_SCRIPT:
            counts[_BY_SCRIPT[script]] += count
    if counts["ja"] > 0.05 * letters and counts["ja"] + counts["zh"] > 0.5 * letters:
        return "ja" if letters >= _MIN_OWN_SCRIPT else None
    best = max(counts, key=lambda name: counts[name], default=None)
    if best and letters >= _MIN_OWN_SCRIPT and counts[best] > 0.5 * letters:
        return best
    return None


@lru_cache(maxsize=1)
def _model() -> ModuleType:
    """The identifier, kept to the languages that have an ISO 639-1 code."""
    import py3langid

    names = {str(name) for name, _ in py3langid.rank("")}
    py3langid.set_languages(sorted(n for n in names if len(n) == 2 and n not in _NOT_WRITTEN))
    return py3langid
