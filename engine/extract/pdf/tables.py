"""Finds the tables of a page and takes their words out of the running text."""

from __future__ import annotations

from dataclasses import replace

from engine.extract.pdf.aligned import ruled_region_tables
from engine.extract.pdf.grid import FoundTable, grid_table
from engine.extract.pdf.model import PageModel, Rule, Run, Word
from engine.extract.pdf.rules import Network, Segment, networks, segments


def take_ruled_tables(model: PageModel) -> list[FoundTable]:
    """The tables that drawn lines show. Their words are removed from `model.runs`.

    Real lines first; backgrounds count as cells only where no line told of a table.
    """
    if not model.rules:
        return []
    found: list[FoundTable] = []
    strong = [r for r in model.rules if not r.weak]
    horizontal, vertical = segments(strong)
    lone = _take_grids(model, networks(horizontal, vertical), found)
    if len(strong) < len(model.rules):
        free = [r for r in model.rules if not any(_inside(r, t) for t in found)]
        _take_grids(model, networks(*segments(free)), found)
    if lone:
        framed = ruled_region_tables(lone, model.runs)
        found += framed
        model.runs = without(model.runs, {id(w) for t in framed for w in t.words})
    return found


def _take_grids(model: PageModel, found_networks: list[Network], found: list[FoundTable]) -> list[Segment]:
    """Add the grid tables of some networks to `found`; the horizontal lines that belong to none."""
    lone: list[Segment] = []
    for network in sorted(found_networks, key=lambda n: -len(n.vertical)):
        table = grid_table(network, model.runs) if network.vertical else None
        if table is None:
            lone.extend(network.horizontal)
            continue
        found.append(table)
        model.runs = without(model.runs, {id(w) for w in table.words})
    return lone


def _inside(rule: Rule, table: FoundTable) -> bool:
    return table.x0 - 3 <= rule.x0 and rule.x1 <= table.x1 + 3 and table.y0 - 3 <= rule.y0 and rule.y1 <= table.y1 + 3


def without(runs: list[Run], taken: set[int]) -> list[Run]:
    """The runs without the words taken; a run that loses its middle falls into two."""
    kept: list[Run] = []
    for run in runs:
        rest = [w for w in run.words if id(w) not in taken]
        if len(rest) == len(run.words):
            kept.append(run)
        elif rest:
            kept.append(_shrunk(run, rest))
    return kept


def _shrunk(run: Run, words: list[Word]) -> Run:
    return replace(
        run,
        words=words,
        text=" ".join(w.text for w in words),
        x0=min(w.x0 for w in words),
        x1=max(w.x1 for w in words),
    )
