"""Puts a flat run of blocks into the tree, or into the text of a table cell.

Format readers yield one `StructureElement` per paragraph; here list items become lists, lines of code become
one block, and what a cell cannot hold (tables, pictures, notes) is handed back to stand after the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

from engine.document import FURNITURE, Builder, walk
from engine.records import ExtractedImage, ExtractedTable, StructureElement
from engine.settings import Settings

_FILE_NAME = re.compile(r"[^\s/\\]+\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|webp)", re.IGNORECASE)
_AUTOMATIC = re.compile(  # what Office adds to descriptions that it wrote itself
    r"\s*(?:Description automatically generated(?: with [a-z]+ confidence)?\.?|AI-generated content may be incorrect\."
    r"|AI 生成的内容可能不正确。|KI-generierte Inhalte können fehlerhaft sein\.|Automatisch generierte Beschreibung"
    r"|Le contenu généré par l.IA peut être incorrect\.|El contenido generado por IA puede ser incorrecto\.)",
    re.IGNORECASE,
)
_OUTSIDE_CELLS = {"table", "image", "note", "comment"}


def text_block(type: str, text: str, level: int | None = None, **attributes: str) -> StructureElement:
    """A block of text. List items give their depth as `level` and their `marker`."""
    return StructureElement(type, level, text, attributes=attributes)


def table_block(table: ExtractedTable) -> StructureElement:
    """A table as a block."""
    return StructureElement("table", None, "", table=table)


def image_block(data: bytes, mime_type: str, alt_text: str | None) -> StructureElement:
    """A picture as a block; `data` may be empty. What programs write as its description is none."""
    alt_text = _AUTOMATIC.sub("", alt_text or "").strip()
    alt_text = None if _FILE_NAME.fullmatch(alt_text) else alt_text or None
    return StructureElement("image", None, "", image=ExtractedImage(data, mime_type, alt_text=alt_text))


def emit(builder: Builder, blocks: Iterable[StructureElement]) -> None:
    """Add blocks to the builder in order."""
    for kind, run in groupby(blocks, key=lambda block: block.type):
        if kind == "list_item":
            builder.list_block([(b.level or 1, b.attributes.get("marker", "-"), b.content) for b in run])
        elif kind == "code":
            builder.code("\n".join(b.content for b in run))
        else:
            for block in run:
                _emit_one(builder, block)


def _emit_one(builder: Builder, block: StructureElement) -> None:
    if block.type == "heading":
        builder.heading(block.level or 1, block.content)
    elif block.table is not None:
        builder.table(block.table, attributes=block.attributes)
    elif block.image is not None:
        builder.image(block.image)
    else:
        builder.paragraph(block.content, block.type, attributes=block.attributes)


def cell_text(blocks: Iterable[StructureElement], place: str = "") -> tuple[str, list[StructureElement]]:
    """Text of a cell, one line per block, and the blocks that must stand after the table instead.

    `place`: where the cell is; tables taken out of it say so (attribute `inside`).
    """
    lines: list[str] = []
    outside: list[StructureElement] = []
    for block in blocks:
        if block.type in _OUTSIDE_CELLS:
            outside.append(block)
            if block.table is not None and place:
                block.attributes.setdefault("inside", place)
        elif block.type == "list_item" and block.content.strip():
            lines.append(f"{'  ' * ((block.level or 1) - 1)}{block.attributes.get('marker', '-')} {block.content}")
        elif block.content.strip():
            lines.append(block.content)
    return "\n".join(lines), outside


def keep_furniture(builder: Builder, settings: Settings) -> None:
    """Page headers and footers as text, headers first and footers last, where settings ask for it
    (extraction.furniture)."""
    if settings.extraction.furniture != "keep":
        return
    found = [e for e in walk(builder.roots) if e.type in FURNITURE]
    for element in walk(builder.roots):
        element.children = [child for child in element.children if child.type not in FURNITURE]
    roots = [e for e in builder.roots if e.type not in FURNITURE]
    headers = [e for e in found if e.type == "page_header"]
    footers = [e for e in found if e.type == "page_footer"]
    for element in found:
        element.attributes["furniture"], element.type = element.type, "paragraph"
    builder.roots = [*headers, *roots, *footers]


def plain_text(blocks: Iterable[StructureElement]) -> str:
    """All text of blocks, tables included, one line per block: for notes, comments, headers."""
    text, outside = cell_text(blocks)
    parts = [text]
    for block in outside:
        if block.table is not None:
            parts += [" ".join(row) for row in [block.table.headers, *block.table.rows]]
        else:
            parts.append(block.content)
    return "\n".join(part for part in parts if part.strip())
