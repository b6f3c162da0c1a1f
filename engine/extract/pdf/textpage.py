"""The lines of a MuPDF text page, as they were before the drawings among the text parted some of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Place = tuple[int, int]  # numbers of a text block and of a line in it
TextLine = tuple[Place, dict[str, Any]]  # a line as MuPDF's dictionary has it
RawWord = tuple[float, float, float, float, str]  # x0, y0, x1, y1, text

# MuPDF's own limits for letters of one line, in type sizes: off the baseline, apart, and apart within a word.
_OFF_BASELINE, _APART, _IN_WORD = 0.8, 0.8, 0.15


def words_by_line(words: Iterable[tuple[float, float, float, float, str, int, int, int]]) -> dict[Place, list[RawWord]]:
    """MuPDF's words (x0, y0, x1, y1, text, block, line, number in the line) by the line they stand in."""
    grouped: dict[Place, list[RawWord]] = {}
    here: list[RawWord] = []
    at_block = at_line = -1
    for x0, y0, x1, y1, text, block, line, _ in words:
        if line != at_line or block != at_block:
            at_block, at_line = block, line
            here = grouped[block, line] = []
        here.append((x0, y0, x1, y1, text))
    return grouped


def text_lines(blocks: list[dict[str, Any]], words: dict[Place, list[RawWord]]) -> list[TextLine]:
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


def _append(before: TextLine, place: Place, line: dict[str, Any], words: dict[Place, list[RawWord]]) -> None:
    """Move a line's spans and words to the end of the line before; a word that was parted is one again."""
    at, head = before
    last, first = head["spans"][-1], line["spans"][0]
    head["spans"] = head["spans"] + line["spans"]
    behind, ahead = words.pop(place, []), words.setdefault(at, [])
    if ahead and behind and behind[0][0] - ahead[-1][2] < _IN_WORD * first["size"]:
        a, b = ahead[-1], behind[0]
        if a[2] > last["bbox"][2] - 0.1 and b[0] < first["bbox"][0] + 0.1:  # no space between them
            ahead[-1] = (a[0], min(a[1], b[1]), b[2], max(a[3], b[3]), a[4] + b[4])
            behind = behind[1:]
    ahead.extend(behind)
