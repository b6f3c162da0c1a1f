"""reStructuredText: sections, lists, code, tables, notes, figures; field lists at the top become metadata.

Parsed by docutils with raw output, file insertion and its configuration files switched off. Directives and roles
it does not know (Sphinx and others) are read as what they contain.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.utils import SystemMessage

from engine.decode import decode
from engine.document import Builder, table_from_cells
from engine.extract import Context
from engine.extract.front_matter import as_datetime
from engine.extract.text import add_text
from engine.records import ExtractedDocument, ExtractedImage, TableCell

_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "_disable_config": True,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "doctitle_xform": True,
    "docinfo_xform": True,
    "input_encoding": "unicode",
    "line_length_limit": 1_000_000,
}
MAX_CHARACTERS = 1_000_000  # docutils reads about 20,000 a second
_DIRECTIVE = re.compile(r"^\s*\.\.\s+(?:\|[^|\n]+\|\s+)?([\w:+.-]+)::(?:\s|$)", re.MULTILINE)
_ROLE = re.compile(r"(?<![\w`]):([A-Za-z][\w:+.-]*):`")
_NO_TEXT = {
    "toctree",
    "contents",
    "index",
    "only",
    "highlight",
    "currentmodule",
    "default-role",
    "meta",
    "include",
    "raw",
}
_TARGET = re.compile(r"^!?~?(.*?)(?:\s*<[^<>]*>)?$", re.DOTALL)
_SKIPPED = (nodes.comment, nodes.substitution_definition, nodes.target, nodes.pending, nodes.raw, nodes.system_message)

Tree = Any  # docutils ships no complete type information


class _Container(Directive):
    """An unknown directive: its arguments and its content as ordinary blocks."""

    has_content = True
    optional_arguments = 100
    final_argument_whitespace = True
    option_spec = None  # pyright: ignore[reportAssignmentType]

    def run(self) -> list[nodes.Node]:
        container = nodes.container()
        if self.arguments:
            container += nodes.paragraph("", re.sub(r"\s*(?<!\S):[\w-]+:.*", "", " ".join(self.arguments)))
        lines = [line for line in self.content if not re.match(r":[\w-]+:", line)]
        if len(lines) == len(self.content):
            self.state.nested_parse(self.content, self.content_offset, container)
        elif lines:
            container += nodes.paragraph("", "\n".join(lines).strip())
        return [container]


class _Nothing(Directive):
    """A directive that only steers other tools."""

    has_content = True
    optional_arguments = 100
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        return []


def _text_role(
    name: str, rawtext: str, text: str, lineno: int, inliner: object, options: object = None, content: object = None
) -> tuple[list[nodes.Node], list[nodes.Node]]:
    """An unknown role is the text a reader sees: without target and modifiers."""
    match = _TARGET.match(text)
    return [nodes.inline(rawtext, match[1] if match else text)], []


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read an .rst file. What docutils cannot parse at all is kept as plain text, with a warning."""
    builder = context.builder()
    decoded = decode(path.read_bytes())
    if decoded.replaced:
        builder.warn("undecodable_bytes", f"bytes that are not {decoded.encoding}", count=decoded.replaced)
    text = decoded.text.replace("\r\n", "\n").replace("\0", "")
    if len(text) > MAX_CHARACTERS:
        builder.warn("rst_unparsed", f"kept as plain text: longer than {MAX_CHARACTERS} characters")
        add_text(builder, text)
        return builder.finish()
    _register(text, builder)
    try:
        tree = publish_doctree(text, settings_overrides=_SETTINGS)
    except (SystemMessage, RecursionError, AttributeError, ValueError, KeyError, IndexError, AssertionError) as error:
        builder.warn("rst_unparsed", f"kept as plain text: {type(error).__name__}")
        add_text(builder, text)
        return builder.finish()
    for reference in list(tree.findall(nodes.footnote_reference)) + list(tree.findall(nodes.citation_reference)):
        reference.parent.replace(reference, nodes.Text(f"[{reference.astext()}]"))
    has_title = any(isinstance(child, nodes.title) for child in tree.children)
    _Reader(builder).blocks(tree, 2 if has_title else 1)
    if builder.metadata.title is None:
        builder.metadata.title = next((r.content for r in builder.roots if r.type == "heading"), None)
    return builder.finish()


def _register(text: str, builder: Builder) -> None:
    """Give every directive and role of this text that docutils does not know a reader of its own."""
    from docutils.parsers.rst.languages import en

    for name in {m.lower() for m in _DIRECTIVE.findall(text)}:
        if name in _NO_TEXT and name not in ("contents", "meta"):
            directives.register_directive(name, _Nothing)
            builder.warn(
                "directive_skipped", "directives for other tools (includes, indexes, raw output) were left out"
            )
        elif name not in en.directives:
            directives.register_directive(name, _Container)
    for name in {m.lower() for m in _ROLE.findall(text)}:
        if name not in en.roles:
            roles.register_local_role(name, _text_role)  # pyright: ignore[reportArgumentType]


class _Reader:
    """Walks the document tree into blocks."""

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
