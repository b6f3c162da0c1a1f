"""Weighs whether rows that stand in columns are a table, or prose, a list or a table of contents."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Sequence

from engine.extract.pdf.rows import Row

NUMBER = re.compile(
    r"^[^\w]*[\d.,:/%()$€£+\-–—−*]+[^\w]*$|^\W*\d[\d.,]*\s?[^\W\d_]{1,3}\W*$|^(?:n/?a|nil|x|yes|no|-+|–|—|\.+)\.?$",
    re.IGNORECASE,
)
_MARK = re.compile(r"[•▪◦●○■□·*–—-]|\(?[\da-zA-Z]{1,3}[.)]|\.\d")
_LISTING = re.compile(r"(?:algorithm|listing|procedure|input|require)\b", re.IGNORECASE)
_HEAD_ROWS = 8
_TALL = 300.0  # points
_EQUATION_NUMBER = re.compile(r"[(\[]\d{1,3}(?:\.\d{1,3})*[a-z]?[)\]]")
_SEPARATING = (":", ")", "(", "|", "§", "=")
_WORDY = 3.0  # words a line; running text is known by half as many lines
_ALIGNED = 0.7  # share of a column's entries
_LEADER = re.compile(r"(?:\.\s?){4,}")


def is_table(rows: list[Row], edges: list[tuple[float, float]], hinted: bool) -> bool:
    """Whether aligned rows are a table. `edges`: (start, end) of each column; `hinted`: rules frame the rows."""
    full = [r for r in rows if len(r.entries) >= 2]
    if len(full) < (2 if hinted else 3) or len(full) < (0.4 if hinted else 0.6) * len(rows):
        return False
    if is_something_else(full, edges):
        return False
    words = [len(e.words) for r in full for e in r.entries]
    least = 6 if statistics.fmean(words) < _WORDY else 3
    if are_text_columns(full, edges, least) or not is_aligned(full, edges):
        return False
    texts = [e.text for r in full for e in r.entries]
    numeric = sum(bool(NUMBER.match(t)) for t in texts) / len(texts)
    if numeric <= 0.3 and (len(full) < 3 or all(len(r.runs) == 1 for r in full)):
        return False
    if statistics.fmean(words) > 4.5 and numeric < 0.25 and (not hinted or _fills(full, edges)):
        return False
    if len(edges) == 2 and not hinted:
        second = [e for r in full for e in r.entries if e.x0 >= edges[1][0] - 2]
        short = sum(bool(NUMBER.match(e.text)) for e in second)
        return len(full) >= 3 and short >= 0.6 * max(len(second), 1)
    return hinted or numeric > 0.3 or _row_by_row(full) >= 0.6


def is_something_else(full: list[Row], edges: list[tuple[float, float]]) -> bool:
    """Whether rows of several entries are contents, a list, numbered formulas or the caption of a lawsuit."""
    return _is_contents(full) or _is_list(full, edges) or _is_equations(full) or _is_punctuation(full)


def are_text_columns(rows: Sequence[Row], edges: list[tuple[float, float]], least: int = 6) -> bool:
    """Whether two columns of `least` lines or more were drawn one after the other, each whole, and hold words:
    columns of running text."""
    order: list[list[int]] = [[] for _ in edges]
    figures = 0
    for row in rows:
        for entry in row.entries:
            column = next((n for n, (a, b) in enumerate(edges) if a - 1 <= entry.x0 <= b + 1), None)
            if column is not None:
                order[column].append(entry.sequence)
                figures += bool(NUMBER.match(entry.text))
    if 3 * figures > sum(map(len, order)):
        return False
    pairs = [(a, b) for a, b in itertools.pairwise(order) if min(len(a), len(b)) >= least]
    return any(max(a) < min(b) or max(b) < min(a) for a, b in pairs)


def is_aligned(rows: Sequence[Row], edges: list[tuple[float, float]]) -> bool:
    """Whether the entries of the columns after the first share their left ends, right ends or middles, as those
    of tables do and the words of justified text do not. Columns of figures may be aligned by the decimal point."""
    shares: list[float] = []
    for a, b in edges[1:]:
        column = [e for r in rows if len(r.entries) > 1 for e in r.entries if a - 1 <= e.x0 and e.x1 <= b + 1]
        if len(column) < 2:
            continue
        numeric = sum(bool(NUMBER.match(e.text)) for e in column) / len(column)
        ends = ([e.x0 for e in column], [e.x1 for e in column], [(e.x0 + e.x1) / 2 for e in column])
        shares.append(1.0 if numeric > 0.6 else max(map(_agreement, ends)))
    return bool(shares) and statistics.fmean(shares) >= _ALIGNED


def _agreement(at: list[float]) -> float:
    """Share of some places that lie within a point and a half of their most common one."""
    ordered = sorted(at)
    return max(sum(abs(x - y) <= 1.5 for y in ordered) for x in ordered) / len(ordered)


def is_ruled_table(rows: list[Row], edges: list[tuple[float, float]], head: int) -> bool:
    """Whether rows between three rules or more are a table. `head`: rows above the second rule.

    The rules alone say much: names of columns between the first two, the rest below. It is not one when the rows
    are a listing with its line numbers, or two columns of running text.
    """
    named = max((len(r.entries) for r in rows[: head + 2]), default=0)
    full = [r for r in rows if len(r.entries) >= 2]
    if not 1 <= head < len(rows) or head > _HEAD_ROWS or named < 2 or _is_contents(full) or _is_punctuation(full):
        return False
    if _LISTING.match(rows[0].entries[0].text) or are_text_columns(rows[head:], edges):
        return False
    tall = rows[-1].y1 - rows[0].y0 > _TALL
    return not (tall and _fills([r for r in full if len(r.entries) == 2], edges))


def is_ruled_list(rows: list[Row], head: int, width: float) -> bool:
    """Whether rows between three rules are a table of one column: a name, and entries that stand well apart."""
    if head != 1 or len(rows) < 4 or any(len(r.entries) > 1 for r in rows) or _LISTING.match(rows[0].entries[0].text):
        return False
    unit = statistics.median(r.y1 - r.y0 for r in rows)
    apart = all(b.y0 - a.y1 > 0.3 * unit for a, b in itertools.pairwise(rows[1:]))
    return apart and all(r.entries[0].x1 - r.entries[0].x0 < 0.85 * width for r in rows)


def _fills(rows: list[Row], edges: list[tuple[float, float]]) -> bool:
    """Whether two columns are filled from edge to edge, line after line: prose, not cells."""
    if len(edges) != 2:
        return False
    shares = [
        min((e.x1 - e.x0) / (b - a), 1.0) for r in rows for e, (a, b) in zip(r.entries, edges, strict=False) if b > a
    ]
    return statistics.fmean(shares or [0.0]) > 0.8


def _is_contents(rows: list[Row]) -> bool:
    """A table of contents: dot leaders, or titles followed by page numbers that only rise."""
    leaders = sum(any(_LEADER.search(e.text) for e in r.entries) for r in rows)
    if 2 * leaders > len(rows):
        return True
    pages = [r.entries[-1].text for r in rows]
    if len(rows) < 5 or not all(len(r.entries) == 2 and p.isdecimal() for r, p in zip(rows, pages, strict=True)):
        return False
    titled = statistics.fmean(len(r.entries[0].words) for r in rows) >= 2
    return titled and all(int(a) <= int(b) for a, b in itertools.pairwise(pages))


def _is_punctuation(rows: list[Row]) -> bool:
    """Dot leaders with wide gaps, or the colons and brackets that stand between the sides of a form."""
    texts = [e.text for r in rows for e in r.entries]
    return sum(t in _SEPARATING or not t.strip(". ") for t in texts) > 0.25 * len(texts)


def _is_equations(rows: list[Row]) -> bool:
    """Formulas with their numbers at the margin."""
    numbered = sum(bool(_EQUATION_NUMBER.fullmatch(r.entries[-1].text)) for r in rows)
    return all(len(r.entries) == 2 for r in rows) and 2 * numbered > len(rows)


def _is_list(rows: list[Row], edges: list[tuple[float, float]]) -> bool:
    """Bullets or numbers with their text beside them."""
    marks = sum(bool(_MARK.fullmatch(r.entries[0].text)) for r in rows)
    paired = len(edges) == 2 or (len(edges) == 3 and all(len(r.entries) == 2 for r in rows))
    return paired and 2 * marks > len(rows)


def is_drawn_by_rows(rows: list[Row]) -> bool:
    """Whether most rows were drawn one after the other, as those of tables are."""
    full = [r for r in rows if len(r.entries) >= 2]
    return bool(full) and _row_by_row(full) >= 0.8


def _row_by_row(rows: list[Row]) -> float:
    """Share of rows whose entries were drawn one after the other, as tables are and columns are not."""
    hits = 0
    for row in rows:
        sequences = [e.sequence for e in row.entries]
        hits += all(0 <= b - a <= 2 for a, b in itertools.pairwise(sequences))
    return hits / len(rows)
