"""Charts and SmartArt, which Word, Excel and PowerPoint share: their texts and data as blocks."""

from __future__ import annotations

from collections.abc import Iterator

from engine.extract.flow import table_block, text_block
from engine.extract.number_format import display
from engine.extract.ooxml import A, R
from engine.records import StructureElement
from engine.sanitize.safexml import Node, local_name, text_of
from engine.tables import table_from_rows

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CX = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"
DGM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"
MAX_POINTS = 20_000  # of one series; a chart of more is a data file


# ---------------------------------------------------------------- charts
def chart_blocks(root: Node) -> list[StructureElement]:
    """A chart's data as one table (categories down, series across), captioned with its titles."""
    if root.tag.startswith(CX):
        return _extended_chart(root)
    series = [s for s in root.iter(f"{C}ser")]
    titles = [t for t in _titles(root) if t]
    caption = " – ".join(["Chart: " + titles[0], *titles[1:]]) if titles else "Chart"
    heads = [_series_name(s, i) for i, s in enumerate(series)]
    columns = [_points(s, ("val", "yVal")) for s in series]
    categories: dict[int, str] = {}
    for one in series:
        categories = _points(one, ("cat", "xVal")) or categories
        if categories:
            break
    count = min(max((max(c, default=-1) + 1 for c in [categories, *columns]), default=0), MAX_POINTS)
    if not count:  # no values are stored with the chart; they stand in the sheet it draws
        return [text_block("caption", caption)] if titles else []
    rows = [[categories.get(i, ""), *(c.get(i, "") for c in columns)] for i in range(count)]
    table = table_from_rows([["", *heads], *rows], caption=caption)
    return [table_block(table)]


def _titles(root: Node) -> Iterator[str]:
    """The chart's title, then those of its axes."""
    for title in root.iter(f"{C}title"):
        texts = ["".join(text_of(t) for t in p.iter(f"{A}t")) for p in title.iter(f"{A}p")]
        cached = [text_of(v) for v in title.iter(f"{C}v")]
        yield " ".join(filter(None, texts or cached)).strip()


def _series_name(series: Node, index: int) -> str:
    name = series.find(f"{C}tx")
    text = " ".join(text_of(v) for v in name.iter(f"{C}v")) if name is not None else ""
    return text or f"Series {index + 1}"


def _points(series: Node, names: tuple[str, ...]) -> dict[int, str]:
    """Cached values by index; levels of a multi-level category are joined, outermost first."""
    data = next((d for n in names if (d := series.find(f"{C}{n}")) is not None), None)
    if data is None:
        return {}
    levels = list(data.iter(f"{C}lvl"))
    if levels:
        return _multi_level([_cache(level, None) for level in levels])
    code = next((text_of(f) for f in data.iter(f"{C}formatCode")), None)
    return _cache(data, code)


def _cache(data: Node, code: str | None) -> dict[int, str]:
    values: dict[int, str] = {}
    for point in data.iter(f"{C}pt"):
        text = "".join(text_of(v) for v in point.iterchildren(f"{C}v"))
        try:
            values[int(point.get("idx", "0"))] = _shown(text, point.get("formatCode") or code)
        except ValueError:
            continue
    return values


def _shown(text: str, code: str | None) -> str:
    try:
        return display(float(text), code or "General") if code is not None else text
    except ValueError:
        return text


def _multi_level(levels: list[dict[int, str]]) -> dict[int, str]:
    """Levels come innermost first; an outer label holds until the next one."""
    inner, *outer = levels
    current = [""] * len(outer)
    joined: dict[int, str] = {}
    for index in sorted(inner):
        current = [level.get(index, now) for level, now in zip(outer, current, strict=True)]
        joined[index] = " / ".join(filter(None, [*reversed(current), inner[index]]))
    return joined


def _extended_chart(root: Node) -> list[StructureElement]:
    """A chart of the kinds of Office 2016 (waterfall, treemap, funnel, ...): each of its data sets side by side."""
    titles = ("".join(text_of(t) for t in title.iter(f"{A}t")).strip() for title in root.iter(f"{CX}title"))
    caption = " – ".join(["Chart", *filter(None, titles)]).replace("Chart – ", "Chart: ", 1)
    names = {s.get("dataId", ""): _extended_name(s) for s in _with_data_ids(root)}
    heads: list[str] = []
    columns: list[dict[int, str]] = []
    for data in root.iter(f"{CX}data"):
        for dimension in (d for d in data if local_name(d) in {"strDim", "numDim"}):
            levels = [_extended_points(level) for level in dimension.iterchildren(f"{CX}lvl")]
            if levels and any(levels):
                is_number = local_name(dimension) == "numDim"
                heads.append(names.get(data.get("id", ""), "") or "Value" if is_number else "")
                columns.append(_multi_level(levels) if len(levels) > 1 else levels[0])
    count = min(max((max(c, default=-1) + 1 for c in columns), default=0), MAX_POINTS)
    if not count:
        return [text_block("caption", caption)] if caption != "Chart" else []
    rows = [[c.get(i, "") for c in columns] for i in range(count)]
    return [table_block(table_from_rows([heads, *rows], caption=caption))]


def _with_data_ids(root: Node) -> Iterator[Node]:
    """Series of an extended chart, each with its data set's id as an attribute."""
    for series in root.iter(f"{CX}series"):
        reference = series.find(f"{CX}dataId")
        if reference is not None:
            series.set("dataId", reference.get("val", ""))
            yield series


def _extended_name(series: Node) -> str:
    return next((text_of(v) for v in series.iterfind(f"{CX}tx/{CX}txData/{CX}v")), "")


def _extended_points(level: Node) -> dict[int, str]:
    code = level.get("formatCode")
    points = {p.get("idx", ""): text_of(p) for p in level.iterchildren(f"{CX}pt")}
    return {int(key): _shown(text, code) for key, text in points.items() if key.isdigit()}


# ---------------------------------------------------------------- SmartArt
def diagram_blocks(root: Node) -> list[StructureElement]:
    """Texts of a SmartArt data part as list items, nested as its nodes are."""
    points = {p.get("modelId"): p for p in root.iter(f"{DGM}pt")}
    children: dict[str | None, list[tuple[int, str]]] = {}
    for link in root.iter(f"{DGM}cxn"):
        if link.get("type", "parOf") == "parOf":
            order = int(link.get("srcOrd") or 0)
            children.setdefault(link.get("srcId"), []).append((order, link.get("destId", "")))
    tops = [key for key, point in points.items() if point.get("type") == "doc"]
    items: list[StructureElement] = []
    seen: set[str | None] = set()
    stack = [(key, 0) for key in reversed(tops)]
    while stack:
        key, depth = stack.pop()
        if key in seen or key not in points:
            continue
        seen.add(key)
        text = _point_text(points[key])
        if text:
            items.append(text_block("list_item", text, max(depth, 1)))
        stack.extend((child, depth + 1) for _, child in sorted(children.get(key, []), reverse=True))
    lost = [_point_text(p) for k, p in points.items() if k not in seen and p.get("type", "node") == "node"]
    return items + [text_block("list_item", text, 1) for text in lost if text]


def _point_text(point: Node) -> str:
    if point.get("type", "node") not in {"node", "asst", "doc"}:
        return ""
    return "\n".join(filter(None, ("".join(text_of(t) for t in p.iter(f"{A}t")) for p in point.iter(f"{A}p")))).strip()


# ---------------------------------------------------------------- references
CHARTS = (f"{C}chart", f"{CX}chart", f"{DGM}relIds")  # elements that refer to a chart or diagram


def graphic_parts(element: Node) -> Iterator[tuple[str, str]]:
    """(kind, relationship id) of every chart and diagram referenced below `element`."""
    yield from map(graphic_reference, element.iter(*CHARTS))


def graphic_reference(node: Node) -> tuple[str, str]:
    """(kind, relationship id) of an element of `CHARTS`; kind is "chart" or "diagram"."""
    if local_name(node) == "chart":
        return "chart", node.get(f"{R}id", "")
    return "diagram", node.get(f"{R}dm", "")
