"""What all OpenDocument formats share: names, encryption, metadata, plain inline text."""

from __future__ import annotations

from engine.document import Builder
from engine.errors import Code, InputError, Stage
from engine.extract.ooxml import parse_date
from engine.sanitize.package import Package
from engine.sanitize.safexml import Node, local_name, text_of
from engine.text import clean_text

_NS = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{{{_NS}office:1.0}}"
TEXT = f"{{{_NS}text:1.0}}"
TABLE = f"{{{_NS}table:1.0}}"
DRAW = f"{{{_NS}drawing:1.0}}"
STYLE = f"{{{_NS}style:1.0}}"
FO = f"{{{_NS}xsl-fo-compatible:1.0}}"
SVG = f"{{{_NS}svg-compatible:1.0}}"
PRESENTATION = f"{{{_NS}presentation:1.0}}"
MANIFEST = f"{{{_NS}manifest:1.0}}"
XLINK = "{http://www.w3.org/1999/xlink}"
_MAX_SPACES = 1000
_SKIPPED = {"note", "annotation", "annotation-end", "tracked-changes", "frame", "ruby-text", "note-citation"}


def open_content(package: Package) -> Node:
    """Root of content.xml. Raises InputError: ENCRYPTED_DOCUMENT, or EXTRACTION_FAILED when it is not there."""
    manifest = package.optional_xml("META-INF/manifest.xml")
    if manifest is not None and any(local_name(e) == "encryption-data" for e in manifest.iter()):
        message = "the document is encrypted; OpenDocument passwords are not supported"
        raise InputError(message, Code.ENCRYPTED_DOCUMENT, Stage.EXTRACT)
    if "content.xml" not in package:
        raise InputError(f"this zip archive is not an {package.what}: content.xml is missing", stage=Stage.EXTRACT)
    return package.xml("content.xml")


def read_meta(package: Package, builder: Builder) -> None:
    """Title, author and dates from meta.xml."""
    root = package.optional_xml("meta.xml")
    meta = builder.metadata
    for element in root.iter() if root is not None else ():
        value = clean_text(text_of(element)).strip()
        match local_name(element):
            case _ if not value:
                pass
            case "title":
                meta.title = value
            case "creator" | "initial-creator":
                meta.author = meta.author or value
            case "creation-date":
                meta.created_date = parse_date(value)
            case "date":
                meta.modified_date = parse_date(value)
            case "subject" | "description" | "keyword" as name:
                meta.extra[name] = value[:2000]
            case _:
                pass


def inline_text(element: Node) -> str:
    """Text of a paragraph: spaces, tabs and breaks resolved; notes, comments and frames left out."""
    parts = [element.text or ""]
    for child in element:
        name = local_name(child)
        if name == "s":
            parts.append(" " * spaces(child))
        elif name == "tab":
            parts.append("\t")
        elif name == "line-break":
            parts.append("\n")
        elif name and name not in _SKIPPED:
            parts.append(inline_text(child))
        parts.append(child.tail or "")
    return "".join(parts)


def spaces(element: Node) -> int:
    """How many spaces a `text:s` stands for."""
    count = element.get(f"{TEXT}c", "1")
    return min(int(count), _MAX_SPACES) if count.isdigit() else 1


def positive(element: Node, name: str) -> int:
    """A positive integer attribute, 1 when missing or invalid."""
    text = element.get(name, "1")
    return max(int(text), 1) if text.isdigit() else 1
