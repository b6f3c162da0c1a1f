"""The notebook runs from top to bottom, and the job it submits outlives its kernel."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from ray_head import running_head

from jobs.submit import ENDED, job_at

FOLDER = Path(__file__).resolve().parents[2] / "jobs" / "notebooks"
NOTEBOOK = FOLDER / "backfill_and_search.ipynb"


@pytest.fixture(scope="module")
def head() -> Iterator[str]:
    with running_head() as address:
        yield address


def opened(notebook: Any) -> NotebookClient:
    return NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}})


def output_of(notebook: Any, tag: str) -> str:
    """What the cell with that tag printed and returned."""
    cell = next(c for c in notebook.cells if tag in c.metadata.get("tags", []))
    warned = "".join(o.text for o in cell.outputs if o.get("name") == "stderr")
    assert not warned, warned
    return "".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.outputs)


def surroundings(patch: pytest.MonkeyPatch, head: str, home: Path) -> None:
    patch.setenv("RAY_API_SERVER_ADDRESS", head)
    patch.setenv("CORPUS_HOME", str(home))


def test_it_is_kept_without_outputs() -> None:
    cells = [c for c in nbformat.read(NOTEBOOK, 4).cells if c.cell_type == "code"]
    assert cells
    assert all(not c.outputs and c.execution_count is None for c in cells)


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.timeout(600)
def test_it_runs_from_top_to_bottom(head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings(monkeypatch, head, tmp_path / "home")
    notebook = nbformat.read(NOTEBOOK, 4)
    opened(notebook).execute()
    assert "31 inputs, 31 published, 0 failed" in output_of(notebook, "result")
    found = output_of(notebook, "search")
    assert "fog-signal-handbook.rst" in found.splitlines()[0]
    assert "It needs air at 2.4 bar" in found


@pytest.mark.slow
@pytest.mark.ray
@pytest.mark.timeout(600)
def test_the_job_outlives_the_kernel(head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    surroundings(monkeypatch, head, tmp_path / "home")
    notebook = nbformat.read(NOTEBOOK, 4)
    client = opened(notebook)
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            client.execute_cell(cell, index)
            if "submit" in cell.metadata.get("tags", []):
                break
        job = job_at(output_of(notebook, "submit").strip("'"), head)
        kernel = client.km.provisioner.process
        assert job.status() not in ENDED
        os.kill(kernel.pid, signal.SIGKILL)
        kernel.wait()
    assert job.status() not in ENDED
    assert job.wait(300) == "SUCCEEDED"
    assert job.report()["totals"]["published"] == 31
