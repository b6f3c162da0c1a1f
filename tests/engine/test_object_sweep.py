"""Objects that nobody needs are found and removed, those that somebody needs or may be about to need are not."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import text

from engine import object_sweep
from engine.object_sweep import GRACE_SECONDS, REQUEST_SECONDS, remove_orphans, sweep_objects
from tests.engine.uploads import Bench, benches, box

DAY = 86400.0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with benches(tmp_path) as bench:
        yield bench


def age(bench: Bench, seconds: float) -> None:
    """Everything in the object store was written that long ago."""
    then = time.time() - seconds
    for path in (bench.settings.home / "objects").rglob("*"):
        if path.is_file():
            os.utime(path, (then, then))


def sweep(bench: Bench) -> int:
    return sweep_objects(bench.objects, bench.registry)


def test_what_is_shown_or_waits_is_kept(bench: Bench) -> None:
    bench.upload(box(a_txt=text(1), b_txt=text(2)), "box.zip")
    bench.process()
    bench.upload(text(3).encode())
    before = bench.keys("uploads/") + bench.keys("artifacts/")
    age(bench, 30 * DAY)
    assert sweep(bench) == 0
    assert bench.keys("uploads/") + bench.keys("artifacts/") == before


def test_uploads_of_requests_that_broke_off_go_once_no_request_can_take_that_long(bench: Bench) -> None:
    bench.objects.put(f"uploads/{bench.project}/nobody/abc", b"half a batch")
    for seconds, left in ((0, 1), (GRACE_SECONDS + 60, 1), (REQUEST_SECONDS + 60, 0)):
        age(bench, seconds)
        sweep(bench)
        assert len(bench.keys("uploads/")) == left


def test_what_was_kept_of_gone_revisions_and_documents_goes_after_an_hour(bench: Bench) -> None:
    document = bench.upload(text(1).encode(), source_id="a")
    bench.process()
    shown = bench.keys("artifacts/")
    folder = f"artifacts/{bench.project}/{document}"
    strays = [f"{folder}/anotherrevision/tree.json.gz", f"artifacts/{bench.project}/no-such-document/r/images/1.png"]
    for key in strays:
        bench.objects.put(key, b"x")
    assert sweep(bench) == 0
    age(bench, GRACE_SECONDS + 60)
    assert sweep(bench) == 2
    assert bench.keys("artifacts/") == shown
    bench.registry.delete(document)
    assert sweep(bench) == 1 + len(shown), "its original and what was kept of it"
    assert bench.keys("artifacts/") == bench.keys("uploads/") == []


def test_what_an_attempt_has_kept_waits_for_it_however_long_it_takes(bench: Bench) -> None:
    document = bench.upload(text(1).encode())
    bench.lease()
    key = f"artifacts/{bench.project}/{document}/soonvisible/tree.json.gz"
    bench.objects.put(key, b"x")
    age(bench, 2 * DAY)
    assert (sweep(bench), bench.keys("artifacts/")) == (0, [key])
    bench.registry.delete(document)
    assert (sweep(bench), bench.keys("artifacts/")) == (2, [])


def test_many_objects_go_batch_by_batch(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_sweep, "BATCH", 7)
    document = bench.upload(text(1).encode())
    bench.process()
    kept = bench.keys("uploads/") + bench.keys("artifacts/")
    for n in range(40):
        bench.objects.put(f"uploads/{bench.project}/nobody-{n}/x", b"x")
        bench.objects.put(f"artifacts/{bench.project}/{document}/old{n}/tree.json.gz", b"x")
    age(bench, DAY)
    assert sweep(bench) == 80
    assert bench.keys("uploads/") + bench.keys("artifacts/") == kept


def test_orphans_are_removed_and_forgotten(bench: Bench) -> None:
    for n in range(3):
        bench.upload(text(n).encode(), source_id="a")
    bench.process()
    assert remove_orphans(bench.objects, bench.registry) == 2
    assert (len(bench.keys("uploads/")), bench.registry.orphaned_objects()) == (1, [])
