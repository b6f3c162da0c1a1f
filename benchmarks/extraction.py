"""Throughput of PDF extraction over a folder: pages per CPU second and by the clock, beside other engines.

    python -m benchmarks.extraction DIR [--manifest DIR/manifest.csv --skip-class hostile] [--profiles fast,balanced]
        [--peers liteparse,pdf-inspector,edgeparse,pymupdf4llm --peer-python PATH] [--ocr] [--json FILE]

Each engine has a process of its own with one thread; "plain" is PyMuPDF's `get_text()`, which the ratios are to.
Without --ocr nobody reads pictures, so that all do the same work. The peers live in an environment of their own:
`python -m venv PEERS; PEERS/bin/pip install liteparse pdf-inspector edgeparse pymupdf`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORKER = ROOT / "benchmarks" / "extract_worker.py"
PROFILES = ("fast", "balanced", "accurate")
PEERS = ("liteparse", "pdf-inspector", "edgeparse", "pymupdf4llm", "pymupdf4llm-no-layout")
_MAX_RESTARTS = 20


@dataclass
class EngineRun:
    """What one engine made of some files. `cpu` and `wall`: seconds a file, the median over the rounds."""

    engine: str
    cpu: dict[str, float] = field(default_factory=lambda: dict[str, float]())
    wall: dict[str, float] = field(default_factory=lambda: dict[str, float]())
    pages: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    failed: dict[str, str] = field(default_factory=lambda: dict[str, str]())  # file → why
    rounds: list[float] = field(default_factory=lambda: list[float]())  # CPU seconds of each whole round
    peak_mb: float = 0.0

    @property
    def cpu_total(self) -> float:
        """CPU seconds of one round: the median."""
        return statistics.median(self.rounds) if self.rounds else 0.0

    @property
    def slowest(self) -> tuple[str, float]:
        """The file that took longest by the clock, and its seconds."""
        return max(self.wall.items(), key=lambda item: item[1], default=("", 0.0))


def run_engine(
    engine: str, files: Sequence[Path], python: str = sys.executable, rounds: int = 3, seconds: float = 120.0,
    out: Path | None = None,
) -> EngineRun:  # fmt: skip
    """Run an engine over files in a process of its own. A file that ends the process is recorded and left out."""
    run = EngineRun(engine)
    left = list(files)
    readings: list[dict[str, object]] = []
    for _ in range(_MAX_RESTARTS):
        readings, status, said = _work(engine, left, python, rounds, seconds, out)
        if status == 0 or not left:
            break
        if not readings and status > 0:
            raise SystemExit(f"{engine} does not start: {said}")
        culprit = left[len(readings) % len(left)]
        run.failed[culprit.name] = f"ended the process with status {status}"
        left.remove(culprit)
    _sum_up(run, readings)
    return run


def _work(
    engine: str, files: Sequence[Path], python: str, rounds: int, seconds: float, out: Path | None
) -> tuple[list[dict[str, object]], int, str]:
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    command = [python, str(WORKER), engine, str(rounds), str(seconds), *([str(out)] if out else [])]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        command, input="\n".join(map(str, files)), capture_output=True, text=True, env=environment, check=False
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode, done.stderr[-500:]


def _sum_up(run: EngineRun, readings: Iterable[dict[str, object]]) -> None:
    cpu: dict[str, list[float]] = {}
    wall: dict[str, list[float]] = {}
    totals: dict[int, float] = {}
    for told in readings:
        name, number = Path(str(told["path"])).name, int(str(told["round"]))
        run.peak_mb = max(run.peak_mb, float(str(told["peak"])) / 2**20)
        if told["error"]:
            run.failed[name] = str(told["error"])
        run.pages[name] = int(str(told["pages"]))
        if number == 0:
            continue
        totals[number] = totals.get(number, 0.0) + float(str(told["cpu"]))
        cpu.setdefault(name, []).append(float(str(told["cpu"])))
        wall.setdefault(name, []).append(float(str(told["wall"])))
    run.rounds = list(totals.values())
    run.cpu = {name: statistics.median(values) for name, values in cpu.items()}
    run.wall = {name: statistics.median(values) for name, values in wall.items()}


# ---------------------------------------------------------------- which files, which engines
def pdf_files(folder: Path, manifest: Path | None, skipped: Sequence[str]) -> list[Path]:
    """The PDFs of a folder without those whose `class` in the manifest (columns path, class) is skipped."""
    out: set[str] = set()
    if manifest is not None:
        with manifest.open(encoding="utf-8", newline="") as rows:
            out = {row["path"] for row in csv.DictReader(rows) if row["class"] in skipped}
    return [p for p in sorted(folder.rglob("*.pdf")) if p.relative_to(folder).as_posix() not in out]


def add_engine_arguments(parser: argparse.ArgumentParser) -> None:
    """Options that say which engines run, shared by the benchmarks of extraction."""
    parser.add_argument("--profiles", default="fast,balanced,accurate")
    parser.add_argument("--peers", default="", help=f"of {', '.join(PEERS)}; needs --peer-python")
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that the peers are installed for")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=120.0, help="no new round of an engine begins after these")
    parser.add_argument("--json", type=Path, help="write the figures here")


def engines_of(a: argparse.Namespace) -> list[tuple[str, str]]:
    """(engine, interpreter) in the order asked for. Raises SystemExit for a name that is none."""
    profiles = [p for p in a.profiles.split(",") if p]
    peers = [p for p in a.peers.split(",") if p]
    unknown = [p for p in profiles if p not in PROFILES] + [p for p in peers if p not in PEERS]
    if unknown:
        raise SystemExit(f"no such engine: {', '.join(unknown)}")
    return [(p, sys.executable) for p in profiles] + [(p, a.peer_python) for p in peers]


# ---------------------------------------------------------------- output
def line(run: EngineRun, bare: EngineRun) -> str:
    """One row. Rates and the ratio are over the files that both read; an engine need not count its pages."""
    both = [n for n in run.cpu if n in bare.cpu and n not in run.failed and n not in bare.failed]
    pages = sum(bare.pages[n] for n in both)
    cpu, wall = sum(run.cpu[n] for n in both), sum(run.wall[n] for n in both)
    ratio = cpu / max(sum(bare.cpu[n] for n in both), 1e-9)
    rates = f"{pages / max(cpu, 1e-9):10.1f} {pages / max(wall, 1e-9):10.1f}"
    name, seconds = run.slowest
    return (
        f"{run.engine:22} {len(both):5} {len(run.failed):6} {rates} {ratio:7.2f} {run.peak_mb:7.0f}"
        f"   {seconds:7.2f} s {name}"
    )


def as_json(run: EngineRun) -> dict[str, object]:
    name, seconds = run.slowest
    return {
        "cpu_seconds": run.cpu_total, "rounds": run.rounds, "pages": sum(run.pages.values()), "failed": run.failed,
        "peak_mb": round(run.peak_mb), "slowest": name, "slowest_seconds": seconds, "cpu": run.cpu, "wall": run.wall,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--manifest", type=Path)
    parser.add_argument("--skip-class", action="append", default=[])
    parser.add_argument("--ocr", action="store_true", help="let the profiles read pictures; no peer does")
    add_engine_arguments(parser)
    a = parser.parse_args()
    files = pdf_files(a.folder, a.manifest, a.skip_class)
    if not files:
        raise SystemExit(f"no PDFs in {a.folder}")
    bare = run_engine("plain", files, rounds=a.rounds, seconds=a.seconds)
    print(
        f"{'engine':22} {'files':>5} {'failed':>6} {'pages/CPUs':>10} {'pages/s':>10} {'CPU x':>7} {'MiB':>7}   slowest"
    )
    print(line(bare, bare), flush=True)
    runs = [bare]
    for engine, python in engines_of(a):
        name = f"{engine}+ocr" if a.ocr and engine in PROFILES else engine
        runs.append(run_engine(name, files, python, a.rounds, a.seconds))
        print(line(runs[-1], bare), flush=True)
    for run in runs:
        for name, why in run.failed.items():
            print(f"  {run.engine} failed on {name}: {why}")
    if a.json:
        a.json.write_text(json.dumps({run.engine: as_json(run) for run in runs}, indent=1))


if __name__ == "__main__":
    main()
