"""Corpus files of a project: per document `chunks.json`, `doc_nav.json` and `manifest.json`, tables as HTML, and, of
documents they were kept of, the pictures and the file itself (seed: agent search)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from engine.artifacts import KeptImage, kept_images, load_tree, open_image
from engine.errors import InputError, SourceError
from engine.nav import ChunksFile, manifest_of, nav_of
from engine.nav.schemas import dump
from engine.nav.tables import tables_of
from engine.objects import ObjectStore
from engine.objects.open import open_objects
from engine.records import ExtractedDocument
from engine.registry import DocumentRow
from engine.registry.queries import Registry
from engine.scratch import make_folder
from engine.search.view import DocumentView, view_document
from engine.settings import Settings
from engine.tables import table_html
from jobs.lookup import opened


def export_project(settings: Settings, project: str, folder: Path) -> dict[str, int]:
    """Write every visible document of the project; counts of documents and chunks."""
    documents = chunks = 0
    make_folder(folder, "of the export")
    objects = open_objects(settings)
    with opened(settings) as (registry, store):
        for row in _visible(registry, registry.project(project).id):
            try:
                view = view_document(store, registry, row.document_id, principals=None)
            except InputError:  # deleted or emptied since it was listed
                continue
            _write(folder / row.document_id, view, objects)
            documents, chunks = documents + 1, chunks + len(view.chunks)
    return {"documents": documents, "chunks": chunks}


def _visible(registry: Registry, project_id: str) -> Iterator[DocumentRow]:
    after: str | None = None
    while rows := registry.documents(project_id, after=after, limit=200):
        yield from (row for row in rows if row.active_revision)
        after = rows[-1].document_id


def _write(folder: Path, view: DocumentView, objects: ObjectStore) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    place = view.row.project_id, view.row.document_id, view.revision
    tree = load_tree(objects, *place)
    nav, kept = nav_of(view, tree), kept_images(objects, *place)
    files = {
        "chunks.json": ChunksFile(view.row.document_id, view.revision, view.chunks),
        "doc_nav.json": nav,
        "manifest.json": manifest_of(view, nav, tree, kept),
    }
    for name, value in files.items():
        (folder / name).write_bytes(dump(value))
    _write_tables(folder / "tables", view, tree)
    _write_images(folder / "images", objects, place, kept)
    _write_source(folder, view, objects)


def _write_images(
    folder: Path, objects: ObjectStore, place: tuple[str, str, str], kept: Mapping[str, KeptImage]
) -> None:
    """Every picture under its id; one that stands in several places is one file on the disk."""
    written: dict[str, Path] = {}
    for image_id, image in kept.items():
        target = folder / f"{image_id}{Path(image.file).suffix}"
        if image.file in written:
            target.unlink(missing_ok=True)
            target.hardlink_to(written[image.file])
        elif (found := open_image(objects, *place, image_id)) is not None:
            _copy(target, found[1])
            written[image.file] = target


def _write_tables(folder: Path, view: DocumentView, tree: ExtractedDocument | None) -> None:
    for table in tables_of(view, tree).tables:
        folder.mkdir(exist_ok=True)
        (folder / f"{table.table_id}.html").write_text(table_html(table) + "\n", "utf-8")


def _write_source(folder: Path, view: DocumentView, objects: ObjectStore) -> None:
    """The uploaded file as `source.{format}`; its own name is the uploader's choice, and in the manifest."""
    key = view.row.metadata.get("source_object")
    if isinstance(key, str) and key:
        try:
            _copy(folder / f"source.{view.row.source_format}", objects.open(key))
        except SourceError:  # replaced or deleted meanwhile
            return


def _copy(target: Path, stream: BinaryIO) -> None:
    target.parent.mkdir(exist_ok=True)
    with stream as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy)
