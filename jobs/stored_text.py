"""The text of a stored document as Markdown: from its kept tree, its unchanged source, or its chunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.artifacts import load_tree
from engine.document import to_markdown
from engine.embed.make import model_info
from engine.errors import Code, InputError
from engine.fingerprint import pipeline_fingerprint
from engine.objects.open import open_objects
from engine.prepare import NoLedger, Preparer, Run
from engine.records import SourceItem
from engine.registry import DocumentRow
from engine.search.view import view_document
from engine.settings import Settings
from jobs.lookup import find_document, opened

UPLOAD = "upload:"  # how the URI of an uploaded document begins
TREE, SOURCE, CHUNKS = "the kept tree", "the source, read again", "the stored chunks"


def stored_markdown(settings: Settings, document: str, project: str | None) -> tuple[str, str]:
    """(Markdown, what it was made of) of a document's visible revision.

    The tree is kept of uploads. A backfilled document is read again where its source still holds the same bytes and
    these settings are those it was read with; else its text is put together from the chunks. Raises InputError
    (DOCUMENT_NOT_FOUND) for a document that is not there or has no visible revision.
    """
    with opened(settings) as (registry, store):
        row = find_document(registry, document, project)
        if not row.active_revision:
            reason = f"{row.error_code}: {row.error_message}" if row.error_code else f"its status is {row.status}"
            raise InputError(f"nothing of the document can be read ({reason})", Code.DOCUMENT_NOT_FOUND)
        view = view_document(store, registry, row.document_id, None)
        tree = load_tree(open_objects(settings), row.project_id, row.document_id, view.revision)
    if tree is not None:
        return to_markdown(tree), TREE
    again = _read_again(settings, row)
    return (again, SOURCE) if again is not None else (joined(view.chunks), CHUNKS)


def _read_again(settings: Settings, row: DocumentRow) -> str | None:
    """None where the bytes or the ways of reading them are not those of the stored revision."""
    model = model_info(settings).fingerprint
    known = {pipeline_fingerprint(settings, model, language): language for language in (row.language, None)}
    if row.parent_id is not None or row.uri.startswith(UPLOAD) or row.fingerprint not in known:
        return None
    item = SourceItem(row.project_id, row.source, row.key, row.uri, row.size)
    preparer = Preparer(settings, Run("show", row.fingerprint, known[row.fingerprint]), NoLedger(), keep_documents=True)
    try:
        found = list(preparer.prepare([item]))[-1]
    finally:
        preparer.close()
    same = found.failure is None and found.content_sha256 == row.content_sha256
    return to_markdown(found.document) if same and found.document is not None else None


# ---------------------------------------------------------------- from chunks
def joined(chunks: Sequence[dict[str, Any]]) -> str:
    """The document's text as far as its chunks hold it, each part once, with the headings that stand between them.

    Neither overlaps nor the header rows that are repeated on the pieces of a long table come out twice.
    """
    parts: list[str] = []
    covered, path = 0, list[str]()
    for payload in sorted(chunks, key=lambda p: (int(p["char_start"]), int(p["char_end"]))):
        start, end = int(payload["char_start"]), int(payload["char_end"])
        if end <= covered:
            continue
        fresh = max(start, covered)
        text = str(payload["content"])[fresh - end :]
        parts.append(_between(parts, start - covered, payload["section_path"], path, text))
        parts.append(text)
        covered, path = end, payload["section_path"]
    return "".join(parts).strip()


def _between(parts: list[str], gap: int, path: Sequence[str], before: Sequence[str], text: str) -> str:
    """What stood between two chunks: white space, or headings that no chunk holds."""
    if not parts and gap <= 0:
        return ""
    same = next((n for n, (a, b) in enumerate(zip(path, before, strict=False)) if a != b), min(len(path), len(before)))
    missing = [f"{'#' * min(same + n + 1, 6)} {title}" for n, title in enumerate(path[same:])]
    titles = [line for line in missing if line.lstrip("#") not in text[:2000] and len(line) <= gap]
    if titles:
        return "\n\n" * bool(parts) + "\n\n".join(titles) + "\n\n"
    if gap <= 0:
        return ""
    last = parts[-1] if parts else ""
    both_rows = last.rstrip().endswith("|") and text.startswith("|")
    return "\n" if both_rows else " " if gap == 1 else "\n\n"
