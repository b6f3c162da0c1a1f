"""The commands of README work as they are written there."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)


def test_upload_and_search_take_fewer_than_ten_lines() -> None:
    (block,) = blocks("bash")
    assert len(block.strip().splitlines()) < 10
    client = next(b for b in blocks("python") if "serve.client" in b)
    assert len([line for line in client.splitlines() if line.strip()]) <= 5


@pytest.mark.slow
@pytest.mark.ray
def test_the_commands_run_as_written(tmp_path: Path) -> None:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", 8016)) == 0:
            pytest.skip("something listens on port 8016")
    (block,) = blocks("bash")
    client = next(b for b in blocks("python") if "serve.client" in b)
    script = f"set -eo pipefail\ntrap 'kill %1; wait' EXIT\n{block}\npython - <<'PYTHON'\n{client}PYTHON\n"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "CORPUS_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = ["bash", "-c", script]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)
    (ROOT / "sent.json").unlink(missing_ok=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "document.completed" in done.stdout
    assert '"results":[{"chunk_id"' in done.stdout and "2.4 bar" in done.stdout
    assert "fog-signal-handbook.rst, Fog Signal Handbook › The diaphone" in done.stdout  # the client's citation
