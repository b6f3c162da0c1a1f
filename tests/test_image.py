"""The container image, as far as it can be judged without building one: what it copies is there and reaches the
builder, it installs what `make setup` installs, and the package it installs lacks no file."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("engine", "serve", "jobs")


def instructions() -> list[tuple[str, str]]:
    """(instruction, arguments) of the Dockerfile, continuation lines joined, comments dropped."""
    lines = [line for line in (ROOT / "Dockerfile").read_text("utf-8").splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line.strip())]


def copied() -> list[str]:
    """What the image takes from the checkout."""
    found: list[str] = []
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from="):
            found += shlex.split(rest)[:-1]
    return found


def ignored(path: str) -> bool:
    """Whether .dockerignore keeps a path from the builder: the last matching line decides, for it or a parent."""
    parts = Path(path).parts
    candidates = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    outcome = False
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.removeprefix("!")
        if pattern and not pattern.startswith("#") and any(fnmatch(c, pattern.removeprefix("**/")) for c in candidates):
            outcome = not line.startswith("!")
    return outcome


def environment() -> dict[str, str]:
    stated = " ".join(rest for name, rest in instructions() if name == "ENV")
    return dict(word.split("=", 1) for word in shlex.split(stated))


def pip_installs(text: str) -> set[str]:
    """The arguments of every `pip install`, with what only one of the two files says left out."""
    found: set[str] = set()
    for line in re.findall(r"-m pip install ([^\n&]+)", text):
        words = [
            w for w in shlex.split(line) if w not in ("--quiet", "--disable-pip-version-check", "${TORCH_OPTIONS}")
        ]
        found.add(" ".join(words).replace("/src/requirements.txt", "requirements.txt"))
    return found


def test_everything_it_copies_is_there_and_reaches_the_builder() -> None:
    assert copied()
    for source in copied():
        assert (ROOT / source).exists(), source
        assert not ignored(source), source


@pytest.mark.parametrize(
    "path",
    [".git/config", ".venv/bin/python", ".env", "tests/conftest.py", "samples/documents/tide.py", "secrets.yaml",
     "engine/__pycache__/x.cpython-311.pyc", "jobs/notebooks/backfill_and_search.ipynb"],
)  # fmt: skip
def test_nothing_else_reaches_the_builder(path: str) -> None:
    assert ignored(path)


def test_it_installs_what_make_setup_installs() -> None:
    made = pip_installs((ROOT / "Makefile").read_text("utf-8"))
    image = pip_installs("\n".join(rest for name, rest in instructions() if name == "RUN"))
    assert {line for line in image if "--prefix" not in line} == {
        line.replace(" -r requirements-dev.txt", "") for line in made if " -e ." not in line
    }
    assert "--no-deps --no-build-isolation --prefix /installed ." in image
    assert "torch==2.13.0" in image


def test_its_python_is_the_project_s() -> None:
    bases = [rest.split()[0] for name, rest in instructions() if name == "FROM" and rest.startswith("python:")]
    assert set(bases) == {"python:3.11-slim-bookworm"}
    assert 'requires-python = ">=3.11,<3.12"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_it_runs_as_nobody_in_particular_and_is_watched() -> None:
    last = dict(instructions())  # the last instruction of each kind
    assert last["USER"].isdigit() and last["USER"] != "0"
    assert last["HEALTHCHECK"].endswith('CMD ["python", "-m", "jobs.healthcheck"]')
    assert last["CMD"] == '["corpus", "serve", "--host", "0.0.0.0"]'
    assert last["EXPOSE"] == "8016"
    assert "gcc" not in str(instructions()) and "build-essential" not in str(instructions())


def test_its_environment_is_the_one_the_api_wants() -> None:
    wanted = subprocess.run(
        [sys.executable, "-m", "serve.ray_environment"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = dict(line.split("=", 1) for line in wanted.stdout.splitlines())
    assert lines
    assert lines.items() <= environment().items()


def test_hadolint_finds_nothing() -> None:
    hadolint = shutil.which("hadolint", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin")
    if hadolint is None:
        pytest.skip("hadolint is not installed")
    done = subprocess.run([hadolint, str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_package_it_installs_lacks_no_file(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    for name in copied():
        if name in SOURCES:
            skip = shutil.ignore_patterns("__pycache__", "*.py[cod]", "notebooks")
            shutil.copytree(ROOT / name, source / name, ignore=skip)
        elif (ROOT / name).is_file() and "/" not in name:
            shutil.copy(ROOT / name, source / name)
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path)]
    subprocess.run([*build, str(source)], check=True, capture_output=True)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith(SOURCES)}
    there = {str(f.relative_to(ROOT)) for s in SOURCES for f in (ROOT / s).rglob("*") if f.is_file()}
    assert {f for f in there if "__pycache__" not in f and "/notebooks/" not in f} - packed == set()
