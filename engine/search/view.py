"""One document as one caller may see it: the chunks of its visible revision, and what is withheld."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.errors import Code, InputError, StorageError
from engine.points import EVERYONE
from engine.registry import DocumentRow
from engine.search import active
from engine.store import Condition, Filter, Record, Store

LOOKS = 10  # at a document that is replaced in between
Found = dict[str, Any]  # a chunk's payload, see engine.points.payload_of


class Ledger(active.Ledger, Protocol):
    """What viewing a document needs of the registry."""

    def document(self, document_id: str, project_id: str | None = None) -> DocumentRow | None: ...


@dataclass(slots=True)
class DocumentView:
    """`chunks`: payloads of the visible revision that the caller may see, in order. `withheld`: those they may not,
    for deciding what else must not be shown; never to be shown itself. `closed`: the document as a whole is for
    others, whether it has chunks or not. `vectors`: chunk id → its dense vectors."""

    row: DocumentRow
    revision: str
    chunks: list[Found]
    withheld: list[Found]
    closed: bool = False
    vectors: dict[str, dict[str, NDArray[np.float32]]] = field(
        default_factory=lambda: dict[str, dict[str, NDArray[np.float32]]]()
    )

    @property
    def whole(self) -> bool:
        """Whether nothing of the document is hidden from the caller."""
        return not self.withheld and not self.closed


def view_document(
    store: Store,
    ledger: Ledger,
    document_id: str,
    principals: Sequence[str] | None,
    with_dense: Sequence[str] = (),
    only: Sequence[str] | None = None,
) -> DocumentView:
    """The document as `principals` may see it (None: everything), all of one revision.

    `only`: the chunk ids that matter; to a caller who may see everything no others are read.

    Raises InputError: DOCUMENT_NOT_FOUND, CONFLICT while nothing of it is published; StorageError when it is
    replaced faster than it can be read.
    """
    for _ in range(LOOKS):
        row = _published(ledger, document_id)
        revision = row.active_revision or ""
        where = Filter([Condition("document_id", "any", [row.document_id]), Condition("revision", "any", [revision])])
        if only is not None and principals is None:
            where.must.append(Condition("chunk_id", "any", [*only]))
        nothing = only is not None and not only and principals is None
        records = [] if nothing else active.read(store, ledger, row.project_id, where, with_dense=with_dense)
        if _published(ledger, document_id).active_revision == revision:
            return _view(row, revision, records, principals)
    raise StorageError(f"document {document_id} was replaced {LOOKS} times while it was read")


def _published(ledger: Ledger, document_id: str) -> DocumentRow:
    row = ledger.document(document_id)
    if row is None:
        raise InputError("there is no such document", Code.DOCUMENT_NOT_FOUND)
    if row.active_revision is None:
        raise InputError(
            f"nothing of this document is published (its status is {row.status})",
            Code.CONFLICT,
            details={"status": row.status, "error_code": row.error_code, "skip_reason": row.skip_reason},
        )
    return row


def _view(row: DocumentRow, revision: str, records: Sequence[Record], principals: Sequence[str] | None) -> DocumentView:
    allowed = None if principals is None else {EVERYONE, *principals}
    made = DocumentView(row, revision, [], [], closed_to(row, principals))
    for record in sorted(records, key=lambda r: _index(r.payload)):
        payload: Found = record.payload
        seen = allowed is None or not allowed.isdisjoint(payload["acl"])
        (made.chunks if seen else made.withheld).append(payload)
        if seen and record.dense:
            made.vectors[payload["chunk_id"]] = record.dense
    return made


def closed_to(row: DocumentRow, principals: Sequence[str] | None) -> bool:
    """Whether the visible revision as a whole is for others: then neither its chunks may be shown nor what was taken
    out of its content, such as the title."""
    own = _names(row.metadata.get("acl"))
    return bool(own) and principals is not None and {EVERYONE, *principals}.isdisjoint(own)


def _names(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []  # pyright: ignore[reportUnknownVariableType]


def _index(payload: Found) -> int:
    return int(payload["chunk_index"])


# ---------------------------------------------------------------- what else may be shown
def shows_page(view: DocumentView, page: int) -> bool:
    """Whether the whole of page `page` (1-based) may be shown: nothing withheld can stand on it.

    A paragraph that runs over a page's end is known by the page it begins on, so the page after one with withheld
    text is not shown either; a withheld chunk without pages may be anywhere.
    """
    if view.whole or view.closed:
        return view.whole
    for payload in view.withheld:
        pages: list[int] = payload["page_numbers"]
        if not pages or min(pages) <= page <= max(pages) + 1:
            return False
    return any(page in payload["page_numbers"] for payload in view.chunks)


def shows_asset(view: DocumentView, asset_id: str) -> bool:
    """Whether a table or picture may be shown: nothing is withheld, or it stands in visible chunks only."""
    if view.whole or view.closed:
        return view.whole
    return _refers(view.chunks, asset_id) and not _refers(view.withheld, asset_id)


def _refers(chunks: Sequence[Found], asset_id: str) -> bool:
    return any(relation["target"] == asset_id for payload in chunks for relation in payload["connect_to"])
