"""The routes, one module per resource. Each is a FastAPI router; `serve.api` puts them together."""

from __future__ import annotations

from typing import Any

from serve.schemas import ErrorAnswer

_MEANINGS = {
    400: "BATCH_TOO_LARGE",
    401: "UNAUTHENTICATED",
    403: "FORBIDDEN: the project is visible, the role is too low",
    404: "absent, or not yours",
    409: "CONFLICT",
    413: "FILE_TOO_LARGE",
    415: "UNSUPPORTED_FORMAT",
    422: "INVALID_REQUEST, or the document cannot be processed",
    429: "RATE_LIMIT_EXCEEDED, with Retry-After",
    502: "EMBEDDING_FAILED",
    503: "OVERLOADED, with Retry-After",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """OpenAPI entries for these error answers, beside those that every route can give."""
    return {
        status: {"model": ErrorAnswer, "description": _MEANINGS[status]}
        for status in sorted({401, 403, 404, 413, 422, 503, *statuses})
    }
