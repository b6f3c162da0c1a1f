"""What is kept of a published revision beside its chunks: the document's tree and its pictures, in the object store.

    artifacts/{project}/{document}/{revision}/images/{image id}.png|jpg
    artifacts/{project}/{document}/{revision}/images.json     which picture is in which file
    artifacts/{project}/{document}/{revision}/tree.json.gz    written last: where it is, the rest is

The same revision kept twice is the same objects. Of a redacted document nothing else than its redacted tree is
ever handed over, so nothing else is kept.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pydantic import TypeAdapter

from engine.errors import SourceError
from engine.objects import ObjectStore
from engine.records import ExtractedDocument, ExtractedImage, Prepared
from engine.schema import dump_document, load_document

TREE = "tree.json.gz"
INDEX = "images.json"
# kept types: what `engine.sanitize.pictures` writes, told by their first bytes
_KINDS = {"image/png": ("png", b"\x89PNG\r\n\x1a\n"), "image/jpeg": ("jpg", b"\xff\xd8\xff")}


@dataclass(frozen=True, slots=True)
class KeptImage:
    """A picture as kept. Equal pictures of a document share one `file`."""

    image_id: str
    file: str  # its name under images/
    mime_type: str
    size: int
    sha256: str


_INDEX = TypeAdapter(dict[str, KeptImage])


def folder_of(project_id: str, document_id: str, revision: str = "") -> str:
    """The prefix of everything kept of a document, or of one revision of it."""
    return f"artifacts/{project_id}/{document_id}/" + (f"{revision}/" if revision else "")


def keep_artifacts(objects: ObjectStore, prepared: Prepared) -> None:
    """Keep the tree and the pictures of a prepared document, before its revision is published.

    The record's pictures lose their bytes on the way: no later stage reads them. Raises StorageError.
    """
    document = prepared.document
    assert document is not None
    folder = folder_of(prepared.project_id, prepared.document_id, prepared.revision)
    index = _keep_images(objects, folder, document.images)
    objects.put(folder + INDEX, _INDEX.dump_json(index))
    objects.put(folder + TREE, gzip.compress(dump_document(document), 6, mtime=0))


def _keep_images(objects: ObjectStore, folder: str, images: list[ExtractedImage]) -> dict[str, KeptImage]:
    index: dict[str, KeptImage] = {}
    files: dict[str, KeptImage] = {}
    for image in images:
        data, image.data = image.data, b""
        extension, signature = _KINDS.get(image.mime_type, ("", b""))
        if not data or not extension or not data.startswith(signature):
            continue
        digest = hashlib.sha256(data).hexdigest()
        first = files.get(digest)
        if first is None:
            first = KeptImage(image.image_id, f"{image.image_id}.{extension}", image.mime_type, len(data), digest)
            objects.put(f"{folder}images/{first.file}", data)
            files[digest] = first
        index[image.image_id] = KeptImage(image.image_id, first.file, first.mime_type, first.size, digest)
    return index


def load_tree(objects: ObjectStore, project_id: str, document_id: str, revision: str) -> ExtractedDocument | None:
    """The tree of a revision with everything derived from it, pictures without bytes; None when none was kept."""
    try:
        packed = objects.read(folder_of(project_id, document_id, revision) + TREE)
    except SourceError:
        return None
    return load_document(gzip.decompress(packed))


def kept_images(objects: ObjectStore, project_id: str, document_id: str, revision: str) -> Mapping[str, KeptImage]:
    """Image id → the picture kept of it; empty when none was."""
    try:
        return _INDEX.validate_json(objects.read(folder_of(project_id, document_id, revision) + INDEX))
    except SourceError:
        return {}


def open_image(
    objects: ObjectStore, project_id: str, document_id: str, revision: str, image_id: str
) -> tuple[KeptImage, BinaryIO] | None:
    """A picture and its bytes as a stream for the caller to close; None when it was not kept."""
    kept = kept_images(objects, project_id, document_id, revision).get(image_id)
    if kept is None:
        return None
    try:
        return kept, objects.open(f"{folder_of(project_id, document_id, revision)}images/{kept.file}")
    except SourceError:  # dropped meanwhile
        return None


def drop_artifacts(objects: ObjectStore, project_id: str, document_id: str, keep: str = "") -> int:
    """Remove what is kept of a document, except of the revision `keep`; how many objects went."""
    if not keep:
        return objects.delete_prefix(folder_of(project_id, document_id))
    kept = folder_of(project_id, document_id, keep)
    doomed = [o.key for o in objects.list(folder_of(project_id, document_id)) if not o.key.startswith(kept)]
    for key in doomed:
        objects.delete(key)
    return len(doomed)
