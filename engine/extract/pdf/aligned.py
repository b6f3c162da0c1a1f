"""Tables told by alignment alone: rows of short entries that stand in columns, with or without rules."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence

from engine.extract.pdf.evidence import NUMBER, is_table
from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.model import Run, Word
from engine.extract.pdf.paragraphs import join_words
from engine.extract.pdf.rows import Entry, Row, rows_of
from engine.extract.pdf.rules import Segment, positions
from engine.records import TableCell

Placed = list[tuple[int, int, list[Word]]]  # first column, last column, words of each entry of a row


# ---------------------------------------------------------------- where to look
def ruled_region_tables(horizontal: Sequence[Segment], runs: Sequence[Run]) -> list[FoundTable]:
    """Tables between horizontal rules of equal extent that no vertical line crosses."""
    found: list[FoundTable] = []
    taken: set[int] = set()
    for group in _rule_groups(horizontal):
        rows = rows_of([r for r in runs if id(r) not in taken and _within(r, group)])
        for start, end in _tabular_stretches(rows, hinted=True):
            part = rows[start:end]
            table = aligned_table(part, hinted=True, separators=positions([s.at for s in group]))
            if table is not None:
                found.append(table)
                taken.update(id(run) for row in part for run in row.runs)
    return found


def _within(run: Run, group: list[Segment]) -> bool:
    left, right = min(s.start for s in group), max(s.end for s in group)
    middle = (run.y0 + run.y1) / 2
    return group[0].at - 1 <= middle <= group[-1].at + 1 and run.x0 >= left - 8 and run.x1 <= right + 8


def _rule_groups(horizontal: Sequence[Segment]) -> list[list[Segment]]:
    """Rules above one another whose extents agree (short ones inside a longer one's extent join it)."""
    groups: list[list[Segment]] = []
    for rule in sorted(horizontal, key=lambda s: (-(s.end - s.start), s.at)):
        for group in groups:
            if rule.start >= group[0].start - 4 and rule.end <= group[0].end + 4:
                group.append(rule)
                break
        else:
            groups.append([rule])
    for group in groups:
        group.sort(key=lambda s: s.at)
    return [g for g in groups if len(g) >= 2 and g[-1].at - g[0].at > 12]


def free_tables(runs: Sequence[Run]) -> list[FoundTable]:
    """Tables among the runs of one column that no rule frames."""
    found: list[FoundTable] = []
    rows = rows_of(runs)
    for start, end in _tabular_stretches(rows, hinted=False):
        table = aligned_table(rows[start:end], hinted=False, separators=[])
        if table is not None:
            found.append(table)
    return found


def _tabular_stretches(rows: list[Row], hinted: bool) -> list[tuple[int, int]]:
    """Longest runs of rows with several entries; single-entry rows may stand between, few at a time."""
    if not rows:
        return []
    unit = statistics.median(r.y1 - r.y0 for r in rows)
    stretches: list[tuple[int, int]] = []
    start, last, lonely = -1, -1, 0
    for n, row in enumerate(rows):
        gap = row.y0 - rows[n - 1].y1 if n else 0.0
        broken = start >= 0 and (gap > (4.0 if hinted else 2.2) * unit or lonely > (3 if hinted else 1))
        if broken:
            stretches.append((start, last + 1))
            start = -1
        if len(row.entries) >= 2:
            start = n if start < 0 else start
            last, lonely = n, 0
        elif start >= 0:
            lonely += 1
    if start >= 0:
        stretches.append((start, last + 1))
    return [(s, e) for s, e in stretches if e - s >= 2]


# ---------------------------------------------------------------- one table
def aligned_table(rows: list[Row], hinted: bool, separators: list[float]) -> FoundTable | None:
    """A table of `rows`, or None when they are prose, a list of contents or a form without columns.

    `hinted`: rules frame the rows, so less proof is asked. `separators`: heights of rules between rows.
    """
    edges = _column_edges(rows)
    if len(edges) < 2 or not is_table(rows, edges, hinted):
        return None
    placed = [_place(row, edges) for row in rows]
    placed = _merge_wrapped(rows, placed, separators, len(edges))
    placed = _merge_heads(placed)
    cells = [
        TableCell(r, first, join_words(words), 1, last - first + 1)
        for r, entries in enumerate(placed)
        for first, last, words in _complete(entries, len(edges))
    ]
    words = [w for row in rows for e in row.entries for w in e.words]
    box = (min(w.x0 for w in words), rows[0].y0, max(w.x1 for w in words), rows[-1].y1)
    return FoundTable(*box, cells, words, "x " * 20, [e[0] for e in edges])


def _column_edges(rows: list[Row]) -> list[tuple[float, float]]:
    """(start, end) of each column: stretches of x that entries cover, parted by strips few rows cross."""
    full = [r for r in rows if len(r.entries) >= 2]
    if not full:
        return []
    allowed = len(full) // 7
    events: list[tuple[float, int]] = []
    for row in full:
        for entry in row.entries:
            events += [(entry.x0, 1), (entry.x1, -1)]
    events.sort()
    columns: list[tuple[float, float]] = []
    depth, start = 0, None
    for x, step in events:
        depth += step
        if depth > allowed and start is None:
            start = x
        elif depth <= allowed and start is not None:
            columns.append((start, x))
            start = None
    merged: list[tuple[float, float]] = []
    for column in columns:
        if merged and column[0] - merged[-1][1] < 2.5:
            merged[-1] = (merged[-1][0], column[1])
        elif column[1] - column[0] > 0.5:
            merged.append(column)
    return merged


def _place(row: Row, edges: list[tuple[float, float]]) -> Placed:
    """(first column, last column, words) of each entry; an entry over several columns is cut where it can."""
    placed: Placed = []
    for entry in row.entries:
        for part in _cut(entry, edges):
            first, last = _columns_of(part, edges)
            if placed and placed[-1][1] >= first:
                before = placed.pop()
                placed.append((before[0], max(before[1], last), before[2] + part))
            else:
                placed.append((first, last, part))
    return placed


def _cut(entry: Entry, edges: list[tuple[float, float]]) -> list[list[Word]]:
    parts: list[list[Word]] = [[entry.words[0]]]
    for before, word in zip(entry.words, entry.words[1:], strict=False):
        height = word.y1 - word.y0
        crosses = any(before.x1 <= right[0] + 1 and word.x0 >= left[1] - 1 for left, right in itertools.pairwise(edges))
        if crosses and word.x0 - before.x1 > 0.4 * height:
            parts.append([word])
        else:
            parts[-1].append(word)
    return parts


def _columns_of(words: list[Word], edges: list[tuple[float, float]]) -> tuple[int, int]:
    x0, x1 = words[0].x0, max(w.x1 for w in words)
    hit = [n for n, (a, b) in enumerate(edges) if min(b, x1) - max(a, x0) > 0.25 * min(b - a, x1 - x0)]
    if not hit:
        middle = (x0 + x1) / 2
        nearest = min(range(len(edges)), key=lambda n: min(abs(edges[n][0] - middle), abs(edges[n][1] - middle)))
        return nearest, nearest
    return hit[0], hit[-1]


def _complete(entries: Placed, columns: int) -> Placed:
    """The row's entries with an empty cell for every column that has none."""
    full: Placed = []
    at = 0
    for first, last, words in entries:
        full += [(c, c, []) for c in range(at, first)]
        full.append((first, last, words))
        at = last + 1
    return full + [(c, c, []) for c in range(at, columns)]


def _merge_wrapped(rows: list[Row], placed: list[Placed], separators: list[float], columns: int) -> list[Placed]:
    """Join printed lines that are one row: wrapped entries stand closer than rows do, or share a drawn band."""
    merged: list[Placed] = []
    gaps = [b.y0 - a.y1 for a, b in itertools.pairwise(rows)]
    unit = statistics.median(r.y1 - r.y0 for r in rows)
    wide = statistics.median(gaps) if gaps else 0.0
    banded = len([s for s in separators if rows[0].y0 < s < rows[-1].y1]) >= 0.6 * (len(rows) - 1)
    for n, entries in enumerate(placed):
        if n == 0:
            merged.append(entries)
            continue
        parted = any(rows[n - 1].middle < s < rows[n].middle for s in separators)
        close = gaps[n - 1] < wide - 0.2 * unit and gaps[n - 1] < 0.45 * unit
        continues = entries[0][0] > 0 and len(entries) < columns and len(entries) <= 0.6 * columns
        if not parted and (banded or (close and len(entries) < columns) or (continues and gaps[n - 1] < 0.5 * unit)):
            merged[-1] = _union(merged[-1], entries)
        else:
            merged.append(entries)
    return merged


def _merge_heads(
    placed: list[Placed],
) -> list[Placed]:
    """Column names printed on several lines are one row, unless some of them span columns."""
    figures = [n for n, entries in enumerate(placed) if _figures(entries)]
    head = figures[0] if figures else 0
    if head < 2 or head > 6 or any(last > first for entries in placed[:head] for first, last, _ in entries):
        return placed
    merged = placed[0]
    for entries in placed[1:head]:
        merged = _union(merged, entries)
    return [merged, *placed[head:]]


def _figures(entries: Placed) -> bool:
    rest = [words for first, _, words in entries if first > 0]
    return bool(rest) and 2 * sum(bool(NUMBER.match(" ".join(w.text for w in words))) for words in rest) > len(rest)


def _union(above: Placed, below: Placed) -> Placed:
    result: Placed = []
    for first, last, words in sorted([*above, *below], key=lambda e: (e[0], e[1])):
        if result and first <= result[-1][1]:
            before = result.pop()
            result.append((before[0], max(before[1], last), before[2] + words))
        else:
            result.append((first, last, words))
    return result
