"""Plain text and logs: paragraphs by empty lines, underlined lines as headings, line breaks as written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from engine.decode import decode
from engine.document import Builder
from engine.extract import Context
from engine.extract.drawn_tables import drawn_table
from engine.extract.vobjects import add_vobjects, is_vobject
from engine.records import ExtractedDocument

MAX_PARAGRAPH = 20_000  # characters; a longer one (a log, a single endless line) is cut at a line or a space
_GAP = re.compile(r"\n(?:[ \t\f\v\u00a0]*\n)+|\f")
_UNDERLINE = re.compile(r"(?P<text>[^\n]{2,100})\n(?P<line>=+|-+|~+)[ \t]*(?:\n|\Z)")


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a text file in whatever encoding it is."""
    builder = context.builder()
    decoded = decode(path.read_bytes())
    if decoded.replaced:
        builder.warn("undecodable_bytes", f"bytes that are not {decoded.encoding}", count=decoded.replaced)
    builder.metadata.extra["encoding"] = decoded.encoding
    if is_vobject(decoded.text):
        add_vobjects(builder, decoded.text)
    if not builder.roots:
        add_text(builder, decoded.text)
    return builder.finish()


def add_text(builder: Builder, text: str) -> None:
    """Add the paragraphs of a plain text to the builder."""
    for paragraph in paragraphs(text):
        table = drawn_table(paragraph)
        if table is not None:
            builder.table(table)
            continue
        match = _UNDERLINE.match(paragraph)
        if match and _is_heading(match):
            builder.heading(1 if match["line"][0] == "=" else 2, match["text"])
            paragraph = paragraph[match.end() :]
        pieces = list(bounded(paragraph))
        if len(pieces) > 1:
            builder.warn("long_paragraph_split", "very long paragraphs were cut into several", count=1)
        for piece in pieces:
            builder.paragraph(piece)


def paragraphs(text: str) -> Iterator[str]:
    """Runs of lines between empty lines or form feeds, without the empty lines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for part in _GAP.split(text):
        part = part.strip("\n").rstrip()
        if part.strip():
            yield part


def bounded(text: str, limit: int = MAX_PARAGRAPH) -> Iterator[str]:
    """`text` in pieces of at most `limit` characters: cut behind a line, else at a space, else anywhere."""
    start = 0
    while len(text) - start > limit:
        window = text[start : start + limit]
        cut = max(window.rfind("\n"), 0) or max(window.rfind(" "), 0) or limit
        yield text[start : start + cut]
        start += cut
    yield text[start:]


def _is_heading(match: re.Match[str]) -> bool:
    """A short line with a rule of about its own length below it."""
    text, line = match["text"].strip(), match["line"]
    return len(line) >= 3 and abs(len(text) - len(line)) <= 3 and any(map(str.isalpha, text))
