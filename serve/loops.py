"""Something done over and over in a thread of its own, whatever goes wrong, until it is told to stop."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable

from engine.errors import CorpusError

LONGEST_PAUSE = 60.0
log = logging.getLogger(__name__)


class Loop:
    """Does `work` again at once while it says that there is more, else after `poll` seconds or when woken. After a
    failure it waits instead, longer after each, with jitter; nothing ends it but `stop`. `at_end` runs in the thread
    before it ends."""

    def __init__(
        self, name: str, work: Callable[[], bool], poll: float, at_end: Callable[[], None] | None = None
    ) -> None:
        self._name, self._work, self._poll, self._at_end = name, work, poll, at_end
        self._stopping = threading.Event()
        self._woken = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"corpus-{name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There is work; from any thread."""
        self._woken.set()

    def stop(self) -> None:
        """Do nothing new. Does not wait, see `join`."""
        self._stopping.set()
        self._woken.set()

    def join(self, seconds: float) -> bool:
        """Wait for the work under way to end; whether it did."""
        if self._thread.ident is not None:
            self._thread.join(max(0.0, seconds))
        return not self.alive()

    def alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        failures = 0
        try:
            while not self._stopping.is_set():
                more = self._once()
                failures = failures + 1 if more is None else 0
                if more is None:
                    self._stopping.wait(pause(failures))
                elif not more:
                    self._woken.wait(self._poll * random.uniform(0.8, 1.2))
                    self._woken.clear()
        finally:
            if self._at_end is not None:
                self._at_end()

    def _once(self) -> bool | None:
        """What `work` says; None when it failed."""
        try:
            return self._work()
        except CorpusError as error:
            log.warning("work failed and will be tried again", extra={"operation": self._name, "code": error.code})
        except Exception as error:
            log.exception("work failed by a defect", extra={"operation": self._name, "error": type(error).__name__})
        return None


def pause(failures: int) -> float:
    """Seconds to wait after so many failures in a row: full jitter over a doubling range."""
    return random.uniform(0.1, min(LONGEST_PAUSE, 0.5 * 2.0 ** min(failures, 20)))
