"""Tables drawn with signs in plain text: framed by +--+ and |, with a rule of dashes, with pipes as in Markdown."""

from __future__ import annotations

import re

from engine.records import ExtractedTable
from engine.tables import table_from_rows

_BORDER = re.compile(r"\s*[+|╔╠╚┌├└][-=+|─━═┬┼┴╦╬╩┐┤┘╗╣╝\s]+[+|┐┤┘╗╣╝]\s*$")
_HEAD_BORDER = re.compile(r"[=═]")
_FIELDS = re.compile(r"[|│║]")
_PIPE_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$")
_RULE = re.compile(r"\s*(?:-{2,}|={2,})(?:\s+(?:-{2,}|={2,}))+\s*$")
_MAX_LINES = 2000


def drawn_table(paragraph: str) -> ExtractedTable | None:
    """The table that a paragraph of plain text draws; None when it draws none."""
    lines = [line.expandtabs() for line in paragraph.split("\n") if line.strip()]
    if not 3 <= len(lines) <= _MAX_LINES:
        return None
    if _BORDER.match(lines[0]):
        return _framed(lines)
    if _PIPE_RULE.match(lines[1]):
        return _piped(lines)
    if _RULE.match(lines[1]):
        return _ruled(lines)
    return None


def _framed(lines: list[str]) -> ExtractedTable | None:
    """Lines between two borders are one row where every row has its border, else each line is a row."""
    groups: list[list[list[str]]] = []
    for line in lines:
        if _BORDER.match(line):
            groups.append([])
            continue
        fields = [field.strip() for field in _FIELDS.split(line.strip())[1:-1]]
        if not groups or not fields:
            return None
        groups[-1].append(fields)
    groups = [group for group in groups if group]
    if len({len(fields) for group in groups for fields in group}) != 1 or not groups:
        return None
    header = len(groups) > 1
    if len(groups) > 2:  # every row is framed
        rows = [[" ".join(filter(None, parts)) for parts in zip(*group, strict=True)] for group in groups]
    else:
        rows = [fields for group in groups for fields in group]
    return table_from_rows(rows, header=header)


def _piped(lines: list[str]) -> ExtractedTable | None:
    rows = [[f.strip() for f in line.strip().strip("|").split("|")] for line in (lines[0], *lines[2:])]
    widths = {len(row) for row in rows}
    return table_from_rows(rows, header=True) if len(widths) == 1 and widths.pop() > 1 else None


def _ruled(lines: list[str]) -> ExtractedTable | None:
    """Columns by the dashes below the head; None when words stand across a gap."""
    spans = [match.span() for match in re.finditer(r"-+|=+", lines[1])]
    starts = [start for start, _ in spans]
    rows: list[list[str]] = []
    for line in (lines[0], *lines[2:]):
        if _RULE.match(line):
            continue
        if any(line[start - 1 : start].strip() and line[start : start + 1].strip() for start in starts[1:]):
            return None
        ends = [*starts[1:], max(len(line), starts[-1])]
        rows.append([line[start:end].strip() for start, end in zip(starts, ends, strict=True)])
    return table_from_rows(rows, header=True)
