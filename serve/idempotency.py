"""`Idempotency-Key`: a POST that is sent again gets the answer of the first, and nothing is made twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping

from fastapi import Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from engine.errors import Code, InputError
from serve.context import in_thread
from serve.deps import Caller, Deps

MAX_KEY = 255


def key_of(request: Request) -> str | None:
    """The request's key. Raises InputError (INVALID_REQUEST) for one that is empty, too long or not plain ASCII."""
    key = request.headers.get("idempotency-key")
    if key is not None and not (0 < len(key) <= MAX_KEY and key.isascii() and key.isprintable()):
        raise InputError(f"an Idempotency-Key is 1 to {MAX_KEY} printable ASCII characters", Code.INVALID_REQUEST)
    return key


def fingerprint(operation: str, *parts: object) -> str:
    """What must agree between two requests with one key."""
    return hashlib.sha256(json.dumps([operation, *parts], sort_keys=True, default=str).encode()).hexdigest()


async def once(
    deps: Deps,
    caller: Caller,
    scope: str,
    request: Request,
    request_hash: str,
    work: Callable[[], Awaitable[Response]],
    seconds: float = 120,
) -> Response:
    """Do `work`, or give the answer that it had under the same key of the same caller in `scope`.

    `seconds`: after which a first request without an answer counts as dead.
    Raises InputError (CONFLICT) when the key stands for another request, or for one that is still at work.
    """
    key = key_of(request)
    if key is None:
        return await work()
    owner = f"{scope}/{caller.subject}"
    kept = deps.settings.serve.idempotency_hours * 3600
    found = await in_thread(deps.registry.remember, owner, key, request_hash, kept, seconds)
    if found.state == "mismatch":
        raise InputError("this Idempotency-Key was used with another request", Code.CONFLICT)
    if found.state == "running":
        raise InputError("the first request with this Idempotency-Key is still at work", Code.CONFLICT)
    if found.state == "done":
        headers = {**found.headers, "Idempotency-Replayed": "true"}
        return Response(found.body, found.status, headers, media_type="application/json")
    try:
        answer = await work()
    except BaseException:
        await in_thread(deps.registry.forget, owner, key)
        raise
    headers = {name: answer.headers[name] for name in ("location",) if name in answer.headers}
    body = bytes(answer.body).decode()
    await in_thread(deps.registry.answer, owner, key, request_hash, answer.status_code, headers, body)
    return answer


def created(model: BaseModel, status: int = 201, headers: Mapping[str, str] | None = None) -> Response:
    """A model as an answer with headers of its own."""
    return JSONResponse(model.model_dump(mode="json"), status, dict(headers or {}))
