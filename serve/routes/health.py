"""Is it alive, is it ready, what does it count. Without authentication, without limits."""

from __future__ import annotations

from contextlib import suppress

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse, PlainTextResponse

from engine.errors import CorpusError
from serve.context import DepsDep, in_thread
from serve.metrics import CONTENT_TYPE

router = APIRouter(tags=["health"])


@router.get("/livez")
async def livez() -> dict[str, str]:
    """The process answers."""
    return {"status": "ok"}


@router.get("/readyz", responses={503: {"description": "the ledger or the store does not answer"}})
async def readyz(deps: DepsDep) -> Response:
    """The ledger and the store answer."""
    checks: dict[str, str] = {}
    for name, check in (("registry", deps.registry.queue_depth), ("store", deps.store.vectors)):
        try:
            await in_thread(check)
            checks[name] = "ok"
        except CorpusError as error:
            checks[name] = error.code
    ready = set(checks.values()) == {"ok"}
    headers = {} if ready else {"Retry-After": "5"}
    return JSONResponse({"status": "ok" if ready else "unavailable", "checks": checks}, 200 if ready else 503, headers)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(deps: DepsDep) -> Response:
    """Prometheus text format."""
    with suppress(CorpusError):  # when the registry is away the other counts are wanted most
        deps.metrics.queue(*await in_thread(deps.registry.queue_depth))
    text = await in_thread(deps.metrics.text)
    return Response(text, media_type=CONTENT_TYPE)
