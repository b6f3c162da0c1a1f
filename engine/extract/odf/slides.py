"""OpenDocument presentations: slide by slide, each a page under the heading of its title."""

from __future__ import annotations

import re
from collections.abc import Iterator

from engine.extract.flow import emit, plain_text
from engine.extract.odf.flow import Reader, blocks, comment_block, shape_blocks
from engine.extract.odf.parts import DRAW, FO, OFFICE, PRESENTATION, STYLE, SVG, inline_text
from engine.extract.odf.styles import styles_root
from engine.extract.slide_order import Rect, reading_order
from engine.sanitize.safexml import Node, local_name

_LENGTH = re.compile(r"(-?[\d.]+)(cm|mm|in|pt|pc|px)")
_POINTS = {"cm": 28.3465, "mm": 2.83465, "in": 72.0, "pt": 1.0, "pc": 12.0, "px": 0.75}
_TITLES = {"title"}
_NOT_CONTENT = {"notes", "forms", "event-listeners", "animations", ""}


def read_slides(reader: Reader, presentation: Node, style_sheet: Node | None, drop_hidden: bool = False) -> None:
    """Add all slides of an `office:presentation` to the builder."""
    masters = _masters(style_sheet)
    size = _page_size(style_sheet)
    declared = {
        e.get(f"{PRESENTATION}name"): inline_text(e)
        for e in presentation
        if local_name(e) in {"footer-decl", "header-decl"}
    }
    furniture: dict[str, None] = {}
    for number, page in enumerate(presentation.iterchildren(f"{DRAW}page"), 1):
        if drop_hidden and page.get(f"{DRAW}style-name") in reader.styles.hidden_pages:
            message = "a hidden slide was left out (setting extraction.hidden)"
            reader.builder.warn("hidden_slide", message, f"slide {number}")
            continue
        reader.builder.start_page(number, *size)
        _slide(reader, page, number)
        furniture.update(dict.fromkeys(masters.get(page.get(f"{DRAW}master-page-name", ""), [])))
        furniture[declared.get(page.get(f"{PRESENTATION}use-footer-name"), "")] = None
    for text in furniture:
        reader.builder.paragraph(text, "page_footer")


def _slide(reader: Reader, page: Node, number: int) -> None:
    shapes = [child for child in page if local_name(child) not in _NOT_CONTENT]
    title_shape = next((s for s in shapes if s.get(f"{PRESENTATION}class") in _TITLES and _has_text(s)), None)
    title = plain_text(shape_blocks(reader, title_shape)) if title_shape is not None else f"Slide {number}"
    if page.get(f"{DRAW}style-name") in reader.styles.hidden_pages:
        reader.builder.warn("hidden_slide", "a hidden slide was kept and marked", f"slide {number}")
        title = f"{title} (hidden)"
    reader.builder.heading(1, title)
    annotations = [s for s in shapes if s.tag == f"{OFFICE}annotation"]
    placed = [(_position(s), s) for s in shapes if s is not title_shape and s not in annotations]
    for shape in reading_order(placed):
        emit(reader.builder, shape_blocks(reader, shape))
    for notes in page.iterchildren(f"{PRESENTATION}notes"):
        texts = (plain_text(shape_blocks(reader, s)) for s in notes if local_name(s) == "frame")
        reader.builder.paragraph("\n".join(filter(None, texts)), "speaker_notes")
    emit(reader.builder, (comment_block(a) for a in annotations))


def _has_text(shape: Node) -> bool:
    return bool("".join(shape.itertext()).strip())


def _position(shape: Node) -> Rect | None:
    """A shape's place in points; a group's is that of its parts."""
    if local_name(shape) == "g":
        inner = [box for box in map(_position, shape) if box is not None]
        if not inner:
            return None
        return min(b[0] for b in inner), min(b[1] for b in inner), max(b[2] for b in inner), max(b[3] for b in inner)
    x, y, width, height = (_points(shape.get(f"{SVG}{name}", "")) for name in ("x", "y", "width", "height"))
    if x is None or y is None:
        return None
    return x, y, x + (width or 0), y + (height or 0)


def _points(length: str) -> float | None:
    match = _LENGTH.fullmatch(length)
    return float(match[1]) * _POINTS[match[2]] if match else None


def _masters(style_sheet: Node | None) -> dict[str, list[str]]:
    """Fixed texts on each master page by its name: footers and the like, without placeholders."""
    root = styles_root(style_sheet)
    masters: dict[str, list[str]] = {}
    for master in root.iterchildren(f"{STYLE}master-page") if root is not None else ():
        shapes = [s for s in master if s.get(f"{PRESENTATION}placeholder") != "true" and _is_fixed(s)]
        masters[master.get(f"{STYLE}name", "")] = list(filter(None, map(_shape_text, shapes)))
    return masters


def _is_fixed(shape: Node) -> bool:
    kind = shape.get(f"{PRESENTATION}class")
    return local_name(shape) not in _NOT_CONTENT and kind in {None, "footer", "header"}


def _shape_text(shape: Node) -> str:
    return "\n".join(filter(None, (inline_text(p).strip() for p in shape.iter() if local_name(p) == "p")))


def _page_size(style_sheet: Node | None) -> tuple[float | None, float | None]:
    for properties in style_sheet.iter(f"{STYLE}page-layout-properties") if style_sheet is not None else ():
        width, height = (_points(properties.get(f"{FO}page-{name}", "")) for name in ("width", "height"))
        if width and height:
            return width, height
    return None, None


def master_texts(reader: Reader, style_sheet: Node | None) -> Iterator[tuple[str, str]]:
    """(kind, text) of headers and footers on the master pages of a text document."""
    root = styles_root(style_sheet)
    for element in root.iter() if root is not None else ():
        name = local_name(element)
        if element.tag.startswith(STYLE) and name.startswith(("header", "footer")):
            text = plain_text(blocks(reader, element)).strip()
            if text and element.get(f"{STYLE}display") != "false":
                yield ("page_header" if name.startswith("header") else "page_footer"), text
