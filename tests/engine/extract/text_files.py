"""Runs an extractor over bytes made in a test."""

from __future__ import annotations

from pathlib import Path

from engine.detect import detect
from engine.document import walk
from engine.extract import Context, extract
from engine.records import ExtractedDocument, StructureElement
from engine.settings import Settings, load


def settings(**overrides: object) -> Settings:
    """Settings with limits such as `container_mb=1`."""
    return load({f"limits.{name}": value for name, value in overrides.items()}, environ={})


def read(folder: Path, name: str, data: bytes | str, **limits: object) -> ExtractedDocument:
    """Detect and extract a file of this name and content."""
    path = folder / f"input{len(list(folder.iterdir()))}"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    config = settings(**limits)
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    return extract(path, Context(detect(path, name, config).format, name, config, scratch))


def elements(document: ExtractedDocument, kind: str) -> list[StructureElement]:
    return [e for e in walk(document.structure) if e.type == kind]


def headings(document: ExtractedDocument) -> list[tuple[int | None, str]]:
    return [(e.level, e.content) for e in elements(document, "heading")]


def losses(document: ExtractedDocument) -> dict[str, int]:
    return {loss.code: loss.count for loss in document.warnings}
