"""Requests and answers of the API. Field names follow the document processing standard; what it lacks is ours."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, PlainSerializer


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with Z, to the millisecond."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


Time = Annotated[datetime, PlainSerializer(iso, return_type=str)]


class Model(BaseModel):
    """An answer."""

    model_config = ConfigDict(extra="forbid")


class Request(BaseModel):
    """A JSON request: unknown fields are errors, so that a misspelt one is not silently ignored, and so is a number
    where true or false belongs."""

    model_config = ConfigDict(extra="forbid", strict=True, str_max_length=100_000)


class ErrorBody(Model):
    code: str
    message: str
    details: dict[str, object] = {}
    request_id: str


class ErrorAnswer(Model):
    """Every answer that is not 2xx (or, with `Accept: application/problem+json`, RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "error": {
                    "code": "DOCUMENT_NOT_FOUND",
                    "message": "there is no such document",
                    "details": {},
                    "request_id": "0b0e6b1f6d5e4c0f9a7d3c2b1a000000",
                }
            }
        }
    )

    error: ErrorBody
