"""Several processes at one queue: everything is given once, ends once, and nothing is forgotten."""

from __future__ import annotations

import multiprocessing
import random
import time
from collections import Counter
from multiprocessing.synchronize import Barrier
from uuid import uuid4

import sqlalchemy as sa

from engine.records import Failure
from engine.registry import Project
from engine.registry.online import TERMINAL, Lease
from engine.registry.online_models import BATCHES, EVENTS, INGESTS, ORIGINALS, ORPHANED_OBJECTS
from engine.registry.queries import Registry

from .ledger import document_id
from .upload_ledger import accept, finish, only, published, run_out, types, upload

FORK = multiprocessing.get_context("fork")


def _drain(registry: Registry, worker: int) -> list[tuple[str, str, bool]]:
    """Work until nothing is left; (document, project, whether this worker told its end)."""
    done: list[tuple[str, str, bool]] = []
    while leases := registry.lease(f"w{worker}", 60, limit=5):
        registry.publish([published(lease) for lease in leases])
        done += [(h.document_id, h.project_id, registry.settle(h.document_id, h.generation)) for h in leases]
    return done


def test_eight_workers_take_two_hundred_uploads_once_each(registry: Registry, project: Project) -> None:
    others = [registry.project(f"p{n}", create=True) for n in range(3)]
    batches = [str(uuid4()) for _ in range(4)]
    for n, (owner, batch) in enumerate(zip([project, *others], batches, strict=True)):
        accept(registry, owner, *(f"{n}-{k}" for k in range(50)), batch=batch)
    registry.close()
    with FORK.Pool(8) as pool:
        done = [row for rows in pool.starmap(_drain, [(registry, n) for n in range(8)], chunksize=1) for row in rows]
    assert len(done) == 200
    assert len({id_ for id_, _, _ in done}) == 200
    assert all(told for _, _, told in done)
    assert registry.queue_depth() == (0, 0)
    told = sa.select(EVENTS.c.type, sa.func.count()).group_by(EVENTS.c.type)
    counts = {type_: count for type_, count in registry.read(lambda c: c.execute(told).all())}
    assert counts == {"document.accepted": 200, "document.completed": 200, "batch.completed": 4}
    generations = {h.generation for h in map(registry.document, (id_ for id_, _, _ in done)) if h is not None}
    assert generations == {2}, "each was leased once"


def _publish_and_settle(registry: Registry, leases: list[Lease], start: Barrier) -> None:
    for lease in leases:
        start.wait(60)
        registry.publish([published(lease)])
        registry.settle(lease.document_id, lease.generation)


def _delete(registry: Registry, leases: list[Lease], start: Barrier) -> None:
    for lease in leases:
        start.wait(60)
        time.sleep(random.uniform(0, 0.01))
        registry.delete(lease.document_id)


def test_a_deletion_that_races_the_end_has_the_last_word(registry: Registry, project: Project) -> None:
    batch = str(uuid4())
    registry.add_webhook(project.id, "https://example.com/", ["batch.completed"])
    keys = [f"k{n}" for n in range(30)]
    accept(registry, project, *keys, batch=batch)
    leases = registry.lease("w", 60, limit=30)
    start = FORK.Barrier(2)
    registry.close()
    workers = [FORK.Process(target=f, args=(registry, leases, start)) for f in (_publish_and_settle, _delete)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    seen = Counter(tuple(types(registry, key)) for key in keys)
    assert set(seen) <= {
        ("document.accepted", "document.deleted"),
        ("document.accepted", "document.completed", "document.deleted"),
    }
    assert registry.visible(project.id) == (0, 0)
    assert registry.queue_depth() == (0, 0)
    assert len(registry.lease_deliveries("s", 60, 9)) == 1, "the batch completed once"
    assert sorted(registry.orphaned_objects()) == sorted(f"uploads/{key}/1" for key in keys)


def _accept(registry: Registry, project: Project, worker: int, rounds: int, start: Barrier) -> list[int]:
    taken: list[int] = []
    for n in range(rounds):
        start.wait(60)
        number = worker * 100 + n
        given = [upload(project, key, number) for key in random.sample(["a", "b", f"own{worker}"], 3)]
        taken.append(registry.accept(given, str(uuid4()))[document_id("a")])
    return taken


def _accept_into(
    registry: Registry, project: Project, worker: int, start: Barrier, answers: multiprocessing.SimpleQueue[list[int]]
) -> None:
    answers.put(_accept(registry, project, worker, 15, start))


def test_racing_uploads_of_one_document_leave_one(registry: Registry, project: Project) -> None:
    start, answers = FORK.Barrier(3), FORK.SimpleQueue()
    registry.close()
    workers = [FORK.Process(target=_accept_into, args=(registry, project, n, start, answers)) for n in range(3)]
    for worker in workers:
        worker.start()
    generations = [g for _ in workers for g in answers.get()]
    for worker in workers:
        worker.join()
    assert sorted(generations) == list(range(1, 46)), "each took a generation of its own"
    held = {h.key: h for h in registry.lease("w", 60, limit=9)}
    assert set(held) == {"a", "b", "own0", "own1", "own2"}
    assert held["a"].generation == 46
    every = [f"uploads/{k}/{w * 100 + n}" for w in range(3) for n in range(15) for k in ("a", "b", f"own{w}")]
    needed = {h.object_key for h in held.values()}
    assert set(registry.orphaned_objects(limit=999)) == set(every) - needed
    assert registry.held_objects(every) == needed
    ended = sa.select(sa.func.count()).where(BATCHES.c.completed_at.is_not(None))
    still_open = {h.batch_id for h in held.values()}
    assert registry.read(lambda c: c.execute(ended).scalar()) == 45 - len(still_open)
    for lease in held.values():
        finish(registry, lease)
    assert registry.read(lambda c: c.execute(ended).scalar()) == 45


def _deliver(registry: Registry, worker: int) -> list[str]:
    got: list[str] = []
    while sent := registry.lease_deliveries(f"s{worker}", 60, 3):
        got += [s.delivery_id for s in sent]
        for s in sent:
            registry.delivered(s.delivery_id, s.attempt, 200)
    return got


def test_no_delivery_goes_to_two_senders(registry: Registry, project: Project) -> None:
    hooks = [registry.add_webhook(project.id, "https://example.com/", []) for _ in range(3)]
    accept(registry, project, *(f"k{n}" for n in range(30)))
    registry.close()
    with FORK.Pool(6) as pool:
        got = [id_ for ids in pool.starmap(_deliver, [(registry, n) for n in range(6)], chunksize=1) for id_ in ids]
    assert len(got) == len(set(got)) == 90
    for hook in hooks:
        assert {(d.status, d.attempt) for d in registry.deliveries(hook.webhook_id)} == {("delivered", 1)}


def _mixed(registry: Registry, project: Project, seed: int) -> None:
    """Whatever the calls, in whatever order, from several processes."""
    dice = random.Random(seed)
    for step in range(25):
        roll = dice.random()
        keys = [f"k{n}" for n in dice.sample(range(8), 3)]
        if roll < 0.35:
            given = [upload(project, key, seed * 1000 + step) for key in keys]
            registry.accept(given, str(uuid4()) if dice.random() < 0.5 else None)
        elif roll < 0.45:
            registry.delete(document_id(keys[0]))
        elif roll < 0.5:
            hook = registry.add_webhook(project.id, "https://example.com/", [])
            registry.lease_deliveries("s", 60, 3)
            registry.remove_webhook(project.id, hook.webhook_id)
        elif roll < 0.55:
            run_out(registry)
        else:
            for lease in registry.lease(f"w{seed}", 60, limit=2, attempts=2):
                _end_somehow(registry, lease, dice)


def _end_somehow(registry: Registry, lease: Lease, dice: random.Random) -> None:
    registry.renew(lease.document_id, lease.generation, 60, "extract")
    roll = dice.random()
    if roll < 0.2:
        return  # the worker dies
    if roll < 0.3:
        registry.release(lease.document_id, lease.generation)
    elif roll < 0.5:
        registry.fail([(lease.document_id, lease.generation, Failure("OCR_FAILED", "ocr", ""))])
    else:
        registry.publish([published(lease, f"r{lease.generation}")])
    if roll < 0.9:
        registry.settle(lease.document_id, lease.generation)


def test_under_mixed_load_every_upload_ends_once_and_no_object_is_lost(registry: Registry, project: Project) -> None:
    registry.add_webhook(project.id, "https://example.com/", ["batch.completed"])
    registry.close()
    with FORK.Pool(4) as pool:
        pool.starmap(_mixed, [(registry, project, seed) for seed in range(4)], chunksize=1)
    run_out(registry)
    _drain(registry, 0)
    assert registry.queue_depth() == (0, 0)
    for n in range(8):
        _check_story(types(registry, f"k{n}"))
    events = registry.read(lambda c: c.execute(sa.select(EVENTS.c.type, EVENTS.c.data)).all())
    batches = [data["batch_id"] for type_, data in events if type_ == "batch.completed"]
    assert len(batches) == len(set(batches))
    assert set(batches) == set(registry.read(lambda c: c.execute(sa.select(BATCHES.c.id)).scalars().all()))
    originals = set(registry.read(lambda c: c.execute(sa.select(ORIGINALS.c.object_key)).scalars()))
    orphans = set(registry.read(lambda c: c.execute(sa.select(ORPHANED_OBJECTS.c.object_key)).scalars()))
    assert not originals & orphans
    uploaded = sum(type_ == "document.accepted" for type_, _ in events)
    assert len(originals) + len(orphans) == uploaded, "every object has its place"
    visible = registry.visible(project.id)[0]
    assert len(originals) == visible
    assert registry.read(lambda c: c.execute(sa.select(sa.func.count()).select_from(INGESTS)).scalar()) == 0


def _check_story(story: list[str]) -> None:
    """Between two ends there is at least one upload, except that a deletion may follow an end."""
    waiting = False
    for type_ in story:
        if type_ == "document.accepted":
            waiting = True
        elif type_ in TERMINAL:
            assert waiting or type_ == "document.deleted", story
            waiting = False
        else:
            assert waiting, story
    assert not waiting, story


def test_a_lease_is_not_blocked_by_a_locked_document(registry: Registry, project: Project) -> None:
    """On PostgreSQL another worker passes over what is in hand; SQLite has one writer at a time."""
    accept(registry, project, "a", "b")
    if registry.engine.dialect.name != "postgresql":
        return
    with registry.engine.begin() as connection:
        row = sa.text("SELECT id FROM documents WHERE id = :id FOR UPDATE")
        connection.execute(row, {"id": document_id("a")})
        began = time.monotonic()
        assert only(registry).key == "b"
        assert registry.lease("w", 60) == []
        assert time.monotonic() - began < 5
    assert only(registry).key == "a"
