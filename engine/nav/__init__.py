"""A document's corpus files beside its chunks: the section tree (`doc_nav.json`) and the manifest.

Built from the chunks a reader may see, and from the document's tree where it was kept and nothing is hidden from
the reader. The API and the export call the same two functions; `engine/schemas/` holds the files' JSON Schemas.
"""

from __future__ import annotations

from engine.nav.manifest import manifest_of
from engine.nav.records import SCHEMA_VERSION, ChunksFile, DocumentNav, Manifest, NavSection, Resource
from engine.nav.sections import nav_of, walk_sections

__all__ = [
    "SCHEMA_VERSION",
    "ChunksFile",
    "DocumentNav",
    "Manifest",
    "NavSection",
    "Resource",
    "manifest_of",
    "nav_of",
    "walk_sections",
]
