"""Writes docs/settings.md from the settings model; `--check` only says whether it is up to date."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from engine.settings import STANDARD_NAMES, Settings

TARGET = Path(__file__).resolve().parent.parent / "docs" / "settings.md"
HEAD = """# Settings

Made by `python -m scripts.settings_doc` from `engine/settings.py`. Precedence: flags (`--set limits.file_mb=200`),
environment, the YAML file (`--config` or `CORPUS_CONFIG`), defaults. Unknown keys are errors. In the environment a
setting is `CORPUS_<GROUP>__<NAME>`; some also have the name that the document processing standard gave them.

"""


def rows(model: type[BaseModel], prefix: str = "") -> list[str]:
    """Table rows of a model, one a setting, depth first."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            found += rows(kind, f"{prefix}{name}.")
        else:
            found.append(row(prefix + name, field))
    return found


def row(dotted: str, field: FieldInfo) -> str:
    """One setting: name, default, names in the environment, meaning."""
    names = [f"`CORPUS_{dotted.upper().replace('.', '__')}`"]
    names += [f"`{name}`" for name, target in STANDARD_NAMES.items() if target == dotted]
    meaning = (field.description or "").replace("|", "\\|")
    return f"| `{dotted}` | {default(field)} | {' '.join(names)} | {meaning} |"


def default(field: FieldInfo) -> str:
    value: Any = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, SecretStr) or value in ("", None, [], {}):
        return ""
    return f"`{value}`"


def page() -> str:
    """The whole page."""
    return (
        HEAD + "| setting | default | environment | meaning |\n|---|---|---|---|\n" + "\n".join(rows(Settings)) + "\n"
    )


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if TARGET.exists() and TARGET.read_text("utf-8") == page() else "docs/settings.md is out of date")
    TARGET.write_text(page(), "utf-8")
