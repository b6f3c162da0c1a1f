"""What a slide's shapes inherit from its layout and master: positions and bullets."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.extract.ooxml import A, first_of_kind, relationships
from engine.extract.slide_order import Rect
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name, text_of

P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MASTER_TYPES = {"ctrTitle": "title", "subTitle": "body", "obj": "body"}


@dataclass(slots=True)
class Placeholder:
    type: str
    index: str
    shape: Node


@dataclass(slots=True)
class Inherited:
    """The layout and master behind a slide. Both may be missing in damaged files."""

    layout: list[Placeholder] = field(default_factory=lambda: list[Placeholder]())
    master: list[Placeholder] = field(default_factory=lambda: list[Placeholder]())
    text_styles: Node | None = None
    fixed_texts: list[str] = field(default_factory=lambda: list[str]())  # on every slide, placeholders aside

    def ancestors(self, shape: Node) -> list[Node]:
        """Shapes from which a placeholder inherits, nearest first."""
        own = placeholder_of(shape)
        if own is None:
            return []
        found: list[Node] = []
        kind = own.type
        match = _matching(self.layout, own)
        if match is not None:
            found.append(match.shape)
            kind = match.type if match.type != "obj" else kind
        wanted = _MASTER_TYPES.get(kind, kind)
        found += [p.shape for p in self.master if p.type == wanted][:1]
        return found

    def position(self, shape: Node) -> Rect | None:
        """Where a shape stands, in EMU: its own place, else the inherited one."""
        for candidate in (shape, *self.ancestors(shape)):
            rect = own_position(candidate)
            if rect is not None:
                return rect
        return None

    def bullet(self, shape: Node, paragraph: Node, level: int) -> Node | None:
        """The bullet element (`a:buChar`, `a:buAutoNum`, `a:buBlip`, `a:buNone`) in force, if any."""
        own = _bullet_in(paragraph.find(f"{A}pPr"))
        if own is not None:
            return own
        for candidate in (shape, *self.ancestors(shape)):
            style = candidate.find(f"{P}txBody/{A}lstStyle/{A}lvl{level + 1}pPr")
            found = _bullet_in(style)
            if found is not None:
                return found
        return self._styled_bullet(shape, level)

    def _styled_bullet(self, shape: Node, level: int) -> Node | None:
        own = placeholder_of(shape)
        if own is None or self.text_styles is None:
            return None
        if own.type in {"title", "ctrTitle"}:
            return None
        name = "bodyStyle" if own.type in {"body", "obj", "subTitle", ""} else "otherStyle"
        return _bullet_in(self.text_styles.find(f"{P}{name}/{A}lvl{level + 1}pPr"))


def _matching(placeholders: list[Placeholder], own: Placeholder) -> Placeholder | None:
    same_index = [p for p in placeholders if own.index and p.index == own.index]
    same_type = [p for p in placeholders if p.type == own.type]
    return next(iter(same_index or same_type), None)


def placeholder_of(shape: Node) -> Placeholder | None:
    """The placeholder a shape fills, or None."""
    for properties in shape:
        element = properties.find(f"{P}nvPr/{P}ph") if local_name(properties).startswith("nv") else None
        if element is not None:
            return Placeholder(element.get("type", "obj"), element.get("idx", ""), shape)
    return None


def own_position(shape: Node) -> Rect | None:
    """A shape's own place in EMU, None when it has none."""
    for path in (f"{P}spPr/{A}xfrm", f"{P}grpSpPr/{A}xfrm", f"{P}xfrm"):
        frame = shape.find(path)
        offset, extent = (frame.find(f"{A}off"), frame.find(f"{A}ext")) if frame is not None else (None, None)
        if offset is None or extent is None:
            continue
        try:
            x, y = int(offset.get("x", "0")), int(offset.get("y", "0"))
            return x, y, x + int(extent.get("cx", "0")), y + int(extent.get("cy", "0"))
        except ValueError:
            return None
    return None


def _bullet_in(properties: Node | None) -> Node | None:
    names = {"buNone", "buChar", "buAutoNum", "buBlip"}
    return next((c for c in properties if local_name(c) in names), None) if properties is not None else None


def read_inherited(package: Package, layout: str | None, cache: dict[str | None, Inherited]) -> Inherited:
    """Layout `layout` and its master, read once per file."""
    if layout in cache:
        return cache[layout]
    inherited = cache[layout] = Inherited()
    root = package.optional_xml(layout) if layout else None
    if root is not None and layout:
        inherited.layout = _placeholders(root)
        inherited.fixed_texts = _fixed_texts(root)
        master = package.optional_xml(first_of_kind(relationships(package, layout), "slideMaster") or "")
        if master is not None:
            inherited.master = _placeholders(master)
            inherited.fixed_texts += _fixed_texts(master)
            inherited.text_styles = master.find(f"{P}txStyles")
    return inherited


def _placeholders(root: Node) -> list[Placeholder]:
    return [p for shape in root.iter(f"{P}sp") if (p := placeholder_of(shape)) is not None]


def _fixed_texts(root: Node) -> list[str]:
    shapes = (shape for shape in root.iter(f"{P}sp") if placeholder_of(shape) is None)
    return list(filter(None, (" ".join(text_of(t) for t in shape.iter(f"{A}t")).strip() for shape in shapes)))
