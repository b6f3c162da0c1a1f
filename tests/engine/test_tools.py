"""Outside programs: ended in time with all they started, output bounded, dying with us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine.errors import Code, CorpusError, InputError
from engine.tools import find_program, run

ROOT = Path(__file__).resolve().parents[2]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_gone(pid: int, seconds: float = 5) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end and is_alive(pid):
        time.sleep(0.02)
    return not is_alive(pid)


def test_output_and_exit_status(tmp_path: Path) -> None:
    finished = run(["/bin/sh", "-c", "pwd; echo oops >&2; exit 3"], 10, tmp_path)
    assert (finished.returncode, finished.stdout, finished.stderr) == (3, f"{tmp_path}\n".encode(), b"oops\n")


def test_only_a_bare_environment_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    output = run(["/usr/bin/env"], 10, tmp_path, {"EXTRA": "1"}).stdout.decode()
    assert "SECRET_TOKEN" not in output
    assert f"HOME={tmp_path}" in output
    assert "EXTRA=1" in output


def test_a_hanging_program_is_killed_with_its_children(tmp_path: Path) -> None:
    start = time.monotonic()
    with pytest.raises(InputError, match="tool_seconds") as caught:
        run(["/bin/sh", "-c", "sleep 60 & echo $! > child; wait"], 0.5, tmp_path)
    assert caught.value.code is Code.EXTRACTION_TIMEOUT
    assert time.monotonic() - start < 5
    assert wait_gone(int((tmp_path / "child").read_text()))


def test_what_a_finished_program_leaves_behind_is_killed(tmp_path: Path) -> None:
    start = time.monotonic()
    run(["/bin/sh", "-c", "sleep 60 & echo $! > child"], 20, tmp_path)
    assert time.monotonic() - start < 10
    assert wait_gone(int((tmp_path / "child").read_text()))


def test_a_flood_of_output_is_cut_and_does_not_block(tmp_path: Path) -> None:
    finished = run(["/bin/sh", "-c", "head -c 5000000 /dev/zero; echo end >&2"], 20, tmp_path, max_output=1000)
    assert (len(finished.stdout), finished.stderr) == (1000, b"end\n")


def test_it_dies_with_its_parent(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from engine.tools import run; "
        f"run(['/bin/sh', '-c', 'echo $$ > pid; exec sleep 60'], 50, Path({str(tmp_path)!r}))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    end = time.monotonic() + 15
    while time.monotonic() < end and not (tmp_path / "pid").exists():
        time.sleep(0.05)
    time.sleep(0.2)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert wait_gone(int((tmp_path / "pid").read_text()))


def test_missing_programs_are_named_with_their_package() -> None:
    with pytest.raises(CorpusError, match="apt-get install some-package") as caught:
        find_program(["no-such-program-here"], "some-package")
    assert caught.value.code is Code.MISSING_DEPENDENCY
    assert find_program(["no-such-program-here", "sh"], "dash").endswith("/sh")
