"""JSON Schemas of the corpus files, made from the records; `python -m engine.nav.schemas` writes them down.

They ship in `engine/schemas/`; a test holds the files against the records.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from engine.nav.records import ChunksFile, DocumentNav, Manifest

FOLDER = Path(__file__).resolve().parent.parent / "schemas"
FILES: dict[str, type] = {"chunks": ChunksFile, "doc_nav": DocumentNav, "manifest": Manifest}


@lru_cache(maxsize=8)
def _adapter(record: type) -> TypeAdapter[Any]:
    return TypeAdapter(record)


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the file `{name}.json`."""
    schema = _adapter(FILES[name]).json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"{name}.json", **schema}


def dump(value: object) -> bytes:
    """A corpus file's bytes: JSON, UTF-8, with a line feed at the end."""
    return _adapter(type(value)).dump_json(value, indent=1) + b"\n"


def write_schemas(folder: Path) -> None:
    """Write `{name}.schema.json` for every corpus file."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        text = json.dumps(schema_of(name), indent=1, ensure_ascii=False)
        (folder / f"{name}.schema.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    write_schemas(FOLDER)
