"""The head of a table that no lines divide: names on several lines, names over several columns."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from engine.extract.pdf.columns import Edges, Placed, union
from engine.extract.pdf.evidence import NUMBER
from engine.extract.pdf.model import Word
from engine.extract.pdf.rules import Segment, positions

_MOST = 8  # printed lines of a head
_ALIGNED = 0.5  # of a line's height; how far a name over columns may stand off their middle
_SAME = 1.5  # points
_PADDED = 0.2  # of a line's height; white of rows that stand apart, not of wrapped lines
Cell = tuple[int, int, int, int, list[Word]]  # row, column, rowspan, colspan, words


def head_length(placed: Sequence[Placed], middles: Sequence[float], separators: Sequence[float]) -> int:
    """How many printed lines at the top name the columns.

    Those over the first line drawn, unless that parts one name over all columns from the rest; or those over
    the first row of figures.
    """
    figures = next((n for n, entries in enumerate(placed) if _figures(entries)), 0)
    figures = figures if 1 <= figures <= _MOST else 1
    above = next((sum(m < s for m in middles) for s in separators if middles[0] < s < middles[-1]), 0)
    if 1 <= above <= _MOST:
        return above if max(len(p) for p in placed[:above]) > 1 else max(above, figures)
    return figures


def _figures(entries: Placed) -> bool:
    rest = [words for first, _, words in entries if first > 0]
    return bool(rest) and 2 * sum(bool(NUMBER.match(" ".join(w.text for w in words))) for words in rest) > len(rest)


def head_cells(lines: Sequence[Placed], edges: Edges, partial: Sequence[Segment]) -> list[Cell]:
    """The cells of a head printed on some lines. `partial`: drawn lines that lie under names over columns."""
    if not lines:
        return []
    levels = _ruled_levels(lines, edges, partial) or _aligned_levels(lines, edges)
    cells = [(n, first, 1, last - first + 1, words) for n, level in enumerate(levels) for first, last, words in level]
    return _tall(cells, len(levels), len(edges))


# ---------------------------------------------------------------- levels told by lines
def _ruled_levels(lines: Sequence[Placed], edges: Edges, partial: Sequence[Segment]) -> list[Placed]:
    """The lines over and under drawn lines that reach over several columns each; none without such lines."""
    middles = [_middle(line) for line in lines]
    cuts = positions([s.at for s in partial if middles[0] < s.at < middles[-1] and len(_under(s, edges)) > 1], 4.0)
    if not cuts:
        return []
    groups: list[list[Placed]] = [[] for _ in range(len(cuts) + 1)]
    for line, middle in zip(lines, middles, strict=True):
        groups[sum(c < middle for c in cuts)].append(line)
    levels = [_joined(group) for group in groups if group]
    levels[-1] = _cut_apart(levels[-1], edges)
    for n in range(len(levels) - 2, -1, -1):
        shared = _share_a_rule(levels[n], partial)
        levels[n] = (
            _spread(levels[n], levels[n + 1], edges, sure=True) if shared else _reaching(levels[n], edges, partial)
        )
    return levels


def _middle(line: Placed) -> float:
    words = [w for _, _, found in line for w in found]
    return (min(w.y0 for w in words) + max(w.y1 for w in words)) / 2


def _under(rule: Segment, edges: Edges) -> list[int]:
    return [n for n, (a, b) in enumerate(edges) if rule.start - 3 <= (a + b) / 2 <= rule.end + 3]


def _joined(lines: Sequence[Placed]) -> Placed:
    joined = lines[0]
    for line in lines[1:]:
        joined = union(joined, line)
    return joined


def _share_a_rule(level: Placed, partial: Sequence[Segment]) -> bool:
    """Whether one line lies under several names, so that it does not tell how far each of them goes."""
    middles = [_centre(words) for _, _, words in level]
    return any(sum(s.start <= x <= s.end for x in middles) > 1 for s in partial)


def _reaching(level: Placed, edges: Edges, partial: Sequence[Segment]) -> Placed:
    """Names reach as far as the line under them."""
    reaching: Placed = []
    for first, last, words in level:
        bottom, height = max(w.y1 for w in words), words[0].y1 - words[0].y0
        x = _centre(words)
        rules = [s for s in partial if s.start - 1 <= x <= s.end + 1 and -0.4 * height <= s.at - bottom <= height]
        under = [n for s in rules[:1] for n in _under(s, edges)]
        first, last = min([first, *under]), max([last, *under])
        reaching = union(reaching, [(first, last, words)])
    return reaching


def _cut_apart(level: Placed, edges: Edges) -> Placed:
    """The lowest names stand over one column each: those that run together are cut between their words."""
    cut: Placed = []
    for first, last, words in level:
        if first == last:
            cut = union(cut, [(first, last, words)])
            continue
        middles = [(a[1] + b[0]) / 2 for a, b in itertools.pairwise(edges[first : last + 1])]
        for word in words:
            column = first + sum(m < (word.x0 + word.x1) / 2 for m in middles)
            cut = union(cut, [(column, column, [word])])
    return cut


# ---------------------------------------------------------------- levels told by alignment
def _aligned_levels(lines: Sequence[Placed], edges: Edges) -> list[Placed]:
    """Names over columns stand in the middle of them (or at their left, well above); other lines are joined."""
    levels: list[Placed] = [list(lines[-1])]
    plain = True  # the top level has no name over several columns yet
    for line in reversed(lines[:-1]):
        spread = _spread(line, levels[0], edges)
        if any(last > first for first, last, _ in spread):
            levels.insert(0, spread)
            plain = False
        elif plain:
            levels[0] = union(line, levels[0])
        else:
            levels.insert(0, spread)
    return levels


def _spread(line: Placed, below: Placed, edges: Edges, sure: bool = False) -> Placed:
    """The line's names with the columns over which they stand, as far as the names below them go.

    `sure`: a drawn line shows that the names stand over others and are not their first lines.
    """
    named = {c for first, last, _ in below for c in range(first, last + 1)}
    top = min(w.y0 for _, _, words in below for w in words)
    wraps = [
        not sure and any(a == first and b == last and _lines_up(words, w) for a, b, w in below)
        for first, last, words in line
    ]
    padded = top - max(w.y1 for _, _, words in line for w in words) > _PADDED * (line[0][2][0].y1 - line[0][2][0].y0)
    starts = {first: min(w.x0 for w in words) for first, _, words in below}
    flush = padded and all(
        abs(min(w.x0 for w in words) - starts.get(first, float("inf"))) < _SAME for first, _, words in line if first > 0
    )
    spread: Placed = []
    for n, (first, last, words) in enumerate(line):
        least = spread[-1][1] + 1 if spread else 0
        most = line[n + 1][0] - 1 if n + 1 < len(line) else len(edges) - 1
        least = next((c for c in range(least, first) if c in named), first)
        most = next((c for c in range(most, last, -1) if c in named), last)
        reach = _reach(first, last, words, least, most, flush, edges) if padded or not all(wraps) else (first, last)
        if reach == (first, last) and first in named and not wraps[n]:
            reach = _nearest(n, line, named, max(least, 1), most, edges)
        spread.append((*reach, words))
    return spread


def _nearest(n: int, line: Placed, named: set[int], least: int, most: int, edges: Edges) -> tuple[int, int]:
    """The columns nearer to name number `n` than to its neighbours, when it stands between the middles of them.

    For columns whose text is not centred: their middles are off those of the cells, over which names stand.
    """
    first, last, words = line[n]
    centre = _centre(words)
    before = _centre(line[n - 1][2]) if n and line[n - 1][1] > 0 else float("-inf")
    after = _centre(line[n + 1][2]) if n + 1 < len(line) else float("inf")
    a, b = first, last
    while a > least and a - 1 in named and centre - _middle_of(edges[a - 1]) < _middle_of(edges[a - 1]) - before:
        a -= 1
    while b < most and b + 1 in named and _middle_of(edges[b + 1]) - centre < after - _middle_of(edges[b + 1]):
        b += 1
    between = _middle_of(edges[a]) < centre < _middle_of(edges[b])
    return (a, b) if between and first > 0 else (first, last)


def _middle_of(edge: tuple[float, float]) -> float:
    return (edge[0] + edge[1]) / 2


def _centre(words: Sequence[Word]) -> float:
    return (min(w.x0 for w in words) + max(w.x1 for w in words)) / 2


def _lines_up(above: Sequence[Word], below: Sequence[Word]) -> bool:
    """Whether two lines share their left end, right end or middle: one name that wraps."""
    a0, a1 = min(w.x0 for w in above), max(w.x1 for w in above)
    b0, b1 = min(w.x0 for w in below), max(w.x1 for w in below)
    return min(abs(a0 - b0), abs(a1 - b1), abs(a0 + a1 - b0 - b1) / 2) < _SAME


def _reach(
    first: int, last: int, words: Sequence[Word], least: int, most: int, flush: bool, edges: Edges
) -> tuple[int, int]:
    """The most columns between `least` and `most` over whose middle, or at whose left, the words stand.

    `flush`: all names of the line begin where the names well below them do.
    """
    height = words[0].y1 - words[0].y0
    x0, x1 = min(w.x0 for w in words), max(w.x1 for w in words)
    best = (first, last)
    for a in range(least, first + 1):
        for b in range(last, most + 1):
            centred = abs((edges[a][0] + edges[b][1]) - (x0 + x1)) < 2 * _ALIGNED * height
            if centred and b - a > best[1] - best[0]:
                best = (a, b)
    if best == (first, last) and flush and first > 0 and most > last:
        return first, most
    return best


# ---------------------------------------------------------------- cells
def _tall(cells: list[Cell], rows: int, columns: int) -> list[Cell]:
    """Columns that no name shares with others have their name as one cell over all levels."""
    spanned = {c for _, col, _, wide, _ in cells if wide > 1 for c in range(col, col + wide)}
    done: list[Cell] = []
    for c in range(columns):
        own = [cell for cell in cells if cell[1] == c]
        if c in spanned or rows == 1:
            done += own
            missing = set(range(rows)) - {r for r, col, _, wide, _ in cells if col <= c < col + wide}
            done += [(r, c, 1, 1, []) for r in missing]
        else:
            words = [w for cell in own for w in cell[4]]
            done.append((0, c, rows, 1, words))
    return sorted(done, key=lambda cell: cell[:2])
