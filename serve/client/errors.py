"""What the client raises.

Exception
└── ApiError            the server refused; `code` as in the API's error table
    └── ProcessingError the upload was taken, and processing it failed
"""

from __future__ import annotations

from typing import Any

import httpx


class ApiError(Exception):
    """An answer that is not 2xx. `code` is stable, `message` is for people, `request_id` finds it in the log."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        details: dict[str, Any] | None = None,
        request_id: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}" + (f" (request {request_id})" if request_id else ""))
        self.status = status
        self.code = code
        self.message = message
        self.details = details or {}
        self.request_id = request_id
        self.retry_after = retry_after


class ProcessingError(ApiError):
    """A document ended as failed."""


def error_of(response: httpx.Response) -> ApiError:
    """The error behind an answer, be it from the API or from a proxy in front of it."""
    given = response.headers.get("retry-after", "")
    wait = float(given) if given.isdecimal() else None
    try:
        body = response.json()["error"]
        return ApiError(
            response.status_code, body["code"], body["message"], body.get("details"), body.get("request_id", ""), wait
        )
    except (ValueError, KeyError, TypeError):
        text = f"{response.reason_phrase or 'error'} from {response.url.host}"
        return ApiError(response.status_code, f"HTTP_{response.status_code}", text, retry_after=wait)
