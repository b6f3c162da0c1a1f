"""Isolation: every way a parser can go wrong ends as one error, and the next document is served."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import Code, ConfigError, InputError
from engine.isolate import Slot, tree_rss
from engine.settings import Limits

HANDLERS = str(Path(__file__).parent)


@pytest.fixture
def slot() -> Iterator[Slot]:
    made = Slot("isolated_handlers:misbehave", Limits(rss_mb=700), {"PYTHONPATH": HANDLERS})
    yield made
    made.close(kill=True)


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_serves_many_requests_from_one_child(slot: Slot) -> None:
    assert slot.call(b"") == slot.call(b"")
    assert len(slot.call(b"echo big")) == 5 << 20
    assert slot.started == 1


@pytest.mark.parametrize(
    ("word", "code", "said"),
    [
        (b"segv", Code.EXTRACTION_FAILED, "SIGSEGV"),
        (b"native loop", Code.EXTRACTION_TIMEOUT, "not done after 1 s"),
        (b"sleep", Code.EXTRACTION_TIMEOUT, "not done after 1 s"),
        (b"memory", Code.LIMIT_EXCEEDED, "700 MiB"),
    ],
)
def test_a_bad_request_is_one_error_and_the_next_is_served(slot: Slot, word: bytes, code: Code, said: str) -> None:
    before = int(slot.call(b""))
    with pytest.raises(InputError, match=said) as caught:
        slot.call(word, 30 if word == b"memory" else 1)
    assert caught.value.code == code
    assert _gone(before)
    assert int(slot.call(b"")) != before


def test_what_the_child_started_dies_with_it(slot: Slot) -> None:
    grandchild = int(slot.call(b"grandchild"))
    assert not _gone(grandchild)
    with pytest.raises(InputError):
        slot.call(b"sleep", 0.3)
    time.sleep(0.1)
    assert _gone(grandchild)


def test_the_child_has_no_network(slot: Slot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        slot.environment = {**(slot.environment or {}), "PORT": str(server.getsockname()[1])}
        assert slot.call(b"network") == b"cut off"


def test_a_leaking_child_is_replaced() -> None:
    slot = Slot("isolated_handlers:misbehave", Limits(recycle_rss_mb=128), {"PYTHONPATH": HANDLERS})
    for _ in range(12):
        slot.call(b"leak")
        assert slot.pid is None or tree_rss(slot.pid) < 200 << 20
    assert slot.started >= 3
    slot.close()


def test_the_child_is_replaced_after_a_number_of_documents() -> None:
    slot = Slot("isolated_handlers:misbehave", Limits(recycle_documents=2), {"PYTHONPATH": HANDLERS})
    pids = [slot.call(b"") for _ in range(5)]
    assert pids[0] == pids[1] != pids[2] == pids[3] != pids[4]
    slot.close()


def test_the_child_dies_with_its_parent(tmp_path: Path) -> None:
    script = (
        "import os, sys; from engine.isolate import Slot; from engine.settings import Limits\n"
        f"s = Slot('isolated_handlers:misbehave', Limits(), {{'PYTHONPATH': {HANDLERS!r}}})\n"
        "print(s.call(b'').decode(), flush=True); os.kill(os.getpid(), 9)"
    )
    out = tmp_path / "pid"
    root = Path(__file__).resolve().parents[2]
    os.system(f'cd {root} && {sys.executable} -c "{script}" > {out}')
    time.sleep(0.3)
    assert _gone(int(out.read_text()))


def test_a_child_that_cannot_start_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="cannot start"):
        Slot("no_such_module:handle", Limits()).call(b"")
