"""`doc_nav.json`: the section tree of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.nav.draft import finished
from engine.nav.from_chunks import chunks_draft
from engine.nav.from_tree import tree_draft
from engine.nav.records import DocumentNav, NavSection
from engine.records import ExtractedDocument
from engine.search.view import DocumentView


def nav_of(view: DocumentView, tree: ExtractedDocument | None = None) -> DocumentNav:
    """The sections of what is visible. `tree`: the document's own, where it was kept; it is not looked at when
    anything is withheld from the reader, since it shows everything."""
    usable = tree if view.whole else None
    if usable is not None:
        root = tree_draft(usable, view.chunks)
    else:
        root = chunks_draft(view.chunks, known_headings(view))
    by_index = {int(payload["chunk_index"]): payload for payload in view.chunks}
    return DocumentNav(
        document_id=view.row.document_id,
        revision=view.revision,
        title=None if view.closed else view.row.title,
        basis="chunks" if usable is None else "tree",
        chunk_count=len(view.chunks),
        token_count=sum(int(payload["token_count"]) for payload in view.chunks),
        page_count=view.row.page_count,
        chunk_indexes=sorted(root.chunks),
        resources=root.resources,
        sections=finished(root, view.row.document_id, by_index),
    )


def known_headings(view: DocumentView) -> list[str]:
    """The headings that the ledger keeps of a document (the first few hundred)."""
    found = view.row.metadata.get("headings")
    return [str(title) for title in found] if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType]


def walk_sections(sections: Sequence[NavSection]) -> Iterator[NavSection]:
    """Every section in document order, parents before children."""
    stack = list(reversed(sections))
    while stack:
        section = stack.pop()
        yield section
        stack.extend(reversed(section.children))
