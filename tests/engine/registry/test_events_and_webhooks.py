"""The event log, and its deliveries to webhooks: filtered, leased to one, repeated, given up, forgotten."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa

from engine.errors import Code, InputError
from engine.registry import Project
from engine.registry.online import EVENT_TYPES, Delivery, DeliveryLease
from engine.registry.online_models import DELIVERIES, EVENTS
from engine.registry.queries import Registry

from .ledger import document_id
from .upload_ledger import accept, finish, only, types

A = document_id("a")
URL = "https://example.com/hook"


def _send(registry: Registry, limit: int = 10, seconds: float = 60) -> list[DeliveryLease]:
    return registry.lease_deliveries("sender", seconds, limit)


def _one(registry: Registry, webhook_id: str) -> Delivery:
    (found,) = registry.deliveries(webhook_id)
    return found


def _run_out(registry: Registry) -> None:
    past = datetime.now(UTC) - timedelta(minutes=1)
    given = sa.update(DELIVERIES).where(DELIVERIES.c.lease_until.is_not(None))
    registry.write(lambda c: c.execute(given.values(lease_until=past)))


# ---------------------------------------------------------------- events
def test_events_page_by_their_ids(registry: Registry, project: Project) -> None:
    accept(registry, project, "a", "b")
    held = only(registry)
    for n in range(5):
        registry.renew(A, held.generation, 60, f"stage{n}")
    finish(registry, held)
    everything = registry.events(A)
    assert [e.type for e in everything] == ["document.accepted", *["document.stage"] * 5, "document.completed"]
    assert [e.id for e in everything] == sorted({e.id for e in everything})
    assert all(e.created_at.tzinfo is not None and e.project_id == project.id for e in everything)
    first = registry.events(A, limit=3)
    assert first + registry.events(A, after=first[-1].id) == everything
    assert registry.events(A, after=everything[-1].id) == []
    assert registry.events("no uuid") == []
    assert registry.events(str(uuid4())) == []
    assert types(registry, "b") == ["document.accepted"]


def test_old_events_are_forgotten_with_their_deliveries(registry: Registry, project: Project) -> None:
    hook = registry.add_webhook(project.id, URL, [])
    accept(registry, project, "a")
    newest = registry.events(A)[-1].id
    assert registry.prune_events(60) == 0
    past = datetime.now(UTC) - timedelta(days=8)
    registry.write(lambda c: c.execute(sa.update(EVENTS).values(created_at=past)))
    accept(registry, project, "b")
    assert registry.prune_events(7 * 86400) == 1
    assert registry.events(A) == []
    assert [d.event_id for d in registry.deliveries(hook.webhook_id)] == [registry.events(document_id("b"))[0].id]
    registry.prune_events(-1)
    accept(registry, project, "a", n=2)
    assert registry.events(A)[0].id > newest + 1, "no id is given twice, even when the newest are gone"


# ---------------------------------------------------------------- webhooks
def test_a_webhook_has_a_secret_of_its_own(registry: Registry, project: Project) -> None:
    made = registry.add_webhook(project.id, URL, ["document.failed", "document.completed", "document.failed"])
    assert made.events == ["document.failed", "document.completed"]
    kind, _, secret = made.secret.partition("_")
    assert (kind, len(base64.b64decode(secret, validate=True))) == ("whsec", 24)
    other = registry.add_webhook(project.id, URL, [])
    assert other.secret != made.secret
    assert registry.webhooks(project.id) == [made, other]
    elsewhere = registry.project("other", create=True).id
    assert registry.webhooks(elsewhere) == []
    assert not registry.remove_webhook(elsewhere, made.webhook_id)
    assert not registry.remove_webhook(project.id, "no uuid")
    assert registry.remove_webhook(project.id, made.webhook_id)
    assert not registry.remove_webhook(project.id, made.webhook_id)
    assert registry.webhooks(project.id) == [other]


def test_unfit_webhooks_are_refused(registry: Registry, project: Project) -> None:
    for events in (["document.stage"], ["document.completed", "everything"]):
        with pytest.raises(InputError) as caught:
            registry.add_webhook(project.id, URL, events)
        assert caught.value.code == Code.INVALID_REQUEST
    with pytest.raises(InputError) as caught:
        registry.add_webhook(str(uuid4()), URL, [])
    assert caught.value.code == Code.PROJECT_NOT_FOUND


def test_events_go_to_the_webhooks_that_want_them(registry: Registry, project: Project) -> None:
    ends = registry.add_webhook(project.id, URL, ["document.completed", "document.deleted"])
    everything = registry.add_webhook(project.id, URL, [])
    registry.add_webhook(registry.project("other", create=True).id, URL, [])
    accept(registry, project, "a", batch=str(uuid4()))
    held = only(registry)
    registry.renew(A, held.generation, 60, "extract")
    finish(registry, held)
    late = registry.add_webhook(project.id, URL, [])
    registry.delete(A)

    def told(webhook_id: str) -> list[str]:
        return [d.event_type for d in registry.deliveries(webhook_id)]

    assert told(ends.webhook_id) == ["document.deleted", "document.completed"]
    assert sorted(told(everything.webhook_id)) == sorted(EVENT_TYPES[:2] + EVENT_TYPES[3:])
    assert told(everything.webhook_id)[0] == "document.deleted"
    assert told(late.webhook_id) == ["document.deleted"], "from its making on"


def test_deliveries_page_newest_first(registry: Registry, project: Project) -> None:
    hook = registry.add_webhook(project.id, URL, [])
    for n in range(7):
        accept(registry, project, f"k{n}")
    everything = registry.deliveries(hook.webhook_id)
    assert [d.event_id for d in everything] == sorted((d.event_id for d in everything), reverse=True)
    first = registry.deliveries(hook.webhook_id, limit=3)
    assert first + registry.deliveries(hook.webhook_id, after=first[-1].delivery_id) == everything
    assert registry.deliveries(hook.webhook_id, after=str(uuid4())) == []
    assert registry.deliveries("no uuid") == []


# ---------------------------------------------------------------- delivering
def test_a_delivery_is_leased_once_and_ends(registry: Registry, project: Project) -> None:
    hook = registry.add_webhook(project.id, URL, [])
    accept(registry, project, "a")
    waiting = _one(registry, hook.webhook_id)
    assert (waiting.status, waiting.attempt, waiting.response_status, waiting.error) == ("pending", 0, None, "")
    assert waiting.next_attempt_at is not None
    (sent,) = _send(registry)
    assert (sent.delivery_id, sent.attempt, sent.url, sent.secret) == (waiting.delivery_id, 1, URL, hook.secret)
    assert sent.event == registry.events(A)[0]
    assert _send(registry) == []
    registry.delivered(sent.delivery_id, 1, 204)
    ended = _one(registry, hook.webhook_id)
    assert (ended.status, ended.attempt, ended.response_status, ended.next_attempt_at) == ("delivered", 1, 204, None)
    assert ended.updated_at > ended.created_at
    registry.retry_delivery(sent.delivery_id, 1, 500, "late", None)
    assert _one(registry, hook.webhook_id) == ended
    assert _send(registry) == []


def test_a_failed_try_is_repeated_when_due_and_given_up(registry: Registry, project: Project) -> None:
    hook = registry.add_webhook(project.id, URL, [])
    accept(registry, project, "a")
    (sent,) = _send(registry)
    later = datetime.now(UTC) + timedelta(hours=1)
    registry.retry_delivery(sent.delivery_id, 1, 503, "the receiver said 503", later)
    waiting = _one(registry, hook.webhook_id)
    assert (waiting.status, waiting.attempt, waiting.next_attempt_at) == ("pending", 1, later)
    assert (waiting.response_status, waiting.error) == (503, "the receiver said 503")
    assert _send(registry) == [], "not due"
    registry.write(lambda c: c.execute(sa.update(DELIVERIES).values(next_attempt_at=datetime.now(UTC))))
    (again,) = _send(registry)
    assert (again.delivery_id, again.attempt) == (sent.delivery_id, 2)
    registry.retry_delivery(again.delivery_id, 2, None, "no connection", None)
    ended = _one(registry, hook.webhook_id)
    assert (ended.status, ended.response_status, ended.error, ended.next_attempt_at) == (
        "failed", None, "no connection", None,
    )  # fmt: skip
    assert _send(registry) == []


def test_a_delivery_lease_that_ran_out_is_given_again(registry: Registry, project: Project) -> None:
    hook = registry.add_webhook(project.id, URL, [])
    accept(registry, project, "a", "b")
    first, other = _send(registry)
    _run_out(registry)
    again = _send(registry)
    assert {(d.delivery_id, d.attempt) for d in again} == {(first.delivery_id, 2), (other.delivery_id, 2)}
    registry.retry_delivery(first.delivery_id, 1, 500, "late", None)
    assert {d.status for d in registry.deliveries(hook.webhook_id)} == {"pending"}
    registry.delivered(first.delivery_id, 1, 200)
    assert sorted(d.status for d in registry.deliveries(hook.webhook_id)) == ["delivered", "pending"]
    registry.retry_delivery(first.delivery_id, 2, 500, "it had it already", datetime.now(UTC))
    assert sorted(d.status for d in registry.deliveries(hook.webhook_id)) == ["delivered", "pending"]


def test_a_dead_webhook_does_not_hold_up_the_others(registry: Registry, project: Project) -> None:
    dead = registry.add_webhook(project.id, "https://dead.example/", [])
    accept(registry, project, *(f"k{n}" for n in range(20)))
    alive = registry.add_webhook(project.id, "https://alive.example/", [])
    accept(registry, project, "a", "b")
    urls = [sent.url for sent in _send(registry, 5)]
    assert urls.count(alive.url) == 2
    assert urls[0] == dead.url, "it has waited longest"
    assert [sent.url for sent in _send(registry, 1)] == [dead.url]
    accept(registry, project, "c")
    assert [sent.url for sent in _send(registry, 1)] == [alive.url]


def test_a_removed_webhook_takes_its_deliveries_along(registry: Registry, project: Project) -> None:
    hook = registry.add_webhook(project.id, URL, [])
    accept(registry, project, "a", "b")
    sent = _send(registry, 1)[0]
    registry.remove_webhook(project.id, hook.webhook_id)
    assert _send(registry) == []
    assert registry.deliveries(hook.webhook_id) == []
    registry.delivered(sent.delivery_id, 1, 200)
    assert len(registry.events(A)) == 1
    accept(registry, project, "c")
