"""Draws quality over cost as an SVG: one panel a measure, cost on a logarithmic axis, a labelled dot an engine."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 460, 380, 52, 16, 44, 46  # of a panel, in pixels
_LINE = 13  # pixels between two labels
_OURS, _THEIRS = "#0b6e4f", "#8a5a2b"


@dataclass(frozen=True)
class Point:
    """An engine: `cost` as a multiple of plain text, `quality` 0 to 1."""

    name: str
    cost: float
    quality: float
    ours: bool = False


@dataclass(frozen=True)
class Panel:
    title: str
    points: Sequence[Point]


def svg(panels: Sequence[Panel], cost_name: str) -> str:
    """The panels side by side as one SVG document. A panel without points is left empty."""
    width = _WIDTH * len(panels)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {_HEIGHT}" width="{width}" height="{_HEIGHT}"'
        ' font-family="sans-serif" font-size="12" fill="#222">',
        f'<rect width="{width}" height="{_HEIGHT}" fill="#fff"/>',
    ]
    for number, panel in enumerate(panels):
        parts.append(f'<g transform="translate({number * _WIDTH},0)">')
        parts += _panel(panel, cost_name)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def _panel(panel: Panel, cost_name: str) -> Iterator[str]:
    costs = [max(p.cost, 1e-3) for p in panel.points] or [1.0]
    first, last = math.floor(math.log10(min(costs))), math.ceil(math.log10(max(costs) * 1.05))
    last = max(last, first + 1)
    lowest = math.floor(10 * min((p.quality for p in panel.points), default=0.0)) / 10
    lowest = min(lowest, 0.9)

    def x(cost: float) -> float:
        return _LEFT + (math.log10(max(cost, 1e-3)) - first) / (last - first) * (_WIDTH - _LEFT - _RIGHT)

    def y(quality: float) -> float:
        return _TOP + (1 - quality) / (1 - lowest) * (_HEIGHT - _TOP - _BOTTOM)

    yield f'<text x="{_LEFT}" y="22" font-size="14" font-weight="bold">{escape(panel.title)}</text>'
    for power in range(first, last + 1):
        at = x(10.0**power)
        yield f'<line x1="{at:.1f}" y1="{_TOP}" x2="{at:.1f}" y2="{_HEIGHT - _BOTTOM}" stroke="#ddd"/>'
        yield f'<text x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 16}" text-anchor="middle">{10.0**power:g}</text>'
    for tenth in range(round(10 * lowest), 11):
        at = y(tenth / 10)
        yield f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - _RIGHT}" y2="{at:.1f}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{tenth / 10:.1f}</text>'
    yield f'<text x="{(_LEFT + _WIDTH) / 2:.0f}" y="{_HEIGHT - 10}" text-anchor="middle">{escape(cost_name)}</text>'
    taken = [(x(p.cost) - 5, x(p.cost) + 5, y(p.quality) + 4) for p in panel.points]
    for point in sorted(panel.points, key=lambda p: (-p.quality, p.cost)):
        yield from _dot(point, x(point.cost), y(point.quality), taken)


def _dot(point: Point, x: float, y: float, taken: list[tuple[float, float, float]]) -> Iterator[str]:
    """A dot and its name beside it, moved down until it covers no other name or dot."""
    colour = _OURS if point.ours else _THEIRS
    weight = "bold" if point.ours else "normal"
    length = 6.6 * len(point.name) + 8
    right = x + length < _WIDTH - _RIGHT
    start = x + 7 if right else x - 7 - length
    level = y + 4
    while any(start < end and begin < start + length and abs(level - at) < _LINE for begin, end, at in taken):
        level += 2
    taken.append((start, start + length, level))
    anchor, at = ("start", x + 7) if right else ("end", x - 7)
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>'
    yield (
        f'<text x="{at:.1f}" y="{level:.1f}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
        f"{escape(point.name)}</text>"
    )
