"""OpenDocument text as blocks in source order: headings, paragraphs, lists, tables, notes, frames."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, field

from engine.document import Builder
from engine.extract.children import Children
from engine.extract.embedded import attach_part
from engine.extract.flow import cell_text, image_block, plain_text, table_block, text_block
from engine.extract.odf.parts import DRAW, OFFICE, SVG, TABLE, TEXT, XLINK, inline_text, positive, spaces
from engine.extract.odf.styles import Counter, Styles
from engine.extract.pictures import picture
from engine.records import StructureElement, TableCell
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name
from engine.tables import table_from_cells

_MAX_REPEAT = 1000
_LONGEST_HEADING = 400
_HIDDEN = {"hidden-text", "hidden-paragraph"}


@dataclass(slots=True)
class Reader:
    """The state of reading one OpenDocument file."""

    package: Package
    builder: Builder
    children: Children
    styles: Styles
    headings: Counter
    lists: dict[str, Counter] = field(default_factory=lambda: dict[str, Counter]())  # last list of each style

    def warn(self, code: str, message: str) -> None:
        """Add to the loss report."""
        self.builder.warn(code, message)


@dataclass(slots=True)
class _Inline:
    parts: list[str] = field(default_factory=lambda: list[str]())
    anchored: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())


def blocks(reader: Reader, container: Node) -> Iterator[StructureElement]:
    """Blocks of everything inside a body, cell, text box or note."""
    for child in container:
        yield from _block(reader, child)


def _block(reader: Reader, element: Node) -> Iterator[StructureElement]:
    match local_name(element):
        case "p" | "h":
            yield from _paragraph(reader, element, None)
        case "list":
            yield from _list(reader, element, 1, None, None)
        case "table":
            yield from table_blocks(reader, element)
        case "section" | "numbered-paragraph" | "index-body" | "index-title" | "list-item" | "list-header":
            if element.get(f"{TEXT}display") == "none":
                reader.warn("hidden_text", "a hidden section was left out")
            else:
                yield from blocks(reader, element)
        case name if name.endswith("-index") or name in {"table-of-content", "bibliography"}:
            yield from blocks(reader, element)
        case "frame" | "custom-shape" | "rect" | "g" | "ellipse" | "text-box" | "caption" | "polygon" | "path":
            yield from shape_blocks(reader, element)
        case "tracked-changes":
            reader.warn("tracked_changes", "tracked changes were read as accepted")
        case _:
            pass


def _paragraph(reader: Reader, element: Node, item: tuple[int, str] | None) -> Iterator[StructureElement]:
    """A paragraph or heading; `item`: depth and marker when it is a list item."""
    style = element.get(f"{TEXT}style-name")
    if reader.styles.hidden("paragraph", style):
        if inline_text(element).strip():
            reader.warn("hidden_text", "text marked hidden was left out")
        return
    inline = _Inline()
    _read_inline(reader, element, inline)
    text = "".join(inline.parts)
    if reader.styles.is_code(style):
        yield text_block("code", text)
    elif text.strip():
        yield _classified(reader, element, style, text.replace("\t", " ").strip(), item)
    yield from inline.anchored


def _classified(
    reader: Reader, element: Node, style: str | None, text: str, item: tuple[int, str] | None
) -> StructureElement:
    if local_name(element) == "h" and len(text) <= _LONGEST_HEADING:
        level = positive(element, f"{TEXT}outline-level")
        unnumbered = element.get(f"{TEXT}is-list-header") == "true"
        label = item[1] if item is not None else "" if unnumbered else reader.headings.next(level)
        return text_block("heading", f"{label} {text}" if label and label != "-" else text, level)
    if item is not None:
        return text_block("list_item", text, item[0], marker=item[1])
    if reader.styles.is_title(style):
        return text_block("heading", text, 1)
    return text_block("caption" if reader.styles.is_caption(style) else "paragraph", text)


# ---------------------------------------------------------------- lists
def _list(
    reader: Reader, element: Node, depth: int, style: str | None, counter: Counter | None
) -> Iterator[StructureElement]:
    style = element.get(f"{TEXT}style-name") or style
    if counter is None:
        goes_on = element.get(f"{TEXT}continue-numbering") == "true" or element.get(f"{TEXT}continue-list")
        counter = reader.lists.get(style or "") if goes_on else None
        counter = counter or Counter(reader.styles.lists.get(style or "", {}))
        reader.lists[style or ""] = counter
    elif style in reader.styles.lists and reader.styles.lists[style] is not counter.levels:
        counter = Counter(reader.styles.lists[style])
    for item in element:
        yield from _list_item(reader, item, depth, style, counter)


def _list_item(
    reader: Reader, item: Node, depth: int, style: str | None, counter: Counter
) -> Iterator[StructureElement]:
    """An item: its first paragraph carries the marker, later ones follow it as part of the item."""
    label: str | None = None
    for child in item:
        name = local_name(child)
        if name == "list":
            yield from _list(reader, child, depth + 1, style, counter)
        elif name in {"p", "h"} and label is None:
            start = item.get(f"{TEXT}start-value", "")
            numbered = local_name(item) != "list-header"
            label = (counter.next(depth, int(start) if start.isdigit() else None) or "-") if numbered else "-"
            yield from _paragraph(reader, child, (depth, label))
        else:
            yield from _block(reader, child)


# ---------------------------------------------------------------- tables
def table_blocks(reader: Reader, table: Node) -> Iterator[StructureElement]:
    """The table, then what its cells cannot hold."""
    outside: list[StructureElement] = []
    cells: list[TableCell] = []
    row = header_rows = 0
    for element, is_header in _table_rows(table, False):
        read = _row_cells(reader, element, row, outside)
        for again in range(min(positive(element, f"{TABLE}number-rows-repeated"), _MAX_REPEAT if read else 1)):
            cells += [TableCell(row + again, c.col, c.text, c.rowspan, c.colspan) for c in read]
        row += min(positive(element, f"{TABLE}number-rows-repeated"), _MAX_REPEAT)
        header_rows = row if is_header else header_rows
    if not header_rows and row > 1:
        deepest = max((c.rowspan for c in cells if c.row == 0), default=1)
        header_rows = min(deepest, row - 1)
    if cells:
        yield table_block(table_from_cells(cells, header_rows=header_rows if header_rows < row else min(1, row - 1)))
    yield from outside


def _table_rows(element: Node, is_header: bool) -> Iterator[tuple[Node, bool]]:
    for child in element:
        match local_name(child):
            case "table-row":
                yield child, is_header
            case "table-header-rows":
                yield from _table_rows(child, True)
            case "table-rows" | "table-row-group":
                yield from _table_rows(child, is_header)
            case _:
                pass


def _row_cells(reader: Reader, element: Node, row: int, outside: list[StructureElement]) -> list[TableCell]:
    cells: list[TableCell] = []
    column = 0
    for cell in element:
        name = local_name(cell)
        repeat = min(positive(cell, f"{TABLE}number-columns-repeated"), _MAX_REPEAT) if name else 0
        if name == "table-cell":
            text, more = cell_text(blocks(reader, cell), f"row {row + 1}, column {column + 1}")
            outside += more
            height = min(positive(cell, f"{TABLE}number-rows-spanned"), _MAX_REPEAT)
            width = min(positive(cell, f"{TABLE}number-columns-spanned"), _MAX_REPEAT)
            # A repeated empty cell is the unused rest of a sheet, not columns of this table.
            for again in range(repeat if text else min(repeat, 1)):
                cells.append(TableCell(row, column + again, text, height, width))
        column += repeat if name in {"table-cell", "covered-table-cell"} else 0
    return cells if any(c.text or c.rowspan > 1 or c.colspan > 1 for c in cells) or len(cells) > 1 else []


# ---------------------------------------------------------------- inline
def _read_inline(reader: Reader, element: Node, into: _Inline) -> None:
    into.parts.append(element.text or "")
    for child in element:
        _read_inline_child(reader, child, into)
        into.parts.append(child.tail or "")


def _read_inline_child(reader: Reader, child: Node, into: _Inline) -> None:
    match local_name(child):
        case "s" | "tab" | "line-break" as sign:
            into.parts.append({"s": " " * spaces(child), "tab": "\t"}.get(sign, "\n"))
        case "note":
            _note(reader, child, into)
        case "annotation":
            into.anchored.append(comment_block(child))
        case "frame" | "custom-shape" | "rect" | "g" | "ellipse" | "text-box":
            into.anchored.extend(shape_blocks(reader, child))
            into.parts.extend(_formulas(reader, child))
        case "ruby-text":
            reader.warn("ruby_dropped", "pronunciation guides above the text were left out")
        case "" | "annotation-end" | "tracked-changes" | "note-citation" | "script" | "event-listeners":
            pass
        case name if name in _HIDDEN or reader.styles.hidden("text", child.get(f"{TEXT}style-name")):
            reader.warn("hidden_text", "text marked hidden was left out")
        case _:
            _read_inline(reader, child, into)


def _note(reader: Reader, element: Node, into: _Inline) -> None:
    """A footnote or endnote: a block of its own, no mark inside the sentence."""
    citation, body = element.find(f"{TEXT}note-citation"), element.find(f"{TEXT}note-body")
    label = inline_text(citation).strip() if citation is not None else ""
    text = plain_text(blocks(reader, body)).strip() if body is not None else ""
    if text:
        kind = element.get(f"{TEXT}note-class", "footnote")
        into.anchored.append(text_block("note", f"[^{label}]: {text}", label=label, kind=kind))


def comment_block(element: Node) -> StructureElement:
    """An `office:annotation` with its author."""
    author = next((inline_text(c) for c in element if local_name(c) == "creator"), "")
    text = "\n".join(inline_text(p) for p in element.iter(f"{TEXT}p")).strip()
    return text_block("comment", f"{author}: {text}" if author and text else text, author=author)


# ---------------------------------------------------------------- frames
def shape_blocks(reader: Reader, element: Node) -> Iterator[StructureElement]:
    """What a frame or shape holds. A frame offers one thing in several forms; the richest is read."""
    name = local_name(element)
    if name == "g":
        for child in element:
            yield from shape_blocks(reader, child)
    elif name == "frame":
        yield from _frame(reader, element)
    elif name == "text-box" or name not in {"glue-point", "enhanced-geometry", "title", "desc", "event-listeners", ""}:
        yield from blocks(reader, element)


def _frame(reader: Reader, frame: Node) -> Iterator[StructureElement]:
    children = {local_name(child): child for child in reversed(frame)}
    if "text-box" in children:
        yield from blocks(reader, children["text-box"])
    elif "table" in children:
        yield from table_blocks(reader, children["table"])
    elif "object" in children:
        yield from _object(reader, children["object"])
    elif "object-ole" in children:
        target = posixpath.normpath(children["object-ole"].get(f"{XLINK}href", ""))
        attach_part(reader.package, target, "", reader.children)
    elif "image" in children:
        yield _image(reader, frame, children["image"])
    elif "plugin" in children:
        reader.warn("media_skipped", "a video or sound was left out")


def _image(reader: Reader, frame: Node, image: Node) -> StructureElement:
    texts = [inline_text(c) for name in ("desc", "title") for c in frame.iterchildren(f"{SVG}{name}")]
    alt = next((t.strip() for t in texts if t.strip()), "")
    target = image.get(f"{XLINK}href", "")
    if not target or "://" in target or target not in reader.package:
        if target:
            reader.warn("external_reference", "a linked picture was not fetched")
        return image_block(b"", "", alt)
    return picture(reader.package, reader.builder, target, alt)


def _object(reader: Reader, element: Node) -> Iterator[StructureElement]:
    """An embedded OpenDocument object: its tables (a chart keeps its data in one); formulas are inline text."""
    root = _object_content(reader, element)
    if root is None or local_name(root) == "math":
        return
    title = next((inline_text(p) for t in root.iter() if local_name(t) == "title" for p in t.iter(f"{TEXT}p")), "")
    if title:
        is_chart = any(local_name(e) == "chart" for e in root.iter())
        yield text_block("caption", f"Chart: {title}" if is_chart else title)
    for table in root.iter(f"{TABLE}table"):
        yield from table_blocks(reader, table)
    for body in root.iter(f"{OFFICE}text"):
        yield from blocks(reader, body)


def _object_content(reader: Reader, element: Node) -> Node | None:
    target = posixpath.normpath(element.get(f"{XLINK}href", "")).lstrip("./")
    return reader.package.optional_xml(f"{target}/content.xml") if target else None


def _formulas(reader: Reader, shape: Node) -> Iterator[str]:
    """Formulas of a frame, in the notation they were typed in."""
    for element in shape.iter(f"{DRAW}object"):
        root = _object_content(reader, element)
        if root is not None and local_name(root) == "math":
            typed = next((e.text for e in root.iter() if local_name(e) == "annotation" and e.text), None)
            yield f"${(typed or ''.join(root.itertext())).strip()}$"
