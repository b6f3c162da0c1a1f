"""Data files: JSON, JSON Lines and XML as readable structure (tables of records, headed key: value lists)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.decode import decode, file_encoding
from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.data.values import add_records, add_value
from engine.extract.data.xml import add_element
from engine.extract.text import add_text
from engine.records import ExtractedDocument
from engine.sanitize import safexml

_DECLARATION = re.compile(r"\A\ufeff?\s*<\?xml[^>]*?\?>", re.DOTALL)
_ENCODING = re.compile(rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]{2,40})""")
_BATCH = 500  # records of a JSON Lines file written at a time


def extract_json(path: Path, context: Context) -> ExtractedDocument:
    """Read a JSON file. What is no valid JSON is kept as plain text, with a warning."""
    builder = context.builder()
    text = _text(path, builder)
    try:
        values = list(_values(text))
    except (ValueError, RecursionError) as error:
        builder.warn("json_invalid", f"not valid JSON, kept as plain text: {error}")
        add_text(builder, text)
        return builder.finish()
    first = values[0] if len(values) == 1 else None
    if isinstance(first, dict):
        builder.metadata.title = next((first[k] for k in ("title", "name") if isinstance(first.get(k), str)), None)
    for value in values:
        add_value(builder, value)
    return builder.finish()


def _values(text: str) -> Iterator[Any]:
    """The JSON values of a text: usually one, sometimes several written one after another.

    Numbers stay as written (`1.10`, not `1.1`).
    """
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, strict=False)
    at = _skip(text, 0)
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        at = _skip(text, at)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n\ufeff\x1e":
        at += 1
    return at


def extract_jsonl(path: Path, context: Context) -> ExtractedDocument:
    """Read JSON Lines as a stream: one record a line. Broken lines are counted; with no good line it is an error."""
    builder = context.builder()
    batch: list[Any] = []
    good = bad = 0
    for line in _lines(path, builder):
        if not line.strip():
            continue
        try:
            batch += list(_values(line))
        except (ValueError, RecursionError):
            bad += 1
            continue
        good += 1
        if len(batch) >= _BATCH:
            add_records(builder, batch, "record", 1, start=good - len(batch) + 1)
            batch = []
    add_records(builder, batch, "record", 1, start=good - len(batch) + 1)
    if bad and not good:
        raise InputError("no line of the file is valid JSON", Code.EXTRACTION_FAILED, Stage.EXTRACT)
    if bad:
        builder.warn("json_line_invalid", "lines that are not valid JSON were left out", count=bad)
    return builder.finish()


def extract_xml(path: Path, context: Context) -> ExtractedDocument:
    """Read an XML file: no DTD is loaded, no entity expanded, nothing fetched."""
    builder = context.builder()
    data = path.read_bytes()
    safexml.refuse_entity_bomb(data, "the document")
    match = _ENCODING.search(data[:400])
    decoded = decode(data, match[1].decode("ascii") if match else None)
    if "<!DOCTYPE" in decoded.text[:65_536]:
        builder.warn("entity_ignored", "an XML document type declaration was ignored, no entity expanded")
    root, malformed = safexml.parse(_DECLARATION.sub("", decoded.text, count=1).strip().encode("utf-8"), "the document")
    if malformed:
        builder.warn("malformed_xml", "malformed XML was read as far as possible")
    add_element(builder, root)
    return builder.finish()


def _lines(path: Path, builder: Builder) -> Iterator[str]:
    codec, errors = file_encoding(path)
    if errors == "replace":
        builder.warn("undecodable_bytes", f"bytes that are not {codec}")
    with path.open(encoding=codec, errors=errors) as file:
        yield from file


def _text(path: Path, builder: Builder) -> str:
    decoded = decode(path.read_bytes())
    if decoded.replaced:
        builder.warn("undecodable_bytes", f"bytes that are not {decoded.encoding}", count=decoded.replaced)
    return decoded.text
