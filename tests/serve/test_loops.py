"""A loop lives until it is stopped, whatever its work does."""

from __future__ import annotations

import threading
import time

from engine.errors import StorageError
from serve.loops import LONGEST_PAUSE, Loop, pause


def test_nothing_that_work_raises_ends_a_loop() -> None:
    raised: list[Exception] = [StorageError("away"), TypeError("a defect"), KeyError("x")]
    worked = threading.Event()

    def work() -> bool:
        if raised:
            raise raised.pop()
        worked.set()
        return False

    loop = Loop("test", work, 60)
    loop.start()
    assert worked.wait(15) and loop.alive()
    loop.stop()
    assert loop.join(5)


def test_it_goes_on_at_once_while_there_is_more_and_waits_to_be_woken_otherwise() -> None:
    answers = [True, True, True, False]
    calls: list[float] = []
    ended = threading.Event()

    def work() -> bool:
        calls.append(time.monotonic())
        return answers.pop(0) if answers else False

    loop = Loop("test", work, 60, at_end=ended.set)
    loop.start()
    time.sleep(0.3)
    assert len(calls) == 4
    loop.wake()
    time.sleep(0.3)
    assert len(calls) == 5
    loop.stop()
    assert loop.join(5) and ended.is_set()


def test_pauses_grow_to_a_bound() -> None:
    for failures, longest in ((1, 1.0), (3, 4.0), (50, LONGEST_PAUSE)):
        drawn = [pause(failures) for _ in range(300)]
        assert min(drawn) >= 0.1 and longest * 0.7 < max(drawn) <= longest
