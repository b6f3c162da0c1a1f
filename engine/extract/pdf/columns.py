"""The columns of rows that have no lines between them, and which column a piece of text stands in."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Sequence

from engine.extract.pdf.model import Word
from engine.extract.pdf.rows import Entry, Row

Edges = list[tuple[float, float]]  # (start, end) of each column's text
Placed = list[tuple[int, int, list[Word]]]  # first column, last column, words of each entry of a row

_CROSSERS = 10  # of so many rows one may lie across a gutter
_SUPPORT = 0.3  # share of the rows with text on both sides that must show a wide gap at a gutter
_NARROW = 0.5  # points; thinner strips of white are no gutters
_SAME_START = 1.5  # points


def column_edges(rows: Sequence[Row]) -> Edges:
    """(start, end) of each column: stretches of text parted by strips that hardly any row's words cross.

    A strip counts where enough rows have white wider than between words at it, so that words of other rows
    may come close to it without hiding it.
    """
    full = [r for r in rows if len(r.entries) >= 2]
    counts = sorted(len(r.entries) for r in full)
    usual = counts[(3 * len(counts)) // 4] if counts else 0
    gutters = _gutters([r for r in full if 2 * len(r.entries) >= usual])
    middles = _stub_gutter(rows, full) + _parting(full, [(a + b) / 2 for a, b in gutters])
    if not middles:
        return []
    starts: list[list[float]] = [[] for _ in range(len(middles) + 1)]
    ends: list[list[float]] = [[] for _ in range(len(middles) + 1)]
    for word in (w for r in rows for e in r.entries for w in e.words):
        column = bisect_right(middles, word.x0)
        if column == len(middles) or word.x1 <= middles[column]:
            starts[column].append(word.x0)
            ends[column].append(word.x1)
    return [(min(a), max(b)) for a, b in zip(starts, ends, strict=True) if a]


def _gutters(full: list[Row]) -> Edges:
    """The strips of white between columns, from left to right. Rows of few entries (spanning heads) are left out."""
    allowed = len(full) // _CROSSERS
    events: list[tuple[float, int, int]] = []  # x, change in words across, change in wide gaps across
    for row in full:
        for entry in row.entries:
            for word in entry.words:
                events += [(word.x0, 1, 0), (word.x1, -1, 0)]
        for x0, x1 in _wide_gaps(row):
            events += [(x0, 0, 1), (x1, 0, -1)]
    events.sort()
    spans = [(r.entries[0].x0, max([e.x1 for e in r.entries])) for r in full]
    gutters: Edges = []
    words = gaps = 0
    start, best = 0.0, 0
    free = False
    for x, word, gap in events:
        words += word
        gaps += gap
        if words <= allowed and not free:
            free, start, best = True, x, gaps
        elif words <= allowed:
            best = max(best, gaps)
        elif free:
            free = False
            if x - start > _NARROW and best >= _needed(spans, (start + x) / 2):
                gutters.append((start, x))
    return gutters


def _stub_gutter(rows: Sequence[Row], full: list[Row]) -> list[float]:
    """The gutter beside labels that stand alone in their rows, left of all that the other rows hold."""
    lone = [r.entries[0] for r in rows if len(r.entries) == 1]
    start = min((e.x0 for r in full for e in r.entries), default=0.0)
    end = max((e.x1 for e in lone), default=0.0)
    return [(start + end) / 2] if len(lone) >= 2 and full and end < start - 2 else []


def _parting(full: list[Row], at: list[float]) -> list[float]:
    """The gutters that part cells, without those that lie in the white between words of one cell.

    A row with nothing but white at two neighbouring gutters speaks for one of them only: the one without words
    that stand close together across it.
    """
    while at:
        joined, parted = [0] * len(at), [0] * len(at)
        for row in full:
            before = -1
            for entry in row.entries:
                for n, word in enumerate(entry.words):
                    column = bisect_right(at, word.x0)
                    if column == before + 1 and before >= 0:
                        counts = joined if n else parted
                        counts[before] += 1
                    before = column
        weak = [(parted[n] - joined[n], n) for n in range(len(at)) if joined[n] and parted[n] <= joined[n]]
        if not weak:
            break
        at = [x for n, x in enumerate(at) if n != min(weak)[1]]
    return at


def _needed(spans: Edges, x: float) -> int:
    """Wide gaps asked of the rows that have text on both sides of `x`, by where each row starts and ends."""
    both = sum([start < x < end for start, end in spans])
    return max(1, round(_SUPPORT * both))


def _wide_gaps(row: Row) -> list[tuple[float, float]]:
    gaps: list[tuple[float, float]] = []
    reach = row.entries[0].x1
    for entry in row.entries[1:]:
        if entry.x0 > reach:
            gaps.append((reach, entry.x0))
        reach = max(reach, entry.x1)
    return gaps


# ---------------------------------------------------------------- placing
def column_starts(rows: Sequence[Row], edges: Edges) -> list[float]:
    """The x at which most entries of each column start (its left edge where none repeats)."""
    found: list[dict[int, int]] = [{} for _ in edges]
    lefts = [a - 1 for a, _ in edges]
    for row in rows:
        for entry in row.entries:
            n = bisect_right(lefts, entry.x0) - 1
            if n >= 0 and entry.x0 <= edges[n][1]:
                key = round(entry.x0)
                found[n][key] = found[n].get(key, 0) + 1
    return [
        float(max(counts, key=lambda x: (counts[x], -x))) if counts else edges[n][0] for n, counts in enumerate(found)
    ]


def place(row: Row, edges: Edges, starts: Sequence[float]) -> Placed:
    """(first column, last column, words) of each entry; an entry over several columns is cut where it can."""
    placed: Placed = []
    parts = [(columns_of(part, edges), part) for entry in row.entries for part in _cut(entry, edges, starts)]
    for (first, last), part in sorted(parts, key=lambda p: p[0]):
        if placed and placed[-1][1] >= first:
            before = placed.pop()
            placed.append((before[0], max(before[1], last), before[2] + part))
        else:
            placed.append((first, last, part))
    return placed


def _cut(entry: Entry, edges: Edges, starts: Sequence[float]) -> list[list[Word]]:
    parts: list[list[Word]] = [[entry.words[0]]]
    for before, word in itertools.pairwise(entry.words):
        if _parted(before, word, edges, starts):
            parts.append([word])
        else:
            parts[-1].append(word)
    return parts


def _parted(before: Word, word: Word, edges: Edges, starts: Sequence[float]) -> bool:
    """Whether two neighbouring words of one entry stand in different columns."""
    gap, height = word.x0 - before.x1, word.y1 - word.y0
    for n, (left, right) in enumerate(itertools.pairwise(edges), 1):
        if before.x1 <= right[0] + 1 and word.x0 >= left[1] - 1:
            return gap > 0.4 * height or abs(word.x0 - starts[n]) <= _SAME_START
    return False


def columns_of(words: Sequence[Word], edges: Edges) -> tuple[int, int]:
    """First and last column that some words reach into by more than a sliver."""
    if len(words) == 1:
        x0, x1 = words[0].x0, words[0].x1
    else:
        x0, x1 = min([w.x0 for w in words]), max([w.x1 for w in words])
    for n, (a, b) in enumerate(edges):
        if a <= x0 and x1 <= b:
            return n, n
    hit = [n for n, (a, b) in enumerate(edges) if min(b, x1) - max(a, x0) > 0.25 * min(b - a, x1 - x0)]
    if hit:
        return hit[0], hit[-1]
    middle = (x0 + x1) / 2
    nearest = min(range(len(edges)), key=lambda n: min(abs(edges[n][0] - middle), abs(edges[n][1] - middle)))
    return nearest, nearest


def union(above: Placed, below: Placed) -> Placed:
    """Two printed lines as one row of cells."""
    result: Placed = []
    for first, last, words in sorted([*above, *below], key=lambda e: (e[0], e[1])):
        if result and first <= result[-1][1]:
            before = result.pop()
            result.append((before[0], max(before[1], last), before[2] + words))
        else:
            result.append((first, last, words))
    return result
