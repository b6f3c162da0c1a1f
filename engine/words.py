"""From text to words and their normal forms: segmentation by script, folding, splitting of identifiers, stems.

Both sides of a search go through here, so what matters is that they agree. Everything is decided by the
characters of a word and at most a language hint; no dictionaries.
"""

from __future__ import annotations

import threading
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

import regex
import snowballstemmer

Kind = Literal["word", "compound", "cjk", "cluster"]

LONGEST = 64  # characters of a word that count: base64 and the like are not words
_CJK = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\u3005\u3007\u30fc"
_UNSPACED = r"\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"  # written without spaces between words
_ATOM = rf"[[\p{{L}}\p{{M}}\p{{N}}_]--[{_CJK}{_UNSPACED}]]"
# A compound is what stands between spaces and holds its parts together by one of these: AB-1234/7, v1.2, a@b.org.
_PATTERN = regex.compile(
    rf"(?V1)(?P<compound>{_ATOM}+(?:[-./\\:@&#+~=]{_ATOM}+)+|[A-Za-z](?:\+\+|\#)(?!\w))"
    rf"|(?P<word>{_ATOM}+)|(?P<cjk>[{_CJK}]+)|(?P<cluster>[[{_UNSPACED}]&&[\p{{L}}\p{{M}}\p{{N}}]]+)"
)
_WORD = regex.compile(rf"(?V1){_ATOM}+")
_PART = regex.compile(r"(?V1)\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[[\p{L}\p{M}]--\p{Lu}]+|\p{Lu}+|\p{N}+")
_GRAPHEME = regex.compile(r"\X")
# Points and marks that readers leave out: Latin, Greek, Cyrillic accents; Hebrew points; Arabic vowel signs.
_MARKS = regex.compile("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]")
# Letters whose accent is part of the letter, and Arabic letters that are written either way.
_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ى": "ي", "ة": "ه"}
)

# ISO 639-1 → Snowball algorithm, and the script each is for
STEMMERS: dict[str, str] = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "cs": "czech", "da": "danish", "nl": "dutch",
    "en": "english", "eo": "esperanto", "et": "estonian", "fi": "finnish", "fr": "french", "de": "german",
    "el": "greek", "hi": "hindi", "hu": "hungarian", "id": "indonesian", "ga": "irish", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "fa": "persian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "es": "spanish",
    "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
_SCRIPTS = {
    "CYRILLIC": ("ru", "sr"),
    "ARABIC": ("ar", "fa"),
    "GREEK": ("el",),
    "DEVANAGARI": ("hi", "ne"),
    "ARMENIAN": ("hy",),
    "TAMIL": ("ta",),
    "HEBREW": ("yi",),
}
_NOT_LATIN = {language for languages in _SCRIPTS.values() for language in languages}


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of text of one kind, NFKC-normalised, case kept: a word, a compound of words, a run of CJK
    characters, or a run of a script without spaces."""

    kind: Kind
    text: str


def tokens(text: str) -> Iterator[Token]:
    """The tokens of `text` in order."""
    for match in _PATTERN.finditer(unicodedata.normalize("NFKC", text)):
        yield Token(cast("Kind", match.lastgroup), match.group())


def words_of(compound: str) -> list[str]:
    """The words a compound is made of."""
    return _WORD.findall(compound)


def fold(text: str) -> str:
    """`text` without case and without the marks that people leave out, so that both spellings meet.

    Marks that carry the vowels of a script (Devanagari, Thai, ...) stay.
    """
    bare = _MARKS.sub("", unicodedata.normalize("NFD", text.casefold())).translate(_LETTERS)
    return unicodedata.normalize("NFC", bare)[:LONGEST]


def parts(word: str) -> list[str]:
    """`word` split where case, digits or underscores say so: parseHTTP2Body → parse, HTTP, 2, Body."""
    return _PART.findall(word)


def graphemes(run: str) -> list[str]:
    """Characters as a reader counts them: letters with their marks."""
    return _GRAPHEME.findall(run)


def ngrams(units: list[str], n: int) -> list[str]:
    return ["".join(units[i : i + n]) for i in range(len(units) - n + 1)]


def is_identifier(text: str) -> bool:
    """Part numbers, code names, versions: letters with digits, underscores, camelCase, or joined so."""
    pieces = words_of(text)
    mixed = any(len(parts(w)) > 1 or "_" in w for w in pieces)
    return mixed or (len(pieces) > 1 and any(c.isdigit() for c in text))


# ---------------------------------------------------------------- function words
_FUNCTION_WORDS = {
    "en": "a about after all also an and any are as at be been before being between both but by can could did do does "
    "during each for from had has have he her his how i if in into is it its me more most my no not of on or other our "
    "out over she should so some such than that the their them then there these they this to under until up very was "
    "we were what when where which while who whom whose why will with would you your",
    "de": "als am an auch auf aus bei das dass dem den der des die durch ein eine einem einen einer eines er es für "
    "hat ich ihr im in ist kann mit nach nicht oder sich sie sind über um und von vor war was welche wer werden wie "
    "wird wo zu zum zur",
    "fr": "a au aux avec ce ces comment dans de des du elle en est et être il ils je la le les leur mais ne nous on "
    "ont ou où par pas pour quand que quel quelle quels quelles qui sa se ses son sont sur un une vous",
    "es": "a al como con cuál cuando de del desde donde el ella en entre es esta este la las lo los más no o para "
    "pero por que qué quién se ser si sin sobre son su sus un una y ya",
    "it": "a al alla che chi come con da dal dalla degli dei del della delle di dove e è gli i il in la le lo ma nel "
    "nella non o per perché quale quali quando se si sono su sul un una",
    "pt": "a ao aos as com como da das de do dos e em é entre mais mas na nas no nos o onde os ou para pela pelo por "
    "qual quais quando que quem se sem são seu sua um uma",
    "nl": "aan als bij dan dat de die dit door een en er het hoe ik in is met naar niet of om ook op te tot uit van "
    "voor waar was wat welke wie wordt ze zich zijn",
}
_FOLDED_FUNCTION_WORDS = {code: frozenset(map(fold, text.split())) for code, text in _FUNCTION_WORDS.items()}


def is_function_word(word: str, language: str | None) -> bool:
    """Articles, pronouns, question words of the language; English ones when it is unknown."""
    known = "en" if language in (None, "und") else language
    return fold(word) in _FOLDED_FUNCTION_WORDS.get(known, frozenset())


# ---------------------------------------------------------------- stems
class _Stemmers(threading.local):
    """Stemmers by algorithm. A stemmer keeps the word it works on in itself, so every thread has its own."""

    def __init__(self) -> None:
        self.made: dict[str, Callable[[str], str]] = {}

    def __call__(self, word: str, algorithm: str) -> str:
        if algorithm not in self.made:
            self.made[algorithm] = snowballstemmer.stemmer(algorithm).stemWord
        return self.made[algorithm](word)


_stemmers = _Stemmers()


def script_languages(word: str) -> tuple[str, ...]:
    """Languages with a stemmer whose script `word` is written in; empty for Latin, where the script says nothing."""
    script = unicodedata.name(word[0], "").split(" ")[0]
    return _SCRIPTS.get(script, ())


def stem(word: str, language: str) -> str:
    """The folded stem of a word by the Snowball algorithm of `language`, which must suit the word's script;
    without one, English for Latin script and the script's first language for others."""
    native = script_languages(word)
    if native:
        language = language if language in native else native[0]
    elif language not in STEMMERS or language in _NOT_LATIN:
        language = "en"
    return _stem(word[:LONGEST].casefold(), STEMMERS[language])


@lru_cache(maxsize=1 << 16)
def _stem(word: str, algorithm: str) -> str:
    return fold(_stemmers(word, algorithm))
