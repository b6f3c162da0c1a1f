"""Joins the runs of one column into lines, and the lines of a listing into its text."""

from __future__ import annotations

import itertools
import statistics

from engine.extract.pdf.model import Line, Run
from engine.extract.pdf.spacing import is_cjk


def lines_of(runs: list[Run], rtl: bool) -> list[Line]:
    """The lines of one column, from top to bottom."""
    lines: list[Line] = []
    row: list[Run] = []
    reach = float("-inf")
    for run in sorted(runs, key=lambda r: r.y0 + r.y1):
        middle = (run.y0 + run.y1) / 2
        if row and middle >= reach:
            lines.append(line_of(row, rtl))
            row = []
        if not row:
            reach = middle + 0.5 * run.height
        row.append(run)
    if row:
        lines.append(line_of(row, rtl))
    return lines


def line_of(runs: list[Run], rtl: bool) -> Line:
    """Runs of one row joined, with the style of most of their letters."""
    turned = rtl or 2 * sum(len(r.text) for r in runs if r.rtl) > sum(len(r.text) for r in runs)
    runs = sorted(runs, key=lambda r: -r.x1 if turned else r.x0)
    text = runs[0].text
    for before, run in itertools.pairwise(runs):
        tight = not turned and abs(run.x0 - before.x1) < 0.05 * run.size
        tight = tight or (is_cjk(before.text[-1:]) and is_cjk(run.text[:1]))
        text += run.text if tight else f" {run.text}"
    main = max(runs, key=lambda r: len(r.text))
    total = sum(len(r.text) for r in runs)
    return Line(
        text,
        min(r.x0 for r in runs),
        min(r.y0 for r in runs),
        max(r.x1 for r in runs),
        max(r.y1 for r in runs),
        main.size,
        2 * sum(len(r.text) for r in runs if r.bold) > total,
        2 * sum(len(r.text) for r in runs if r.italic) > total,
        2 * sum(len(r.text) for r in runs if r.mono) > total,
        turned,
        runs,
    )


def code_text(lines: list[Line]) -> str:
    """Lines with their indents and empty lines, counted in glyphs of the fixed pitch."""
    left = min(line.x0 for line in lines)
    widths = [(r.x1 - r.x0) / len(r.text) for line in lines for r in line.runs if len(r.text) > 2]
    pitch = statistics.median(widths) if widths else 6.0
    steps = sorted(b.y0 - a.y0 for a, b in itertools.pairwise(lines))
    leading = max(steps[len(steps) // 2] if steps else 12.0, 1.0)
    text: list[str] = []
    for n, line in enumerate(lines):
        if n and (line.y0 - lines[n - 1].y0) > 1.7 * leading:
            text.append("")
        text.append(" " * round((line.x0 - left) / max(pitch, 0.1)) + line.text)
    return "\n".join(text)
