"""When and how long to wait before asking a vector server again: exponential backoff with full jitter.

The client's own uploader repeats at once and without end; that turns a busy server into a dead one.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import grpc
import httpx
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from engine.errors import StorageError

T = TypeVar("T")

QUOTA_EXCEEDED = 507  # a collection's or tenant's quota: waiting does not help
RETRIED_STATUS = {408, 429, 500, 502, 503, 504}
RETRIED_GRPC = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.INTERNAL,
}


@dataclass(frozen=True, slots=True)
class Backoff:
    """`attempts` in all; waits are drawn from [0, min(longest, first * 2^n)] seconds, after AWS's "full jitter"."""

    attempts: int = 7
    first: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], None] = time.sleep

    def wait(self, failures: int, hint: float | None) -> float:
        """Seconds before the next attempt; a server's Retry-After `hint` is a floor, with jitter on top."""
        ceiling = min(self.longest, self.first * 2.0 ** (failures - 1))
        drawn = random.uniform(0, ceiling)
        return drawn if hint is None else min(max(hint, 0.0), self.longest * 2) + drawn / 2


def call(action: Callable[[], T], backoff: Backoff, what: str) -> T:
    """The result of `action`, asked again while the server is busy or away.

    Raises StorageError when it refuses, or still fails after the last attempt.
    """
    failures = 0
    while True:
        try:
            return action()
        except (ApiException, QdrantException, grpc.RpcError, ValueError) as error:
            failures += 1
            retry, hint = judge(error)
            if not retry:
                raise StorageError(f"the vector server refused to {what}: {_reason(error)}") from error
            if failures >= backoff.attempts:
                raise StorageError(f"could not {what} in {failures} attempts: {_reason(error)}") from error
        backoff.sleep(backoff.wait(failures, hint))


def judge(error: Exception) -> tuple[bool, float | None]:
    """Whether asking again can help, and after how many seconds the server wants to be asked."""
    if isinstance(error, ResourceExhaustedResponse):
        return True, float(error.retry_after_s)
    if isinstance(error, UnexpectedResponse):
        return error.status_code in RETRIED_STATUS, _retry_after(error)
    if isinstance(error, ResponseHandlingException):
        return isinstance(error.source, httpx.TransportError), None
    if isinstance(error, grpc.RpcError):
        return status_of(error) in RETRIED_GRPC, None
    # A bare QdrantException is a Retry-After that is not a number: the server is busy all the same.
    return type(error) is QdrantException, None


def status_of(error: Exception) -> int | grpc.StatusCode | None:
    """The HTTP status or gRPC code of a server's refusal."""
    if isinstance(error, UnexpectedResponse):
        return error.status_code
    code = getattr(error, "code", None)  # the RpcError class declares nothing; its instances are also Calls
    return code() if callable(code) and isinstance(error, grpc.RpcError) else None  # pyright: ignore[reportReturnType]


def _retry_after(error: UnexpectedResponse) -> float | None:
    value = error.headers.get("retry-after", "") if error.headers else ""
    return float(value) if value.strip().isdigit() else None


def _reason(error: Exception) -> str:
    status = status_of(error)
    if status == QUOTA_EXCEEDED:
        return "507, its storage quota is used up"
    return f"{status or type(error).__name__}: {str(error)[:300]}"
