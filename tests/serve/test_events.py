"""The event stream: in order, exactly one terminal event, to be taken up again where it broke."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest
from httpx_sse import connect_sse

from engine.registry.events import Events
from engine.registry.online import Event

TEXT = b"# Lamp\n\nThe keeper wound the clockwork every four hours.\n"
TERMINAL = ("document.completed", "document.failed", "document.deleted")


def upload(api: httpx.Client, content: bytes = TEXT, **more: str) -> str:
    sent = api.post("/documents/parse", data={"project_id": "demo", **more}, files={"file": ("a.md", content)})
    return sent.json()["document_id"]


def events(api: httpx.Client, document: str, last: str = "") -> list[tuple[str, str]]:
    headers = {"Last-Event-ID": last} if last else {}
    with connect_sse(api, "GET", f"/documents/{document}/events", headers=headers) as source:
        assert source.response.status_code == 200
        return [(sent.event, sent.id) for sent in source.iter_sse() if sent.data]  # the others are heartbeats


def test_a_stream_ends_with_its_one_terminal_event(api: httpx.Client) -> None:
    seen = events(api, upload(api))
    kinds = [kind for kind, _ in seen]
    assert kinds[0] == "document.accepted" and kinds[-1] == "document.completed"
    assert sum(kind in TERMINAL for kind in kinds) == 1
    ids = [int(id_) for _, id_ in seen]
    assert ids == sorted(set(ids))


def test_a_stream_asks_for_what_is_new_only(api: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    read = Events.events

    def noted(self: Events, document_id: str, after: int = 0, limit: int = 100) -> list[Event]:
        asked.append(after)
        return read(self, document_id, after, limit)

    monkeypatch.setattr(Events, "events", noted)
    events(api, upload(api))
    assert asked[0] == 0 and 0 not in asked[1:]


def test_a_stream_goes_on_after_the_last_event_seen(api: httpx.Client) -> None:
    document = upload(api)
    whole = events(api, document)
    assert events(api, document, whole[1][1]) == whole[2:]
    done = api.get(f"/documents/{document}/events", headers={"Last-Event-ID": whole[-1][1]})
    assert done.status_code == 204


def test_a_new_revision_has_a_stream_of_its_own(api: httpx.Client) -> None:
    document = upload(api, source_id="twice")
    first = events(api, document)
    assert upload(api, TEXT + b"more", source_id="twice") == document
    second = events(api, document, first[-1][1])
    assert [kind for kind, _ in second].count("document.completed") == 1
    assert int(second[0][1]) > int(first[-1][1])


def test_a_failure_says_why(api: httpx.Client, ended: Callable[[str], dict[str, Any]]) -> None:
    broken = b"%PDF-1.7\n" + b"nothing here is an object\n" * 30
    sent = api.post("/documents/parse", data={"project_id": "demo"}, files={"file": ("broken.pdf", broken)})
    document = sent.json()["document_id"]
    seen = events(api, document)
    assert seen[-1][0] == "document.failed"
    found = ended(document)
    assert found["status"] == "failed" and found["error"]["code"] and found["error_message"]


def test_deleting_is_told_too(api: httpx.Client) -> None:
    document = upload(api)
    events(api, document)
    assert api.delete(f"/documents/{document}").status_code == 204
    assert api.get(f"/documents/{document}/events").status_code == 404
