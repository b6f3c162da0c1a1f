"""500 documents, some of them poison, on Ray: the poison fails with the right codes, everything else is published,
and the run takes no longer than without it but for the poison's deadlines.

Slow: some minutes. The figures are printed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from corpora import write_texts

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(3600)]
HERE = Path(__file__).resolve().parents[1]
DEADLINE, MEMORY_MB, FILES = 20, 1500, 500


def run(docs: Path, home: Path) -> tuple[dict[str, Any], pd.DataFrame, float]:
    settings = ["limits.document_seconds=" + str(DEADLINE), f"limits.rss_mb={MEMORY_MB}"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(HERE),
        "CORPUS_EXTRACTORS": "{poison: 'poison_extractor:extract'}",
        "CORPUS_FORMATS": "{poison: ['.poison']}",
    }
    command = [sys.executable, "-m", "jobs.cli", "--home", str(home), *(f"--set={s}" for s in settings)]
    begun = time.monotonic()
    done = subprocess.run(
        [*command, "backfill", str(docs), "-p", "demo", "-q", "--json"], cwd=HERE.parent, env=environment,
        stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    seconds = time.monotonic() - begun
    report = json.loads(done.stdout)
    files = (home / "runs" / report["run_id"]).glob("outcomes-*.parquet")
    return report["totals"], pd.concat([pd.read_parquet(f) for f in files]).set_index("key"), seconds


def add_poison(docs: Path) -> dict[str, str]:
    """Write the poison; what code each file must end with ("" for published)."""
    for deed in ("segv", "loop", "memory"):
        (docs / f"100-{deed}.poison").write_text(f"{deed}\nnever read")
    (docs / "100-line.txt").write_text("x" * (5 << 20))
    (docs / "100-nested.json").write_text("[" * 100_000 + "]" * 100_000)
    (docs / "100-nested.html").write_text("<div>" * 50_000 + "deep down" + "</div>" * 50_000)
    return {
        "100-segv.poison": "EXTRACTION_FAILED", "100-loop.poison": "EXTRACTION_TIMEOUT",
        "100-memory.poison": "LIMIT_EXCEEDED",
    }  # fmt: skip


def test_poison_costs_its_deadline_and_nothing_else(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write_texts(docs, FILES)
    clean, _, without = run(docs, tmp_path / "clean")
    assert clean["published"] == FILES
    expected = add_poison(docs)
    totals, frame, seconds = run(docs, tmp_path / "poisoned")
    print(f"{without:.0f} s without poison, {seconds:.0f} s with it; {frame.loc[frame.index.str.startswith('100-')]}")
    assert totals["accounted"] is True
    assert {key: frame.loc[key, "code"] for key in expected} == expected
    good = frame[~frame.index.str.startswith("100-")]
    assert (good["status"] == "published").all() and len(good) == FILES
    # a line of 5 MB and deep nesting are read, or end at a bound, as the machine is fast or slow
    for key in ("100-line.txt", "100-nested.json", "100-nested.html"):
        assert frame.loc[key, "code"] in ("", "EXTRACTION_TIMEOUT", "LIMIT_EXCEEDED")
    deadlines = DEADLINE * (frame["code"] == "EXTRACTION_TIMEOUT").sum()
    assert seconds <= 1.3 * without + deadlines


def test_a_worker_killed_from_outside_loses_only_the_document_that_kills_it(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    write_texts(docs, 40)
    (docs / "020.poison").write_text("kill parent\nnever read")
    totals, frame, seconds = run(docs, tmp_path / "home")
    print(f"{seconds:.0f} s")
    assert totals["accounted"] is True
    assert totals["published"] == 40
    assert frame.loc["020.poison", "code"] == "WORKER_LOST"
