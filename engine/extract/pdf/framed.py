"""Tables between horizontal rules that no vertical line crosses."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from engine.extract.pdf.aligned import tabular_stretches
from engine.extract.pdf.columnar import aligned_table, single_column
from engine.extract.pdf.columns import column_edges
from engine.extract.pdf.evidence import is_ruled_list, is_ruled_table
from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.model import Run
from engine.extract.pdf.notes import CAPTION
from engine.extract.pdf.rows import Row, bands_of, rows_of, wrapped_stretch
from engine.extract.pdf.rules import Segment, positions

_SAME_END = 4.0  # points; rules whose ends differ less have one extent
_OVERHANG = 8.0  # points that text may stand out over the rules
_LEAST_WIDTH = 40.0
_PLAIN = 60.0  # points beside coloured rows in which a plain one is looked for
_HEAD_HEIGHT = 40.0  # points between the rules of a head


def framed_tables(horizontal: Sequence[Segment], runs: Sequence[Run], striped: bool = False) -> list[FoundTable]:
    """Tables between rules of equal extent: three rules or more make a table likely, two allow one.

    `striped`: the rules are edges of coloured rows, and the first or last row may have no colour.
    """
    found: list[FoundTable] = []
    taken: set[int] = set()
    for family in _families(horizontal):
        for chain in _chains(family, runs):
            free = [r for r in runs if id(r) not in taken]
            ends = _plain_ends(chain, free) if striped else chain
            table = _table_between(ends, free, horizontal)
            if table is not None:
                found.append(table)
                owned = {id(w) for w in table.words}
                taken.update(id(r) for r in free if id(r.words[0]) in owned)
    return found


def _families(horizontal: Sequence[Segment]) -> list[list[Segment]]:
    """Rules above one another with the same extent; then, of the rest, those inside a longer one's extent."""
    families: list[list[Segment]] = []
    for rule in sorted(horizontal, key=lambda s: s.start - s.end):
        if rule.end - rule.start < _LEAST_WIDTH:
            continue
        for family in families:
            if abs(rule.start - family[0].start) <= _SAME_END and abs(rule.end - family[0].end) <= _SAME_END:
                family.append(rule)
                break
        else:
            families.append([rule])
    for family in families:
        family.sort(key=lambda s: s.at)
    return [f for f in families if len(f) >= 2 and f[-1].at - f[0].at > 12]


def _chains(family: list[Segment], runs: Sequence[Run]) -> list[list[Segment]]:
    """A family cut where the space between two rules holds no part of a table."""
    chains: list[list[Segment]] = [[family[0]]]
    for above, below in itertools.pairwise(family):
        if _breaks(rows_of([r for r in runs if _within(r, above, below)]), above, below):
            chains.append([below])
        else:
            chains[-1].append(below)
    return [c for c in chains if len(c) >= 2 and c[-1].at - c[0].at > 12]


def _within(run: Run, above: Segment, below: Segment) -> bool:
    middle = (run.y0 + run.y1) / 2
    return (
        above.at - 1 <= middle <= below.at + 1 and run.x0 >= above.start - _OVERHANG and run.x1 <= above.end + _OVERHANG
    )


def _breaks(rows: list[Row], above: Segment, below: Segment) -> bool:
    """Whether a caption or running text stands between two rules."""
    if not rows:
        return below.at - above.at > 40
    if any(len(r.entries) == 1 and CAPTION.match(r.entries[0].text) for r in rows):
        return True
    width = above.end - above.start
    wide = [len(r.entries) == 1 and r.entries[0].x1 - r.entries[0].x0 > 0.6 * width for r in rows]
    return any(a and b for a, b in itertools.pairwise(wide)) and 2 * sum(wide) >= len(rows)


def _plain_ends(chain: list[Segment], runs: Sequence[Run]) -> list[Segment]:
    """The chain with its ends moved over the row right above and right below, where one of entries stands there."""
    first, last = chain[0], chain[-1]
    moved = list(chain)
    above = bands_of([r for r in runs if _within(r, Segment(first.at - _PLAIN, first.start, first.end), first)])
    below = bands_of([r for r in runs if _within(r, last, Segment(last.at + _PLAIN, last.start, last.end))])
    under = wrapped_stretch(below)
    if above and _are_plain_row(above[-1:], first.at - above[-1].y1, first):
        moved.insert(0, Segment(above[-1].y0 - 1, first.start, first.end))
    if under and _are_plain_row(under, under[0].y0 - last.at, last):
        moved.append(Segment(under[-1].y1 + 1, last.start, last.end))
    return moved


def _are_plain_row(lines: list[Row], gap: float, rule: Segment) -> bool:
    widest = max(e.x1 - e.x0 for line in lines for e in line.entries)
    several = max(len(line.entries) for line in lines) > 1
    return several and gap < lines[0].y1 - lines[0].y0 and widest < 0.75 * (rule.end - rule.start)


def _top(chain: list[Segment], runs: Sequence[Run], horizontal: Sequence[Segment]) -> Segment:
    """The upper bound of a table: rules over a part of the columns may lie above the first full one."""
    first = chain[0]
    top = first.at
    for rule in sorted(horizontal, key=lambda s: -s.at):
        inside = rule.start >= first.start - _SAME_END and rule.end <= first.end + _SAME_END
        if inside and rule.end - rule.start >= _LEAST_WIDTH and 0 < top - rule.at < _HEAD_HEIGHT:
            between = rows_of([r for r in runs if _within(r, Segment(rule.at, first.start, first.end), first)])
            if between and not _breaks(between, rule, first):
                top = rule.at
    return Segment(top, first.start, first.end)


def _table_between(chain: list[Segment], runs: Sequence[Run], horizontal: Sequence[Segment]) -> FoundTable | None:
    top = _top(chain, runs, horizontal)
    inside = [r for r in runs if _within(r, top, chain[-1])]
    at = positions([s.at for s in chain])
    if len(inside) < 2 or len(at) < 2:
        return None
    members = {id(s) for s in chain}
    partial = [s for s in horizontal if id(s) not in members and top.at - 2 < s.at < at[-1] + 2]
    partial = [s for s in partial if s.start >= chain[0].start - _SAME_END and s.end <= chain[0].end + _SAME_END]
    if len(at) >= 3:
        bands = bands_of(inside)
        head = sum(b.middle < (at[0] if top.at < at[0] - 3 else at[1]) for b in bands)
        edges = column_edges(bands)
        if is_ruled_table(bands, edges, head):
            return aligned_table(bands, True, at, partial, proof=False, edges=edges)
        if len(at) == 3 and is_ruled_list(bands, head, chain[0].end - chain[0].start):
            return single_column(bands)
    rows = rows_of(inside)
    for start, end in tabular_stretches(rows, hinted=True):
        table = aligned_table(rows[start:end], True, at, partial)
        if table is not None:
            return table
    return None
