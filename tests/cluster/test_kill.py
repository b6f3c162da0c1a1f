"""kill -9 at random moments; resume; the end must equal an undisturbed run.

Slow: about a minute a round. `KILL_ROUNDS` (default 20) and `KILL_SEED` (default 1) choose which.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import psutil
import pytest
from corpora import text, write_texts
from snapshots import Snapshot, equal, snapshot, twin_home

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(3600)]
ROUNDS = int(os.environ.get("KILL_ROUNDS", "20"))
SEED = int(os.environ.get("KILL_SEED", "1"))
TARGETS = ("driver", "prepare actor", "store actor", "all of Ray")
ROOT = Path(__file__).resolve().parents[2]


def start(home: Path, docs: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "jobs.cli", "--home", str(home), "backfill", str(docs), "-p", "demo", "-q"]
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
    return subprocess.Popen(
        [*command, "--source-name", "docs"], cwd=ROOT, env=environment, stdout=subprocess.DEVNULL,
        stderr=(home.parent / f"{home.name}.log").open("ab"),
    )  # fmt: skip


def family(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def kill(target: str, driver: subprocess.Popen[bytes], home: Path) -> None:
    """SIGKILL what the target names, as far as it runs at this moment."""
    members = family(psutil.Process(driver.pid))
    chosen: list[psutil.Process] = []
    if target == "driver":
        chosen = members[:1]
    elif target == "all of Ray":
        chosen = members[1:]
    elif target == "store actor" and (home / "store" / "owner.json").exists():
        pid = json.loads((home / "store" / "owner.json").read_text())["pid"]
        chosen = [p for p in members[1:] if p.pid == pid]
    elif target == "prepare actor":
        children = [p for p in members if "engine.isolated" in " ".join(_command(p))]
        parents = {p.ppid() for p in children if p.is_running()} - {driver.pid}
        chosen = [p for p in members if p.pid in sorted(parents)[:1]]
    for process in chosen:
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


def settled(started: list[psutil.Process]) -> None:
    """Wait until nothing of an earlier run is left."""
    _, alive = psutil.wait_procs(started, timeout=30)
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=10)


def make_documents(folder: Path) -> None:
    write_texts(folder, 40, sentences=14)
    with zipfile.ZipFile(folder / "box.zip", "w") as box:
        for n in range(5):
            box.writestr(f"inner-{n}.txt", text(500 + n, 20))
        box.writestr("nested/mail.eml", f"Subject: tide\nFrom: a@example.org\n\n{text(600, 20)}")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Snapshot, float]:
    folder = tmp_path_factory.mktemp("kill")
    make_documents(folder / "docs")
    twin_home(folder / "template", folder / "clean")
    begun = time.monotonic()
    assert start(folder / "clean", folder / "docs").wait() == 0
    seconds = time.monotonic() - begun
    return folder, folder / "docs", snapshot(folder / "clean"), seconds


@pytest.mark.parametrize("number", range(ROUNDS))
def test_a_killed_run_ends_like_an_undisturbed_one(base: tuple[Path, Path, Snapshot, float], number: int) -> None:
    folder, docs, clean, seconds = base
    draw = random.Random(SEED * 1000 + number)
    target, delay = TARGETS[number % len(TARGETS)], draw.uniform(0.1, 1.0) * seconds
    home = twin_home(folder / "template", folder / f"round-{number}")
    driver = start(home, docs)
    time.sleep(delay)
    members = family(psutil.Process(driver.pid))
    kill(target, driver, home)
    status = driver.wait(timeout=600)
    told = f"round {number} (seed {SEED * 1000 + number}): {target} killed"
    print(f"{told} after {delay:.1f} of {seconds:.1f} s, exit {status}")
    settled(members)
    assert start(home, docs).wait(timeout=600) == 0
    equal(snapshot(home), clean)
