"""Manifests, and the JSON Schemas that ship with the files."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator, ValidationError

from engine.artifacts import KeptImage
from engine.document import Builder
from engine.nav import ChunksFile, manifest_of, nav_of
from engine.nav.schemas import FILES, FOLDER, dump, schema_of
from engine.records import ExtractedDocument, ExtractedImage
from engine.tables import table_from_rows


@pytest.fixture
def document(builder: Builder) -> ExtractedDocument:
    builder.metadata.title = "Report"
    builder.start_page(1)
    for title, text in (("Open", "Everybody may read this. "), ("Secret", "Nobody may read this. ")):
        builder.heading(1, title)
        builder.paragraph(text * 60)
        builder.table(table_from_rows([[title, "Value"], ["a", "1"]], caption=f"{title} table"))
        builder.image(ExtractedImage(b"", "image/png", caption=f"{title} picture"))
    builder.heading(1, "Open")
    builder.paragraph("The end. " * 60)
    return builder.finish()


def test_facts_counts_and_hierarchy(document: ExtractedDocument, viewed) -> None:
    view = viewed(document)
    nav = nav_of(view, document)
    kept = {"image-1": KeptImage("image-1", "image-1.png", "image/png", 77, "0" * 64)}
    made = manifest_of(view, nav, document, kept)
    assert made.HIERARCHY == {"Open": {}, "Secret": {}, "Open (2)": {}}
    assert made.statistics.chunk_count == len(view.chunks)
    assert (made.statistics.section_count, made.statistics.table_count, made.statistics.image_count) == (3, 2, 2)
    assert [(t.id, t.caption, t.columns, t.rows, t.page_number) for t in made.tables] == [
        ("table-1", "Open table", 2, 1, 1),
        ("table-2", "Secret table", 2, 1, 1),
    ]
    assert [(i.id, i.caption, i.mime_type, i.size) for i in made.images] == [
        ("image-1", "Open picture", "image/png", 77),
        ("image-2", "Secret picture", None, None),
    ]
    assert made.metadata["title"] == "Report"
    assert made.warnings[0].count == 2
    assert made.complete
    assert "uploads/secret" not in dump(made).decode()  # where its bytes are kept is nobody's business


def test_without_a_tree_the_same_as_far_as_chunks_tell(document: ExtractedDocument, viewed) -> None:
    view = viewed(document)
    made = manifest_of(view, nav_of(view))
    assert made.HIERARCHY == {"Open": {}, "Secret": {}, "Open (2)": {}}
    assert [t.caption for t in made.tables] == ["Open table", "Secret table"]
    assert [i.id for i in made.images] == ["image-1", "image-2"]


def test_nothing_hidden_shows(document: ExtractedDocument, viewed) -> None:
    hidden = {p["chunk_index"] for p in viewed(document).chunks if "Secret" in p["content"] or "Nobody" in p["content"]}
    view = viewed(document, hidden=hidden)
    made = manifest_of(view, nav_of(view, document), document)
    assert not made.complete
    assert "Secret" not in dump(made).decode()
    assert [t.id for t in made.tables] == ["table-1"]
    assert [i.id for i in made.images] == ["image-1"]


@pytest.mark.parametrize("name", sorted(FILES))
def test_the_schemas_that_ship_are_those_of_the_records(name: str) -> None:
    shipped = json.loads((FOLDER / f"{name}.schema.json").read_text("utf-8"))
    assert shipped == schema_of(name), "run python -m engine.nav.schemas"
    Draft202012Validator.check_schema(shipped)


def test_files_are_valid_by_their_schemas_and_wrong_ones_are_not(document: ExtractedDocument, viewed) -> None:
    view = viewed(document)
    nav = nav_of(view, document)
    chunks = ChunksFile("d", "r", view.chunks)
    for name, value in (("chunks", chunks), ("doc_nav", nav), ("manifest", manifest_of(view, nav, document))):
        validator = Draft202012Validator(schema_of(name))
        made = json.loads(dump(value))
        validator.validate(made)
        assert made["schema_version"] == 1
        for key in ("document_id", "revision"):
            with pytest.raises(ValidationError):
                validator.validate({k: v for k, v in made.items() if k != key})
