"""Walks docutils' document tree into blocks."""

from __future__ import annotations

from typing import Any

from docutils import nodes

from engine.document import Builder
from engine.extract.front_matter import as_datetime
from engine.records import ExtractedImage, TableCell
from engine.tables import table_from_cells

_SKIPPED = (nodes.comment, nodes.substitution_definition, nodes.target, nodes.pending, nodes.raw, nodes.system_message)

Tree = Any  # docutils ships no complete type information


class Reader:
    """Adds the blocks of a tree to the builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder

    def blocks(self, parent: Tree, level: int) -> None:
        """Add what is below `parent`; `level` is that of the headings of its sections."""
        for node in parent.children:
            self._block(node, level)

    def _block(self, node: Tree, level: int) -> None:
        builder = self.builder
        if isinstance(node, nodes.section):
            self.blocks(node, level + 1)
        elif isinstance(node, nodes.title):
            builder.heading(max(level - 1, 1), node.astext())
        elif isinstance(node, nodes.docinfo):
            self._docinfo(node)
        elif isinstance(node, nodes.field_list):
            builder.list_block([(1, "-", f"{f[0].astext()}: {_plain(f[1])}") for f in _children(node)])
        elif isinstance(node, (nodes.bullet_list, nodes.enumerated_list, nodes.definition_list, nodes.option_list)):
            self._list(node)
        elif isinstance(node, (nodes.literal_block, nodes.doctest_block, nodes.math_block)):
            builder.code(node.astext(), _language(node))
        elif isinstance(node, nodes.table):
            self._table(node)
        elif isinstance(node, (nodes.image, nodes.figure)):
            self._picture(node, level)
        elif isinstance(node, _SKIPPED):
            self._skip(node)
        else:
            self._text(node, level)

    def _text(self, node: Tree, level: int) -> None:
        if isinstance(node, (nodes.footnote, nodes.citation)):
            label = node.children[0].astext() if node.children else ""
            text = "\n".join(_plain(c) for c in node.children[1:])
            self.builder.paragraph(f"[{label}] {text}", "note")
        elif isinstance(node, nodes.line_block):
            self.builder.paragraph(_lines(node))
        elif isinstance(node, (nodes.paragraph, nodes.rubric, nodes.attribution, nodes.subtitle, nodes.term)):
            self.builder.paragraph(node.astext())
        elif isinstance(node, nodes.caption):
            self.builder.paragraph(node.astext(), "caption")
        elif isinstance(node, nodes.Text):
            self.builder.paragraph(node.astext())
        else:  # containers, admonitions, quotes, topics
            self.blocks(node, level)

    def _skip(self, node: Tree) -> None:
        if isinstance(node, nodes.system_message) and node.get("level", 0) >= 3:
            self.builder.warn("rst_error", "constructs that docutils could not read")
            for literal in node.findall(nodes.literal_block):
                self.builder.paragraph(literal.astext())
        elif isinstance(node, nodes.comment):
            self.builder.warn("comment_skipped", "comments in the source were left out")

    def _docinfo(self, node: Tree) -> None:
        meta = self.builder.metadata
        for field in node.children:
            name = field[0].astext() if isinstance(field, nodes.field) else field.tagname
            value = _plain(field[1]) if isinstance(field, nodes.field) else field.astext()
            meta.extra[name] = value[:2000]
            if name.lower() in ("author", "authors"):
                meta.author = value
            elif name.lower() == "date":
                meta.created_date = as_datetime(value)

    def _picture(self, node: Tree, level: int) -> None:
        picture = node if isinstance(node, nodes.image) else next(iter(node.findall(nodes.image)), None)
        if picture is not None:
            alt = picture.get("alt") or None
            self.builder.image(ExtractedImage(b"", "application/octet-stream", alt_text=alt))
            self.builder.warn("image_not_fetched", "pictures stored outside the document were not fetched")
        if isinstance(node, nodes.figure):
            for child in node.children:
                if not isinstance(child, (nodes.image, nodes.reference)):
                    self._block(child, level)

    # ------------------------------------------------------------ lists and tables
    def _list(self, node: Tree) -> None:
        items: list[tuple[int, str, str]] = []
        self._items(node, 1, items)
        self.builder.list_block(items)

    def _items(self, node: Tree, depth: int, items: list[tuple[int, str, str]]) -> None:
        number = int(node.get("start", 1))
        for child in node.children:
            marker = f"{number}." if isinstance(node, nodes.enumerated_list) else "-"
            number += 1
            if isinstance(child, nodes.definition_list_item):
                term = " : ".join(c.astext() for c in child.children if isinstance(c, (nodes.term, nodes.classifier)))
                items.append((depth, "-", term))
                for definition in child.findall(nodes.definition):
                    self._item(definition, depth + 1, "-", items)
                    break
            elif isinstance(child, nodes.option_list_item):
                items.append((depth, "-", f"{child[0].astext()}: {_plain(child[1])}"))
            else:
                self._item(child, depth, marker, items)

    def _item(self, node: Tree, depth: int, marker: str, items: list[tuple[int, str, str]]) -> None:
        """Text of an item; nested lists follow one deeper, other blocks are flushed between."""
        text: list[str] = []
        place = len(items)
        for child in node.children:
            if isinstance(child, (nodes.bullet_list, nodes.enumerated_list, nodes.definition_list)):
                self._items(child, depth + 1, items)
            elif isinstance(child, (nodes.literal_block, nodes.table)) and depth == 1:
                items.insert(place, (depth, marker, "\n".join(text)))
                self.builder.list_block(items)
                items.clear()
                self._block(child, 1)
                text, place = [], 0
            else:
                text.append(_plain(child))
        if text:
            items.insert(place, (depth, marker, "\n".join(text)))

    def _table(self, node: Tree) -> None:
        caption = next((c.astext() for c in node.children if isinstance(c, nodes.title)), None)
        cells: list[TableCell] = []
        covered: dict[tuple[int, int], bool] = {}
        for row_number, row in enumerate(node.findall(nodes.row)):
            header = isinstance(row.parent, nodes.thead)
            column = 0
            for entry in row.children:
                while covered.get((row_number, column)):
                    column += 1
                rows, columns = int(entry.get("morerows", 0)) + 1, int(entry.get("morecols", 0)) + 1
                cells.append(TableCell(row_number, column, _plain(entry), rows, columns, header))
                covered.update(
                    {
                        (r, c): True
                        for r in range(row_number, row_number + rows)
                        for c in range(column, column + columns)
                    }
                )
                column += columns
        self.builder.table(table_from_cells(cells, caption))


def _children(node: Tree) -> list[Tree]:
    return list(node.children)


def _language(node: Tree) -> str:
    named = [c for c in node.get("classes", []) if c not in ("code", "literal-block")]
    return str(node.get("language") or (named[0] if named else ""))


def _plain(node: Tree) -> str:
    """All text below, a line per block."""
    if isinstance(node, nodes.line_block):
        return _lines(node)
    blocks = [c for c in node.children if isinstance(c, (nodes.Body, nodes.Part)) and not isinstance(c, nodes.Inline)]
    if not blocks or isinstance(node, nodes.TextElement):
        return node.astext().strip()
    parts = [_plain(c) for c in node.children if not isinstance(c, _SKIPPED)]
    return "\n".join(p for p in parts if p)


def _lines(node: Tree) -> str:
    return "\n".join(_lines(c) if isinstance(c, nodes.line_block) else c.astext() for c in node.children)
