"""Finds the tables of a page and takes their words out of the running text."""

from __future__ import annotations

from dataclasses import replace

from engine.extract.pdf.aligned import ruled_region_tables
from engine.extract.pdf.grid import FoundTable, grid_table
from engine.extract.pdf.model import PageModel, Run, Word
from engine.extract.pdf.rules import Segment, networks, segments


def take_ruled_tables(model: PageModel) -> list[FoundTable]:
    """The tables that drawn lines show. Their words are removed from `model.runs`."""
    found: list[FoundTable] = []
    lone: list[Segment] = []
    if model.rules:
        words = [w for run in model.runs for w in run.words]
        for network in sorted(networks(*segments(model.rules)), key=lambda n: -len(n.vertical)):
            table = grid_table(network, words) if network.vertical else None
            if table is None:
                lone.extend(network.horizontal)
                continue
            found.append(table)
            taken = {id(w) for w in table.words}
            words = [w for w in words if id(w) not in taken]
            model.runs = without(model.runs, taken)
    if lone:
        framed = ruled_region_tables(lone, model.runs)
        found += framed
        model.runs = without(model.runs, {id(w) for t in framed for w in t.words})
    return found


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
