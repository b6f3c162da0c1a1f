"""Puts one reading together from two of the same upright picture: line by line, what each engine read better.

The engines' confidences do not mean the same: Tesseract's falls quickly on letters that are right, rapidocr's stays
high on letters that are wrong. `trust` maps both to the share of letters that came out right on lines with a known
transcript. A line's verdict leans on that of the whole page, so that one lucky line does not decide.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.ocr.doubt import is_sure
from engine.ocr.layout import group_lines, mean_confidence
from engine.ocr.quality import broken_share, junk_share
from engine.records import OcrLine, OcrResult

# Confidence → share of letters that are right, measured on pages of print, typescript, Fraktur and handwriting.
_TESSERACT = ((0.0, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0), (0.0, 0.1, 0.45, 0.65, 0.8, 0.88, 0.95, 0.985, 0.99))
_RAPIDOCR = ((0.0, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0), (0.0, 0.25, 0.42, 0.62, 0.82, 0.92, 0.975, 0.995))
# What PP-OCR's recognition model has letters for; it makes others up.
_KNOWN = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u03ff\u2e80-\u30ff\u31f0-\u9fff\uf900-\ufaff\uff00-\uffef]")
_LETTER = re.compile(r"[^\W\d_]")
_CJK = re.compile("[\u2e80-\u30ff\u31f0-\u9fff\uf900-\ufaff\uff00-\uffef]")
_FOREIGN = 0.2  # share of letters of other scripts, from which on only Tesseract can have read a line
_READ_AT_ALL = 0.5  # Tesseract's confidence in such a line, for that to count
_HOPELESS = 0.45  # mean confidence below which Tesseract saw no letters it knows, such as in handwriting
_COVERED = 0.85  # share of a line's width under sure ones, from which on it says nothing new
_BLIND = 0.1  # a page verdict against the first engine, above which lines that it did not see are no stains
# Letters → trust from which on a line that only one engine saw is kept; short ones may be stains and strokes.
_KEEP_ALONE = ((1, 3, 4, 12), (0.8, 0.8, 0.45, 0.25))


def trust(line: OcrLine, second: bool) -> float:
    """Expected share of right letters of a line, by the scale of the engine that read it."""
    points, values = _RAPIDOCR if second else _TESSERACT
    share = float(np.interp(line.confidence, points, values))
    return share * max(0.0, 1.0 - broken_share(line.text) - 0.5 * junk_share(line.text))


def fused(first: OcrResult, second: OcrResult) -> OcrResult:
    """One reading from Tesseract's and the local vision engine's. `second` may leave out places that the first
    read surely. Lines say in `engine` who read them; confidences are trusts, so that they can be compared."""
    hopeless = _HOPELESS if first.confidence < _HOPELESS and second.lines else 0.0
    sure = [line for line in first.lines if is_sure(line)]
    others = [line for line in second.lines if not _repeats(line, sure)]
    sure = [line for line in sure if not any(_overlap(line, other) for other in others)]
    kept = {id(line) for line in sure}
    rest = [line for line in first.lines if id(line) not in kept and line.confidence >= hopeless]
    places = _places(rest, others)
    lean = _lean([p for p in places if p.first and p.second])
    lines = _signed(sure, first.engine, False)
    for place in places:
        lines.extend(place.chosen(lean, first.engine, second.engine, hopeless > 0 or lean > _BLIND))
    engines = [e for e in (first.engine, second.engine) if any(line.engine == e for line in lines)]
    lines = group_lines(sorted(lines, key=lambda line: line.y0 + line.y1))
    return OcrResult(lines, round(mean_confidence(lines), 4), "+".join(engines) or second.engine)


@dataclass(slots=True)
class _Place:
    """Lines of either reading that lie over one another."""

    first: list[OcrLine]
    second: list[OcrLine]

    def margin(self) -> float:
        """By how much the second reading is expected to have more of the letters right."""
        letters = [_letters(self.first), _letters(self.second)]
        most = max(*letters, 1)
        return _right(self.second, True) / most - _right(self.first, False) / most

    def chosen(self, lean: float, first: str, second: str, alone: bool) -> list[OcrLine]:
        """The better side's lines. `alone`: the first engine is so blind to this page
        that its silence tells nothing."""
        if not self.first or not self.second:
            kept = [line for line in self.first if _stands_alone(line, False)]
            kept += [line for line in self.second if alone or _stands_alone(line, True)]
            return _signed(kept, second if not self.first else first, not self.first)
        if _foreign(self.first) or self.margin() + lean <= 0:
            return _signed(self.first, first, False)
        if len(self.first) == len(self.second) == 1:
            self.second[0].text = with_spaces(self.second[0].text, self.first[0].text)
        return _signed(self.second, second, True)


def _repeats(line: OcrLine, sure: Sequence[OcrLine]) -> bool:
    """Whether most of a line's width lies over lines that stay as they are."""
    covered = sum(min(line.x1, s.x1) - max(line.x0, s.x0) for s in sure if _overlap(s, line))
    return covered > _COVERED * (line.x1 - line.x0)


def _places(first: Sequence[OcrLine], second: Sequence[OcrLine]) -> list[_Place]:
    """Connected groups of lines that overlap, each with those of either reading."""
    group = list(range(len(first) + len(second)))

    def root(n: int) -> int:
        while group[n] != n:
            group[n] = group[group[n]]
            n = group[n]
        return n

    for i, a in enumerate(first):
        for j, b in enumerate(second):
            if _overlap(a, b):
                group[root(i)] = root(len(first) + j)
    places: dict[int, _Place] = {}
    for n, line in enumerate((*first, *second)):
        place = places.setdefault(root(n), _Place([], []))
        (place.first if n < len(first) else place.second).append(line)
    return list(places.values())


def _overlap(a: OcrLine, b: OcrLine) -> bool:
    """Whether two boxes show the same line: the middle of one lies within the other, and they share some width."""
    across = min(a.x1, b.x1) - max(a.x0, b.x0)
    if across <= 0.2 * min(a.x1 - a.x0, b.x1 - b.x0):
        return False
    return a.y0 < (b.y0 + b.y1) / 2 < a.y1 or b.y0 < (a.y0 + a.y1) / 2 < b.y1


def _lean(places: Sequence[_Place]) -> float:
    """The page's verdict: the mean margin by letters, half as strong as a line's own."""
    weights = [max(_letters(p.first), _letters(p.second)) for p in places if not _foreign(p.first)]
    margins = [p.margin() for p in places if not _foreign(p.first)]
    total = sum(weights)
    return 0.5 * sum(w * m for w, m in zip(weights, margins, strict=True)) / total if total else 0.0


def _letters(lines: Sequence[OcrLine]) -> int:
    """Letters, those of scripts as broad as they are high counted twice, as they take the room of two others."""
    return sum(len("".join(line.text.split())) + len(_CJK.findall(line.text)) for line in lines)


def _right(lines: Sequence[OcrLine], second: bool) -> float:
    return sum(_letters([line]) * trust(line, second) for line in lines)


def _foreign(lines: Sequence[OcrLine]) -> bool:
    """Whether Tesseract read a script that the other engine does not know."""
    text = "".join(line.text for line in lines if line.confidence >= _READ_AT_ALL)
    letters = _LETTER.findall(text)
    return sum(not _KNOWN.match(c) for c in letters) > _FOREIGN * len(letters)


def _stands_alone(line: OcrLine, second: bool) -> bool:
    return trust(line, second) >= float(np.interp(_letters([line]), *_KEEP_ALONE))


def _signed(lines: list[OcrLine], engine: str, second: bool) -> list[OcrLine]:
    for line in lines:
        line.engine = engine
        line.confidence = round(trust(line, second), 4)
    return lines


def with_spaces(text: str, spaced: str) -> str:
    """`text` with the spaces that another reading of the line has between letters that both agree on."""
    if " " not in spaced or _CJK.search(text):
        return text
    at = 0
    breaks: set[int] = set()  # positions in the unspaced other reading
    for word in spaced.split()[:-1]:
        at += len(word)
        breaks.add(at)
    tight = "".join(spaced.split())
    parts: list[str] = []
    matcher = difflib.SequenceMatcher(None, tight, text, autojunk=False)
    for block in matcher.get_matching_blocks():
        for n in range(1, block.size):
            if block.a + n in breaks:
                parts.append(str(block.b + n))
    for position in sorted(map(int, parts), reverse=True):
        text = f"{text[:position]} {text[position:]}"
    return text
