"""Source code: classes, functions, methods and the statements between, in source order, verbatim.

A heading for each definition (its level by nesting); docstrings and comments as attributes. A language without a
grammar is read as plain blocks of code.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

from engine.decode import decode
from engine.detect.names import language_by_name, language_by_shebang
from engine.document import Builder
from engine.extract import Context
from engine.extract.code.grammar import UNPARSED, parse
from engine.extract.code.outline import Unit, outline
from engine.extract.text import bounded
from engine.records import ExtractedDocument, StructureElement
from engine.text import clean_text

_PIECE_LINES = 80  # lines of a plain block of code
_PIECE_CHARACTERS = 20_000
_MAX_LEVEL = 6


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a source file; the language comes from its name or its `#!` line."""
    builder = context.builder()
    decoded = decode(path.read_bytes())
    if decoded.replaced:
        builder.warn("undecodable_bytes", f"bytes that are not {decoded.encoding}", count=decoded.replaced)
    text = clean_text(decoded.text)
    language = language_by_name(context.filename) or language_by_shebang(text.split("\n", 1)[0]) or ""
    builder.metadata.extra["language"] = language or "unknown"
    source = text.encode("utf-8")
    root = parse(source, language) if language and not _is_minified(text) else None
    if root is None:
        if language not in UNPARSED:
            builder.warn("outline_missing", f"no outline: no grammar for {language or 'it'}, or the source is too big")
        _plain(builder, text, language)
    else:
        _add_units(builder, outline(root, source), source, language, [])
    return builder.finish()


def _add_units(builder: Builder, units: list[Unit], source: bytes, language: str, path: list[str]) -> None:
    """Units below the definition `path`. Statements after a definition get a heading, or they would be its own."""
    level = len(path) + 1
    defined = False
    for unit in units:
        if unit.kind == "statements":
            if defined and not _is_trivial(source[unit.start : unit.end]):
                builder.heading(min(level, _MAX_LEVEL), _continued(path, unit))
            _add_code(builder, source, (unit.start, unit.end), unit, language, path)
            continue
        defined = True
        builder.heading(min(level, _MAX_LEVEL), f"{unit.kind} {unit.name}")
        inner = [*path, unit.name]
        if not unit.members:
            _add_code(builder, source, (unit.start, unit.end), unit, language, inner)
            continue
        members = unit.members
        own_end = members[0].start if members[0].kind != "statements" else members[0].end
        members = members if members[0].kind != "statements" else members[1:]
        _add_code(builder, source, (unit.start, own_end), unit, language, inner)
        _add_units(builder, members, source, language, inner)


def _is_minified(text: str) -> bool:
    """Written by a tool, in lines that nobody reads: no outline worth having."""
    return len(text) > 5000 and len(text) / (text.count("\n") + 1) > 500


def _continued(path: list[str], unit: Unit) -> str:
    place = f"lines {unit.first_line} to {unit.last_line}"
    return f"{path[-1]}, {place}" if path else f"top level, {place}"


def _add_code(
    builder: Builder, source: bytes, span: tuple[int, int], unit: Unit, language: str, path: list[str]
) -> None:
    """A code element of these bytes, from the beginning of their first line, without common indentation."""
    start = source.rfind(b"\n", 0, span[0]) + 1
    start = start if not source[start : span[0]].strip() else span[0]
    text = dedent(source[start : span[1]].decode("utf-8", "replace")).rstrip().strip("\n")
    if _is_trivial(text.encode("utf-8")):
        return
    attributes = {"language": language, "kind": unit.kind, "lines": f"{unit.first_line}-{unit.last_line}"}
    facts = {"symbol": ".".join(path), "signature": unit.signature}
    for name, value in (facts | {"docstring": unit.docstring, "comments": unit.comments}).items():
        if value:
            attributes[name] = value
    builder.add(StructureElement("code", None, text, attributes=attributes))


def _is_trivial(source: bytes) -> bool:
    """Nothing but brackets and ends of statements."""
    return len(source) < 20 and not source.strip(b" \n\t\r{}();,")


def _plain(builder: Builder, text: str, language: str) -> None:
    """Blocks of code, cut at empty lines where they grow long."""
    block: list[str] = []
    size = 0
    for part in re.split(r"(\n[ \t]*\n)", text):
        if block and (size + part.count("\n") > _PIECE_LINES or sum(map(len, block)) > _PIECE_CHARACTERS):
            _add_pieces(builder, "".join(block), language)
            block, size = [], 0
        block.append(part)
        size += part.count("\n")
    _add_pieces(builder, "".join(block), language)


def _add_pieces(builder: Builder, text: str, language: str) -> None:
    for piece in bounded(text):
        builder.code(piece, language)
