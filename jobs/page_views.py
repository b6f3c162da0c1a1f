"""Writes a document's pages as pictures with what was found on them, for people to check with their own eyes."""

from __future__ import annotations

import html
from pathlib import Path

from engine.inspector import Inspector
from engine.marks import marks_of
from engine.records import ExtractedDocument, Prepared
from engine.render import PAGED, no_pictures
from engine.settings import Settings

DPI = 110
INDEX = "index.html"
_HEAD = """<!doctype html><meta charset="utf-8"><title>{title}</title>
<style>body{{font:14px sans-serif;margin:1em}}section{{display:flex;gap:1em;margin-bottom:2em}}
img{{width:50%;height:auto;align-self:start;border:1px solid #999}}pre{{white-space:pre-wrap;flex:1;margin:0}}</style>
<h1>{title}</h1>
"""


def write_page_views(path: Path, prepared: Prepared, folder: Path, settings: Settings) -> list[Path]:
    """A PNG for every page of the file at `path`, and `index.html` with each beside the text read from it.

    `prepared`: what was made of the file, its tree kept. The pictures are drawn in an isolated child. Raises
    InputError (INVALID_REQUEST) for a format without pages that can be drawn, and what reading the file raises.
    """
    document = prepared.document
    if document is None or document.metadata.source_format not in PAGED:
        raise no_pictures(document.metadata.source_format if document else "of this file")
    folder.mkdir(parents=True, exist_ok=True)
    marks = marks_of(document)
    inspector = Inspector(settings)
    written: list[Path] = []
    try:
        for page in document.pages:
            target = folder / f"page-{page.page_number:04d}.png"
            number = page.page_number
            target.write_bytes(inspector.mark(path, path.name, number, DPI, marks.get(number, [])))
            written.append(target)
    finally:
        inspector.close()
    (folder / INDEX).write_text(_index(path.name, document), "utf-8")
    return written


def _index(name: str, document: ExtractedDocument) -> str:
    sections = [
        f'<section><img src="page-{page.page_number:04d}.png" alt="page {page.page_number}">'
        f"<pre>{html.escape(page.content)}</pre></section>\n"
        for page in document.pages
    ]
    return _HEAD.format(title=html.escape(name)) + "".join(sections)
