"""The deployment guide names only settings, variables, files and commands that exist."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel
from typer.main import get_command

from engine.settings import STANDARD_NAMES, Settings, load
from jobs.cli import app

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs" / "deployment.md").read_text("utf-8")
QUOTED = re.findall(r"`([^`\n]+)`", re.sub(r"python -m [\w.]+", "", TEXT))


def test_every_setting_exists() -> None:
    groups = Settings.model_fields
    names = {m for q in QUOTED for m in re.findall(r"\b([a-z]+)\.([a-z_]+)\b", q) if m[0] in groups}
    assert len(names) >= 6
    for group, field in names:
        kind = groups[group].annotation
        assert isinstance(kind, type) and issubclass(kind, BaseModel), group
        assert field in kind.model_fields, f"{group}.{field}"


def test_every_variable_exists() -> None:
    variables = set(re.findall(r"\b((?:CORPUS|S3|QDRANT|LLM|DATABASE)_[A-Z0-9_]+)\b", TEXT))
    assert {"DATABASE_URL", "S3_BUCKET", "QDRANT_URL"} <= variables
    own = {name for name in variables if name.startswith("CORPUS_")}
    assert variables - own <= set(STANDARD_NAMES)
    values = {"CORPUS_PASSWORD": "[x]", "CORPUS_AUTH__REGISTRY_TOKENS": "true"}
    load(environ={name: values.get(name, "x") for name in own - {"CORPUS_CONFIG"}})


def test_every_file_is_there() -> None:
    paths = {q for q in QUOTED if re.fullmatch(r"[a-z][\w/-]*\.(?:yaml|ipynb|md|py)", q)}
    assert "ray-cluster.yaml" in paths
    assert [path for path in sorted(paths) if not (ROOT / path).is_file()] == []


def test_every_command_is_one() -> None:
    commands = get_command(app).commands  # pyright: ignore[reportAttributeAccessIssue]
    used = re.findall(r"(?:^|`|; |corpus )corpus ((?:--config \S+ )?)([a-z]+)(?: ([a-z]+))?", TEXT, re.MULTILINE)
    assert len(used) >= 8
    for _, name, sub in used:
        assert name in commands, name
        if name in ("submit", "token"):
            assert sub in commands[name].commands, (name, sub)
