"""Totals add up, outcome files hold every row, the page escapes what documents say."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from engine import report
from engine.records import Outcome
from engine.report import OutcomeFiles, Totals, write_report


def _outcome(key: str, status: str, parent: str | None = None, **more: object) -> Outcome:
    return Outcome("run", f"id-{key}", "p", "s", key, parent, status, **more)  # type: ignore[arg-type]


def test_inputs_are_published_skipped_or_failed() -> None:
    totals = Totals(inputs=4)
    totals.skipped["unchanged"] += 1
    totals.add([
        _outcome("a", "published", chunks=3, seconds={"embed": 2.0}, source_format="pdf"),
        _outcome("a!/x", "published", parent="id-a", chunks=1),
        _outcome("b", "failed", code="ENCRYPTED_DOCUMENT", message="locked"),
        _outcome("c", "skipped", reason="empty"),
    ])  # fmt: skip
    found = totals.as_dict()
    assert found["accounted"] is True
    assert (found["published"], found["skipped"]["total"], found["failed"]["total"]) == (1, 2, 1)  # type: ignore[index]
    assert found["inside"]["published"] == 1  # type: ignore[index]
    assert found["chunks"] == 4
    assert found["slowest"][0] == {"seconds": 2.0, "key": "a"}  # type: ignore[index]
    totals.inputs += 1
    assert totals.as_dict()["accounted"] is False


def test_every_outcome_reaches_a_file(tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(report, "FLUSH_ROWS", 10)
    files = OutcomeFiles(tmp_path)
    for n in range(25):
        files.add([_outcome(f"k{n}", "published")])
    files.flush()
    rows = [r for f in sorted(tmp_path.glob("outcomes-*.parquet")) for r in pq.read_table(f).column("key").to_pylist()]
    assert rows == [f"k{n}" for n in range(25)]


def test_the_page_shows_failures_and_runs_no_script(tmp_path: Path) -> None:
    totals = Totals(inputs=1)
    totals.add([_outcome("<script>alert(1)</script>.pdf", "failed", code="OCR_FAILED", message="nothing <b>read</b>")])
    run = {"run_id": "0" * 8, "status": "completed", "project": "p", "source": "s", "layout": "fused",
           "started_at": "", "finished_at": "", "totals": totals.as_dict()}  # fmt: skip
    page = write_report(tmp_path, run).read_text()
    assert "OCR_FAILED" in page
    assert "<script>" not in page and "<b>read" not in page
    assert (tmp_path / "report.json").exists()
