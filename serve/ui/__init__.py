"""The page for people at `/` and the readable API description at `/docs`: static files, no build step, no other host.

What the page may load and run is bounded by the content security policy below: own scripts and styles, pictures
that the page's own scripts made (blob), requests to this server. Nothing inline, no frames, no form targets, and no
text turned into markup (trusted types), so that the text of a hostile document stays text.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",  # kept, but asked about each time: answered 304 by the ETag
}
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
PAGES = {"index.html", "docs.html"}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media_type: str
    etag: str


@cache
def assets() -> dict[str, Asset]:
    """The files of this package that browsers may have, by name. Nothing else can be asked for."""
    found: dict[str, Asset] = {}
    for entry in files(__name__).iterdir():
        media_type = TYPES.get("." + entry.name.rpartition(".")[2])
        if media_type and entry.is_file():
            content = entry.read_bytes()
            found[entry.name] = Asset(content, media_type, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return found


@router.api_route("/", methods=["GET", "HEAD"])
async def page(request: Request) -> Response:
    """The page."""
    return _answer(request, "index.html")


@router.api_route("/docs", methods=["GET", "HEAD"])
async def docs(request: Request) -> Response:
    """The API's description, rendered from /openapi.json."""
    return _answer(request, "docs.html")


@router.api_route("/ui/{file}", methods=["GET", "HEAD"])
async def static(request: Request, file: str) -> Response:
    """A script, style or icon of the two pages."""
    if file in PAGES:
        raise HTTPException(404)
    return _answer(request, file)


def _answer(request: Request, name: str) -> Response:
    asset = assets().get(name)
    if asset is None:
        raise HTTPException(404)
    headers = {**HEADERS, "ETag": asset.etag}
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if asset.etag in known or known == ["*"]:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.media_type, headers=headers)
