"""Requests for every operation of the OpenAPI document, made from ids: what a walk over the API sends."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx

FILE = ("note.txt", b"An upload into a project that is not mine.", "text/plain")
JSON_BODIES: dict[str, dict[str, Any]] = {
    "POST /api/v1/documents/search": {"query": "lighthouse keeper", "project_id": "{project_id}", "mode": "lexical"},
    "POST /api/v1/agent/search": {"query": "lighthouse keeper", "project_id": "{project_id}"},
    "POST /api/v1/projects/{project_id}/webhooks": {"url": "https://example.com/hook"},
    "PATCH /api/v1/projects/{project_id}": {"settings": {"retention_days": 9}},
    "POST /api/v1/projects": {"slug": "{slug}"},
}
FORMS = {"POST /api/v1/documents/parse": "file", "POST /api/v1/documents/batch": "files"}


@dataclass(slots=True)
class Ids:
    """What fills the parameters of a request."""

    project_id: str
    document_id: str
    batch_id: str
    webhook_id: str
    run_id: str
    asset: str
    chunk_id: str
    page: str = "1"
    slug: str = field(default_factory=lambda: f"made-{uuid.uuid4().hex[:12]}")

    @staticmethod
    def of_nobody() -> Ids:
        made = [str(uuid.uuid4()) for _ in range(7)]
        return Ids(*made)

    def values(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in self.__slots__}


def operations(openapi: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(method, path template, operation) of everything that needs a token."""
    for path, item in openapi["paths"].items():
        for method, operation in item.items():
            if path.startswith("/api/v1"):
                yield method.upper(), path, operation


def send(client: httpx.Client, method: str, path: str, operation: dict[str, Any], ids: Ids) -> httpx.Response:
    """The operation with these ids in its path, its query and its body."""
    values = ids.values()
    name = f"{method} {path}"
    target = re.sub(r"\{(\w+)\}", lambda m: values[_known(m[1], path)], path)
    query = {
        p["name"]: values[p["name"]]
        for p in operation.get("parameters", [])
        if p["in"] == "query" and p["name"] in ("project_id", "chunk_id")
    }
    if name in FORMS:
        return client.request(method, target, data={"project_id": ids.project_id}, files={FORMS[name]: FILE})
    body = JSON_BODIES.get(name)
    if body is not None:
        text = json.dumps(body)
        for key in ("project_id", "slug"):
            text = text.replace("{" + key + "}", values[key])
        return client.request(method, target, params=query, json=json.loads(text))
    assert "requestBody" not in operation, f"{name} needs an entry in JSON_BODIES"
    if path.endswith("/events"):
        return client.request(method, target, params=query, headers={"Last-Event-ID": "999999999"}, timeout=20)
    return client.request(method, target, params=query)


def _known(parameter: str, path: str) -> str:
    return {"page_number": "page", "n": "page", "asset_id": "asset"}.get(parameter, parameter)


def without_ids(response: httpx.Response, ids: Ids) -> tuple[int, str, dict[str, str]]:
    """What a caller learns of an answer: status, body and the headers that speak, its own ids and the request's left
    out."""
    text = response.text
    for value in sorted(ids.values().values(), key=len, reverse=True):
        if len(value) > 3:
            text = text.replace(value, "ID")
    text = re.sub(r'"request_id": ?"[^"]*"', '"request_id":""', text)
    kept = ("content-type", "www-authenticate", "retry-after", "etag", "location", "allow")
    return response.status_code, text, {k: v for k, v in response.headers.items() if k in kept}
