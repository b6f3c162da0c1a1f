"""Every error of the API as an HTTP answer: status, envelope, problem, headers, and nothing that is not for callers."""

from __future__ import annotations

import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Literal
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI, Query
from pydantic import BaseModel, Field, field_validator
from starlette.exceptions import HTTPException
from starlette.testclient import TestClient

from engine.errors import Code, ConfigError, CorpusError, EmbeddingError, InputError, SourceError, StorageError
from engine.settings import load
from serve import errors, middleware
from serve.accept import prefers
from serve.metrics import Metrics

SECRET = "zanzibarquartz"
PROBLEM = "application/problem+json"


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]


class Body(BaseModel):
    name: str = Field(max_length=5)
    id: UUID | None = None
    numbers: list[int] = []
    pet: Annotated[Cat | Dog, Field(discriminator="kind")] | None = None

    @field_validator("name")
    @classmethod
    def _known(cls, value: str) -> str:
        if value == "bad":
            raise ValueError("this name is taken")
        return value


@pytest.fixture(params=["with middleware", "alone"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> TestClient:
    app = FastAPI()

    @app.get("/raise/{code}")
    def raise_code(code: Code) -> None:
        raise CorpusError(f"about {SECRET}", code, details={"detail": SECRET})

    @app.get("/http/{status}")
    def raise_http(status: int) -> None:
        raise HTTPException(status, headers={"X-Own": "yes"})

    @app.post("/body")
    def take(body: Body, per_page: Annotated[int, Query(le=200)] = 10) -> dict[str, str]:
        return {"name": body.name}

    @app.get("/crash")
    async def crash() -> None:
        raise RuntimeError(f"the document says {SECRET}")

    errors.install(app)
    if request.param == "with middleware":
        deps = SimpleNamespace(settings=load({"home": tmp_path}, environ={}), metrics=Metrics())
        middleware.install(app, deps)  # type: ignore[arg-type]
    return TestClient(app, raise_server_exceptions=False)


def envelope(answer: httpx.Response) -> dict[str, object]:
    assert set(answer.json()) == {"error"}
    error = answer.json()["error"]
    assert set(error) == {"code", "message", "details", "request_id"}
    assert error["request_id"] == answer.headers.get("x-request-id", "")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["vary"] == "Accept"
    assert error["code"] in set(Code)
    return error


# The contract's table, and what is documented beside it.
TABLE = {
    415: ["UNSUPPORTED_FORMAT"],
    413: ["FILE_TOO_LARGE"],
    400: ["BATCH_TOO_LARGE"],
    422: ["INVALID_REQUEST", "EXTRACTION_FAILED", "OCR_FAILED", "ENCRYPTED_DOCUMENT", "LIMIT_EXCEEDED",
          "EXTRACTION_TIMEOUT"],
    502: ["EMBEDDING_FAILED"],
    404: ["DOCUMENT_NOT_FOUND", "PROJECT_NOT_FOUND", "JOB_NOT_FOUND"],
    401: ["UNAUTHENTICATED"],
    403: ["FORBIDDEN"],
    409: ["CONFLICT"],
    429: ["RATE_LIMIT_EXCEEDED"],
    503: ["OVERLOADED", "SOURCE_UNAVAILABLE", "STORAGE_FAILED", "WORKER_LOST"],
    500: ["INTERNAL", "CONFIGURATION"],
    501: ["MISSING_DEPENDENCY"],
}  # fmt: skip
CODES = {code: status for status, codes in TABLE.items() for code in codes}


def test_the_table_is_complete() -> None:
    assert set(CODES) == set(Code) == set(errors.STATUS)


@pytest.mark.parametrize(("code", "status"), CODES.items())
def test_every_code_has_its_status(client: TestClient, code: str, status: int) -> None:
    answer = client.get(f"/raise/{code}")
    assert answer.status_code == status
    assert envelope(answer)["code"] == code
    assert ("retry-after" in answer.headers) == (status in (429, 503))
    assert ("www-authenticate" in answer.headers) == (status == 401)
    # faults of ours are described by words of our own
    ours = code in ("INTERNAL", "CONFIGURATION", "STORAGE_FAILED", "SOURCE_UNAVAILABLE", "EMBEDDING_FAILED")
    assert (SECRET in answer.text) == (not ours)


def test_the_engines_own_kinds_of_errors() -> None:
    kinds = {ConfigError: 500, StorageError: 503, SourceError: 503, EmbeddingError: 502, InputError: 422}
    for kind, status in kinds.items():
        assert errors.STATUS[kind("x").code] == status


@pytest.mark.parametrize(("given", "sent"), [(None, "60"), (0.2, "1"), (7.2, "8"), (30, "30"), ("soon", "60")])
def test_retry_after_says_what_the_error_says(given: object, sent: str) -> None:
    details = {} if given is None else {"retry_after": given}
    error = InputError("too many", Code.RATE_LIMIT_EXCEEDED, details=details)
    assert errors.error_answer({"headers": []}, error).headers["retry-after"] == sent


def test_a_wrong_token_is_told_from_a_missing_one(client: TestClient) -> None:
    assert client.get("/raise/UNAUTHENTICATED").headers["www-authenticate"] == 'Bearer realm="corpus"'
    wrong = client.get("/raise/UNAUTHENTICATED", headers={"Authorization": "Bearer nonsense"})
    assert wrong.headers["www-authenticate"] == 'Bearer realm="corpus", error="invalid_token"'


# ---------------------------------------------------------------- the framework's own
def test_an_unknown_path(client: TestClient) -> None:
    answer = client.get("/nowhere")
    assert (answer.status_code, envelope(answer)["code"]) == (404, "DOCUMENT_NOT_FOUND")


def test_another_method(client: TestClient) -> None:
    answer = client.delete("/body")
    assert (answer.status_code, envelope(answer)["code"]) == (405, "INVALID_REQUEST")
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("status", "answered", "code"),
    [(400, 422, "INVALID_REQUEST"), (401, 401, "UNAUTHENTICATED"), (406, 406, "INVALID_REQUEST"),
     (413, 413, "FILE_TOO_LARGE"), (415, 415, "UNSUPPORTED_FORMAT"), (429, 429, "RATE_LIMIT_EXCEEDED"),
     (503, 503, "OVERLOADED"), (504, 504, "INTERNAL")],
)  # fmt: skip
def test_what_the_framework_raises(client: TestClient, status: int, answered: int, code: str) -> None:
    for accept in ("*/*", PROBLEM):
        answer = client.get(f"/http/{status}", headers={"Accept": accept})
        assert answer.status_code == answered
        assert answer.headers["x-own"] == "yes"
        found = envelope(answer) if accept == "*/*" else answer.json()
        assert found["code"] == code


def test_not_modified_has_no_body(client: TestClient) -> None:
    answer = client.get("/http/304")
    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize(
    ("json", "fields"),
    [
        ({}, ["name"]),
        ({"name": SECRET}, ["name"]),
        ({"name": "bad"}, ["name"]),
        ({"name": "a", "id": SECRET}, ["id"]),
        ({"name": "a", "numbers": [1, SECRET, SECRET]}, ["numbers.1", "numbers.2"]),
        ({"name": "a", "pet": {"kind": SECRET}}, ["pet"]),
        ([SECRET], [""]),
    ],
)
def test_invalid_fields_are_named_and_values_never_repeated(
    client: TestClient, json: object, fields: list[str]
) -> None:
    answer = client.post("/body", json=json)
    assert answer.status_code == 422
    error = envelope(answer)
    assert error["code"] == "INVALID_REQUEST"
    problems = error["details"]["errors"]  # type: ignore[index]
    assert [problem["field"] for problem in problems] == [name or "body" for name in fields]
    assert all(problem["problem"] for problem in problems)
    assert SECRET not in answer.text


def test_query_parameters_and_bodies_that_are_no_json(client: TestClient) -> None:
    answer = client.post("/body?per_page=500", json={"name": "a"})
    assert envelope(answer)["details"]["errors"][0]["field"] == "per_page"  # type: ignore[index]
    for content in (b"{" + SECRET.encode(), b"\xff\xfe", b"[" * 100_000, b""):
        answer = client.post("/body", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, content[:20]
        assert envelope(answer)["code"] == "INVALID_REQUEST"
        assert SECRET not in answer.text


def test_many_problems_are_not_all_listed(client: TestClient) -> None:
    answer = client.post("/body", json={"name": "a", "numbers": ["x"] * 5000})
    details = envelope(answer)["details"]
    assert len(details["errors"]) == 50  # type: ignore[arg-type, index]
    assert details["errors_left_out"] == 4950  # type: ignore[index]
    assert len(answer.content) < 10_000


def test_what_nobody_foresaw(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = client.get("/crash")
    assert answer.status_code == 500
    assert envelope(answer)["code"] == "INTERNAL"
    assert SECRET not in answer.text
    assert "RuntimeError" not in answer.text
    if "x-request-id" in answer.headers:  # with the middleware
        assert [r.message for r in caplog.records if r.name == "serve.middleware"] == ["a request failed unexpectedly"]


# ---------------------------------------------------------------- RFC 9457
def test_a_problem_for_who_asks_for_one(client: TestClient) -> None:
    answer = client.get("/raise/CONFLICT", headers={"Accept": PROBLEM})
    assert answer.headers["content-type"] == PROBLEM
    assert answer.json() == {
        "type": "about:blank",
        "title": "Conflict",
        "status": 409,
        "detail": f"about {SECRET}",
        "code": "CONFLICT",
        "details": {"detail": SECRET},
        "request_id": answer.headers.get("x-request-id", ""),
    }
    for path in ("/nowhere", "/crash", "/http/400"):
        answer = client.get(path, headers={"Accept": f"text/html, {PROBLEM};q=0.9"})
        assert answer.headers["content-type"] == PROBLEM
        assert answer.json()["status"] == answer.status_code


@pytest.mark.parametrize(
    ("accept", "problem"),
    [
        ("", False),
        ("*/*", False),
        ("application/*", False),
        ("application/json", False),
        (PROBLEM, True),
        ("Application/Problem+JSON", True),
        (f"{PROBLEM}, application/json", True),
        (f"application/json, {PROBLEM}", True),
        (f"application/json, {PROBLEM};q=0.5", False),
        (f"application/json;q=0.5, {PROBLEM}", True),
        (f"application/json;q=0.5, {PROBLEM};q=0.4, */*", False),
        (f"{PROBLEM};q=0.1, */*", True),
        (f"{PROBLEM};q=0", False),
        (f"{PROBLEM};q=0.000, application/json;q=0", False),
        (f"{PROBLEM}; q = 0.5", True),
        (f"{PROBLEM};q=2", False),
        (f"{PROBLEM};q=abc", False),
        (f"{PROBLEM};charset=utf-8", True),
        (f"text/html;q=1.0,,;;, {PROBLEM}", True),
    ],
)
def test_negotiation(accept: str, problem: bool) -> None:
    assert prefers(accept, PROBLEM, "application/json") is problem
