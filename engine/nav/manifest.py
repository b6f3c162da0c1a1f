"""`manifest.json`: the facts of a document's revision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from engine.artifacts import KeptImage
from engine.nav.records import DocumentNav, ImageFacts, Manifest, NavSection, SourceFacts, Statistics, TableFacts
from engine.nav.sections import walk_sections
from engine.nav.tables import tables_of
from engine.records import ExtractedDocument, Loss
from engine.search.view import DocumentView, shows_asset

# of what the ledger keeps with a document; the rest (where its upload is stored, ...) is nobody's business
_FACTS = ("created_date", "modified_date", "extra", "children", "failed_inside", "pages")


def manifest_of(
    view: DocumentView,
    nav: DocumentNav,
    tree: ExtractedDocument | None = None,
    kept: Mapping[str, KeptImage] | None = None,
) -> Manifest:
    """`nav`: of the same view. `tree`, `kept`: the kept tree and pictures, where there are any."""
    row = view.row
    tables = _tables(view, tree)
    images = images_of(view, nav, tree, kept or {})
    return Manifest(
        document_id=row.document_id,
        project_id=row.project_id,
        revision=view.revision,
        source=SourceFacts(row.source, row.key, row.uri, row.filename, row.size),
        source_format=row.source_format,
        content_sha256=row.content_sha256,
        pipeline_fingerprint=row.fingerprint,
        statistics=Statistics(
            page_count=row.page_count,
            word_count=row.word_count,
            chunk_count=nav.chunk_count,
            token_count=nav.token_count,
            section_count=sum(1 for _ in walk_sections(nav.sections)),
            table_count=len(tables),
            image_count=len(images),
        ),
        metadata=facts_of(view, nav),
        tables=tables,
        images=images,
        warnings=losses_of(view),
        complete=view.whole,
        HIERARCHY=_titles(nav.sections),
    )


def facts_of(view: DocumentView, nav: DocumentNav) -> dict[str, Any]:
    """Title, author, language, dates and headings; of redactions only how many of each kind. To those whom the
    document is closed to, nothing that its author wrote."""
    row = view.row
    facts: dict[str, Any] = {"title": row.title, "author": row.author, "language": row.language}
    facts.update({name: row.metadata[name] for name in _FACTS if name in row.metadata})
    if view.closed:
        facts.update({"title": None, "author": None, "extra": {}})
    facts["headings"] = [section.title for section in walk_sections(nav.sections)]
    redactions = row.metadata.get("redactions")
    if isinstance(redactions, list):
        kinds = Counter(str(one["type"]) for one in redactions)  # pyright: ignore[reportUnknownVariableType]
        facts["redactions"] = dict(sorted(kinds.items()))
    return facts


def losses_of(view: DocumentView) -> list[Loss]:
    """The document's loss report; to a reader of a part of it without places, which may be names out of the rest."""
    found: list[Loss] = []
    for loss in view.row.warnings:
        values: dict[str, Any] = loss
        made = Loss(**{name: values[name] for name in Loss.__slots__ if name in values})
        found.append(made if view.whole else Loss(made.code, made.message, "", made.count))
    return found


def _tables(view: DocumentView, tree: ExtractedDocument | None) -> list[TableFacts]:
    return [
        TableFacts(t.table_id, t.page_number, t.caption, len(t.headers or (t.rows[0] if t.rows else [])), len(t.rows))
        for t in tables_of(view, tree).tables
    ]


def images_of(
    view: DocumentView, nav: DocumentNav, tree: ExtractedDocument | None, kept: Mapping[str, KeptImage]
) -> list[ImageFacts]:
    """The pictures the reader may see: the tree's, or without one those that the chunks mention."""
    if tree is None:
        found = [r for r in nav.resources if r.type == "image"]
        found += [r for section in walk_sections(nav.sections) for r in section.resources if r.type == "image"]
        return [ImageFacts(r.id, r.page_number, r.caption, None, None, None) for r in found]
    return [
        ImageFacts(image.image_id, image.page_number, image.caption, image.alt_text, *_as_kept(kept, image.image_id))
        for image in tree.images
        if shows_asset(view, image.image_id)
    ]


def _as_kept(kept: Mapping[str, KeptImage], image_id: str) -> tuple[str | None, int | None]:
    one = kept.get(image_id)
    return (one.mime_type, one.size) if one else (None, None)


def _titles(sections: Sequence[NavSection]) -> dict[str, Any]:
    """The nested titles; a title that repeats among its siblings gets its number."""
    seen: Counter[str] = Counter()
    found: dict[str, Any] = {}
    for section in sections:
        seen[section.title] += 1
        count = seen[section.title]
        found[section.title if count == 1 else f"{section.title} ({count})"] = _titles(section.children)
    return found
