"""Weighs whether rows that stand in columns are a table, or prose, a list or a table of contents."""

from __future__ import annotations

import itertools
import re
import statistics

from engine.extract.pdf.rows import Row

NUMBER = re.compile(r"^[^\w]*[\d.,:/%()$€£+\-–—−*]+[^\w]*$|^(?:n/?a|nil|x|yes|no|-+|–|—|\.+)\.?$", re.IGNORECASE)
_MARK = re.compile(r"[•▪◦●○■□·*–—-]|\(?[\da-zA-Z]{1,3}[.)]|\.\d")
_LEADER = re.compile(r"(?:\.\s?){4,}")


def is_table(rows: list[Row], edges: list[tuple[float, float]], hinted: bool) -> bool:
    """Whether aligned rows are a table. `edges`: (start, end) of each column; `hinted`: rules frame the rows."""
    full = [r for r in rows if len(r.entries) >= 2]
    if len(full) < (2 if hinted else 3) or len(full) < (0.4 if hinted else 0.6) * len(rows):
        return False
    if _is_contents(full) or _is_list(full, edges):
        return False
    words = [len(e.words) for r in full for e in r.entries]
    texts = [e.text for r in full for e in r.entries]
    numeric = sum(bool(NUMBER.match(t)) for t in texts) / len(texts)
    if statistics.fmean(words) > 4.5 and numeric < 0.25 and (not hinted or _fills(full, edges)):
        return False
    if len(edges) == 2 and not hinted:
        second = [e for r in full for e in r.entries if e.x0 >= edges[1][0] - 2]
        short = sum(bool(NUMBER.match(e.text)) for e in second)
        return len(full) >= 3 and short >= 0.6 * max(len(second), 1)
    return hinted or numeric > 0.3 or _row_by_row(full) >= 0.6


def _fills(rows: list[Row], edges: list[tuple[float, float]]) -> bool:
    """Whether two columns are filled from edge to edge, line after line: prose, not cells."""
    if len(edges) != 2:
        return False
    shares = [
        min((e.x1 - e.x0) / (b - a), 1.0) for r in rows for e, (a, b) in zip(r.entries, edges, strict=False) if b > a
    ]
    return statistics.fmean(shares) > 0.8


def _is_contents(rows: list[Row]) -> bool:
    """A table of contents: dot leaders, or titles followed by page numbers that only rise."""
    leaders = sum(any(_LEADER.search(e.text) for e in r.entries) for r in rows)
    return 2 * leaders > len(rows)


def _is_list(rows: list[Row], edges: list[tuple[float, float]]) -> bool:
    """Bullets or numbers with their text beside them."""
    marks = sum(bool(_MARK.fullmatch(r.entries[0].text)) for r in rows)
    return len(edges) == 2 and 2 * marks > len(rows)


def _row_by_row(rows: list[Row]) -> float:
    """Share of rows whose entries were drawn one after the other, as tables are and columns are not."""
    hits = 0
    for row in rows:
        sequences = [e.sequence for e in row.entries]
        hits += all(0 <= b - a <= 2 for a, b in itertools.pairwise(sequences))
    return hits / len(rows)
