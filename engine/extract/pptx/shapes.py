"""Shapes of a slide as blocks in reading order: text, groups, tables, charts, diagrams, pictures, objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.document import Builder
from engine.errors import InputError
from engine.extract.children import Children
from engine.extract.drawing import chart_blocks, diagram_blocks, graphic_parts
from engine.extract.embedded import attach_part
from engine.extract.flow import image_block, table_block, text_block
from engine.extract.ooxml import MC, A, R, Relationships, chosen
from engine.extract.pictures import picture
from engine.extract.pptx.placeholders import Inherited, P, own_position, placeholder_of
from engine.extract.pptx.text import body_blocks, body_text
from engine.extract.slide_order import Rect, reading_order
from engine.records import StructureElement, TableCell
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name
from engine.tables import table_from_cells

TITLES = {"title", "ctrTitle"}
FURNITURE = {"ftr": "page_footer", "dt": "page_footer", "hdr": "page_header"}
_MAX_SPAN = 1000
_LONGEST_TITLE = 120  # characters
_TEXT_BOX_SIZE = 1800  # hundredths of a point; what PowerPoint gives a new text box


@dataclass(slots=True)
class Slide:
    """One slide being read."""

    number: int
    package: Package
    builder: Builder
    children: Children
    rels: Relationships
    inherited: Inherited
    title: Node | None = None  # the shape that names the slide

    @property
    def place(self) -> str:
        """Where this slide is, for the loss report."""
        return f"slide {self.number}"

    def warn(self, code: str, message: str) -> None:
        """Add to the loss report, with the slide as its place."""
        self.builder.warn(code, message, self.place)


def shape_blocks(slide: Slide, container: Node) -> Iterator[StructureElement]:
    """Blocks of all shapes below a shape tree or group, in reading order; the title is left to the caller."""
    placed: list[tuple[Rect | None, Node]] = [(slide.inherited.position(s), s) for s in _shapes(container)]
    for shape in reading_order(placed):
        try:
            yield from _one(slide, shape)
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            slide.warn("shape_unreadable", f"a malformed shape was left out ({type(error).__name__})")


def _shapes(container: Node) -> Iterator[Node]:
    for child in container:
        if child.tag == f"{MC}AlternateContent":
            branch = chosen(child)
            yield from _shapes(branch) if branch is not None else ()
        elif local_name(child) not in {"nvGrpSpPr", "grpSpPr", "extLst", ""}:
            yield child


def _one(slide: Slide, shape: Node) -> Iterator[StructureElement]:
    match local_name(shape):
        case "sp":
            yield from _text_shape(slide, shape)
        case "grpSp":
            yield from shape_blocks(slide, shape)
        case "pic":
            yield from _picture(slide, shape)
        case "graphicFrame":
            yield from _graphic(slide, shape)
        case "cxnSp" | "contentPart":
            pass
        case _:
            yield from _unknown(slide, shape)


def _text_shape(slide: Slide, shape: Node) -> Iterator[StructureElement]:
    placeholder = placeholder_of(shape)
    kind = placeholder.type if placeholder is not None else ""
    body = shape.find(f"{P}txBody")
    if body is None or kind == "sldNum" or shape is slide.title:
        return
    if kind in FURNITURE:
        yield text_block("paragraph", body_text(body), furniture=FURNITURE[kind])
    else:
        yield from body_blocks(shape, body, slide.inherited)


def title_shape(root: Node) -> Node | None:
    """The shape that names the slide: the first title placeholder with text, else the one that looks like it."""
    for shape in root.iter(f"{P}sp"):
        placeholder = placeholder_of(shape)
        if placeholder is not None and placeholder.type in TITLES and body_text(shape.find(f"{P}txBody")):
            return shape
    return _looks_like_title(root)


def _looks_like_title(root: Node) -> Node | None:
    """A slide drawn without title placeholder: its topmost text, where that is one short paragraph set at least a
    quarter larger than every other text on the slide."""
    texts = [s for s in root.iterfind(f"{P}cSld/{P}spTree/{P}sp") if body_text(s.find(f"{P}txBody"))]
    placed = [(box[1], shape) for shape in texts if (box := own_position(shape)) is not None]
    if len(placed) < max(len(texts), 2):
        return None
    top = min(placed, key=lambda entry: entry[0])[1]
    others = max(font_size(shape) for shape in texts if shape is not top)
    text = body_text(top.find(f"{P}txBody"))
    fits = len(text) <= _LONGEST_TITLE and "\n" not in text
    return top if fits and font_size(top) >= 1.25 * others else None


def font_size(shape: Node) -> int:
    """The largest size set on a shape's text, in hundredths of a point; that of a text box where none is set."""
    sizes = [p.get("sz", "") for p in shape.iter(f"{A}rPr", f"{A}defRPr")]
    return max((int(s) for s in sizes if s.isdigit()), default=_TEXT_BOX_SIZE)


def _unknown(slide: Slide, shape: Node) -> Iterator[StructureElement]:
    """A kind of shape not known here: its text is kept."""
    bodies = [e for e in shape.iter() if local_name(e) == "txBody"]
    slide.warn("shape_unknown", "a shape of an unknown kind was read for its text only")
    for body in bodies:
        yield from body_blocks(shape, body, slide.inherited)


def _properties(shape: Node) -> Node | None:
    return next((e for e in shape.iter(f"{P}cNvPr")), None)


def _picture(slide: Slide, shape: Node) -> Iterator[StructureElement]:
    properties = _properties(shape)
    alt = (properties.get("descr") or properties.get("title") or "") if properties is not None else ""
    if any(local_name(e) in {"videoFile", "audioFile", "wavAudioFile"} for e in shape.iter()):
        slide.warn("media_skipped", "a video or sound was left out")
    blip = next(shape.iter(f"{A}blip"), None)
    relationship = slide.rels.get(blip.get(f"{R}embed", "")) if blip is not None else None
    if relationship is None or relationship.external:
        linked = blip is not None and blip.get(f"{R}link")
        code = "external_reference" if linked else "image_unreadable"
        slide.warn(code, "a linked picture was not fetched" if linked else "a picture without data")
        yield image_block(b"", "", alt)
    else:
        yield picture(slide.package, slide.builder, relationship.target, alt)


def _graphic(slide: Slide, frame: Node) -> Iterator[StructureElement]:
    for table in frame.iter(f"{A}tbl"):
        yield from _table(table)
    for kind, rel_id in graphic_parts(frame):
        relationship = slide.rels.get(rel_id)
        root = slide.package.optional_xml(relationship.target) if relationship is not None else None
        if root is not None:
            yield from chart_blocks(root) if kind == "chart" else diagram_blocks(root)
    embedded: set[str] = set()
    for ole in frame.iter(f"{P}oleObj"):
        relationship = slide.rels.get(ole.get(f"{R}id", ""))
        if relationship is None or relationship.external:
            slide.warn("external_reference", "a linked object was not read")
        elif relationship.target not in embedded:
            embedded.add(relationship.target)
            attach_part(slide.package, relationship.target, ole.get("progId", ""), slide.children)


def _table(table: Node) -> Iterator[StructureElement]:
    cells: list[TableCell] = []
    for row, element in enumerate(table.iterchildren(f"{A}tr")):
        for column, cell in enumerate(element.iterchildren(f"{A}tc")):
            if cell.get("hMerge") in {"1", "true"} or cell.get("vMerge") in {"1", "true"}:
                continue
            text = body_text(cell.find(f"{A}txBody"))
            cells.append(TableCell(row, column, text, _span(cell, "rowSpan"), _span(cell, "gridSpan")))
    rows = max((c.row for c in cells), default=0) + 1
    deepest = max((c.rowspan for c in cells if c.row == 0), default=1)
    yield table_block(table_from_cells(cells, header_rows=min(deepest, rows - 1)))


def _span(cell: Node, name: str) -> int:
    text = cell.get(name, "1")
    return min(max(int(text), 1), _MAX_SPAN) if text.isdigit() else 1


def linked_xml(slide: Slide, kind: str) -> Iterator[tuple[str, Node]]:
    """(part name, root) of the slide's internal relationships of a kind that can be read."""
    for relationship in slide.rels.values():
        if relationship.kind == kind and not relationship.external:
            try:
                yield relationship.target, slide.package.xml(relationship.target)
            except InputError as error:
                slide.warn("part_unreadable", error.message)
