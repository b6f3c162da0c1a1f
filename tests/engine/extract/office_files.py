"""Builds small office files part by part, and reads files through the table of extractors."""

from __future__ import annotations

import zipfile
from pathlib import Path

from engine.extract import Context, extract
from engine.records import ExtractedDocument, StructureElement
from engine.settings import Settings

_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
W_NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office" '
    'xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)


def context(tmp_path: Path, source_format: str, passwords: list[str] | None = None, **limits: object) -> Context:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    settings = Settings.model_validate({"limits": limits})
    return Context(source_format, "file", settings, scratch, passwords=passwords or [])


def read(
    path: Path, source_format: str, tmp_path: Path, passwords: list[str] | None = None, **limits: object
) -> ExtractedDocument:
    """Extract with default settings, or with some limits changed."""
    return extract(path, context(tmp_path, source_format, passwords, **limits))


def relationships(*entries: tuple[str, str, str]) -> str:
    """A .rels part: (id, kind, target); a target with "://" is external."""
    lines = (
        f'<Relationship Id="{key}" Type="{_REL}/{kind}" Target="{target}"'
        + (' TargetMode="External"/>' if "://" in target else "/>")
        for key, kind, target in entries
    )
    return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{"".join(lines)}</Relationships>'


def package(path: Path, main: str, parts: dict[str, str | bytes]) -> Path:
    """An OOXML package with `main` as its main part."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr(
            "[Content_Types].xml", '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
        )
        file.writestr("_rels/.rels", relationships(("m", "officeDocument", main)))
        for name, data in parts.items():
            file.writestr(name, data)
    return path


def docx(path: Path, body: str, parts: dict[str, str | bytes] | None = None) -> Path:
    """A Word file with this body XML and further parts."""
    document = f"<w:document {W_NAMES}><w:body>{body}</w:body></w:document>"
    return package(path, "word/document.xml", {"word/document.xml": document, **(parts or {})})


def paragraph(text: str, properties: str = "") -> str:
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{text}</w:t></w:r></w:p>'


def outline(document: ExtractedDocument) -> list[tuple[str, str]]:
    """(type, text) of every element with text, in source order."""
    found: list[tuple[str, str]] = []
    stack: list[StructureElement] = list(reversed(document.structure))
    while stack:
        element = stack.pop()
        if element.content:
            found.append((element.type, element.content))
        stack.extend(reversed(element.children))
    return found


def codes(document: ExtractedDocument) -> set[str]:
    return {warning.code for warning in document.warnings}
