"""The tutorial on a new extractor: its files, its commands and their output are what the page says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "tutorial-extractor.md").read_text("utf-8")


def block(mark: str) -> str:
    """The code block whose opening line carries `mark`."""
    found = re.findall(rf"^```[^\n]*{re.escape(mark)}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(found) == 1, mark
    return found[0]


def corpus(folder: Path, checkout: Path, *arguments: str) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CORPUS_")}
    environment["PYTHONPATH"] = f"{checkout}{os.pathsep}{folder}"
    command = [sys.executable, "-m", "jobs.cli", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def written(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).write_text(block(f"file={name}"), "utf-8")
    return folder


def test_one_file_and_one_line_read_a_new_format(tmp_path: Path) -> None:
    folder = written(tmp_path, "bay.tide", "tide_extractor.py", "corpus.yaml")
    _, command, output = block("console").split("\n", 2)
    assert command.startswith("$ corpus ") and len(block("file=corpus.yaml").splitlines()) == 1
    (record,) = json.loads(corpus(folder, ROOT, *command.split()[2:], "--json"))
    assert json.loads(block("file=loss.json")) in record["warnings"]
    assert (record["metadata"]["title"], record["metadata"]["author"]) == ("Tides of Skerry Bay", "Maud Ellery")
    assert corpus(folder, ROOT, *command.split()[2:]) == output


@pytest.mark.slow
def test_the_same_file_as_a_part_of_corpus(tmp_path: Path) -> None:
    folder = written(tmp_path, "bay.tide")
    for package in ("engine", "jobs"):
        shutil.copytree(ROOT / package, folder / "checkout" / package, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "checkout" / "engine" / "extract" / "tide.py").write_text(block("file=tide_extractor.py"), "utf-8")
    table = folder / "checkout" / "engine" / "formats.py"
    head, rest = table.read_text("utf-8").split('    "zip":', 1)
    table.write_text(head + block("line=engine/formats.py") + '    "zip":' + rest, "utf-8")
    assert corpus(folder, folder / "checkout", "extract", "bay.tide") == block("console").split("\n", 2)[2]
