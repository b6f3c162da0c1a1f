"""Trees and pictures through the real local object store: kept, read back, replaced, dropped."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest
from PIL import Image

from engine.artifacts import drop_artifacts, folder_of, keep_artifacts, kept_images, load_tree, open_image
from engine.document import Builder
from engine.objects import ObjectStore
from engine.objects.local import LocalObjects
from engine.records import ExtractedImage, Prepared
from engine.settings import Limits
from engine.tables import table_from_rows


@pytest.fixture
def objects(tmp_path: Path) -> ObjectStore:
    return LocalObjects(tmp_path / "objects")


def png(color: str) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (30, 20), color).save(out, "PNG")
    return out.getvalue()


def prepared(digest: str = "a", text: str = "Revenue grew.") -> Prepared:
    builder = Builder("docx", Limits())
    builder.heading(1, "Report")
    builder.paragraph(text)
    builder.table(table_from_rows([["Quarter", "Revenue"], ["Q1", "142.3"]], caption="Table 1"))
    for data, mime, caption in (
        (png("red"), "image/png", "A red one"),
        (png("blue"), "image/png", "A blue one"),
        (png("red"), "image/png", "The red one again"),
        (b"<svg/>", "image/svg+xml", "A drawing"),
        (b"not a png", "image/png", "A lie"),
        (b"", "image/png", "Without bytes"),
    ):
        builder.image(ExtractedImage(data, mime, caption=caption))
    p = Prepared("d1", "p1", "uploads", "d1", "upload:d1", "r.docx", 10, content_sha256=digest * 64)
    p.fingerprint, p.document = "f" * 64, builder.finish()
    return p


def test_a_tree_comes_back_with_all_that_is_derived_from_it(objects: ObjectStore) -> None:
    p = prepared()
    assert p.document is not None
    content, spans = p.document.content, p.document.spans
    keep_artifacts(objects, p)
    tree = load_tree(objects, "p1", "d1", p.revision)
    assert tree is not None
    assert tree.content == content
    assert tree.spans == spans
    assert tree.tables[0].rows == [["Q1", "142.3"]]
    assert [image.caption for image in tree.images][:2] == ["A red one", "A blue one"]
    assert all(image.data == b"" for image in tree.images)
    packed = objects.read(folder_of("p1", "d1", p.revision) + "tree.json.gz")
    assert b"iVBOR" not in gzip.decompress(packed)  # no picture's bytes in base64


def test_pictures_are_kept_once_and_only_kinds_that_were_written_anew(objects: ObjectStore) -> None:
    p = prepared()
    keep_artifacts(objects, p)
    index = kept_images(objects, "p1", "d1", p.revision)
    assert {name: kept.file for name, kept in index.items()} == {
        "image-1": "image-1.png",
        "image-2": "image-2.png",
        "image-3": "image-1.png",
    }
    stored = sorted(o.key.rpartition("/")[2] for o in objects.list(folder_of("p1", "d1", p.revision) + "images/"))
    assert stored == ["image-1.png", "image-2.png"]
    found = open_image(objects, "p1", "d1", p.revision, "image-3")
    assert found is not None
    kept, stream = found
    with stream:
        assert stream.read() == png("red")
    assert (kept.mime_type, kept.size) == ("image/png", len(png("red")))
    assert open_image(objects, "p1", "d1", p.revision, "image-4") is None


def test_nothing_kept_is_none_and_not_an_error(objects: ObjectStore) -> None:
    assert load_tree(objects, "p1", "d1", "r") is None
    assert kept_images(objects, "p1", "d1", "r") == {}
    assert open_image(objects, "p1", "d1", "r", "image-1") is None
    assert drop_artifacts(objects, "p1", "d1") == 0


def test_keeping_twice_is_keeping_once_and_dropping_spares_the_visible_revision(objects: ObjectStore) -> None:
    old, new = prepared("a", "Old."), prepared("b", "New.")
    keep_artifacts(objects, old)
    before = {o.key: objects.read(o.key) for o in objects.list(folder_of("p1", "d1"))}
    keep_artifacts(objects, prepared("a", "Old."))
    assert {o.key: objects.read(o.key) for o in objects.list(folder_of("p1", "d1"))} == before
    keep_artifacts(objects, new)
    objects.put(folder_of("p1", "d2", "r") + "tree.json.gz", b"another document's")
    assert drop_artifacts(objects, "p1", "d1", keep=new.revision) == len(before)
    assert load_tree(objects, "p1", "d1", old.revision) is None
    tree = load_tree(objects, "p1", "d1", new.revision)
    assert tree is not None
    assert "New." in tree.content
    assert drop_artifacts(objects, "p1", "d1") == 4
    assert [o.key for o in objects.list("artifacts/")] == [folder_of("p1", "d2", "r") + "tree.json.gz"]
