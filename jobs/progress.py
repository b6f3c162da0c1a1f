"""Live progress of a backfill: a table that redraws on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from engine.report import Totals

LINE_SECONDS = 5.0


def summary(totals: Totals) -> str:
    """One line: documents, pages, chunks, rate, time left, failures by kind."""
    seconds = time.time() - (totals.listed or totals.started)
    worked = totals.done - totals.skipped["unchanged"]
    rate = worked / seconds if seconds > 0 else 0.0
    left = totals.inputs - totals.done
    eta = f"{_clock(left / rate)} left" if rate > 0 and left > 0 else ""
    failures = ", ".join(f"{code} {n}" for code, n in totals.failed.most_common())
    parts = [
        f"{totals.done}/{totals.inputs} documents",
        f"{totals.skipped['unchanged']} unchanged" if totals.skipped["unchanged"] else "",
        f"{totals.pages} pages",
        f"{totals.chunks} chunks",
        f"{rate:.1f} documents/s",
        eta,
        f"failed: {failures}" if failures else "",
    ]
    return ", ".join(filter(None, parts))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Display:
    """Shows totals as they change. Use as a context manager and call it with each `Totals`."""

    def __init__(self, quiet: bool = False) -> None:
        self._quiet = quiet
        self._live = sys.stderr.isatty() and not quiet
        self._shown = time.monotonic() if not self._live else 0.0

    def __enter__(self) -> Display:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live and self._shown:
            sys.stderr.write("\n")

    def __call__(self, totals: Totals) -> None:
        now = time.monotonic()
        if self._quiet or now - self._shown < (0.2 if self._live else LINE_SECONDS):
            return
        self._shown = now
        sys.stderr.write(f"\r\x1b[2K{summary(totals)}" if self._live else summary(totals) + "\n")
        sys.stderr.flush()
