"""Extraction: one function per format family, one explicit table from format id to function.

An extractor is `extract(path, context) -> ExtractedDocument`. It reads a local, sanitised file, never
the network; raises `InputError` with the right code; and says what it dropped through the builder's
`warn`. To add a format of your own: a Python entry point in the group `corpus.extractors` (name = format
id), or `extractors:` in the settings; name its file extensions under `formats:`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

from engine.document import Builder
from engine.errors import Code, ConfigError, InputError, Stage
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


# format id → module:function, imported at first use. Families share a module.
EXTRACTORS: dict[str, str] = {
    "pdf": "engine.extract.pdf:extract",
    "docx": "engine.extract.docx:extract",
    "doc": "engine.extract.legacy:extract",
    "pptx": "engine.extract.pptx:extract",
    "ppt": "engine.extract.legacy:extract",
    "xlsx": "engine.extract.sheet:extract",
    "xls": "engine.extract.sheet:extract",
    "xlsb": "engine.extract.sheet:extract",
    "ods": "engine.extract.sheet:extract",
    "csv": "engine.extract.delimited:extract",
    "tsv": "engine.extract.delimited:extract",
    "html": "engine.extract.html:extract",
    "md": "engine.extract.markdown:extract",
    "rst": "engine.extract.rst:extract",
    "org": "engine.extract.org:extract",
    "txt": "engine.extract.text:extract",
    "png": "engine.extract.image:extract",
    "jpg": "engine.extract.image:extract",
    "tiff": "engine.extract.image:extract",
    "bmp": "engine.extract.image:extract",
    "webp": "engine.extract.image:extract",
    "gif": "engine.extract.image:extract",
    "heic": "engine.extract.image:extract",
    "code": "engine.extract.code:extract",
    "eml": "engine.extract.mail:extract",
    "mbox": "engine.extract.mail:extract_mbox",
    "msg": "engine.extract.outlook:extract",
    "rtf": "engine.extract.rtf:extract",
    "odt": "engine.extract.odf:extract",
    "odp": "engine.extract.odf:extract",
    "epub": "engine.extract.epub:extract",
    "ipynb": "engine.extract.notebook:extract",
    "json": "engine.extract.data:extract_json",
    "jsonl": "engine.extract.data:extract_jsonl",
    "xml": "engine.extract.data:extract_xml",
    "zip": "engine.extract.archive:extract",
}
ENTRY_POINTS = "corpus.extractors"


def plugins(settings: Settings) -> dict[str, str]:
    """Extractors of the user's own, format id → import path; settings win over entry points."""
    return {**announced(ENTRY_POINTS), **settings.extractors}


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
