"""Walks a page's nodes into a flat run of blocks: headings, paragraphs, lists, code, tables, pictures.

HTML nests freely, so the walk gathers running text until a block begins or ends. Below a depth that no person
writes, nodes are read as plain text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from selectolax.lexbor import LexborNode

from engine.extract.html import inline
from engine.extract.html.boilerplate import Furniture
from engine.extract.html.inline import BREAK, Pictures
from engine.records import StructureElement

MAX_DEPTH = 120
_HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}
_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "dir", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "html", "legend", "li", "main", "nav",
    "p", "search", "section", "summary", "tbody", "td", "tfoot", "th", "thead", "tr", "caption", "optgroup", "option",
}  # fmt: skip
_NOTHING = {"head", "title", "script", "style", "template", "noscript", "rp", "map", "area", "track", "source"}
_INLINE_NOISE = re.compile(r"(?:^|\s)(?:mw-editsection|headerlink|linenos?|gutter|line-numbers-rows)(?:$|\s)")
_BULLETS = {"ul", "menu", "dir"}


@dataclass
class Walker:
    """Blocks gathered so far, and the run of text that waits for its block to end."""

    furniture: Furniture | None
    dropped: Counter[str]
    base: str = ""  # what relative addresses are relative to
    carried: Pictures = field(default_factory=Pictures)
    quoted: int = 0  # quotations around this place
    blocks: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())
    _run: list[str] = field(default_factory=lambda: list[str]())
    _pictures: list[StructureElement] = field(default_factory=lambda: list[StructureElement]())
    _label: str = "paragraph"
    _bold: bool = False
    _plain: bool = False  # the running text has a part that is not bold

    def read(self, node: LexborNode, depth: int = 0, inside_main: bool = True) -> list[StructureElement]:
        """The blocks below `node`."""
        self._children(node, depth, inside_main)
        self.flush()
        return self.blocks

    def sub(self) -> Walker:
        """A walker for a part of the page (cell, list item) with its own blocks."""
        return Walker(self.furniture, self.dropped, self.base, self.carried, self.quoted)

    def flush(self) -> None:
        """End the running text."""
        text = inline.collapse("".join(self._run))
        if text:
            attributes = {"quoted": str(self.quoted)} if self.quoted else {}
            attributes |= {} if self._plain else {"bold": "true"}
            self.blocks.append(StructureElement(self._label, None, text, attributes=attributes))
        self.blocks += [p for p in self._pictures if not text or (p.image is not None and p.image.data)]
        self._run, self._pictures, self._plain = [], [], False

    # ------------------------------------------------------------ the walk
    def _children(self, node: LexborNode, depth: int, inside_main: bool) -> None:
        if depth > MAX_DEPTH:
            self.dropped["flattened"] += 1
            self._run.append(node.text(deep=True, separator=" "))
            return
        for child in children(node):
            self._visit(child, depth + 1, inside_main)

    def _visit(self, node: LexborNode, depth: int, inside_main: bool) -> None:
        tag = node.tag or ""
        if tag == "-text":
            text = node.text_content or ""
            self._run.append(text)
            self._plain = self._plain or (not self._bold and not text.isspace())
            return
        if tag.startswith("-") or tag in _NOTHING:
            return
        inside_main = inside_main or tag in ("main", "article") or node.attributes.get("role") == "main"
        if self.furniture is not None and self.furniture.is_furniture(node, inside_main):
            self.dropped["blocks"] += 1
            self.dropped["characters"] += self.furniture.measures.of(node).chars
            self._run.append(" ")
            return
        before, self._bold = self._bold, inline.is_bold(node, self._bold)
        self._element(node, tag, depth, inside_main)
        self._bold = before

    def _element(self, node: LexborNode, tag: str, depth: int, inside_main: bool) -> None:
        level = _HEADINGS.get(tag) or _aria_level(node)
        if level:
            self._heading(node, level, depth)
        elif tag in _BULLETS or tag == "ol":
            self._emit(self._list(node, tag, depth))
        elif tag == "dl":
            self._emit(self._definitions(node, depth))
        elif tag == "table":
            from engine.extract.html.tables import read_table

            self._emit(read_table(node, self, depth, inside_main))
        elif tag == "pre":
            self._emit([_code(node)])
        elif inline.is_note(node):
            self._labelled(node, "note", depth, inside_main)
        elif tag == "figcaption" or tag == "caption":
            self._labelled(node, "caption", depth, inside_main)
        elif tag in _BLOCKS:
            self.flush()
            self.quoted += inline.is_quotation(node)
            self._children(node, depth, inside_main)
            self.flush()
            self.quoted -= inline.is_quotation(node)
        else:
            self._inline(node, tag, depth, inside_main)

    def _inline(self, node: LexborNode, tag: str, depth: int, inside_main: bool) -> None:
        if tag == "br":
            self._line_break()
        elif tag == "hr":
            self.flush()
        elif tag == "img":
            self._image(node)
        elif inline.is_note_reference(node):
            self._run.append(inline.note_mark(node.text(deep=True)))
        elif tag in inline.SPECIAL:
            self._run.append(inline.special(node, tag))
        elif tag == "sup" and (raised := inline.raised(node)):
            self._run.append(raised)
        elif not _INLINE_NOISE.search(node.attributes.get("class") or ""):
            self._children(node, depth, inside_main)

    def _line_break(self) -> None:
        """Two in a row are how old pages and mail part paragraphs."""
        last = next((part for part in reversed(self._run) if part.strip(" \t\r\n\f")), "")
        if last == BREAK:
            self.flush()
        else:
            self._run.append(BREAK)

    def _emit(self, blocks: list[StructureElement]) -> None:
        self.flush()
        self.blocks += blocks

    def _labelled(self, node: LexborNode, label: str, depth: int, inside_main: bool) -> None:
        self.flush()
        self._label = label
        self._children(node, depth, inside_main)
        self.flush()
        self._label = "paragraph"

    def _heading(self, node: LexborNode, level: int, depth: int) -> None:
        inner = self.sub().read(node, depth)
        text = " ".join(b.content for b in inner if b.table is None and b.type != "code" and b.content)
        self._emit([StructureElement("heading", level, " ".join(text.split()))] if text else [])
        self.blocks += [b for b in inner if b.table is not None or b.type == "code"]

    def _image(self, node: LexborNode) -> None:
        picture = inline.image(node, self.carried)
        if picture is None:
            return
        source = inline.picture_source(node, self.base)
        attributes = {"source": source} if source else {}
        self._pictures.append(StructureElement("image", None, "", image=picture, attributes=attributes))
        if not picture.data and (inline.collapse("".join(self._run)) or _has_text_after(node)):
            self._run.append(f" {picture.alt_text or ''} ")

    # ------------------------------------------------------------ lists
    def _list(self, node: LexborNode, tag: str, depth: int) -> list[StructureElement]:
        found: list[StructureElement] = []
        number = inline.start_number(node)
        for child in children(node):
            if child.tag in (_BULLETS | {"ol"}):  # a list right inside a list: one level deeper
                found += _deeper(self.sub()._list(child, child.tag or "", depth + 1))
            elif child.tag == "li":
                number = inline.whole_number(child.attributes.get("value"), number)
                marker = inline.marker(node, child, number) if tag == "ol" else inline.bullet(child)
                found += self._item(child, marker, depth)
                number += 1
            elif child.tag != "-comment":
                found += self._loose(child, depth)
        return found

    def _loose(self, node: LexborNode, depth: int) -> list[StructureElement]:
        """What stands in a list without being an item."""
        walker = self.sub()
        walker._visit(node, depth + 1, True)
        walker.flush()
        return walker.blocks

    def _item(self, node: LexborNode, marker: str, depth: int, level: int = 1) -> list[StructureElement]:
        """An item's text, then its nested items, then what cannot stand in an item (tables, code)."""
        if self.furniture is not None and self.furniture.is_furniture(node, True):
            self.dropped["blocks"] += 1
            return []
        inner = self.sub().read(node, depth + 1)
        text: list[str] = []
        after: list[StructureElement] = []
        for block in inner:
            plain = block.type in ("paragraph", "heading", "caption")
            if plain and not after:
                text.append(block.content)
            elif plain:
                after.append(StructureElement("list_item", level, block.content, attributes={"marker": "-"}))
            elif block.type == "list_item":
                block.level = (block.level or 1) + level
                after.append(block)
            else:
                after.append(block)
        item = StructureElement("list_item", level, "\n".join(text), attributes={"marker": marker})
        return [item, *after] if text else after

    def _definitions(self, node: LexborNode, depth: int) -> list[StructureElement]:
        found: list[StructureElement] = []
        for child in children(node):
            if child.tag == "div":
                found += self._definitions(child, depth + 1) if depth < MAX_DEPTH else []
            elif child.tag in ("dt", "dd"):
                found += self._item(child, "-", depth, 1 if child.tag == "dt" else 2)
            elif child.tag not in ("-text", "-comment") or (child.text_content or "").strip():
                found += self._loose(child, depth)
        return found


def children(node: LexborNode) -> Iterator[LexborNode]:
    """Children of any kind, text included."""
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _deeper(blocks: list[StructureElement]) -> list[StructureElement]:
    for block in blocks:
        if block.type == "list_item":
            block.level = (block.level or 1) + 1
    return blocks


def _aria_level(node: LexborNode) -> int | None:
    if node.attributes.get("role") != "heading":
        return None
    return min(max(inline.whole_number(node.attributes.get("aria-level"), 2), 1), 6)


def _code(node: LexborNode) -> StructureElement:
    parts: list[str] = []
    for child in node.traverse(include_text=True):
        if child.tag == "-text":
            parts.append(child.text_content or "")
        elif child.tag == "br":
            parts.append("\n")
    return StructureElement("code", None, "".join(parts), attributes={"language": inline.code_language(node)})


def _has_text_after(node: LexborNode) -> bool:
    following = node.next
    while following is not None:
        if (following.text(deep=True) if following.tag != "-text" else following.text_content or "").strip():
            return following.tag not in _BLOCKS
        following = following.next
    return False
