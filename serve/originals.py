"""The bytes a document was made of, as a private file for as long as someone looks at it."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import Code, InputError
from engine.fetch import fetch, fetch_upload
from engine.process import REDACTED
from engine.records import SourceItem
from engine.registry import DocumentRow
from engine.scratch import make_scratch
from serve.deps import Deps

UPLOAD = "upload:"  # how the URI of an uploaded document begins


def check_showable(deps: Deps, row: DocumentRow) -> None:
    """Raise FORBIDDEN for a document that personal data was redacted from: its pages show what was removed."""
    extra = row.metadata.get("extra")
    marked = isinstance(extra, dict) and REDACTED in extra
    if marked or row.metadata.get("redactions") or deps.settings.security.pii_redaction:
        raise InputError(
            "personal data is redacted from this document, and a picture of its page would show it",
            Code.FORBIDDEN,
            details={"reason": "pii_redaction"},
        )


@contextmanager
def original(deps: Deps, row: DocumentRow) -> Generator[Path]:
    """A private copy of the file that the visible revision was made of.

    An upload comes out of the object store; a backfilled document from its source, and only if the bytes there are
    still the same. Raises InputError: CONFLICT when they changed, INVALID_REQUEST when they were not kept or lie
    inside another file; SourceError when they cannot be read.
    """
    folder = make_scratch(deps.settings)
    try:
        path = folder / "original"
        digest = _copy(deps, row, path)
        if digest != row.content_sha256:
            raise InputError(
                "the source changed since the document was read from it",
                Code.CONFLICT,
                details={"reason": "source_changed"},
            )
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copy(deps: Deps, row: DocumentRow, path: Path) -> str:
    """Bring the bytes to `path`; their SHA-256."""
    stored = row.metadata.get("source_object")
    key = stored if isinstance(stored, str) else ""
    item = SourceItem(row.project_id, row.source, row.key, key or row.uri, row.size)
    if key:
        return fetch_upload(deps.objects, item, path, deps.settings)[1]
    if row.parent_id is not None:
        raise InputError("the document lies inside another file, and its own bytes were not kept", Code.INVALID_REQUEST)
    if row.uri.startswith(UPLOAD):
        raise InputError("the uploaded file was not kept", Code.INVALID_REQUEST)
    return fetch(item, path, deps.settings)[1]
