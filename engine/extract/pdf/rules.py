"""Joins the drawn lines of a page into segments, and the segments that touch into networks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.extract.pdf.model import Rule

_SNAP = 2.0  # points; lines closer than this are one
_JOIN = 3.0  # points; pieces of a line closer than this are joined
_TOUCH = 3.0  # points; lines that come this close meet
_MIN_LENGTH = 6.0
MAX_SEGMENTS = 2500


@dataclass(slots=True)
class Segment:
    """A line at `at` (y of a horizontal one, x of a vertical one) from `start` to `end`."""

    at: float
    start: float
    end: float


@dataclass(slots=True)
class Network:
    """Segments that meet, directly or through others."""

    horizontal: list[Segment] = field(default_factory=lambda: list[Segment]())
    vertical: list[Segment] = field(default_factory=lambda: list[Segment]())

    @property
    def box(self) -> tuple[float, float, float, float]:
        xs = [v.at for v in self.vertical] + [x for h in self.horizontal for x in (h.start, h.end)]
        ys = [h.at for h in self.horizontal] + [y for v in self.vertical for y in (v.start, v.end)]
        return min(xs), min(ys), max(xs), max(ys)

    @property
    def is_open(self) -> bool:
        """Whether no vertical line closes the left or the right side."""
        x0, _, x1, _ = self.box
        at = [v.at for v in self.vertical]
        return not at or min(at) > x0 + _SNAP + _TOUCH or max(at) < x1 - _SNAP - _TOUCH


def segments(rules: Sequence[Rule]) -> tuple[list[Segment], list[Segment]]:
    """(horizontal, vertical) segments: rules snapped to common positions and joined where they overlap."""
    flat = [Segment(r.y0, r.x0, r.x1) for r in rules if r.horizontal]
    upright = [Segment(r.x0, r.y0, r.y1) for r in rules if not r.horizontal]
    return _merged(flat), _merged(upright)


def _merged(pieces: list[Segment]) -> list[Segment]:
    merged: list[Segment] = []
    for group in _snapped(pieces):
        at = sum(s.at for s in group) / len(group)
        group.sort(key=lambda s: s.start)
        start, end = group[0].start, group[0].end
        for piece in group[1:]:
            if piece.start <= end + _JOIN:
                end = max(end, piece.end)
            else:
                merged.append(Segment(at, start, end))
                start, end = piece.start, piece.end
        merged.append(Segment(at, start, end))
    return [s for s in merged if s.end - s.start >= _MIN_LENGTH]


def _snapped(pieces: list[Segment]) -> list[list[Segment]]:
    groups: list[list[Segment]] = []
    for piece in sorted(pieces, key=lambda s: s.at):
        if groups and piece.at - groups[-1][0].at <= _SNAP:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def networks(horizontal: list[Segment], vertical: list[Segment]) -> list[Network]:
    """The connected groups of segments; lone lines are groups of their own. Empty above MAX_SEGMENTS."""
    if len(horizontal) + len(vertical) > MAX_SEGMENTS:
        return []
    horizontal = sorted(horizontal, key=lambda s: s.at)
    heights = [h.at for h in horizontal]
    parent = list(range(len(horizontal) + len(vertical)))

    def root(n: int) -> int:
        while parent[n] != n:
            parent[n] = parent[parent[n]]
            n = parent[n]
        return n

    for number, v in enumerate(vertical, len(horizontal)):
        for n in range(bisect_left(heights, v.start - _TOUCH), len(horizontal)):
            h = horizontal[n]
            if h.at > v.end + _TOUCH:
                break
            if h.start - _TOUCH <= v.at <= h.end + _TOUCH:
                parent[root(n)] = root(number)
    groups: dict[int, Network] = {}
    for n, h in enumerate(horizontal):
        groups.setdefault(root(n), Network()).horizontal.append(h)
    for n, v in enumerate(vertical, len(horizontal)):
        groups.setdefault(root(n), Network()).vertical.append(v)
    return list(groups.values())


def positions(values: list[float], tolerance: float = 3.0) -> list[float]:
    """Sorted values with those closer than `tolerance` to the one before merged."""
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value - kept[-1] > tolerance:
            kept.append(value)
    return kept
