"""Judges whether a text could be language or is what a broken font map or a bad scan leaves behind."""

from __future__ import annotations

import itertools
import re

_WORD = re.compile(r"^[\"'(\[{«“‘„¿¡]*[^\W\d_]+(?:['’‘·-][^\W\d_]+)*[\"')\]}»”’.,;:!?…%]*$")
_NUMBER = re.compile(r"^[\"'(\[$€£+−–-]*\d[\d.,:/%°ºª×x+–−-]*[\w%]{0,3}[\"')\].,;:!?%]*$")
_SYMBOLS = re.compile(r"^[^\w]+$")
_VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýÿāăąēėęěīįıōőūůű")
_LATIN = re.compile("[a-zß-\u024f]+")
_LETTERS = re.compile(r"[^\W\d_]+")
_BROKEN = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ue000-\uf8ff\ufffd-\uffff\U000f0000-\U0010ffff]")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+")
_ARABIC = re.compile("[\u0621-\u064a]{2,}")
_MIN_LETTERS = 40
_MIN_ARABIC_PAIRS = 200  # neighbouring letters, too few to judge below


def broken_share(text: str) -> float:
    """Share of characters that stand for nothing: U+FFFD, private use, control, lone surrogates."""
    visible = sum(map(len, text.split()))
    return len(_BROKEN.findall(text)) / visible if visible else 0.0


def junk_share(text: str) -> float:
    """Share of the words that look like no word and no number, by letters. 0 for an empty text.

    Scripts written without spaces cannot be judged so and count as sound; elsewhere a word with digits,
    symbols or capitals in its middle does not.
    """
    total = sum(len(found) for found in _UNSPACED.findall(text))
    junk = 0
    for token in _UNSPACED.sub(" ", text).split():
        size = len(token)
        total += size
        if _NUMBER.match(token):
            continue
        if _SYMBOLS.match(token):
            junk += size if size > 2 and len(set(token)) > 1 else 0
            continue
        if not _WORD.match(token) or _odd_case(token):
            junk += size
    return junk / total if total else 0.0


def _odd_case(token: str) -> bool:
    """Capitals after small letters, other than at a hyphen or as in "McDonald"."""
    letters = re.sub(r"[^\w]", "", token)
    changes = sum(a.islower() and b.isupper() for a, b in itertools.pairwise(letters))
    return changes > 1


def is_garbage(text: str) -> bool:
    """Whether a text layer is no text: mostly undefined characters, letters without language.

    In every language written in Latin letters, vowels are between a quarter and two thirds of the letters
    and few words of four letters have none; a shifted font map breaks both.
    """
    if broken_share(text) > 0.3 or _stutters(text):
        return True
    lower = text.lower()
    words = _LATIN.findall(lower)
    latin = sum(map(len, words))
    if latin < _MIN_LETTERS:
        return False
    if latin < 0.6 * len(lower) and latin < 0.6 * sum(map(len, _LETTERS.findall(lower))):
        return False
    vowels = sum(map(lower.count, _VOWELS)) / latin
    words = [w for w in words if len(w) >= 4]
    silent = sum(map(_VOWELS.isdisjoint, words)) / len(words) if words else 0.0
    return not 0.15 <= vowels <= 0.75 or silent > 0.5


def _stutters(text: str) -> bool:
    """Whether Arabic letters are doubled far more often than Arabic doubles them (below one pair in a hundred,
    the article's lam aside): font maps that call the strokes which stretch a word by the name of a letter."""
    words = _ARABIC.findall(text) if not text.isascii() else []
    pairs = sum(map(len, words)) - len(words)
    if pairs < _MIN_ARABIC_PAIRS:
        return False
    doubled = sum(a == b and a not in "لـ" for word in words for a, b in itertools.pairwise(word))
    return doubled > 0.05 * pairs


def worth(text: str, confidence: float = 1.0) -> float:
    """How many characters of `text` can be relied on: what two readings of one page are compared by."""
    letters = sum(map(len, text.split()))
    share = max(0.0, 1.0 - broken_share(text) - junk_share(text))
    return 0.0 if is_garbage(text) else letters * share * confidence
