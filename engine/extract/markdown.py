"""Markdown: heading tree, lists, fenced code, tables and footnotes; front matter becomes metadata.

Parsed as CommonMark with tables, strikethrough, footnotes and definition lists (markdown-it-py). Blocks of HTML
go through the HTML reader. MDX passes as Markdown; its import and export lines are dropped and counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from engine.decode import decode
from engine.document import Builder
from engine.extract import Context
from engine.extract.front_matter import split_front_matter
from engine.extract.html import add_html
from engine.extract.text import add_text
from engine.records import ExtractedDocument, ExtractedImage, TableCell
from engine.tables import table_from_cells

_MDX_LINES = re.compile(
    r"^(?:import\s.+?\sfrom\s+['\"].+['\"];?|import\s+['\"].+['\"];?|export\s+(?:const|let|default|function)\b.*)$"
)
_DATA_URI = re.compile(r"\(\s*<?data:[^)\s]{40,}[^)]*\)")
_TAG = re.compile(r"<[^>]*>")
MAX_NESTING = 100
_TASK = re.compile(r"^\[([ xX])\]\s+")


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a Markdown file."""
    builder = context.builder()
    decoded = decode(path.read_bytes())
    if decoded.replaced:
        builder.warn("undecodable_bytes", f"bytes that are not {decoded.encoding}", count=decoded.replaced)
    text = split_front_matter(decoded.text, builder)
    if context.filename.lower().endswith(".mdx"):
        text = _without_mdx(text, builder)
    add_markdown(builder, text)
    if builder.metadata.title is None:
        builder.metadata.title = next((r.content for r in builder.roots if r.type == "heading" and r.level == 1), None)
    return builder.finish()


def add_markdown(builder: Builder, text: str) -> None:
    """Add the blocks of a Markdown text to the builder."""
    # A picture's data: URI says nothing in words, and would be parsed as one enormous destination.
    text, count = _DATA_URI.subn("()", text)
    if count:
        builder.warn("data_uri_dropped", "pictures inlined as data: URIs were left out", count=count)
    tokens = _parser().parse(text)
    if any(token.level >= MAX_NESTING - 2 for token in tokens):  # the parser drops what lies deeper
        builder.warn("nesting_flattened", "nesting beyond all reason: the text was read as plain text")
        add_text(builder, text)
        return
    _Reader(builder).read(tokens)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    return parser.use(footnote_plugin).use(deflist_plugin).use(dollarmath_plugin, allow_space=False)


def _without_mdx(text: str, builder: Builder) -> str:
    kept: list[str] = []
    dropped = 0
    fenced = False
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if not fenced and _MDX_LINES.match(line):
            dropped += 1
        else:
            kept.append(line)
    if dropped:
        builder.warn("mdx_code_dropped", "import and export lines were left out", count=dropped)
    return "\n".join(kept)


@dataclass
class _Reader:
    """Turns the parser's tokens into blocks; lists are gathered until something else stands between."""

    builder: Builder
    items: list[tuple[int, str, str]] = field(default_factory=lambda: list[tuple[int, str, str]]())
    lists: list[tuple[str, int]] = field(default_factory=lambda: list[tuple[str, int]]())  # marker kind, next number
    note: bool = False
    _fresh_item: bool = False
    _definition: bool = False  # below its term

    def read(self, tokens: list[Token]) -> None:
        at = 0
        while at < len(tokens):
            at = self._token(tokens, at)
        self._flush()

    def _token(self, tokens: list[Token], at: int) -> int:
        """Handle the token at `at`; the place to go on."""
        token = tokens[at]
        if token.type == "heading_open":
            self._flush()
            self.builder.heading(int(token.tag[1:]), inline_text(tokens[at + 1]))
            return at + 3
        if token.type == "table_open":
            end = next(i for i in range(at, len(tokens)) if tokens[i].type == "table_close")
            self._flush()
            self.builder.table(table_from_cells(_cells(tokens[at:end])))
            return end + 1
        self._block(token)
        return at + 1

    def _block(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._text(token)
        elif kind in ("fence", "code_block"):
            self._flush()
            self.builder.code(token.content, (token.info or "").strip().split(" ", 1)[0].strip("{}.").lower())
        elif kind in ("math_block", "math_block_label"):
            self._flush()
            self.builder.paragraph(token.content)
        elif kind == "html_block":
            self._html(token.content)
        elif kind in ("footnote_open", "footnote_close"):
            self._flush()
            self.note = kind == "footnote_open"
        else:
            self._list(token)

    def _list(self, token: Token) -> None:
        kind = token.type
        if kind in ("bullet_list_open", "ordered_list_open", "dl_open"):
            self.lists.append(("1" if kind == "ordered_list_open" else "-", int(token.attrGet("start") or 1)))
        elif kind in ("bullet_list_close", "ordered_list_close", "dl_close") and self.lists:
            self.lists.pop()
            if not self.lists:
                self._flush()
        elif kind in ("list_item_open", "dt_open", "dd_open"):
            self._fresh_item = True
            self._definition = kind == "dd_open"

    def _text(self, token: Token) -> None:
        text = inline_text(token)
        pictures = [c for c in token.children or [] if c.type == "image"]
        if pictures and not _without_images(token).strip():
            self._flush()
            for picture in pictures:
                self._picture(picture)
        elif self.lists:
            self._item(text)
        else:
            self.builder.paragraph(text, "note" if self.note else "paragraph")

    def _picture(self, token: Token) -> None:
        alt = token.content or str(token.attrGet("title") or "")
        self.builder.image(ExtractedImage(b"", "application/octet-stream", alt_text=alt or None))
        if not str(token.attrGet("src") or "").startswith("data:"):
            self.builder.warn("image_not_fetched", "pictures stored outside the document were not fetched")

    def _item(self, text: str) -> None:
        if not self._fresh_item and self.items:
            depth, marker, before = self.items[-1]
            self.items[-1] = (depth, marker, f"{before}\n{text}")
            return
        kind, number = self.lists[-1]
        marker = "-"
        if kind == "1":
            marker = f"{number}."
            self.lists[-1] = (kind, number + 1)
        task = _TASK.match(text)
        if task:
            marker, text = f"[{task[1].lower()}]", text[task.end() :]
        self.items.append((len(self.lists) + self._definition, marker, text))
        self._fresh_item = False

    def _html(self, content: str) -> None:
        if not _TAG.sub("", content).strip() and "<img" not in content.lower():
            return
        self._flush()
        add_html(self.builder, content, furniture=False)

    def _flush(self) -> None:
        self.builder.list_block(self.items)
        self.items = []


def inline_text(token: Token) -> str:
    """Inline content without its marks: links and pictures as their texts, line breaks kept as written."""
    parts: list[str] = []
    for child in token.children or []:
        if child.type in ("text", "code_inline", "math_inline", "math_inline_double", "image"):
            parts.append(child.content)
        elif child.type in ("softbreak", "hardbreak") or _is_line_break(child):
            parts.append("\n")
        elif child.type == "footnote_ref":
            parts.append(f"[{child.meta.get('label') or child.meta.get('id', 0) + 1}]")
    return re.sub(r"\n{2,}", "\n", "".join(parts))


def _is_line_break(token: Token) -> bool:
    return token.type == "html_inline" and token.content.lower().startswith("<br")


def _without_images(token: Token) -> str:
    return "".join(c.content for c in token.children or [] if c.type in ("text", "code_inline", "html_inline"))


def _cells(tokens: list[Token]) -> list[TableCell]:
    cells: list[TableCell] = []
    row = column = -1
    for at, token in enumerate(tokens):
        if token.type == "tr_open":
            row, column = row + 1, -1
        elif token.type in ("th_open", "td_open"):
            column += 1
            text = inline_text(tokens[at + 1]) if at + 1 < len(tokens) else ""
            cells.append(TableCell(row, column, text, header=token.type == "th_open"))
    return cells
