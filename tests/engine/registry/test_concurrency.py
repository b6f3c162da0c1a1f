"""Several processes at one ledger: newest wins, deletion wins, nothing half, nothing acknowledged lost."""

from __future__ import annotations

import multiprocessing
import multiprocessing.queues
import multiprocessing.synchronize
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.records import Failure
from engine.registry import Project, outcomes
from engine.registry.migrate import upgrade
from engine.registry.models import DOCUMENTS
from engine.registry.queries import Registry

from .ledger import child, claim, document_id, ingest, publication

FORK = multiprocessing.get_context("fork")


def _write_much(registry: Registry, project: Project, worker: int, seconds: float) -> int:
    """Claims and publishes, half of them on documents that all workers share."""
    done, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        keys = [f"own-{worker}-{n}" for n in range(8)] + [f"shared-{n}" for n in random.sample(range(40), 8)]
        random.shuffle(keys)
        taken = registry.claim([claim(project, key) for key in keys])
        registry.publish([publication(project, k, taken[document_id(k)], f"r{worker}-{done}") for k in keys])
        done += 1
    return done


def test_eight_writers_wait_for_one_another(registry: Registry, project: Project) -> None:
    with FORK.Pool(8) as pool:
        counts = pool.starmap(_write_much, [(registry, project, n, 2.0) for n in range(8)], chunksize=1)
    assert min(counts) > 0, "nobody starved"
    rows = registry.read(lambda c: c.execute(sa.select(DOCUMENTS.c.id, DOCUMENTS.c.generation)).all())
    generations = {row.id: row.generation for row in rows}
    assert len(generations) == 8 * 8 + 40
    for worker, count in enumerate(counts):
        assert generations[document_id(f"own-{worker}-0")] == count
    shared = sum(
        generations[document_id(f"shared-{n}")] for n in range(40) if document_id(f"shared-{n}") in generations
    )
    assert shared == 8 * sum(counts), "every claim took a generation of its own"
    assert registry.visible(project.id)[1] == 3 * registry.visible(project.id)[0]


def _race(
    registry: Registry,
    project: Project,
    worker: int,
    start: multiprocessing.synchronize.Barrier,
    answers: multiprocessing.queues.SimpleQueue[tuple[int, int, str, bool]],
) -> None:
    """Both have claimed before either publishes, in every round."""
    for number in range(25):
        start.wait(60)
        generation = registry.claim([claim(project, "raced")])[document_id("raced")]
        start.wait(60)
        time.sleep(random.uniform(0, 0.004))
        revision = f"w{worker}-{number}"
        flipped = registry.publish([publication(project, "raced", generation, revision)])
        answers.put((number, generation, revision, bool(flipped)))


def test_exactly_the_newest_generation_wins(registry: Registry, project: Project) -> None:
    start, answers = FORK.Barrier(2), FORK.SimpleQueue()
    workers = [FORK.Process(target=_race, args=(registry, project, n, start, answers)) for n in range(2)]
    for worker in workers:
        worker.start()
    results = sorted(answers.get() for _ in range(50))
    for worker in workers:
        worker.join()
    for older, newer in zip(results[::2], results[1::2], strict=True):
        assert (older[0], older[1] + 1) == (newer[0], newer[1]), "no generation twice"
        assert (older[3], newer[3]) == (False, True)
    assert registry.active([document_id("raced")]) == {document_id("raced"): results[-1][2]}


def _claim_children(registry: Registry, project: Project, parent: str, generation: int, worker: int) -> None:
    for number in range(30):
        key = f"{parent}/{worker}-{number}"
        taken = registry.claim([child(project, parent, key, generation)])
        if not taken:
            return
        registry.claim([child(project, key, f"{key}/deep")])
        registry.publish([publication(project, key, 1), publication(project, f"{key}/deep", 1)])


def test_no_child_outlives_its_parents_deletion(registry: Registry, project: Project) -> None:
    for round_ in range(3):
        parent = f"box{round_}"
        generation = ingest(registry, project, parent)[parent]
        arguments = [(registry, project, parent, generation, worker) for worker in range(3)]
        workers = [FORK.Process(target=_claim_children, args=a) for a in arguments]
        for worker in workers:
            worker.start()
        time.sleep(0.15)
        registry.delete(document_id(parent))
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
    alive = registry.read(lambda c: c.execute(sa.select(DOCUMENTS.c.key).where(DOCUMENTS.c.deleted_at.is_(None))).all())
    assert alive == []
    assert registry.visible(project.id) == (0, 0)


def _killed_inside(registry: Registry, project: Project, ready: multiprocessing.synchronize.Event) -> None:
    """Stop for ever inside a publishing transaction whose rows are written and whose commit is not."""
    real = outcomes.shift

    def stop(connection: Connection, changes: Mapping[str, tuple[int, int]]) -> None:
        real(connection, changes)
        ready.set()
        time.sleep(60)

    outcomes.shift = stop
    registry.publish([publication(project, f"k{n}", 2, "r2") for n in range(64)])


def test_a_process_killed_inside_a_transaction_leaves_nothing_half(registry: Registry, project: Project) -> None:
    keys = [f"k{n}" for n in range(64)]
    ingest(registry, project, *keys)
    registry.claim([claim(project, key) for key in keys])
    version = registry.index_version(project.id)
    ready = FORK.Event()
    victim = FORK.Process(target=_killed_inside, args=(registry, project, ready))
    victim.start()
    assert ready.wait(20)
    assert victim.pid is not None
    assert set(registry.active([document_id(k) for k in keys]).values()) == {"r1"}, "readers wait for nobody"
    os.kill(victim.pid, signal.SIGKILL)
    victim.join()
    assert set(registry.active([document_id(k) for k in keys]).values()) == {"r1"}
    assert registry.index_version(project.id) == version
    again = registry.publish([publication(project, key, 2, "r2") for key in keys])
    assert len(again) == 64, "the locks died with the process"
    assert registry.stats(project.id)["chunks"] == 3 * 64


WRITER = """
import sys
from engine.registry.queries import Registry
from tests_ledger import claim, document_id, publication
registry = Registry(sys.argv[1])
project = registry.project("demo")
for number in range(100_000):
    keys = [f"{sys.argv[2]}-{number}-{n}" for n in range(4)]
    taken = registry.claim([claim(project, key) for key in keys])
    registry.publish([publication(project, key, taken[document_id(key)]) for key in keys])
    print(number, flush=True)
"""


def test_what_was_acknowledged_survives_sigkill(registry: Registry, project: Project, tmp_path: Path) -> None:
    (tmp_path / "tests_ledger.py").write_text((Path(__file__).parent / "ledger.py").read_text("utf-8"), "utf-8")
    root = Path(__file__).resolve().parents[3]
    environment = os.environ | {"PYTHONPATH": f"{root}{os.pathsep}{tmp_path}"}
    for round_ in range(2):
        command = [sys.executable, "-c", WRITER, registry.url, str(round_)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
            assert writer.stdout is not None
            acknowledged = [writer.stdout.readline() for _ in range(5)]
            time.sleep(random.uniform(0.02, 0.2))
            writer.kill()
            acknowledged += writer.stdout.readlines()
        numbers = [int(line) for line in acknowledged if line.endswith("\n")]
        ids = [document_id(f"{round_}-{number}-{n}") for number in numbers for n in range(4)]
        assert len(numbers) >= 5
        assert registry.active(ids) == dict.fromkeys(ids, "r1")
    documents, chunks = registry.visible(project.id)
    assert documents % 4 == 0, "no batch half"
    assert chunks == 3 * documents


def _use(registry: Registry, project: Project, name: str) -> int:
    return registry.claim([claim(project, name)])[document_id(name)]


def test_a_registry_pickles_forks_and_serves_threads(registry: Registry, project: Project) -> None:
    assert _use(registry, project, "parent") == 1
    copy = pickle.loads(pickle.dumps(registry))
    assert copy.url == registry.url
    assert _use(copy, project, "parent") == 2
    copy.close()
    with FORK.Pool(1) as pool:
        assert pool.apply(_use, (registry, project, "parent")) == 3
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(Registry.index_version, (registry, project.id)) == 0
    forked = FORK.Process(target=_use, args=(registry, project, "parent"))
    forked.start()
    forked.join()
    assert forked.exitcode == 0
    assert _use(registry, project, "parent") == 5, "the parent's connections still work"
    taken: list[int] = []
    threads = [threading.Thread(target=lambda: taken.append(_use(registry, project, "parent"))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(6, 26))


def test_readers_see_flips_and_version_together(registry: Registry, project: Project) -> None:
    """Equal versions before and after a look mean that nothing was flipped between them."""
    keys = [f"k{n}" for n in range(16)]
    ingest(registry, project, *keys, revision="r0")
    ids = [document_id(key) for key in keys]
    writer = FORK.Process(target=_flip, args=(registry, project, keys, 40))
    writer.start()
    looks = 0
    while writer.is_alive():
        before = registry.index_version(project.id)
        seen = set(registry.active(ids).values())
        if registry.index_version(project.id) == before:
            looks += 1
            assert len(seen) == 1, "a mix of revisions at one version"
    writer.join()
    assert looks > 0


def _flip(registry: Registry, project: Project, keys: list[str], rounds: int) -> None:
    for number in range(rounds):
        ingest(registry, project, *keys, revision=f"r{number + 1}")


def _mixed(registry: Registry, project: Project, seed: int) -> None:
    """Whatever the calls, in whatever order, from several processes."""
    dice = random.Random(seed)
    for step in range(20):
        keys = [f"k{n}" for n in dice.sample(range(12), 4)]
        taken = registry.claim([claim(project, key) for key in keys])
        registry.delete(document_id(dice.choice(keys))) if dice.random() < 0.3 else None
        registry.fail([(document_id(keys[0]), taken[document_id(keys[0])], Failure("X", "ocr", ""))])
        registry.publish([publication(project, k, taken[document_id(k)], f"{seed}-{step}") for k in keys[1:]])
        registry.swept([(document_id(k), taken[document_id(k)]) for k in keys])


def test_counters_stay_true_under_mixed_load(registry: Registry, project: Project) -> None:
    with FORK.Pool(4) as pool:
        pool.starmap(_mixed, [(registry, project, seed) for seed in range(4)], chunksize=1)
    d = DOCUMENTS.c
    shown = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(d.chunk_count), 0)).where(
        d.active_revision.is_not(None)
    )
    assert registry.visible(project.id) == tuple(registry.read(lambda c: c.execute(shown).one()))
    by_status = sa.select(d.status, sa.func.count()).where(d.deleted_at.is_(None)).group_by(d.status)
    real = {status: count for status, count in registry.read(lambda c: c.execute(by_status).all())}
    stats = registry.stats(project.id)
    assert {k: v for k, v in stats.items() if k in real} == real


def test_a_postgres_restart_is_survived(postgres_url: str) -> None:
    registry = Registry(postgres_url)
    upgrade(registry)
    project = registry.project("demo", create=True)
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    other = sa.create_engine(sa.make_url(registry.url), poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    for _ in range(3):
        with other.connect() as connection:
            connection.execute(sa.text(f"{cut} AND pid <> pg_backend_pid()"))
        assert registry.index_version(project.id) == 0
        _use(registry, project, "a")
    cuts: list[int] = []

    def cut_once(connection: Connection) -> int:
        if not cuts:
            cuts.append(1)
            with other.connect() as killer:
                killer.execute(sa.text(f"{cut} AND pid <> pg_backend_pid()"))
        return int(connection.execute(sa.text("SELECT 7")).scalar_one())

    assert registry.write(cut_once) == 7, "a transaction that lost its connection runs again"
    registry.close()


@pytest.mark.parametrize("order", [1, -1])
def test_opposite_orders_do_not_deadlock(registry: Registry, project: Project, order: int) -> None:
    keys = [f"k{n}" for n in range(50)][::order]
    threads = [
        threading.Thread(target=lambda k=k: ingest_unordered(registry, project, k)) for k in (keys, keys[::-1]) * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    generations = registry.read(lambda c: c.execute(sa.select(DOCUMENTS.c.generation)).scalars().all())
    assert list(generations) == [20] * 50


def ingest_unordered(registry: Registry, project: Project, keys: list[str]) -> None:
    for _ in range(5):
        taken = registry.claim([claim(project, key) for key in keys])
        registry.publish([publication(project, key, taken[document_id(key)]) for key in keys])
