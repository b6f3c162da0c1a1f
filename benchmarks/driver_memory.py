"""Peak memory of the process that drives a backfill, for a small and a large number of files.

    python -m benchmarks.driver_memory [--small 1000] [--large 40000]

All files hold the same text, so that embedding (which is not the driver's) costs little.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def _drive(docs: str, home: str) -> None:
    from engine.settings import load
    from jobs.backfill import backfill

    result = backfill(docs, "bench", load({"home": home}))
    assert result.totals.published == result.totals.inputs, result.report
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def measure(files: int) -> tuple[float, float]:
    """(peak MiB of the driver, wall seconds) of a backfill of that many files."""
    with tempfile.TemporaryDirectory(prefix="corpus-bench-") as folder:
        for n in range(files):
            path = Path(folder) / "docs" / f"{n // 1000:03}" / f"doc-{n:06}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("The keeper wound the clockwork of the lamp every four hours.")
        command = [sys.executable, "-m", "benchmarks.driver_memory", "--drive", f"{folder}/docs", f"{folder}/home"]
        begun = time.monotonic()
        done = subprocess.run(command, env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}, check=True, stdout=-1)
        return int(done.stdout.split()[-1]) / 1024, time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1000)
    parser.add_argument("--large", type=int, default=40_000)
    parser.add_argument("--drive", nargs=2, help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.drive:
        _drive(*a.drive)
        return
    peaks: list[float] = []
    for files in (a.small, a.large):
        peak, seconds = measure(files)
        peaks.append(peak)
        print(f"{files} files: driver peak {peak:.0f} MiB, {seconds:.0f} s", flush=True)
    print(f"growth {peaks[1] - peaks[0]:.0f} MiB")


if __name__ == "__main__":
    main()
