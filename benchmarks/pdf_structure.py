"""Quality of PDF extraction against hand-made Markdown, and its cost as a multiple of PyMuPDF's plain text.

    python -m benchmarks.pdf_structure CORPUS_DIR --scorer SCORE_MARKDOWN.PY [--profiles fast,balanced,accurate]
        [--peers liteparse,pdf-inspector,edgeparse,pymupdf4llm --peer-python PATH] [--json FILE] [--chart FILE.svg]

CORPUS_DIR holds `pages` and `tables`, each with `pdfs/NAME.pdf` and `gt/NAME.md`. The scorer is a program called as
`SCORER GROUND_TRUTH_DIR PREDICTION_DIR --json OUT` that writes {"means": {"overall", "order", "tables", "headings"}}.
Every engine, plain text too, reads the files in a process of its own with one thread, once to warm up and then in
--rounds rounds; cost is CPU time, children included, of the median round over that of plain text.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.chart import Panel, Point, svg
from benchmarks.extraction import PROFILES, EngineRun, add_engine_arguments, engines_of, run_engine

SETS = ("pages", "tables")
MEASURES = ("overall", "order", "tables", "headings")


@dataclass
class Result:
    """One engine: its scores by set and measure (None where a set does not have the thing), and its cost by set."""

    engine: str
    scores: dict[str, dict[str, float | None]] = field(default_factory=lambda: dict[str, dict[str, float | None]]())
    ratio: dict[str, float] = field(default_factory=lambda: dict[str, float]())  # by set, and "both"
    milliseconds: dict[str, float] = field(default_factory=lambda: dict[str, float]())  # CPU a document
    peak_mb: float = 0.0
    failed: dict[str, str] = field(default_factory=lambda: dict[str, str]())

    def score(self, kind: str, measure: str) -> float:
        return self.scores.get(kind, {}).get(measure) or 0.0


def score(scorer: Path, truth: Path, predictions: Path) -> dict[str, float | None]:
    """The means that the scorer gives. Raises CalledProcessError when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "scores.json"
        command = [sys.executable, str(scorer), str(truth), str(predictions), "--json", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())["means"]


def compare(
    corpus: Path, scorer: Path, engines: Sequence[tuple[str, str]], rounds: int, seconds: float
) -> list[Result]:
    """Run plain text and the engines over both sets, scored. Prints each row when it is known."""
    bare: dict[str, EngineRun] = {}
    results: list[Result] = []
    for engine, python in [("plain", sys.executable), *engines]:
        result = Result(engine)
        cpu = 0.0
        for kind in SETS:
            files = sorted((corpus / kind / "pdfs").glob("*.pdf"))
            with tempfile.TemporaryDirectory() as folder:
                run = run_engine(engine, files, python, rounds, seconds, Path(folder))
                result.scores[kind] = score(scorer, corpus / kind / "gt", Path(folder))
            bare.setdefault(kind, run)
            result.ratio[kind] = run.cpu_total / max(bare[kind].cpu_total, 1e-9)
            result.milliseconds[kind] = 1000 * run.cpu_total / max(len(files), 1)
            result.peak_mb = max(result.peak_mb, run.peak_mb)
            result.failed |= run.failed
            cpu += run.cpu_total
        result.ratio["both"] = cpu / max(sum(run.cpu_total for run in bare.values()), 1e-9)
        results.append(result)
        print(row(result), flush=True)
    return results


HEAD = (
    f"{'engine':22} {'overall':>8} {'order':>6} {'tables':>7} {'headings':>8} {'real tables':>11}"
    f" {'CPU x pages':>11} {'tables':>7} {'both':>7} {'ms':>7} {'MiB':>5}"
)


def row(result: Result) -> str:
    pages = [f"{result.score('pages', m):{w}.3f}" for m, w in zip(MEASURES, (8, 6, 7, 8), strict=True)]
    costs = [f"{result.ratio[kind]:{w}.2f}" for kind, w in (("pages", 11), ("tables", 7), ("both", 7))]
    real = f"{result.score('tables', 'tables'):11.3f}"
    failed = f"  {len(result.failed)} failed" if result.failed else ""
    rest = f"{result.milliseconds['pages']:7.1f} {result.peak_mb:5.0f}{failed}"
    return " ".join([f"{result.engine:22}", *pages, real, *costs, rest])


def chart(results: Sequence[Result]) -> str:
    """Quality over cost as an SVG, a panel for each set."""
    panels = [
        Panel(title, [Point(r.engine, r.ratio[kind], r.score(kind, measure), r.engine in PROFILES) for r in results])
        for title, kind, measure in (
            ("Pages: order, tables and headings together", "pages", "overall"),
            ("Real tables: tree similarity (TEDS)", "tables", "tables"),
        )
    ]
    return svg(panels, "CPU time as a multiple of plain text")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--scorer", type=Path, required=True)
    parser.add_argument("--chart", type=Path, help="write the chart here")
    add_engine_arguments(parser)
    a = parser.parse_args()
    print(HEAD)
    results = compare(a.corpus, a.scorer, engines_of(a), a.rounds, a.seconds)
    for result in results:
        for name, why in result.failed.items():
            print(f"  {result.engine} failed on {name}: {why}")
    if a.json:
        a.json.write_text(json.dumps({r.engine: vars(r) for r in results}, indent=1))
    if a.chart:
        a.chart.parent.mkdir(parents=True, exist_ok=True)
        a.chart.write_text(chart(results), "utf-8")


if __name__ == "__main__":
    main()
