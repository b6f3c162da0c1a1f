"""Tables told by their head alone: a rule under the names of the columns, or bold names over plain entries."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from engine.extract.pdf.columnar import aligned_table
from engine.extract.pdf.columns import column_edges, columns_of
from engine.extract.pdf.evidence import are_text_columns, is_aligned, is_ruled_table
from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.model import Run
from engine.extract.pdf.notes import CAPTION
from engine.extract.pdf.rows import Entry, Row, bands_of, odd_gaps, rows_of
from engine.extract.pdf.rules import Segment

_LEAST_WIDTH = 80.0  # points
_HEAD_REACH = 3.0  # lines over the rule that a head may take
_GAP = 2.0  # of a line's height; wider white ends the table
_OVERHANG = 8.0  # points that text may stand out over the rule
_PROSE = 0.75  # of the width; an entry that is wider is running text
_WORDY = 5.0  # words a line; more is running text
_REACH = 400.0  # points under a head in which its rows are looked for beside other text
_NAME = 4.0  # words; the names of columns are no longer, headings are


def headed_tables(horizontal: Sequence[Segment], runs: Sequence[Run]) -> list[FoundTable]:
    """Tables with no other rule than one under their head."""
    found: list[FoundTable] = []
    taken: set[int] = set()
    for rule in horizontal:
        if rule.end - rule.start < _LEAST_WIDTH:
            continue
        near = [
            r for r in runs if id(r) not in taken and r.x0 >= rule.start - _OVERHANG and r.x1 <= rule.end + _OVERHANG
        ]
        table = _under_rule(rule, near)
        if table is not None:
            found.append(table)
            owned = {id(w) for w in table.words}
            taken.update(id(r) for r in near if id(r.words[0]) in owned)
    return found


def _under_rule(rule: Segment, runs: Sequence[Run]) -> FoundTable | None:
    above = [r for r in runs if (r.y0 + r.y1) / 2 < rule.at]
    below = [r for r in runs if (r.y0 + r.y1) / 2 >= rule.at]
    width = rule.end - rule.start
    head = _upwards(rows_of(above), rule.at)
    if not head or max(len(r.entries) for r in head) < 2:
        return None
    body = _downwards(rows_of(below), rule.at, lambda e: e.x1 - e.x0 > _PROSE * width)
    return _headed(head, body, rule.at)


def bold_headed_tables(rows: list[Row]) -> list[FoundTable]:
    """Tables without rules under rows of bold names, also beside columns of plain text."""
    found: list[FoundTable] = []
    n = 0
    while n < len(rows):
        count = 1
        for left, right in _bold_stretches(rows[n]):
            whole = left == float("-inf") and right == float("inf")
            beside = rows[n:] if whole else _between(rows[n:], left, right)
            table, used = _under_bold(beside)
            if table is not None:
                found.append(table)
            count = max(count, used) if whole else count
        n += count
    return found


def _bold_stretches(row: Row) -> list[tuple[float, float]]:
    """(left, right) bounds of neighbouring bold entries, two or more: up to the plain entries beside them."""
    if len(row.entries) < 2:
        return []
    stretches: list[tuple[float, float]] = []
    for bold, group in itertools.groupby(enumerate(row.entries), key=lambda pair: pair[1].bold):
        members = [n for n, _ in group]
        if bold and len(members) > 1:
            left = row.entries[members[0] - 1].x1 if members[0] else float("-inf")
            right = row.entries[members[-1] + 1].x0 if members[-1] + 1 < len(row.entries) else float("inf")
            stretches.append((left, right))
    return stretches


def _between(rows: list[Row], left: float, right: float) -> list[Row]:
    near = [r for r in rows if r.y0 < rows[0].y0 + _REACH]
    return rows_of([run for row in near for run in row.runs if run.x0 > left and run.x1 < right])


def _under_bold(rows: list[Row]) -> tuple[FoundTable | None, int]:
    """The table whose head is the first of some rows, or None; and how many rows were looked through."""
    head = list(_head_rows(rows))
    if not head or len(head[0].entries) < 2 or max(map(_words, head)) > _NAME:
        return None, max(len(head), 1)
    names = max(head, key=lambda row: len(row.entries)).entries
    first, last = names[0].x1, names[-1].x0 + 2
    body = _downwards(rows[len(head) :], head[-1].y1, partial(_reaches, first, last))
    if not body or any(e.bold for r in body[:2] for e in r.entries[1:]):
        return None, len(head)
    table = _headed(head, body, (head[-1].y1 + body[0].y0) / 2)
    return table, len(head) + len(body) if table is not None else len(head)


def _head_rows(rows: list[Row]) -> Iterator[Row]:
    for n, row in enumerate(rows):
        if not _is_bold(row) or (n and row.y0 - rows[n - 1].y1 > 1.6 * _height(row)):
            return
        yield row


def _headed(head: list[Row], body: list[Row], at: float) -> FoundTable | None:
    """The table of a head and what stands under it, when the rows keep to columns that the head names."""
    while body and len(body[-1].entries) < 2 and not _is_beside(body[-1], body[-2:-1]):
        body = body[:-1]
    if len(body) < 2:
        return None
    bands = bands_of([r for row in (*head, *body) for r in row.runs])
    edges = column_edges(bands)
    top = [b for b in bands if b.middle < at]
    if len(edges) < 2 or not is_ruled_table(bands, edges, len(top)):
        return None
    lines = [e for row in body for e in row.entries]
    words = statistics.fmean(len(e.words) for e in lines)
    wordy = words > _WORDY or are_text_columns(body, edges, 6 if words < 3 else 3)
    across = sum(b > a for a, b in (columns_of(e.words, edges) for e in lines))
    named = {n for row in head for e in row.entries for n in [columns_of(e.words, edges)[0]]}
    full = sum(len(b.entries) > 1 and len(b.runs) > 1 for b in bands if b.middle >= at)
    if wordy or 6 * across > len(lines) or len(named) + 1 < len(edges) or not is_aligned(body, edges):
        return None
    table = aligned_table(bands, True, [at], proof=False)
    share = 3 if len(edges) > 2 else 2
    return table if table is not None and share * full >= table.shape[0] - 1 else None


def _reaches(start: float, end: float, entry: Entry) -> bool:
    return entry.x0 <= start and entry.x1 >= end


def _is_bold(row: Row) -> bool:
    return all(e.bold for e in row.entries)


def _words(row: Row) -> float:
    return statistics.fmean(len(e.words) for e in row.entries)


def _is_beside(row: Row, before: list[Row]) -> bool:
    """Whether a lone line stands as close under the row before as wrapped text does."""
    return bool(before) and row.y0 - before[0].y1 < 0.3 * _height(row)


def _height(row: Row) -> float:
    return row.y1 - row.y0


def _upwards(rows: list[Row], at: float) -> list[Row]:
    """The rows right above a rule, from top to bottom: as many as a head has."""
    head: list[Row] = []
    limit = at
    for row in reversed(rows):
        if limit - row.y1 > 0.8 * _height(row) or at - row.y0 > (_HEAD_REACH + 1) * _height(row):
            break
        if len(row.entries) == 1 and CAPTION.match(row.entries[0].text):
            break
        head.insert(0, row)
        limit = row.y0
    while head and len(head[0].entries) < 2:
        head = head[1:]
    return head


def _downwards(rows: list[Row], at: float, is_prose: Callable[[Entry], bool]) -> list[Row]:
    """The rows under a head as far as they keep close together and none is running text."""
    body: list[Row] = []
    limit = at
    for row in rows:
        entry = row.entries[0]
        wide = any(map(is_prose, row.entries))
        if row.y0 - limit > _GAP * _height(row) or wide or (len(row.entries) == 1 and CAPTION.match(entry.text)):
            break
        body.append(row)
        limit = row.y1
    cut = next(iter(odd_gaps(body)), len(body))
    return body[:cut]
