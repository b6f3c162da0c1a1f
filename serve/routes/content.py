"""What is inside a document: its result, section tree and manifest, pictures of its pages, tables and images."""

from __future__ import annotations

import csv
import hashlib
import html
import io
import json
import re
from typing import Annotated, Literal

from fastapi import APIRouter, Header, Path, Query
from starlette.responses import Response

from engine.artifacts import kept_images, open_image
from engine.errors import Code, InputError, SourceError
from engine.inspector import Rectangle, check_view
from engine.nav import DocumentNav, Manifest, manifest_of, nav_of
from engine.nav.schemas import dump
from engine.nav.tables import tables_of
from engine.records import ExtractedTable
from engine.render import no_such_page
from engine.search.view import DocumentView, shows_asset, shows_page
from engine.tables import table_html
from serve.context import DRAWING, CallerDep, DepsDep, in_thread, in_thread_of, rate_limit, visible_document
from serve.deps import Caller, Deps
from serve.originals import check_showable, original
from serve.result import kept_tree, result_of, visible
from serve.routes import errors
from serve.schemas.content import Result
from serve.turns import Turns

router = APIRouter(prefix="/documents", tags=["content"])
JSON = "application/json"
LOOKS = 3  # at a document that is replaced while one of its pages is drawn
VIEW_VERSION = 1  # raise when the same page would be drawn differently
_ASSET = re.compile(r"(table|image)-[1-9][0-9]{0,6}")
# what a browser may do with document content that is opened by itself: show it, nothing else
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
}
_NOT_MODIFIED = {304: {"description": "the ETag given is still right"}}
_turns = Turns(at_once=2, waiting=12)  # at drawing pages, which one child does for all projects
DocumentId = Annotated[str, Path(max_length=100)]
IfNoneMatch = Annotated[str | None, Header(max_length=2000)]


# ---------------------------------------------------------------- result, nav, manifest
@router.get("/{document_id}/result", responses={**errors(409, 429), 200: {"model": Result}}, response_class=Response)
async def get_result(
    deps: DepsDep,
    caller: CallerDep,
    document_id: DocumentId,
    include_embeddings: Annotated[bool, Query(description="each chunk's vector of the model in use")] = False,
) -> Response:
    """The document in the standard's canonical form. Chunks that this caller may not see are left out, with all that
    might show something of them, and the warnings say so."""
    row = await in_thread(visible_document, deps, caller, document_id, "read")
    project = await in_thread(deps.registry.project, row.project_id)
    await rate_limit(deps, project, "chunks")
    return await in_thread(_result, deps, caller, row.document_id, include_embeddings)


def _result(deps: Deps, caller: Caller, document_id: str, include_embeddings: bool) -> Response:
    vector = deps.model.vector_name if include_embeddings else ""
    made = result_of(deps, visible(deps, caller, document_id, vector), vector)
    left_out = None if include_embeddings else {"chunks": {"__all__": {"embedding"}}}
    return Response(made.model_dump_json(exclude=left_out), media_type=JSON)


@router.get("/{document_id}/nav", responses={**errors(409), 200: {"model": DocumentNav}}, response_class=Response)
def get_nav(deps: DepsDep, caller: CallerDep, document_id: DocumentId) -> Response:
    """The section tree (`doc_nav.json`): titles, pages, summaries, chunk indexes, tables and pictures of each."""
    row = visible_document(deps, caller, document_id, "read")
    view = visible(deps, caller, row.document_id)
    return Response(dump(nav_of(view, kept_tree(deps, view))), media_type=JSON)


@router.get("/{document_id}/manifest", responses={**errors(409), 200: {"model": Manifest}}, response_class=Response)
def get_manifest(deps: DepsDep, caller: CallerDep, document_id: DocumentId) -> Response:
    """Facts of the visible revision (`manifest.json`): source, counts, losses, tables, pictures, hierarchy."""
    row = visible_document(deps, caller, document_id, "read")
    view = visible(deps, caller, row.document_id)
    tree = kept_tree(deps, view)
    kept = kept_images(deps.objects, row.project_id, row.document_id, view.revision)
    return Response(dump(manifest_of(view, nav_of(view, tree), tree, kept)), media_type=JSON)


# ---------------------------------------------------------------- pages
@router.get(
    "/{document_id}/pages/{page}",
    responses={**errors(409, 429), **_NOT_MODIFIED, 200: {"content": {"image/png": {}}, "description": "the page"}},
    response_class=Response,
)
async def get_page(
    deps: DepsDep,
    caller: CallerDep,
    document_id: DocumentId,
    page: Annotated[int, Path(ge=1, le=1_000_000)],
    dpi: Annotated[int, Query(ge=36, le=300)] = 150,
    box: Annotated[
        list[str] | None, Query(description="x0,y0,x1,y1 in points from the page's top left; may repeat")
    ] = None,
    chunk_id: Annotated[list[str] | None, Query(description="a chunk whose boxes are drawn; may repeat")] = None,
    if_none_match: IfNoneMatch = None,
) -> Response:
    """A page of a PDF or a picture file as PNG, with boxes drawn over it. Very large sheets come at a lower resolution
    than asked for; the PNG says which."""
    row = await in_thread(visible_document, deps, caller, document_id, "read")
    project = await in_thread(deps.registry.project, row.project_id)
    await rate_limit(deps, project, "chunks")
    boxes = [_box(text) for text in box or ()]
    asked = (deps, caller, row.document_id, page, dpi, boxes, chunk_id or [], if_none_match)
    async with _turns.of(row.project_id):
        return await in_thread_of(DRAWING, _page, *asked)


def _page(
    deps: Deps,
    caller: Caller,
    document_id: str,
    page: int,
    dpi: int,
    boxes: list[Rectangle],
    chunk_ids: list[str],
    if_none_match: str | None,
) -> Response:
    for look in range(LOOKS):
        view = visible(deps, caller, document_id, only=chunk_ids)
        check_showable(deps, view.row)
        if not shows_page(view, page) or page > (view.row.page_count or page):
            raise no_such_page(page)
        drawn = [*boxes, *_boxes_of(view, chunk_ids, page)]
        check_view(dpi, drawn)
        tag = _tag(view.revision, view.row.content_sha256, page, dpi, drawn)
        if _matches(if_none_match, tag):
            return Response(status_code=304, headers={**_SAFE, "ETag": tag})
        try:
            with original(deps, view.row) as path:
                png = deps.inspector.render(path, view.row.filename, page, dpi, drawn)
        except SourceError:
            if look == LOOKS - 1 or visible(deps, caller, document_id, only=[]).revision == view.revision:
                raise
            continue  # the original went with a revision that was replaced meanwhile
        return Response(png, media_type="image/png", headers={**_SAFE, "ETag": tag})
    raise AssertionError("unreachable")


def _box(text: str) -> Rectangle:
    parts = text.split(",")
    try:
        x0, y0, x1, y1 = map(float, parts)
    except ValueError as error:
        message = "a box is four numbers: box=x0,y0,x1,y1"
        raise InputError(message, Code.INVALID_REQUEST, details={"field": "box"}) from error
    return x0, y0, x1, y1


def _boxes_of(view: DocumentView, chunk_ids: list[str], page: int) -> list[Rectangle]:
    """The boxes that these chunks have on the page. One that the caller may not see is not there."""
    known = {payload["chunk_id"]: payload["boxes"] for payload in view.chunks}
    found: list[Rectangle] = []
    for chunk_id in chunk_ids:
        if chunk_id not in known:
            raise InputError("the document has no such chunk", Code.DOCUMENT_NOT_FOUND, details={"field": "chunk_id"})
        found += [(box[1], box[2], box[3], box[4]) for box in known[chunk_id] if box[0] == page]
    return found


def _tag(*parts: object) -> str:
    encoded = json.dumps([VIEW_VERSION, *parts], default=str).encode()
    return f'"{hashlib.sha256(encoded).hexdigest()[:32]}"'


def _matches(if_none_match: str | None, tag: str) -> bool:
    """RFC 9110, 13.1.2: weak comparison with any of the tags given."""
    given = [one.strip().removeprefix("W/") for one in (if_none_match or "").split(",")]
    return tag in given or "*" in given


# ---------------------------------------------------------------- assets
@router.get(
    "/{document_id}/assets/{asset_id}",
    responses={
        **errors(409),
        **_NOT_MODIFIED,
        200: {
            "content": {"image/png": {}, "image/jpeg": {}, "text/html": {}, "text/csv": {}},
            "description": "a picture as it was kept, or a table",
        },
    },
    response_class=Response,
)
def get_asset(
    deps: DepsDep,
    caller: CallerDep,
    document_id: DocumentId,
    asset_id: Annotated[str, Path(max_length=40, description="such as table-1 or image-3")],
    format: Annotated[Literal["html", "csv"], Query(description="of a table")] = "html",
    if_none_match: IfNoneMatch = None,
) -> Response:
    """A table as HTML (with the spans of its cells, where the document's tree was kept) or CSV, or a picture. Pictures
    are kept of uploads; they were decoded and written anew before."""
    row = visible_document(deps, caller, document_id, "read")
    view = visible(deps, caller, row.document_id)
    if _ASSET.fullmatch(asset_id) is None or not shows_asset(view, asset_id):
        raise _no_such_asset()
    tag = _tag(view.revision, asset_id, format)
    if _matches(if_none_match, tag):
        return Response(status_code=304, headers={**_SAFE, "ETag": tag})
    made = _table(deps, view, asset_id, format) if asset_id.startswith("table-") else _image(deps, view, asset_id)
    made.headers["ETag"] = tag
    return made


def _no_such_asset() -> InputError:
    return InputError("the document has no such table or picture", Code.DOCUMENT_NOT_FOUND)


def _image(deps: Deps, view: DocumentView, asset_id: str) -> Response:
    found = open_image(deps.objects, view.row.project_id, view.row.document_id, view.revision, asset_id)
    if found is None:
        raise _no_such_asset()
    kept, stream = found
    with stream:
        data = stream.read()
    return _asset(data, kept.mime_type, f"{asset_id}.{kept.file.rpartition('.')[2]}", "inline")


def _table(deps: Deps, view: DocumentView, asset_id: str, format: str) -> Response:
    tables = {table.table_id: table for table in tables_of(view, kept_tree(deps, view)).tables}
    if asset_id not in tables:
        raise _no_such_asset()
    table = tables[asset_id]
    if format == "csv":
        return _asset(_csv(table).encode(), "text/csv; charset=utf-8", f"{asset_id}.csv", "attachment")
    return _asset(_html(table).encode(), "text/html; charset=utf-8", f"{asset_id}.html", "inline")


def _asset(data: bytes, media_type: str, name: str, disposition: str) -> Response:
    headers = {**_SAFE, "Content-Disposition": f'{disposition}; filename="{name}"'}
    return Response(data, media_type=media_type, headers=headers)


def _csv(table: ExtractedTable) -> str:
    """RFC 4180; the flat view, a merged cell's text at its origin only."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerows([*([table.headers] if table.headers else []), *table.rows])
    return out.getvalue()


def _html(table: ExtractedTable) -> str:
    body = table_html(table)
    if not table.caption:
        return body
    return body.replace("<table>", f"<table>\n<caption>{html.escape(table.caption, quote=False)}</caption>", 1)
