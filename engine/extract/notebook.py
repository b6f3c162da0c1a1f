"""Jupyter notebooks: cells by type, in order; outputs as text, tables and pictures."""

from __future__ import annotations

import base64
import binascii
import json
import re
from pathlib import Path
from typing import Any

from engine.decode import decode
from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract import Context
from engine.extract.html import add_html
from engine.extract.markdown import add_markdown
from engine.extract.text import add_text
from engine.records import ExtractedDocument, ExtractedImage, StructureElement
from engine.text import clean_text

MAX_OUTPUT = 20_000  # characters of one cell's output
MAX_IMAGE_BYTES = 8 << 20  # of a picture as written in base64
_OBJECT = re.compile(r"<[\w.]+(?: [^<>]*)?>")  # what Python shows of a thing that has no text
_PROGRESS = re.compile(r"(?m)^[^\n]*\r(?!\n|$)")  # what a later text overwrote on the same line
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

Json = dict[str, Any]


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Read a notebook of format 3 or 4. Raises InputError(EXTRACTION_FAILED) when it is not one."""
    builder = context.builder()
    notebook = _load(path)
    metadata: Json = _mapping(notebook.get("metadata"))
    language = _language(metadata)
    builder.metadata.title = _joined(metadata.get("title")) or None
    if language:
        builder.metadata.extra["language"] = language
    for cell in _cells(notebook):
        _cell(cell, language, builder)
    if builder.metadata.title is None:
        builder.metadata.title = next((r.content for r in builder.roots if r.type == "heading"), None)
    return builder.finish()


def _load(path: Path) -> Json:
    try:
        notebook = json.loads(decode(path.read_bytes()).text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"the notebook is not valid JSON: {error}", Code.EXTRACTION_FAILED, Stage.EXTRACT) from error
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells", notebook.get("worksheets")), list):
        raise InputError("the file is JSON but not a notebook: it has no cells", Code.EXTRACTION_FAILED, Stage.EXTRACT)
    return notebook


def _cells(notebook: Json) -> list[Json]:
    cells = notebook.get("cells")
    if not isinstance(cells, list):  # format 3 keeps them in worksheets
        sheets = [_mapping(s) for s in notebook.get("worksheets", [])]
        cells = [c for sheet in sheets for c in sheet.get("cells", []) or []]
    return [c for c in cells if isinstance(c, dict)]


def _language(metadata: Json) -> str:
    info = _mapping(metadata.get("language_info"))
    spec = _mapping(metadata.get("kernelspec"))
    return str(info.get("name") or spec.get("language") or "").lower()


def _cell(cell: Json, language: str, builder: Builder) -> None:
    kind = cell.get("cell_type")
    source = _joined(cell.get("source", cell.get("input")))
    if kind == "markdown":
        add_markdown(builder, source)
    elif kind == "heading":  # format 3
        builder.heading(int(cell.get("level") or 1), source)
    elif kind == "code":
        _code(source, str(cell.get("language") or language), builder)
        for output in cell.get("outputs") or []:
            _output(_mapping(output), builder)
    else:
        add_text(builder, source)


def _code(source: str, language: str, builder: Builder) -> None:
    if source.strip():
        attributes = {"cell": "code", **({"language": language} if language else {})}
        builder.add(StructureElement("code", None, _clean(source), attributes=attributes))


def _output(output: Json, builder: Builder) -> None:
    """Text of an output: a stream, an error's traceback, or the plain (else HTML) form of a result."""
    data = _mapping(output.get("data")) or output
    if output.get("output_type") in ("error", "pyerr"):
        text = "\n".join(_joined(line) for line in output.get("traceback") or [])
        text = text or f"{output.get('ename', '')}: {output.get('evalue', '')}"
    else:
        text = _joined(data.get("text/plain") or data.get("text"))
    markup = _joined(data.get("text/html") or data.get("html"))
    pictured = _pictures(data, builder)
    if markup and "<table" in markup:
        add_html(builder, markup, furniture=False)
    elif data.get("text/markdown"):
        add_markdown(builder, _joined(data["text/markdown"])[:MAX_OUTPUT])
    elif text.strip() and not (_OBJECT.fullmatch(text.strip()) and (pictured or markup or "application/json" in data)):
        _add_output(_PROGRESS.sub("", _ANSI.sub("", text)), builder)
    elif markup:
        add_html(builder, markup, furniture=False)
    elif data.get("application/json") is not None:
        _add_output(json.dumps(data["application/json"], ensure_ascii=False, indent=1), builder)
    elif not pictured and any("/" in str(key) for key in data):
        builder.warn("output_skipped", "outputs that only a program can show were left out")


def _pictures(data: Json, builder: Builder) -> int:
    """Add the pictures of an output; how many there were. Drawings (SVG) are left out and counted."""
    kinds = {"image/png": "image/png", "png": "image/png", "image/jpeg": "image/jpeg", "jpeg": "image/jpeg"}
    found = 0
    for key, mime in kinds.items():
        encoded = "".join(_joined(data.get(key)).split())
        if not encoded:
            continue
        found += 1
        try:
            picture = base64.b64decode(encoded + "=" * (-len(encoded) % 4)) if len(encoded) <= MAX_IMAGE_BYTES else b""
        except (binascii.Error, ValueError):
            picture = b""
        if picture:
            builder.image(ExtractedImage(picture, mime))
        else:
            builder.warn("output_picture_skipped", "pictures in outputs were left out")
    drawn = sum(str(key) in ("image/svg+xml", "svg") for key in data)
    if drawn and not found:
        builder.warn("output_picture_skipped", "pictures in outputs were left out", count=drawn)
    return found + drawn


def _add_output(text: str, builder: Builder) -> None:
    if len(text) > MAX_OUTPUT:
        builder.warn("output_cut", f"outputs were cut at {MAX_OUTPUT} characters")
        text = text[:MAX_OUTPUT]
    builder.add(StructureElement("code", None, _clean(text), attributes={"cell": "output"}))


def _clean(text: str) -> str:

    return clean_text(text).strip("\n")


def _joined(value: object) -> str:
    """Notebooks keep texts as one string or as a list of lines."""
    if isinstance(value, list):
        return "".join(str(v) for v in value)  # pyright: ignore[reportUnknownVariableType]
    return "" if value is None else str(value)


def _mapping(value: object) -> Json:
    return value if isinstance(value, dict) else {}  # pyright: ignore[reportUnknownVariableType]
