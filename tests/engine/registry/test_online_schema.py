"""The tables of the online API: their migration goes back and forth, and every query on them has its index."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import event
from sqlalchemy.engine import Connection

from engine.registry import Project
from engine.registry.migrate import HEAD, current, downgrade, upgrade
from engine.registry.models import DOCUMENTS, METADATA
from engine.registry.online_models import DELIVERIES, EVENTS, INGESTS
from engine.registry.queries import Registry

from .ledger import document_id, ingest
from .upload_ledger import accept, finish, only

TABLES = ("ingests", "events", "deliveries", "originals", "batches", "batch_documents", "audit")


def test_the_first_ledger_goes_forward_and_back_with_its_documents(registry: Registry, project: Project) -> None:
    ingest(registry, project, "file")
    accept(registry, project, "a", "b", batch=str(uuid4()))
    finish(registry, only(registry))
    downgrade(registry, "0001")
    assert current(registry) == "0001"
    assert not set(TABLES) & set(registry.read(lambda c: sa.inspect(c).get_table_names()))
    assert registry.active([document_id("file"), document_id("a")]) == {
        document_id("file"): "r1",
        document_id("a"): "r1",
    }
    upgrade(registry)
    assert current(registry) == HEAD
    with registry.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    assert registry.queue_depth() == (0, 0)
    accept(registry, project, "b", n=2)
    assert only(registry).generation == 3
    assert ingest(registry, project, "file") == {"file": 2}


def fill(registry: Registry, project: Project, uploads: int, projects: int) -> None:
    """Waiting uploads in bulk, past the API, most of them the last project's; an event and a delivery each."""
    owners = [project, *(registry.project(f"p{n}", create=True) for n in range(projects - 1))]
    hooks = [registry.add_webhook(project.id, "https://example.com/", []).webhook_id for _ in range(2)]
    sources = {p.id: registry.source_ids([(p.id, "uploads")])[p.id, "uploads"] for p in owners}
    start = datetime.now(UTC) - timedelta(hours=1)

    def rows() -> Iterator[tuple[str, str, datetime]]:
        for n in range(uploads):
            owner = owners[n % projects if n < 10 * projects else -1]
            yield document_id(str(n)), owner.id, start + timedelta(milliseconds=n)

    documents = [_document(id_, owner, sources[owner], when) for id_, owner, when in rows()]
    ingests = [
        {"document_id": id_, "project_id": owner, "generation": 1, "object_key": f"o/{id_}", "created_at": when}
        for id_, owner, when in rows()
    ]
    events = [
        {"id": n, "project_id": owner, "document_id": id_, "type": "document.accepted", "created_at": when}
        for n, (id_, owner, when) in enumerate(rows(), 1_000_000)
    ]
    deliveries = [_delivery(hooks[n % 100 > 0], int(str(e["id"])), e["created_at"]) for n, e in enumerate(events)]

    def work(connection: Connection) -> None:
        for table, made in ((DOCUMENTS, documents), (INGESTS, ingests), (EVENTS, events), (DELIVERIES, deliveries)):
            for first in range(0, uploads, 2000):
                connection.execute(sa.insert(table), made[first : first + 2000])

    registry.write(work)
    if registry.engine.dialect.name == "postgresql":
        with registry.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(sa.text("VACUUM ANALYZE"))


def _document(id_: str, project_id: str, source_id: int, when: datetime) -> dict[str, object]:
    times = {"claimed_at": when, "created_at": when, "updated_at": when}
    return {
        "id": id_, "project_id": project_id, "source_id": source_id, "status": "pending", "swept_generation": 1,
        "key": id_, "warnings": [], "metadata": {}, **times,
    }  # fmt: skip


def _delivery(webhook_id: str, event_id: int, when: object) -> dict[str, object]:
    return {
        "id": str(uuid4()), "webhook_id": webhook_id, "event_id": event_id, "status": "pending",
        "next_attempt_at": when, "created_at": when, "updated_at": when,
    }  # fmt: skip


def _plans(registry: Registry, use: Callable[[], object]) -> str:
    """The plans of every statement that `use` sends, with values bound as the product binds them."""
    plans: list[str] = []
    prefix = "EXPLAIN " if registry.engine.dialect.name == "postgresql" else "EXPLAIN QUERY PLAN "

    def before(_c: Connection, cursor: object, statement: str, parameters: object, _x: object, many: bool) -> None:
        if statement.startswith(("SELECT", "WITH", "UPDATE", "DELETE")) and not many:
            cursor.execute(prefix + statement, parameters)  # type: ignore[attr-defined]
            plans.extend(str(row) for row in cursor.fetchall())  # type: ignore[attr-defined]

    event.listen(registry.engine, "before_cursor_execute", before)
    use()
    event.remove(registry.engine, "before_cursor_execute", before)
    return "\n".join(plans)


def test_every_query_of_the_queue_goes_through_its_index(registry: Registry, project: Project) -> None:
    fill(registry, project, 6000, 20)
    hook = registry.webhooks(project.id)[0].webhook_id
    (held,) = registry.lease("w", 60)
    some = held.document_id
    uses: dict[str, Callable[[], object]] = {
        "ix_ingests_waiting": lambda: registry.lease("w", 60, limit=2),
        "ix_ingests_leased": lambda: registry.lease("w", 60),
        "pk_ingests sqlite_autoindex_ingests_1": lambda: registry.renew(some, held.generation, 60, "extract"),
        "ix_ingests_object": lambda: registry.held_objects([f"o/{some}"]),
        "ix_events_document": lambda: registry.events(some, after=5),
        "ix_events_age": lambda: registry.prune_events(10_000),
        "ix_deliveries_due": lambda: registry.lease_deliveries("s", 60, 3),
        "ix_deliveries_leased": lambda: registry.lease_deliveries("s", 60, 1),
        "uq_deliveries_webhook_id_event_id sqlite_autoindex_deliveries_2": lambda: registry.deliveries(hook, limit=5),
        "ix_documents_parent": lambda: registry.delete(some),
    }
    for names, use in uses.items():
        plan = _plans(registry, use)
        assert any(name in plan for name in names.split()), (names, plan)
        for table in ("documents", "ingests", "events", "deliveries"):
            assert f"Seq Scan on {table}" not in plan, plan
            assert f"SCAN {table}'" not in plan, plan


@pytest.mark.slow
def test_a_lease_takes_the_same_time_however_many_wait(registry: Registry, project: Project) -> None:
    fill(registry, project, 50_000, 200)
    seconds: list[float] = []
    for _ in range(30):
        began = time.perf_counter()
        assert len(registry.lease("w", 60)) == 1
        seconds.append(time.perf_counter() - began)
    print(f"{registry.engine.dialect.name}: {1000 * sorted(seconds)[15]:.1f} ms a lease")
    assert sorted(seconds)[15] < 0.1
