"""Extraction: one function per format family.

An extractor is `extract(path, context) -> ExtractedDocument`. It reads a local, sanitised file, never
the network; raises `InputError` with the right code; and says what it dropped through the builder's
`warn`. The table is `engine.formats`. To add a format of your own: a Python entry point in the group
`corpus.extractors` (name = format id), or a line under `extractors:` in the settings; docs/tutorial-extractor.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

from engine.document import Builder
from engine.errors import Code, ConfigError, InputError, Stage
from engine.formats import EXTRACTOR_GROUP, EXTRACTORS
from engine.plugins import announced
from engine.records import ExtractedDocument
from engine.settings import Settings


@dataclass(slots=True)
class Context:
    """What an extractor may know: the file's name and format, the settings, and a private folder."""

    source_format: str
    filename: str
    settings: Settings
    scratch: Path
    language: str | None = None  # ISO 639-1 hint from the caller
    passwords: list[str] = field(default_factory=lambda: list[str]())
    depth: int = 0  # 0 for the input itself, 1 for its attachments, ...

    def builder(self) -> Builder:
        return Builder(self.source_format, self.settings.limits)


class Extractor(Protocol):
    def __call__(self, path: Path, context: Context) -> ExtractedDocument: ...


def plugins(settings: Settings) -> dict[str, str]:
    """Extractors of the user's own, format id → import path; settings win over entry points."""
    return {**announced(EXTRACTOR_GROUP), **settings.extractors}


def supported_formats(settings: Settings) -> list[str]:
    return sorted({*EXTRACTORS, *plugins(settings)})


def load_function(reference: str) -> Callable[..., object]:
    """Import `module:function`. Raises ConfigError when there is no such thing."""
    module, _, name = reference.partition(":")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(f"cannot load {reference!r}: {error}") from error


def extractor_for(source_format: str, settings: Settings) -> Extractor:
    """The extractor of a format id. Raises InputError(UNSUPPORTED_FORMAT)."""
    reference = plugins(settings).get(source_format) or EXTRACTORS.get(source_format)
    if reference is None:
        raise InputError(
            f"format {source_format!r} is not supported",
            Code.UNSUPPORTED_FORMAT,
            Stage.DETECT,
            {"detected_format": source_format, "supported_formats": supported_formats(settings)},
        )
    return load_function(reference)  # pyright: ignore[reportReturnType]


def extract(path: Path, context: Context) -> ExtractedDocument:
    """Run the extractor of `context.source_format` on `path`."""
    return extractor_for(context.source_format, context.settings)(path, context)
