"""Finds where sentences end, in any script that marks the end.

Rules instead of a model: terminal punctuation followed by white space and something that can begin a
sentence, unless the word before is an abbreviation or an initial; CJK full stops need no space.
"""

from __future__ import annotations

import re

_CLOSERS = "\"'”’»)\\]}」』】）〉》"
_STOP = re.compile(
    rf"(?P<wide>[。！？｡．]+[{_CLOSERS}]*)"
    rf"|(?P<plain>[.!?…؟۔।॥։።၊။៕༎]+[{_CLOSERS}]*)(?=\s)"
    r"|(?P<gap>\n[ \t]*\n)"
)
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘]+\Z")
_INITIALS = re.compile(r"(?:\w\.)*\w\Z")
# English, German, French, Spanish, Italian, Latin: words whose full stop seldom ends a sentence.
_ABBREVIATIONS = frozenset(
    re.findall(
        r"\w+",
        """mr mrs ms dr prof rev hon st sr jr gen col capt lt sgt gov sen rep pres vs approx dept fig figs eq eqs
        secs ch chap vol vols nos pp ed eds al cf inc ltd corp ave blvd jan feb mar apr jun jul aug sep sept
        oct nov dec bzw evtl ggf hrsg inkl vgl nr tel mme mlle sra srta dott viz ibid resp""",
    )
)
_BEFORE_NUMBERS = frozenset({"no", "art", "abs", "sec", "op", "p", "ca", "str", "etc", "min", "max"})


def sentence_ends(text: str, start: int = 0, end: int | None = None) -> list[int]:
    """Offsets just behind each sentence of text[start:end] (behind its closing quotes), in order.

    An empty line ends a sentence as well. The end of the range itself is not listed.
    """
    stop = len(text) if end is None else end
    found: list[int] = []
    for match in _STOP.finditer(text, start, stop):
        place = match.start() if match["gap"] else match.end()
        if match["plain"] and not _ends_sentence(text, match.start(), match.end(), stop):
            continue
        if start < place < stop:
            found.append(place)
    return found


def _ends_sentence(text: str, mark: int, after: int, stop: int) -> bool:
    """Whether the punctuation at [mark, after) closes a sentence."""
    following = text[after : min(after + 40, stop)].lstrip()[:1]
    if following.islower():
        return False
    if text[mark] != "." or text[mark : mark + 2] == "..":
        return True
    before = _WORD_BEFORE.search(text, max(0, mark - 24), mark)
    if before is None:
        return True
    word = before.group()
    if word.isdigit():  # "1. First" at the start of a line is a marker, "in 1999. Then" is an end
        line = text.rfind("\n", 0, before.start()) + 1
        return text[line : before.start()].strip() != "" or len(word) > 3
    if _INITIALS.match(word):  # "J. R. Smith", "at 5 p.m. today"
        return False
    word = word.lower()
    return word not in _ABBREVIATIONS and not (word in _BEFORE_NUMBERS and following.isdigit())
