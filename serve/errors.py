"""Errors as HTTP answers: one envelope for every answer that is not 2xx, the framework's own included, or RFC 9457
(`application/problem+json`) where the client asks for it.

`install(app)` makes FastAPI answer so. Code that answers without FastAPI (middleware) uses `error_answer`.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import compile_path
from starlette.types import Scope

from engine.errors import Code, CorpusError, InputError
from serve.accept import prefers

log = logging.getLogger(__name__)

ENVELOPE, PROBLEM = "application/json", "application/problem+json"
# The contract's table (section 2), then the codes it has no row for. Those are faults of ours, met while a request is
# answered: what may be over in a moment is 503 with Retry-After, what only an operator can change is 500, and a format
# that needs a program this installation lacks is 501.
STATUS: Mapping[Code, int] = {
    Code.UNSUPPORTED_FORMAT: 415,
    Code.FILE_TOO_LARGE: 413,
    Code.BATCH_TOO_LARGE: 400,
    Code.INVALID_REQUEST: 422,
    Code.EXTRACTION_FAILED: 422,
    Code.OCR_FAILED: 422,
    Code.ENCRYPTED_DOCUMENT: 422,
    Code.LIMIT_EXCEEDED: 422,
    Code.EXTRACTION_TIMEOUT: 422,
    Code.EMBEDDING_FAILED: 502,
    Code.DOCUMENT_NOT_FOUND: 404,
    Code.PROJECT_NOT_FOUND: 404,
    Code.JOB_NOT_FOUND: 404,
    Code.UNAUTHENTICATED: 401,
    Code.FORBIDDEN: 403,
    Code.CONFLICT: 409,
    Code.RATE_LIMIT_EXCEEDED: 429,
    Code.OVERLOADED: 503,
    Code.INTERNAL: 500,
    Code.SOURCE_UNAVAILABLE: 503,
    Code.STORAGE_FAILED: 503,
    Code.WORKER_LOST: 503,
    Code.MISSING_DEPENDENCY: 501,
    Code.CONFIGURATION: 500,
}
RETRY_SECONDS: Mapping[int, int] = {429: 60, 503: 5}  # Retry-After, unless the error's details say `retry_after`
# What is said instead of messages that name addresses, paths and keys of ours; those are in the log.
_SAID: Mapping[Code, str] = {
    Code.INTERNAL: "something went wrong here; the request id finds it in the log",
    Code.CONFIGURATION: "the server is not set up for this; the request id finds the reason in its log",
    Code.STORAGE_FAILED: "a store behind this server does not answer",
    Code.SOURCE_UNAVAILABLE: "the stored bytes cannot be read",
    Code.EMBEDDING_FAILED: "the embedding model gave no usable answer",
}
# Answers of the framework itself; those not listed are INVALID_REQUEST below 500 and INTERNAL from there on.
_FRAMEWORK: Mapping[int, Code] = {
    401: Code.UNAUTHENTICATED,
    403: Code.FORBIDDEN,
    404: Code.DOCUMENT_NOT_FOUND,
    409: Code.CONFLICT,
    413: Code.FILE_TOO_LARGE,
    415: Code.UNSUPPORTED_FORMAT,
    429: Code.RATE_LIMIT_EXCEEDED,
    502: Code.EMBEDDING_FAILED,
    503: Code.OVERLOADED,
}
_MESSAGES: Mapping[int, str] = {404: "there is nothing at this path", 405: "this path does not take this method"}
_PHRASES = {status.value: status.phrase for status in HTTPStatus}
MOST_PROBLEMS = 50  # field errors listed
_NAME_LENGTH = 100
# Kinds of validation errors whose text quotes the input.
_QUOTING = {
    "union_tag_invalid": "the value is none of those expected here",
    "uuid_parsing": "the value is not a valid UUID",
    "json_invalid": "the value is not valid JSON",
}


def install(app: FastAPI) -> None:
    """Make every error of `app` an envelope or problem."""
    app.add_exception_handler(CorpusError, _on_corpus_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_framework_error)
    app.add_exception_handler(Exception, _on_anything)


def error_answer(
    scope: Scope, error: CorpusError, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """The answer to a request that ended in `error`. `status`: instead of the code's own."""
    status = status or STATUS[error.code]
    message = _SAID.get(error.code, error.message)
    details = {} if error.code in _SAID else error.details
    request_id = str(scope.get("state", {}).get("request_id", ""))
    sent = {**_headers(scope, error, status), **(headers or {}), "Vary": "Accept"}
    if prefers(_header(scope, b"accept"), PROBLEM, ENVELOPE):
        return JSONResponse(_problem(status, error.code, message, details, request_id), status, sent, PROBLEM)
    body = {"code": error.code.value, "message": message, "details": details, "request_id": request_id}
    return JSONResponse({"error": body}, status, sent)


def _problem(status: int, code: Code, message: str, details: Mapping[str, object], request_id: str) -> dict[str, Any]:
    """RFC 9457. `about:blank` because the extension member `code` says more than a URI would; its `title` is then
    the status's own phrase (section 4.2.1)."""
    standard = {"type": "about:blank", "title": _PHRASES.get(status, ""), "status": status, "detail": message}
    return {**standard, "code": code.value, "details": details, "request_id": request_id}


def _headers(scope: Scope, error: CorpusError, status: int) -> dict[str, str]:
    if status == 401:  # RFC 6750, section 3
        invalid = ', error="invalid_token"' if _header(scope, b"authorization") else ""
        return {"WWW-Authenticate": f'Bearer realm="corpus"{invalid}'}
    if status in RETRY_SECONDS:
        wanted = error.details.get("retry_after")
        seconds = math.ceil(wanted) if isinstance(wanted, int | float) else RETRY_SECONDS[status]
        return {"Retry-After": str(max(1, seconds))}
    return {}


def _header(scope: Scope, name: bytes) -> str:
    """The values of a request header, joined as a list."""
    return ",".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)


# ---------------------------------------------------------------- handlers
async def _on_corpus_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, CorpusError)
    if STATUS[error.code] >= 500 and error.code is not Code.OVERLOADED:
        log.error("a request failed", exc_info=error, extra={"code": error.code})
    return error_answer(request.scope, error)


async def _on_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found: Sequence[Mapping[str, Any]] = error.errors()
    problems = [_field_problem(each) for each in found[:MOST_PROBLEMS]]
    fields = ", ".join(dict.fromkeys(problem["field"] for problem in problems if problem["field"]))
    message = f"invalid request: {fields[:200]}" if fields else "invalid request"
    details: dict[str, object] = {"errors": problems}
    if len(found) > MOST_PROBLEMS:
        details["errors_left_out"] = len(found) - MOST_PROBLEMS
    return error_answer(request.scope, InputError(message, Code.INVALID_REQUEST, details=details))


def _field_problem(error: Mapping[str, Any]) -> dict[str, str]:
    """Where and what, never the value itself: it may be anything, and answers are logged by others."""
    kind = str(error.get("type", ""))
    where = [str(part)[:_NAME_LENGTH] for part in error.get("loc", ())]
    if kind == "json_invalid":  # its location is an offset
        where = where[:1]
    field = ".".join(where[1:] or where)
    return {"field": field, "problem": _QUOTING.get(kind, str(error.get("msg", "")))}


async def _on_framework_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error.__cause__, CorpusError):  # raised while FastAPI read the body, and wrapped by it
        return await _on_corpus_error(request, error.__cause__)
    status = 422 if error.status_code == 400 else error.status_code
    if status < 400:
        return Response(status_code=status, headers=error.headers)
    code = _FRAMEWORK.get(status, Code.INVALID_REQUEST if status < 500 else Code.INTERNAL)
    message = _MESSAGES.get(status) if error.detail == _PHRASES.get(status) else str(error.detail)
    headers = dict(error.headers or {})
    if status == 405:
        headers["Allow"] = ", ".join(_methods(request))
    return error_answer(request.scope, CorpusError(message or str(error.detail), code), status, headers)


def _methods(request: Request) -> list[str]:
    """What the path takes: the framework names only the methods of the first route that has it."""
    paths = request.app.openapi()["paths"]
    for template, operations in paths.items():
        if compile_path(template)[0].match(request.url.path):
            return sorted(method.upper() for method in operations)
    return ["GET"]  # the page for people and its files


async def _on_anything(request: Request, error: Exception) -> Response:
    """The framework raises `error` again afterwards; whoever watches requests logs it."""
    return error_answer(request.scope, CorpusError("unexpected error"))
