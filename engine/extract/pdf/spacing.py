"""Repairs the letters of one text line: ligature pairs, letter spacing, doubled glyphs.

These need the position of every glyph, which is slow to read, so a page is looked at this closely only when
its plain text gives reason (`needs_glyphs`).
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

_ARABIC = re.compile("[\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb50-\ufdff\ufe70-\ufeff]")
RTL_LETTER = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LONE_LETTERS = re.compile(r"(?:^|\s)[^\W\d_](?=\s|$)")
_CJK = re.compile("[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_PITCH_SPREAD = 0.1  # relative; glyph steps that differ less are one fixed pitch
_NO_WIDTH = 0.06  # points


@dataclass(slots=True)
class Glyph:
    text: str
    x0: float
    x1: float
    origin: float


def is_rtl(text: str) -> bool:
    """Whether most letters of `text` belong to a right-to-left script."""
    if text.isascii():
        return False
    found = len(RTL_LETTER.findall(text))
    return found > 0 and 2 * found > sum(c.isalpha() for c in text)


def is_cjk(text: str) -> bool:
    """Whether most of `text` is written without spaces between words (Han, kana, Hangul syllables)."""
    return 2 * len(_CJK.findall(text)) > len(text)


def needs_glyphs(text: str) -> bool:
    """Whether the line can only be put right by looking at its glyphs."""
    return is_letterspaced(text) or (not text.isascii() and bool(_ARABIC.search(text)))


def is_letterspaced(text: str) -> bool:
    """Whether single letters stand apart as often as letter spacing would make them.

    "a" and "I" are words of their own, so one in three must be alone, and three at least. Scripts without
    spaces between words do not count.
    """
    if len(text) < 5:
        return False
    tokens = text.split()
    if len([t for t in tokens if len(t) == 1]) < 3:
        return False
    alone = len(_LONE_LETTERS.findall(text))
    return alone >= 3 and 3 * alone >= len(tokens) and not _CJK.search(text)


def undouble(text: str) -> str:
    """`text` without the copies of a line whose every letter was printed twice ("BBOOLLDD")."""
    if len(text) < 6:
        return text
    letters = text.replace(" ", "")
    if letters[:1] != letters[1:2]:
        return text
    if len(letters) < 6 or len(letters) % 2 or letters[::2] != letters[1::2]:
        return text
    if len(set(letters)) < 3:  # "------" and "......" are meant
        return text
    return " ".join(word[::2] if len(word) % 2 == 0 else word for word in text.split(" "))


def fix_ligatures(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Put the letters of right-to-left ligatures back in reading order.

    A ligature such as lam-alef decodes to several letters: the first takes all of the glyph's width, the
    others none. Lines are turned round letter by letter, so the widthless letters come out before the one
    they follow. Marks have no width either, but stay with the letter before them.
    """
    fixed: list[Glyph] = []
    held: list[Glyph] = []
    for glyph in glyphs:
        if glyph.text.isalpha() and glyph.x1 - glyph.x0 < _NO_WIDTH and _ARABIC.match(glyph.text):
            held.append(glyph)
            continue
        fixed.append(glyph)
        if held:
            fixed.extend(reversed(held))
            held = []
    return fixed + held


def respace(glyphs: Sequence[Glyph], size: float) -> str:
    """The text of a letter-spaced line with spaces at the real gaps only.

    With a fixed pitch the step from glyph to glyph tells a gap (glyph widths differ); otherwise the white
    between glyphs does, measured against what is usual on this line.
    """
    inked = [g for g in glyphs if not g.text.isspace()]
    if len(inked) < 4:
        return "".join(g.text for g in glyphs)
    steps = [b.origin - a.origin for a, b in itertools.pairwise(inked)]
    whites = [b.x0 - a.x1 for a, b in itertools.pairwise(inked)]
    pitch = statistics.median(steps)
    regular = sum(abs(step - pitch) <= _PITCH_SPREAD * abs(pitch) for step in steps)
    if pitch > 0 and regular >= 0.7 * len(steps):
        gaps = [step > 1.3 * pitch for step in steps]
    else:
        usual = statistics.median(whites)
        gaps = [white > usual + 0.25 * size for white in whites]
    parts = [inked[0].text]
    for gap, glyph in zip(gaps, inked[1:], strict=True):
        parts.append(f" {glyph.text}" if gap else glyph.text)
    return "".join(parts)
