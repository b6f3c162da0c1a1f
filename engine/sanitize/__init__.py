"""Sanitising: takes what could act (macros, scripts, actions, metadata of cameras) out of a file before parsing.

One explicit table from format id to function; families share one. Formats not in the table are plain text, or
are cleaned on the parsed tree by their extractor (HTML: `engine.sanitize.html`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from engine.records import Loss
from engine.settings import Settings

_OFFICE = "engine.sanitize.office:sanitize_office"
_PDF = "engine.sanitize.pdf:sanitize_pdf"
_IMAGE = "engine.sanitize.image:sanitize_image"
SANITIZERS: dict[str, str] = {
    "pdf": _PDF,
    **dict.fromkeys(("docx", "doc", "pptx", "ppt", "xlsx", "xls", "xlsb", "ods", "odt", "odp"), _OFFICE),
    **dict.fromkeys(("png", "jpg", "tiff", "bmp", "webp", "gif", "heic"), _IMAGE),
}


def sanitize(path: Path, source_format: str, scratch: Path, settings: Settings) -> tuple[Path, list[Loss]]:
    """The file to parse instead of `path`, and what was taken out of it.

    `path` itself is never changed; it is returned when nothing had to be removed.
    """
    reference = SANITIZERS.get(source_format)
    if reference is None or (reference == _OFFICE and not settings.security.sanitize_macros):
        return path, []
    folder = Path(tempfile.mkdtemp(prefix="sanitized-", dir=scratch))
    out = folder / f"document.{source_format}"
    losses = _function(reference)(path, out, **_options(reference, settings))
    return (out if out.exists() else path), losses


def _options(reference: str, settings: Settings) -> dict[str, Any]:
    if reference == _PDF:
        return {"passwords": [secret.get_secret_value() for secret in settings.password]}
    return {"limits": settings.limits}


def _function(reference: str) -> Callable[..., list[Loss]]:
    module, _, name = reference.partition(":")
    return getattr(import_module(module), name)
