"""Org mode: headlines, lists, source blocks, tables, links as their text; file keywords become metadata."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from engine.decode import decode
from engine.document import Builder
from engine.extract import Context
from engine.extract.front_matter import as_datetime
from engine.records import ExtractedDocument
from engine.tables import table_from_rows

_HEADLINE = re.compile(
    r"(\*+)\s+(?:(?:TODO|DONE|NEXT|WAIT(?:ING)?|CANCELL?ED)\s+)?(?:\[#[A-Z]\]\s+)?(.*?)(?:\s+(:[\w@#%:]+:))?\s*$"
)
_KEYWORD = re.compile(r"#\+(\w+):\s*(.*)", re.IGNORECASE)
_BEGIN = re.compile(r"\s*#\+begin_(\w+)(?:\s+(\S+))?", re.IGNORECASE)
_ITEM = re.compile(r"(\s*)([-+]|\d+[.)]|(?<=\s)\*)\s+(?:\[([ xX-])\]\s+)?(.*)")
_TERM = re.compile(r"(.*?)\s+::\s+(.*)")
_LINK = re.compile(r"\[\[([^\]\[]+)\](?:\[([^\]\[]+)\])?\]")
_MARK = re.compile(r"(?<![\w*/_=~+])([*/_=~+])(?=\S)([^\n]*?\S)\1(?![\w*/_=~+])")
_PLANNING = re.compile(r"\s*(?:CLOSED|DEADLINE|SCHEDULED|CLOCK):")
_FOOTNOTE = re.compile(r"\[fn:([\w-]+)\]\s+(.*)")
_CODE = {"src", "example", "export"}


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read an Org file."""
    builder = context.builder()
    decoded = decode(path.read_bytes())
    if decoded.replaced:
        builder.warn("undecodable_bytes", f"bytes that are not {decoded.encoding}", count=decoded.replaced)
    reader = _Reader(builder, decoded.text.replace("\r\n", "\n").split("\n"))
    reader.read()
    if builder.metadata.title is None:
        builder.metadata.title = next((r.content for r in builder.roots if r.type == "heading"), None)
    return builder.finish()


def inline(text: str) -> str:
    """Text without Org's marks: links as their description, emphasis removed."""
    text = _LINK.sub(lambda m: m[2] or m[1].removeprefix("file:"), text)
    return _MARK.sub(r"\2", text)


@dataclass
class _Reader:
    """Reads line by line; text, items and rows wait until something else begins."""

    builder: Builder
    lines: list[str]
    at: int = 0
    text: list[str] = field(default_factory=lambda: list[str]())
    items: list[tuple[int, str, str]] = field(default_factory=lambda: list[tuple[int, str, str]]())
    indents: list[int] = field(default_factory=lambda: list[int]())
    rows: list[list[str]] = field(default_factory=lambda: list[list[str]]())
    ruled: bool = False

    def read(self) -> None:
        while self.at < len(self.lines):
            line = self.lines[self.at]
            self.at += 1
            self._line(line)
        self._flush()

    def _line(self, line: str) -> None:
        headline = _HEADLINE.match(line)
        begin = _BEGIN.match(line)
        if headline:
            self._flush()
            self.builder.heading(len(headline[1]), inline(headline[2]))
        elif begin:
            self._flush()
            self._block(begin[1].lower(), begin[2] or "")
        elif line.lstrip().startswith("|"):
            self._row(line.strip())
        elif line.lstrip().startswith("#+"):
            self._keyword(line.strip())
        elif line.strip() in (":PROPERTIES:", ":LOGBOOK:"):
            self._drawer()
        elif line.lstrip().startswith("# ") or _PLANNING.match(line):
            self.builder.warn("comment_skipped", "comments and planning lines were left out")
        else:
            self._text(line)

    def _text(self, line: str) -> None:
        item, note = _ITEM.match(line), _FOOTNOTE.match(line)
        if self.rows:
            self._flush()
        if not line.strip():
            self._end_paragraph()
        elif note:
            self._flush()
            self.builder.paragraph(f"[{note[1]}] {inline(note[2])}", "note")
        elif item:
            self._item(item)
        elif self.items and len(line) - len(line.lstrip()) > self.indents[-1]:
            depth, marker, before = self.items[-1]
            self.items[-1] = (depth, marker, f"{before} {inline(line.strip())}")
        else:
            if self.items:
                self._flush()
            self.text.append(line.strip())

    def _end_paragraph(self) -> None:
        if self.text:
            self._flush()

    def _item(self, match: re.Match[str]) -> None:
        if self.text:
            self._flush()
        indent = len(match[1])
        while self.indents and self.indents[-1] > indent:
            self.indents.pop()
        if not self.indents or self.indents[-1] < indent:
            self.indents.append(indent)
        marker = match[2] if match[2][0].isdigit() else "-"
        if match[3]:
            marker = "[x]" if match[3] in "xX" else "[ ]"
        term = _TERM.match(match[4])
        text = f"{term[1]}: {term[2]}" if term else match[4]
        self.items.append((len(self.indents), marker, inline(text)))

    def _block(self, kind: str, argument: str) -> None:
        """Lines up to the matching end; without one, to the end of the file."""
        end = f"#+end_{kind}"
        body: list[str] = []
        while self.at < len(self.lines) and self.lines[self.at].strip().lower() != end:
            body.append(self.lines[self.at])
            self.at += 1
        self.at += 1
        if kind in _CODE:
            self.builder.code(_dedent(body), argument.lower() if kind == "src" else "")
        elif kind == "comment":
            self.builder.warn("comment_skipped", "comments and planning lines were left out")
        else:
            for paragraph in "\n".join(body).split("\n\n"):
                self.builder.paragraph(inline(paragraph))

    def _row(self, line: str) -> None:
        if not self.rows:
            self._flush()
        if re.match(r"\|-", line):
            self.ruled = self.ruled or len(self.rows) == 1
        else:
            self.rows.append([inline(c.strip()) for c in line.strip("|").split("|")])

    def _keyword(self, line: str) -> None:
        match = _KEYWORD.match(line)
        if match is None:
            return
        name, value = match[1].lower(), match[2].strip()
        meta = self.builder.metadata
        if name == "title":
            meta.title = inline(value)
        elif name == "author":
            meta.author = value
        elif name == "date":
            meta.created_date = as_datetime(value.strip("<>[]").split(" ")[0])
        elif name == "caption":
            self._flush()
            self.builder.paragraph(inline(value), "caption")
        if value and name not in ("caption", "results", "name", "attr_html", "attr_latex"):
            meta.extra[name] = value[:2000]

    def _drawer(self) -> None:
        while self.at < len(self.lines) and self.lines[self.at].strip().upper() != ":END:":
            self.at += 1
        self.at += 1
        self.builder.warn("drawer_skipped", "drawers of properties were left out")

    def _flush(self) -> None:
        if self.text:
            self.builder.paragraph(inline("\n".join(self.text)))
        if self.items:
            self.builder.list_block(self.items)
        if self.rows:
            self.builder.table(table_from_rows(self.rows, header=self.ruled))
        self.text, self.items, self.indents, self.rows, self.ruled = [], [], [], [], False


def _dedent(lines: list[str]) -> str:
    from textwrap import dedent

    return dedent("\n".join(lines)).replace("\n,*", "\n*").replace("\n,#", "\n#")
