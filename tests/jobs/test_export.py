"""The export and the API write the same files, valid by their schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import docx
import pytest
from jsonschema import Draft202012Validator
from library import Library, open_library
from PIL import Image

from engine.nav.schemas import schema_of
from jobs.export import export_project


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    home = tmp_path_factory.mktemp("export")
    made = docx.Document()
    made.add_heading("Prices", 1)
    made.add_table(rows=2, cols=2).cell(0, 0).text = "Kind"
    Image.radial_gradient("L").resize((60, 50)).save(home / "p.png")
    for _ in range(2):
        made.add_picture(str(home / "p.png"))
    made.save(home / "letter.docx")
    with open_library(home) as found:
        found.upload("letter.docx", (home / "letter.docx").read_bytes())
        found.backfill("note.md", b"# Note\n\n## Part\n\nSome text.\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n")
        yield found


def test_files_are_those_of_the_api(library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from contextlib import nullcontext

    deps = library.deps
    # the embedded store is open here already, and belongs to one at a time
    monkeypatch.setattr("jobs.export.opened", lambda settings: nullcontext((deps.registry, deps.store)))
    counts = export_project(library.settings, "library", tmp_path / "out")
    assert counts["documents"] == 2
    folders = {json.loads((f / "manifest.json").read_text())["source"]["key"]: f for f in (tmp_path / "out").iterdir()}
    for folder in folders.values():
        for name in ("chunks", "doc_nav", "manifest"):
            written = json.loads((folder / f"{name}.json").read_text())
            Draft202012Validator(schema_of(name)).validate(written)
            if name != "chunks":
                route = {"doc_nav": "nav"}.get(name, name)
                answer = library.client.get(f"/api/v1/documents/{folder.name}/{route}")
                assert answer.json() == written
        assert "<td>" in (folder / "tables" / "table-1.html").read_text()
    letter, note = folders["letter.docx"], folders["note.md"]
    first, second = letter / "images" / "image-1.png", letter / "images" / "image-2.png"
    assert Image.open(first).size == (60, 50) and first.samefile(second)  # one file, once on the disk
    assert (letter / "source.docx").read_bytes() == (library.folder / "letter.docx").read_bytes()
    assert sorted(p.name for p in note.iterdir()) == ["chunks.json", "doc_nav.json", "manifest.json", "tables"]
