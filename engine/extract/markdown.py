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
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin
from selectolax.lexbor import LexborHTMLParser

from engine.decode import decode
from engine.document import Builder
from engine.extract import Context
from engine.extract.front_matter import split_front_matter
from engine.extract.html import add_html
from engine.extract.html.hidden import invisible_places
from engine.extract.markdown_dialects import count_comments, plain, without_mdx
from engine.extract.text import add_text
from engine.records import ExtractedDocument, ExtractedImage, TableCell
from engine.sanitize.html import is_hidden
from engine.tables import table_from_cells

_DATA_URI = re.compile(r"\(\s*<?data:[^)\s]{40,}[^)]*\)")
_TAG = re.compile(r"<[^>]*>")
MAX_NESTING = 100
_DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")  # MyST: ```{note} Title
_ADMONITIONS = {
    "admonition", "attention", "caution", "danger", "error", "hint", "important", "note", "tip", "warning", "seealso",
    "figure", "epigraph", "sidebar", "topic", "margin", "dropdown", "card", "versionadded", "deprecated",
}  # fmt: skip
_OPTION = re.compile(r"(?m)^:[\w-]+:.*\n?")
_HIDING_TAG = re.compile(r"<\w+[^>]*\sstyle\s*=\s*(\"[^\"]*\"|'[^']*')", re.IGNORECASE)
_CELL_END = re.compile(r"(?<!\\)\|")
_TASK = re.compile(r"^\[([ xX])\]\s+")


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a Markdown file."""
    builder = context.builder()
    decoded = decode(path.read_bytes())
    if decoded.replaced:
        builder.warn("undecodable_bytes", f"bytes that are not {decoded.encoding}", count=decoded.replaced)
    text = split_front_matter(decoded.text, builder)
    if context.filename.lower().endswith(".mdx"):
        text = without_mdx(text, builder)
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
    comments = count_comments(text)
    if comments:
        builder.warn("comment_dropped", "comments in the markup were left out", count=comments)
    text = plain(text)
    tokens = _parser().parse(text)
    if any(token.level >= MAX_NESTING - 2 for token in tokens):  # the parser drops what lies deeper
        builder.warn("nesting_flattened", "nesting beyond all reason: the text was read as plain text")
        add_text(builder, text)
        return
    _Reader(builder, text.split("\n")).read(tokens)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    parser = (
        parser.use(footnote_plugin).use(deflist_plugin).use(dollarmath_plugin, allow_space=False, double_inline=True)
    )
    return parser.use(admon_plugin)


@dataclass
class _Reader:
    """Turns the parser's tokens into blocks; lists are gathered until something else stands between."""

    builder: Builder
    lines: list[str]  # of the source
    items: list[tuple[int, str, str]] = field(default_factory=lambda: list[tuple[int, str, str]]())
    lists: list[tuple[str, int]] = field(default_factory=lambda: list[tuple[str, int]]())  # marker kind, next number
    note: str = ""  # label of the footnote being read
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
            self.builder.table(table_from_cells(_cells(tokens[at:end], self.lines)))
            return end + 1
        self._block(token)
        return at + 1

    def _block(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            self._text(token)
        elif kind in ("fence", "code_block"):
            self._flush()
            self._fenced(token)
        elif kind == "admonition_title_open":
            self._flush()
        elif kind in ("math_block", "math_block_label"):
            self._flush()
            self.builder.paragraph(token.content)
        elif kind == "html_block":
            self._html(token.content)
        elif kind in ("footnote_open", "footnote_close"):
            self._flush()
            self.note = _label(token) if kind == "footnote_open" else ""
        else:
            self._list(token)

    def _fenced(self, token: Token) -> None:
        """A listing, or what MyST writes as one: admonitions and figures as text, listings by their argument."""
        info = (token.info or "").strip()
        directive = _DIRECTIVE.match(info)
        name = directive[1].rpartition(":")[2] if directive else ""
        argument = directive[2].strip() if directive else ""
        if name in _ADMONITIONS:
            self.builder.paragraph(argument if name != "figure" else "")
            add_markdown(self.builder, _OPTION.sub("", token.content))
        elif name == "math" or info == "math":
            self.builder.paragraph(token.content)
        else:
            language = argument if name in ("code-block", "code", "code-cell", "sourcecode") else info.split(" ", 1)[0]
            self.builder.code(token.content, language.strip("{}.").lower())

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
        self._report_hidden(token)
        pictures = [c for c in token.children or [] if c.type == "image"]
        if pictures and not _without_images(token).strip():
            self._flush()
            for picture in pictures:
                self._picture(picture)
        elif self.lists:
            self._item(text)
        elif self.note:
            label, self.note = self.note, " "
            self.builder.paragraph(f"[^{label}]: {text}" if label.strip() else text, "note")
        else:
            self.builder.paragraph(text)

    def _report_hidden(self, token: Token) -> None:
        """Tags inside a line that make its text invisible: the text stays and is counted."""
        tags = "".join(c.content for c in token.children or [] if c.type == "html_inline")
        if _HIDING_TAG.search(tags) or " hidden" in tags:
            page = LexborHTMLParser(re.sub(r"<(?!/)([^>]*)>", r"<\1>x", tags))
            hidden = invisible_places(page) + sum(is_hidden(node) for node in page.css("[style], [hidden]"))
            if hidden:
                message = "text made invisible by its colour, size, place or style was kept"
                self.builder.warn("invisible_text", message, count=hidden)

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
            parts.append(f"[^{_label(child)}]")
    return re.sub(r"\n{2,}", "\n", "".join(parts))


def _label(token: Token) -> str:
    """A footnote's name, or its number where it has none."""
    return str(token.meta.get("label") or token.meta.get("id", 0) + 1)


def _is_line_break(token: Token) -> bool:
    return token.type == "html_inline" and token.content.lower().startswith("<br")


def _without_images(token: Token) -> str:
    return "".join(c.content for c in token.children or [] if c.type in ("text", "code_inline", "html_inline"))


def _cells(tokens: list[Token], lines: list[str]) -> list[TableCell]:
    """Cells of a table. Those beyond the header's width, which the parser ignores, come from the source line."""
    cells: list[TableCell] = []
    row = column = width = -1
    for at, token in enumerate(tokens):
        if token.type == "tr_open":
            row, column = row + 1, -1
        elif token.type in ("th_open", "td_open"):
            column += 1
            text = inline_text(tokens[at + 1]) if at + 1 < len(tokens) else ""
            cells.append(TableCell(row, column, text, header=token.type == "th_open"))
        elif token.type == "tr_close" and row == 0:
            width = column + 1
        if token.type == "tr_open" and token.map and row > 0:
            cells += _excess(lines[token.map[0]], row, width)
    return sorted(cells, key=lambda cell: (cell.row, cell.col))


def _excess(line: str, row: int, width: int) -> list[TableCell]:
    fields = _CELL_END.split(line.strip().removeprefix("|"))
    fields = fields[:-1] if fields and not fields[-1].strip() else fields
    parser = _parser()
    texts = [inline_text(parser.parseInline(text.strip())[0]) for text in fields[width:]]
    return [TableCell(row, width + n, text) for n, text in enumerate(texts) if text]
