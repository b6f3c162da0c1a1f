"""Finds the tables of a page and takes their words out of the running text."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engine.extract.pdf.aligned import page_tables
from engine.extract.pdf.charts import is_chart
from engine.extract.pdf.framed import framed_tables
from engine.extract.pdf.grid import FoundTable, crowded_cells, grid_table, words_inside
from engine.extract.pdf.headed import bold_headed_tables, headed_tables
from engine.extract.pdf.model import PageModel, Rectangle, Rule, Run, Word
from engine.extract.pdf.rows import rows_of
from engine.extract.pdf.rules import Network, Segment, networks, segments
from engine.extract.pdf.striped import with_plain_rows


def take_ruled_tables(model: PageModel) -> list[FoundTable]:
    """The tables that drawn lines show, and those without lines that lie across the page's columns.

    Their words are removed from `model.runs`. Real lines first; backgrounds count as cells only where no line
    told of a table.
    """
    found: list[FoundTable] = []
    if model.rules:
        _take_drawn(model, found)
    rows = rows_of(model.runs)
    headed = bold_headed_tables(rows)
    _take(model, headed, found)
    _take(model, page_tables(rows_of(model.runs) if headed else rows), found)
    return found


def _take(model: PageModel, tables: list[FoundTable], found: list[FoundTable]) -> None:
    if tables:
        found.extend(tables)
        model.runs = without(model.runs, {id(w) for t in tables for w in t.words})


def _take_drawn(model: PageModel, found: list[FoundTable]) -> None:
    """Closed cells first, then rows between rules, then coloured cells and rows, then heads with a rule under them."""
    drawn = _Drawn()
    strong = [r for r in model.rules if not r.weak]
    _take_grids(model, networks(*segments(strong)), found, drawn)
    _take(model, _apart(framed_tables(drawn.lone + drawn.sides, model.runs), drawn.charts), found)
    if len(strong) < len(model.rules):
        free = [r for r in model.rules if not any(_inside(r, t) for t in found)]
        striped = _Drawn(charts=drawn.charts, striped=True)
        _take_grids(model, networks(*segments(free)), found, striped)
        _take(model, _apart(framed_tables(striped.lone + striped.sides, model.runs, striped=True), drawn.charts), found)
    left = {id(w) for r in model.runs for w in r.words} if drawn.doubtful else set[int]()
    _take(model, [t for t in drawn.doubtful if all(id(w) in left for w in t.words)], found)
    free = [s for s in drawn.lone if not any(_crosses(s, t) for t in found)]
    _take(model, _apart(headed_tables(free, model.runs), drawn.charts), found)


def _apart(tables: list[FoundTable], charts: list[Rectangle]) -> list[FoundTable]:
    """The tables that do not lie over a chart."""
    return [t for t in tables if not any(_holds(t, chart) for chart in charts)] if charts else tables


@dataclass(slots=True)
class _Drawn:
    """What the networks of lines on a page were found to be, tables of closed cells aside."""

    lone: list[Segment] = field(default_factory=lambda: list[Segment]())  # horizontal lines that make no cells
    sides: list[Segment] = field(default_factory=lambda: list[Segment]())  # the same of boxes without columns
    charts: list[Rectangle] = field(default_factory=lambda: list[Rectangle]())
    striped: bool = False  # the lines are edges of backgrounds
    doubtful: list[FoundTable] = field(default_factory=lambda: list[FoundTable]())  # a line or two inside them only


def _take_grids(model: PageModel, found_networks: list[Network], found: list[FoundTable], drawn: _Drawn) -> None:
    for network in sorted(found_networks, key=lambda n: -len(n.vertical)):
        words = words_inside(network, model.runs) if network.vertical else []
        if network.vertical and is_chart(network, words):
            drawn.charts.append(network.box)
            continue
        table = grid_table(network, words)
        if table is None:
            (drawn.sides if network.vertical else drawn.lone).extend(network.horizontal)
        elif drawn.striped:
            _take(model, [with_plain_rows(table, model.runs)], found)
        elif network.is_open and crowded_cells(table):
            drawn.sides += network.horizontal
            drawn.doubtful.append(table)
        else:
            _take(model, [table], found)


def _crosses(rule: Segment, table: FoundTable) -> bool:
    return table.y0 - 6 <= rule.at <= table.y1 + 6 and rule.start < table.x1 and rule.end > table.x0


def _holds(table: FoundTable, chart: Rectangle) -> bool:
    x, y = (chart[0] + chart[2]) / 2, (chart[1] + chart[3]) / 2
    return table.x0 <= x <= table.x1 and table.y0 <= y <= table.y1


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
