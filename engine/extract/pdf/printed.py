"""Parts what drawn lines leave together: printed rows in one drawn row, entries in a cell over several columns."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass, field

from engine.extract.pdf.model import Word
from engine.extract.pdf.paragraphs import word_lines

_CELL_GAP = 0.6  # of the line height; wider white is no space between words
_LEVEL = 0.3  # of a line's height; lines of several cells that differ less are one printed row
_FIGURES = "0123456789-+–—−%()$€£±*"
_PAIRED = 0.6  # share of cells that must show two lines, and of those with figures, for two printed rows
_BLANK = 0.5  # of a line's height; white that may part printed rows in one drawn row


@dataclass(slots=True)
class Place:
    row: int
    col: int
    rowspan: int
    colspan: int
    words: list[Word] = field(default_factory=lambda: list[Word]())


def entries_of(words: list[Word]) -> list[list[Word]]:
    """Words in one line cut at white wider than a space."""
    entries: list[list[Word]] = []
    reach = float("-inf")
    for word in sorted(words, key=lambda w: w.x0):
        if word.x0 - reach > _CELL_GAP * (word.y1 - word.y0):
            entries.append([])
        entries[-1].append(word)
        reach = max(reach, word.x1)
    return entries


def split_span(place: Place, xs: list[float]) -> list[Place]:
    """A cell over several columns whose words stand apart at the column lines is several cells."""
    if place.colspan < 2 or place.rowspan > 1 or len(place.words) < 2:
        return [place]
    pieces = entries_of(place.words)
    spans = [_columns(piece, xs, place) for piece in pieces]
    if len(pieces) < 2 or any(a[1] >= b[0] for a, b in itertools.pairwise(spans)):
        return [place]
    split: list[Place] = []
    at = place.col
    for (first, last), piece in zip(spans, pieces, strict=True):
        split += [Place(place.row, c, 1, 1) for c in range(at, first)]
        split.append(Place(place.row, first, 1, last - first + 1, piece))
        at = last + 1
    return split + [Place(place.row, c, 1, 1) for c in range(at, place.col + place.colspan)]


def _columns(words: list[Word], xs: list[float], place: Place) -> tuple[int, int]:
    """First and last column that some words reach into by more than a sliver."""
    x0, x1 = min(w.x0 for w in words), max(w.x1 for w in words)
    first = bisect_right(xs, x0 + 0.2 * (x1 - x0)) - 1
    last = bisect_right(xs, x1 - 0.2 * (x1 - x0)) - 1
    return max(first, place.col), min(last, place.col + place.colspan - 1)


def split_rows(places: list[Place]) -> list[Place]:
    """Split a drawn row that holds several printed rows: short entries at equal heights in most columns."""
    split: list[Place] = []
    shift = 0
    rows = max((p.row + p.rowspan for p in places), default=0)
    for row in range(rows):
        here = [p for p in places if p.row == row]
        cuts = (_printed_rows(here) or _labelled_rows(here)) if all(p.rowspan == 1 for p in here) else []
        if any(p.row < row < p.row + p.rowspan for p in places):
            cuts = []
        for place in here:
            if not cuts:
                split.append(Place(row + shift, place.col, place.rowspan, place.colspan, place.words))
                continue
            if _stands_across(place.words, cuts):
                split.append(Place(row + shift, place.col, len(cuts) + 1, place.colspan, place.words))
                continue
            parts: list[list[Word]] = [[] for _ in range(len(cuts) + 1)]
            for word in place.words:
                parts[bisect_right(cuts, (word.y0 + word.y1) / 2)].append(word)
            split.extend(Place(row + shift + n, place.col, 1, place.colspan, part) for n, part in enumerate(parts))
        shift += len(cuts)
    return split


def _printed_rows(places: list[Place]) -> list[float]:
    """Heights that part the printed rows inside one drawn row; empty when it is a single row of wrapped text."""
    filled = [p for p in places if p.words]
    if len(filled) < 2:
        return []
    lines = [_line_heights(p.words) for p in filled]
    most = max(map(len, lines))
    full = [n for n in range(len(filled)) if len(lines[n]) >= 0.5 * most]
    least = 0.5 if most > 2 else _PAIRED
    full = full if most > 2 else [n for n in full if len(lines[n]) == most]
    if most < 2 or len(full) < max(2, least * len(filled)):
        return []
    reference = max(lines, key=len)
    unit = filled[0].words[0].y1 - filled[0].words[0].y0
    middle = (reference[0] + reference[-1]) / 2
    for other in lines:
        off = [y for y in other if min(abs(y - r) for r in reference) > _LEVEL * unit]
        if off and (len(other) > 1 or abs(off[0] - middle) > _LEVEL * unit):
            return []
    if most == 2:
        figures = sum(all(w.text[0] in _FIGURES and w.text[-1] in _FIGURES for w in filled[n].words) for n in full)
    else:
        figures = sum(is_numeric(filled[n].words) or _ends_in_figures(filled[n].words) for n in full)
    return [(a + b) / 2 for a, b in itertools.pairwise(reference)] if figures >= least * len(full) else []


def _stands_across(words: list[Word], cuts: list[float]) -> bool:
    """Whether a cell's only line lies halfway between the printed rows, over the cut: it belongs to all of them."""
    if not words or len(cuts) % 2 == 0 or len(_line_heights(words)) > 1:
        return False
    height = words[0].y1 - words[0].y0
    return abs((words[0].y0 + words[0].y1) / 2 - cuts[len(cuts) // 2]) < _LEVEL * height


def _labelled_rows(places: list[Place]) -> list[float]:
    """Heights that part the printed rows inside one drawn row, where white lies across all columns and below it
    the first column and another one begin anew side by side. Empty when it is a single row."""
    if len(places) < 2 or not places[0].words or sum(bool(p.words) for p in places) < 2:
        return []
    words = sorted((w for p in places for w in p.words), key=lambda w: w.y0)
    bands: list[list[Word]] = [[words[0]]]
    reach = words[0].y1
    for word in words[1:]:
        if word.y0 - reach > _BLANK * (word.y1 - word.y0):
            bands.append([])
        bands[-1].append(word)
        reach = max(reach, word.y1)
    labels = {id(w) for w in places[0].words}
    if len(bands) < 2 or not all(_begins_labelled(band, labels) for band in bands[1:]):
        return []
    return [(max(w.y1 for w in a) + min(w.y0 for w in b)) / 2 for a, b in itertools.pairwise(bands)]


def _begins_labelled(band: list[Word], labels: set[int]) -> bool:
    top = min((w.y0 + w.y1) / 2 for w in band)
    first = [id(w) in labels for w in band if (w.y0 + w.y1) / 2 - top < _BLANK * (w.y1 - w.y0)]
    return any(first) and not all(first)


def _ends_in_figures(words: list[Word]) -> bool:
    """Whether most lines of a cell are a name with its figure."""
    ends = [max(line, key=lambda w: w.x1).text[-1:].isdigit() for line in word_lines(words)]
    return len(ends) > 3 and sum(ends) > 0.7 * len(ends)


def is_numeric(words: list[Word]) -> bool:
    return 2 * sum(any(c.isdigit() for c in w.text) or w.text in "-–—*" for w in words) > len(words)


def _line_heights(words: list[Word]) -> list[float]:
    heights: list[float] = []
    for word in sorted(words, key=lambda w: w.y0 + w.y1):
        middle = (word.y0 + word.y1) / 2
        if not heights or middle - heights[-1] > 0.5 * (word.y1 - word.y0):
            heights.append(middle)
    return heights
