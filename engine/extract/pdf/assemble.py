"""Pushes the blocks of laid-out pages into a document builder."""

from __future__ import annotations

from engine.document import Builder
from engine.extract.pdf.blocks import Block, PageLayout, TextBlock
from engine.extract.pdf.captions import is_caption, is_table_caption
from engine.extract.pdf.footnotes import note_mark
from engine.extract.pdf.grid import FoundTable
from engine.extract.pdf.headings import OutlineEntry, PageHeadings
from engine.extract.pdf.model import PageModel, Picture, Run
from engine.extract.pdf.pictures import PictureStore
from engine.records import Box, StructureElement
from engine.tables import table_from_cells

HEADING_CHANCE, HEADING_LEVEL = "heading_chance", "heading_level"  # attributes of a block that may be a heading


def add_page(
    builder: Builder,
    layout: PageLayout,
    headings: PageHeadings,
    furniture: list[tuple[str, Run]],
    store: PictureStore,
    keep_furniture: bool = False,
    mark_doubts: bool = False,
) -> None:
    """Add one page: its headers, its blocks in order with pictures among them, its footers, its annotations.

    `keep_furniture`: running headers and footers are paragraphs of the text. `mark_doubts`: blocks that may or may
    not be headings say so in their attributes, for `heading_model`.
    """
    model = layout.model
    _add_furniture(builder, model, furniture, "page_header", keep_furniture)
    for entry in headings.unplaced:
        builder.heading(entry.level, entry.title, attributes={"origin": "outline"})
    captions = _table_captions(layout.blocks)
    pictures = _placed_pictures(layout, store.shown(model.pictures, model.frame_width, model.frame_height))
    used = set(captions.values())
    items: list[tuple[int, str, str]] = []
    item_blocks: list[TextBlock] = []
    for index, block in enumerate([*layout.blocks, None]):
        before = pictures.get(index, [])
        is_item = isinstance(block, TextBlock) and block.kind == "item" and index not in headings.levels
        if items and (before or not is_item):
            _add_list(builder, model, items, item_blocks)
            items, item_blocks = [], []
        for picture, caption_index in before:
            caption = _block_text(layout.blocks, caption_index)
            builder.image(store.image(picture, caption), box=_box(model, picture))
            used.update([caption_index] if caption_index is not None else [])
        if block is None or index in used:
            continue
        if is_item and isinstance(block, TextBlock):
            items.append((_depth(block, item_blocks), _marker(block.marker), _item_text(block)))
            item_blocks.append(block)
        else:
            caption = _block_text(layout.blocks, captions.get(index))
            doubt = headings.doubts.get(index) if mark_doubts else None
            _add_block(builder, model, block, headings.levels.get(index), caption, _doubt_attributes(doubt))
    _add_widgets(builder, model)
    _add_furniture(builder, model, furniture, "page_footer", keep_furniture)


def add_scan(builder: Builder, model: PageModel, element: StructureElement, outline: list[OutlineEntry]) -> None:
    """Add a page read by OCR: under the bookmarks that point to it, with its fields and comments."""
    for entry in outline:
        builder.heading(entry.level, entry.title, attributes={"origin": "outline"})
    builder.add(element)
    _add_widgets(builder, model)


def _add_block(
    builder: Builder,
    model: PageModel,
    block: Block,
    heading: tuple[int, str] | None,
    caption: str | None,
    doubt: dict[str, str],
) -> None:
    box = _box(model, block)
    if isinstance(block, FoundTable):
        builder.table(table_from_cells(block.cells, caption, header_rows=_header_rows(block)), box=box)
    elif heading is not None:
        builder.heading(heading[0], heading[1], box=box, attributes=doubt)
    elif block.kind == "code":
        builder.code(block.text, box=box)
    elif block.kind == "note":
        mark = note_mark(block.text)
        builder.paragraph(block.text, "note", box=box, attributes={"kind": "footnote", "label": mark} if mark else {})
    else:
        builder.paragraph(block.text, "caption" if is_caption(block.text) else "paragraph", box=box, attributes=doubt)


def _doubt_attributes(doubt: tuple[float, int] | None) -> dict[str, str]:
    return {HEADING_CHANCE: f"{doubt[0]:.2f}", HEADING_LEVEL: str(doubt[1])} if doubt else {}


def _box(model: PageModel, item: Block | Picture) -> Box:
    return model.to_page(item.x0, item.y0, item.x1, item.y1)


def _header_rows(table: FoundTable) -> int:
    """The first row names the columns; with cells spanning columns in it, so does the second."""
    rows, _ = table.shape
    spanning = any(c.row == 0 and c.colspan > 1 for c in table.cells)
    tall = max((c.rowspan for c in table.cells if c.row == 0), default=1)
    return min(max(tall, 2 if spanning else 1), max(rows - 1, 1))


def _block_text(blocks: list[Block], index: int | None) -> str | None:
    block = blocks[index] if index is not None else None
    return block.text if isinstance(block, TextBlock) else None


# ---------------------------------------------------------------- captions and pictures
def _table_captions(blocks: list[Block]) -> dict[int, int]:
    """Table index → index of the caption block right above it."""
    found: dict[int, int] = {}
    for index, block in enumerate(blocks):
        above = blocks[index - 1] if index else None
        if not isinstance(block, FoundTable) or not isinstance(above, TextBlock) or len(above.text) > 400:
            continue
        if is_table_caption(above.text):
            found[index] = index - 1
    return found


def _placed_pictures(layout: PageLayout, pictures: list[Picture]) -> dict[int, list[tuple[Picture, int | None]]]:
    """Block index before which pictures stand → (picture, index of its caption block)."""
    placed: dict[int, list[tuple[Picture, int | None]]] = {}
    for picture in sorted(pictures, key=lambda p: (p.y0, p.x0)):
        caption = _caption_of(picture, layout.blocks)
        if any(caption is not None and caption == c for found in placed.values() for _, c in found):
            caption = None
        index = caption if caption is not None else _index_below(picture, layout.blocks)
        placed.setdefault(index, []).append((picture, caption))
    return placed


def _caption_of(picture: Picture, blocks: list[Block]) -> int | None:
    """The nearest caption under or over the picture, at most 40 points away."""
    best: tuple[float, int] | None = None
    for index, block in enumerate(blocks):
        if not isinstance(block, TextBlock) or not is_caption(block.text):
            continue
        if block.x1 < picture.x0 or block.x0 > picture.x1:
            continue
        distance = min(abs(block.y0 - picture.y1), abs(picture.y0 - block.y1) + 10)
        if distance < 40 and (best is None or distance < best[0]):
            best = (distance, index)
    return best[1] if best else None


def _index_below(picture: Picture, blocks: list[Block]) -> int:
    """Index of the first block in the picture's column that lies below its top; the end without one."""
    last_above = None
    for index, block in enumerate(blocks):
        if block.x1 < picture.x0 or block.x0 > picture.x1:
            continue
        if block.y0 >= picture.y0 - 2:
            return index
        last_above = index
    return last_above + 1 if last_above is not None else len(blocks)


# ---------------------------------------------------------------- lists
def _add_list(builder: Builder, model: PageModel, items: list[tuple[int, str, str]], blocks: list[TextBlock]) -> None:
    box = model.to_page(
        min(b.x0 for b in blocks), min(b.y0 for b in blocks), max(b.x1 for b in blocks), max(b.y1 for b in blocks)
    )
    builder.list_block(items, box=box)


def _item_text(block: TextBlock) -> str:
    """The item's text without its marker."""
    text = block.text
    return text[len(block.marker) :].lstrip() if text.startswith(block.marker) else text


def _marker(marker: str) -> str:
    return marker if any(c.isalnum() for c in marker) else "-"


def _depth(block: TextBlock, before: list[TextBlock]) -> int:
    """Nesting depth by indent: steps of the distinct indents of the list so far."""
    starts = sorted({round(b.x0 / 6) for b in [*before, block]})
    return min(starts.index(round(block.x0 / 6)) + 1, 6)


# ---------------------------------------------------------------- margins and annotations
def _add_furniture(
    builder: Builder, model: PageModel, furniture: list[tuple[str, Run]], kind: str, as_text: bool
) -> None:
    for found, run in furniture:
        if found == kind:
            box = model.to_page(run.x0, run.y0, run.x1, run.y1)
            origin = {"origin": kind} if as_text else {}
            builder.paragraph(run.text, "paragraph" if as_text else kind, box=box, attributes=origin)


def _add_widgets(builder: Builder, model: PageModel) -> None:
    for widget in model.widgets:
        kind = "comment" if widget.kind == "comment" else "paragraph"
        box = model.to_page(widget.x0, widget.y0, widget.x1, widget.y1)
        builder.paragraph(widget.text, kind, box=box, attributes={"origin": widget.kind})
