"""Every identifier that is derived rather than drawn: documents, children, chunks, points, hashes.

All UUIDs are version 5 (RFC 9562) in the namespace below, over the parts joined by the unit separator
U+001F behind the kind's name, parts escaped so that no two tuples give the same string. Changing anything
here orphans what is already stored.
"""

from __future__ import annotations

import hashlib
import unicodedata
import uuid

# uuid5(NAMESPACE_URL, "https://corpus.invalid/ids/v1"), written out so that it can never drift.
NAMESPACE = uuid.UUID("9111dc56-e432-56ec-acec-64eb04a77e0f")
SEPARATOR = "\x1f"


def _joined(parts: tuple[str, ...]) -> str:
    """The parts in one string that only they give: the separator inside a part is escaped."""
    return SEPARATOR.join(part.replace("\\", "\\\\").replace(SEPARATOR, "\\s") for part in parts)


def _uuid(kind: str, *parts: str) -> str:
    name = _joined((kind, *parts))
    # A file name may hold lone surrogates; escaped backslashes above keep this replacement unambiguous.
    return str(uuid.uuid5(NAMESPACE, name.encode("utf-8", "backslashreplace").decode()))


def document_id_for(project_id: str, source: str, key: str) -> str:
    """Id of a document out of a source: the same object read again is the same document."""
    return _uuid("document", project_id, source, key)


def upload_id_for(project_id: str, source_id: str) -> str:
    """Id of an uploaded document that carries the caller's own key."""
    return _uuid("upload", project_id, source_id)


def repeated_upload_id(project_id: str, caller: str, idempotency_key: str, position: int, sha256: str) -> str:
    """Id of an uploaded document whose request may be sent again: the repetition is the same document. Another file
    (`sha256` of its bytes) under a key that was used long ago is another one, not a new revision."""
    return _uuid("repeated", project_id, caller, idempotency_key, str(position), sha256)


def child_id(parent_id: str, inner_path: str) -> str:
    """Id of a document inside another: attachment, archive member."""
    return _uuid("child", parent_id, inner_path)


def chunk_id(document_id: str, content_hash: str, occurrence: int) -> str:
    """Id of a chunk: the `occurrence`-th (from 0) time this text stands in this document."""
    return _uuid("chunk", document_id, content_hash, str(occurrence))


def section_id(document_id: str, path: tuple[str, ...], occurrence: int) -> str:
    """Id of a section: the `occurrence`-th (from 0) with these headings, outermost first, in this document."""
    return _uuid("section", document_id, str(occurrence), *path)


def point_id(chunk: str, revision: str) -> str:
    """Id of a chunk's point in the store; two revisions of one chunk can stand side by side."""
    return _uuid("point", chunk, revision)


def normalised(text: str) -> str:
    """NFKC with every run of white space as one space: what `content_hash` looks at."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def content_hash(text: str) -> str:
    """SHA-256 hex of the normalised text, given without its heading prefix."""
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()


def embed_hash(model_fingerprint: str, embedder_input: str) -> str:
    """SHA-256 hex of (model fingerprint, exact embedder input): the key under which a vector is reused."""
    joined = _joined((model_fingerprint, embedder_input))
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()
