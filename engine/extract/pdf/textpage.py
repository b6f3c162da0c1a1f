"""The lines of a MuPDF text page, as they were before the drawings among the text parted some of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

from engine.extract.pdf.model import Word

Place = tuple[int, int]  # numbers of a text block and of a line in it
TextLine = tuple[Place, dict[str, Any]]  # a line as MuPDF's dictionary has it

# MuPDF's own limits for letters of one line, in type sizes: off the baseline, apart, and apart within a word.
_OFF_BASELINE, _APART, _IN_WORD = 0.8, 0.8, 0.15
_DRAWN_LETTERS = 3


def words_by_line(words: Iterable[tuple[float, float, float, float, str, int, int, int]]) -> dict[Place, list[Word]]:
    """MuPDF's words (x0, y0, x1, y1, text, block, line, number in the line) by the line they stand in."""
    grouped: dict[Place, list[Word]] = {}
    here: list[Word] = []
    at_block = at_line = -1
    for x0, y0, x1, y1, text, block, line, _ in words:
        if line != at_line or block != at_block:
            at_block, at_line = block, line
            here = grouped[block, line] = []
        here.append(Word(text, x0, y0, x1, y1))
    return grouped


def has_drawn_letters(blocks: list[dict[str, Any]]) -> bool:
    """Whether letters come as drawings, each followed by the one letter it is (Type 3 fonts).

    Their strokes are no rules, and each letter has become a block of its own.
    """
    return sum(_is_drawn(*pair) for pair in itertools.pairwise(blocks)) >= _DRAWN_LETTERS


def _is_drawn(before: dict[str, Any], block: dict[str, Any]) -> bool:
    if "lines" in before or "lines" not in block or len(block["lines"]) != 1:
        return False
    if sum(len(s["text"].strip()) for s in block["lines"][0]["spans"]) != 1:
        return False
    (a, b, c, d), (x0, y0, x1, y1) = before["bbox"], block["bbox"]
    return x0 - 2 <= a and c <= x1 + 2 and y0 - 2 <= b and d <= y1 + 2


def text_lines(blocks: list[dict[str, Any]], words: dict[Place, list[Word]]) -> list[TextLine]:
    """All lines with the place that `words` knows them by: text blocks are counted, drawings are not.

    A drawing, such as the line under a link, ends MuPDF's block and with it the line. Where the text goes on
    behind it, spans and words are put back into the line before.
    """
    lines: list[TextLine] = []
    number, parted = -1, False
    for block in blocks:
        found: list[dict[str, Any]] | None = block.get("lines")
        if found is None:
            parted = True
            continue
        number += 1
        if parted and lines and found and _goes_on(lines[-1][1], found[0]):
            _append(lines[-1], (number, 0), found[0], words)
            lines += [((number, index), line) for index, line in enumerate(found) if index]
        else:
            lines += [((number, index), line) for index, line in enumerate(found)]
        parted = False
    return lines


def _goes_on(before: dict[str, Any], line: dict[str, Any]) -> bool:
    """Whether a line stands on the baseline of the one before, close behind it."""
    if before["dir"] != (1.0, 0.0) or line["dir"] != (1.0, 0.0) or not before["spans"] or not line["spans"]:
        return False
    last, first = before["spans"][-1], line["spans"][0]
    gap = first["origin"][0] - last["bbox"][2]
    off = first["origin"][1] - last["origin"][1]
    return abs(off) < _OFF_BASELINE * first["size"] and -_IN_WORD <= gap / max(first["size"], 0.1) < _APART


def _append(before: TextLine, place: Place, line: dict[str, Any], words: dict[Place, list[Word]]) -> None:
    """Move a line's spans and words to the end of the line before; a word that was parted is one again."""
    at, head = before
    last, first = head["spans"][-1], line["spans"][0]
    head["spans"] = head["spans"] + line["spans"]
    behind, ahead = words.pop(place, []), words.setdefault(at, [])
    if ahead and behind and behind[0].x0 - ahead[-1].x1 < _IN_WORD * first["size"]:
        a, b = ahead[-1], behind[0]
        if a.x1 > last["bbox"][2] - 0.1 and b.x0 < first["bbox"][0] + 0.1:  # no space between them
            ahead[-1] = Word(a.text + b.text, a.x0, min(a.y0, b.y0), b.x1, max(a.y1, b.y1))
            behind = behind[1:]
    ahead.extend(behind)
