"""Lets the layout model's regions speak where geometry decides: tables, headings, and where a block ends.

Words, their order and what stands in which cell stay geometry's own. A page that was not sent to the model has
no regions, and every function here then leaves things as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.model import Line, PageModel, Rectangle, Region, Transform, apply, invert
from engine.extract.pdf.region import region_table
from engine.extract.pdf.tables import without

HEADING_LABELS = ("title", "section-header")
_OWN_TABLE = 0.5  # overlap above which a table that lines or columns showed stands for the model's region
_SURE_TABLE = 0.5  # least score; below, the model's tables are forms and lists more often than not
_WORDS = 8.0  # of a filled cell, on average; beyond, prose was cut into columns


def guide(model: PageModel, regions: Sequence[Region], rotation: Transform) -> None:
    """Put the model's regions on the page: into its reading frame, and each run into the smallest that holds it.

    `rotation`: from the unturned page, which the model saw, to the page a reader sees.
    """
    to_frame = invert(model.frame_to_page)
    model.regions = [Region(r.label, apply(to_frame, apply(rotation, r.box)), r.score, r.heading) for r in regions]
    by_size = sorted(model.regions, key=lambda r: _area(r.box))
    for run in model.runs:
        x, y = (run.x0 + run.x1) / 2, (run.y0 + run.y1) / 2
        run.region = next((r for r in by_size if _holds(r.box, x, y)), None)


def _area(box: Rectangle) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _holds(box: Rectangle, x: float, y: float) -> bool:
    return box[0] - 1 <= x <= box[2] + 1 and box[1] - 1 <= y <= box[3] + 1


# ---------------------------------------------------------------- tables
def take_region_tables(model: PageModel, own: Sequence[FoundTable]) -> list[FoundTable]:
    """Tables in the regions called so where geometry has found none. Their words leave `model.runs`."""
    found: list[FoundTable] = []
    for region in model.regions:
        if region.label != "table" or region.score < _SURE_TABLE:
            continue
        if any(_overlap(t, region.box) > _OWN_TABLE for t in own) or _is_listing(model, region):
            continue
        table = region_table(model.runs, model.rules, region.box)
        if table is not None and len(table.words) <= _WORDS * sum(bool(c.text) for c in table.cells):
            found.append(table)
            model.runs = without(model.runs, {id(w) for w in table.words})
    return found


def _is_listing(model: PageModel, region: Region) -> bool:
    """Program text with comments beside it stands in columns too."""
    inside = [run for run in model.runs if run.region is region]
    return 2 * sum(run.mono for run in inside) > len(inside)


def _overlap(table: FoundTable, box: Rectangle) -> float:
    """Shared area as a share of the smaller of the two."""
    width = min(table.x1, box[2]) - max(table.x0, box[0])
    height = min(table.y1, box[3]) - max(table.y0, box[1])
    if width <= 0 or height <= 0:
        return 0.0
    return width * height / max(min((table.x1 - table.x0) * (table.y1 - table.y0), _area(box)), 1.0)


# ---------------------------------------------------------------- blocks
def heading_border(before: Line, line: Line) -> bool | None:
    """Whether a block ends between two lines because a heading does (True), or goes on because both are in one
    heading (False); None where the model has nothing to say."""
    above, below = before.runs[-1].region, line.runs[0].region
    if above is None or below is None:
        return None
    if above is below:
        return False if above.label in HEADING_LABELS else None
    return True if (above.label in HEADING_LABELS) != (below.label in HEADING_LABELS) else None
