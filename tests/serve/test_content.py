"""What is inside a document, through the API: result, nav, manifest, pages, assets; what hidden chunks keep back."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import httpx
import numpy as np
import pymupdf
import pytest
from jsonschema import Draft202012Validator
from library import Library, open_library
from PIL import Image

from engine.nav.schemas import schema_of

ORANGE = (214, 90, 0)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with open_library(tmp_path_factory.mktemp("library")) as made:
        yield made


def report(secret: bool = False) -> bytes:
    """Three pages; the second holds the word SECRET in a section of its own."""
    document = pymupdf.open()
    document.set_metadata({"title": "Pump report", "author": "Ann", "creationDate": "D:20250102030405Z"})
    for number, title in enumerate(("Overview", "Secret findings", "Outlook"), 1):
        page = document.new_page(width=300, height=400)
        page.insert_text((30, 50), title, fontsize=20)
        for line in range(12):
            word = "SECRET" if number == 2 else "open"
            page.insert_text((30, 90 + 15 * line), f"Line {line} of page {number}: {word} words on pumps.", fontsize=9)
    document.set_toc([[1, "Overview", 1], [1, "Secret findings", 2], [1, "Outlook", 3]])
    if secret:
        document[0].draw_rect((0, 0, 5, 5), fill=(0, 0, 0))
    return document.tobytes()


def letter() -> bytes:
    """A docx with a table with a span, two equal photographs with EXIF, and a drawing nobody decodes."""
    made = docx.Document()
    made.core_properties.title = "Letter"
    made.add_heading("Prices", 1)
    made.add_paragraph("What pumps cost this year. More text follows here.")
    table = made.add_table(rows=3, cols=2)
    for row, values in enumerate((("Kind", "Price"), ("Small <b>pump</b>", "=1+1"), ("all the same", ""))):
        for cell, text in zip(table.rows[row].cells, values, strict=True):
            cell.text = text
    table.cell(2, 0).merge(table.cell(2, 1))
    exif = Image.Exif()
    exif[0x010E] = "taken at home"
    photo = io.BytesIO()
    Image.new("RGB", (64, 48), "green").save(photo, "JPEG", exif=exif)
    for _ in range(2):
        photo.seek(0)
        made.add_picture(photo)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def get(client: Any, path: str, status: int = 200, **options: Any) -> httpx.Response:
    answer = client.get(f"/api/v1/documents/{path}", **options)
    assert answer.status_code == status, answer.text
    return answer


def picture(answer: httpx.Response) -> Image.Image:
    assert answer.headers["content-type"] == "image/png"
    assert answer.headers["x-content-type-options"] == "nosniff"
    return Image.open(io.BytesIO(answer.content)).convert("RGB")


# ---------------------------------------------------------------- result, nav, manifest
STANDARD = {"document_id", "filename", "source_format", "metadata", "chunks", "tables"}
STANDARD_CHUNK = {"id", "index", "content", "token_count", "page_numbers", "section_heading", "element_type"}
STANDARD_METADATA = {"title", "author", "created_date", "page_count", "word_count", "language", "headings"}


@pytest.mark.parametrize("way", ["upload", "backfill"])
def test_the_result_has_the_standards_form(library: Library, way: str) -> None:
    document = getattr(library, way)(f"{way}-report.pdf", report())
    result = get(library.client, f"{document}/result").json()
    assert set(result) >= STANDARD
    assert set(result["metadata"]) >= STANDARD_METADATA
    assert all(set(chunk) >= STANDARD_CHUNK and "embedding" not in chunk for chunk in result["chunks"])
    meta = result["metadata"]
    assert (meta["title"], meta["author"], meta["page_count"]) == ("Pump report", "Ann", 3)
    assert meta["created_date"] == "2025-01-02T03:04:05Z"
    assert meta["headings"] == ["Overview", "Secret findings", "Outlook"]
    assert [chunk["index"] for chunk in result["chunks"]] == list(range(len(result["chunks"])))
    assert "SECRET" in "".join(chunk["content"] for chunk in result["chunks"])
    assert result["revision"]


def test_embeddings_only_when_asked_for(library: Library) -> None:
    document = library.backfill("vectors.md", b"# One\n\nA text about vectors.\n")
    result = get(library.client, f"{document}/result", params={"include_embeddings": True}).json()
    chunk = result["chunks"][0]
    expected = library.embedder.embed_documents([chunk["content"]])[0]
    assert np.allclose(chunk["embedding"], expected, atol=1e-7)


def test_tables_come_from_the_kept_tree_or_are_said_to_be_rebuilt(library: Library) -> None:
    kept = get(library.client, f"{library.upload('kept.docx', letter())}/result").json()
    rebuilt = get(library.client, f"{library.backfill('rebuilt.docx', letter())}/result").json()
    row = {"headers": [], "rows": [["Kind", "Price"], ["Small <b>pump</b>", "=1+1"], ["all the same", ""]]}
    for result in (kept, rebuilt):
        (table,) = result["tables"]
        assert table["id"] == "table-1"
        assert [table["headers"], *table["rows"]][-2:] == row["rows"][-2:]
    assert "tables_rebuilt" not in {loss["code"] for loss in kept["warnings"]}
    assert [loss["count"] for loss in rebuilt["warnings"] if loss["code"] == "tables_rebuilt"] == [1]
    assert [(i["id"], i["mime_type"], bool(i["size"])) for i in kept["images"]] == [
        ("image-1", "image/jpeg", True),
        ("image-2", "image/jpeg", True),
    ]


@pytest.mark.parametrize("way", ["upload", "backfill"])
def test_nav_and_manifest_keep_their_schemas(library: Library, way: str) -> None:
    document = getattr(library, way)(f"{way}-nav.pdf", report())
    nav = get(library.client, f"{document}/nav").json()
    manifest = get(library.client, f"{document}/manifest").json()
    Draft202012Validator(schema_of("doc_nav")).validate(nav)
    Draft202012Validator(schema_of("manifest")).validate(manifest)
    assert [(s["title"], s["page_range"]) for s in nav["sections"]] == [
        ("Overview", [1, 1]),
        ("Secret findings", [2, 2]),
        ("Outlook", [3, 3]),
    ]
    assert nav["basis"] == ("tree" if way == "upload" else "chunks")
    assert manifest["HIERARCHY"] == {"Overview": {}, "Secret findings": {}, "Outlook": {}}
    assert manifest["statistics"]["chunk_count"] == nav["chunk_count"]
    assert manifest["source"]["filename"] == f"{way}-nav.pdf"
    assert "uploads/" not in str(manifest)


def test_a_document_without_a_published_revision_says_so(library: Library) -> None:
    from engine.registry import Claim

    pending = "00000000-0000-4000-8000-000000000001"
    library.deps.registry.claim([Claim(pending, library.project, "library", "x", "file:///x", "x.md", 1)])
    for what in ("result", "nav", "manifest", "pages/1", "assets/table-1"):
        error = get(library.client, f"{pending}/{what}", 409).json()["error"]
        assert error["code"] == "CONFLICT"
        assert error["details"]["status"] == "processing"
        get(library.client, f"00000000-0000-4000-8000-00000000dead/{what}", 404)


# ---------------------------------------------------------------- pages
@pytest.mark.parametrize("way", ["upload", "backfill"])
def test_pages_with_the_boxes_of_a_chunk(library: Library, way: str) -> None:
    document = getattr(library, way)(f"{way}-pages.pdf", report())
    chunks = get(library.client, f"{document}/result").json()["chunks"]
    chunk = next(c for c in chunks if c["page_numbers"] == [2])
    plain = picture(get(library.client, f"{document}/pages/2", params={"dpi": 72}))
    assert plain.size == (300, 400)
    marked = picture(get(library.client, f"{document}/pages/2", params={"dpi": 72, "chunk_id": chunk["id"]}))
    x0, y0, _, y1 = chunk["boxes"][0][1:]
    assert marked.getpixel((round(x0), round((y0 + y1) / 2))) == ORANGE
    assert plain.getpixel((round(x0), round((y0 + y1) / 2))) != ORANGE
    other = picture(get(library.client, f"{document}/pages/1", params={"dpi": 72, "chunk_id": chunk["id"]}))
    assert ORANGE not in {other.getpixel((x, y)) for x in range(300) for y in range(0, 400, 5)}
    boxes = [("box", "10,10,20,20"), ("box", "100,10.5,120,30"), ("dpi", "144")]
    drawn = picture(get(library.client, f"{document}/pages/1", params=boxes))
    assert drawn.getpixel((20, 30)) == ORANGE
    assert drawn.getpixel((200, 40)) == ORANGE


def test_an_etag_saves_drawing_again(library: Library) -> None:
    document = library.backfill("etag.pdf", report())
    first = get(library.client, f"{document}/pages/1")
    tag = first.headers["etag"]
    for given in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        again = get(library.client, f"{document}/pages/1", 304, headers={"If-None-Match": given})
        assert (again.content, again.headers["etag"]) == (b"", tag)
    assert get(library.client, f"{document}/pages/1", headers={"If-None-Match": '"x"'}).content == first.content
    assert get(library.client, f"{document}/pages/1", params={"dpi": 100}).headers["etag"] != tag
    library.backfill("etag.pdf", report(secret=True))
    changed = get(library.client, f"{document}/pages/1", headers={"If-None-Match": tag})
    assert changed.headers["etag"] != tag


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("pages/4", 404, "DOCUMENT_NOT_FOUND"),
        ("pages/0", 422, "INVALID_REQUEST"),
        ("pages/1?dpi=301", 422, "INVALID_REQUEST"),
        ("pages/1?box=1,2,3", 422, "INVALID_REQUEST"),
        ("pages/1?box=1,2,3,nan", 422, "INVALID_REQUEST"),
        ("pages/1?chunk_id=nosuch", 404, "DOCUMENT_NOT_FOUND"),
        ("assets/table-9", 404, "DOCUMENT_NOT_FOUND"),
        ("assets/image-1", 404, "DOCUMENT_NOT_FOUND"),
        ("assets/..%2Ftree", 404, "DOCUMENT_NOT_FOUND"),
        ("assets/tree.json.gz", 404, "DOCUMENT_NOT_FOUND"),
    ],
)
def test_what_is_not_there(library: Library, path: str, status: int, code: str) -> None:
    document = library.backfill("absent.pdf", report())
    assert get(library.client, f"{document}/{path}", status).json()["error"]["code"] == code


def test_formats_without_pages_and_documents_inside_others(library: Library, tmp_path: Path) -> None:
    document = library.upload("plain.md", b"# Title\n\nSome text.\n")
    assert "no pages" in get(library.client, f"{document}/pages/1", 422).json()["error"]["message"]
    import zipfile

    with zipfile.ZipFile(tmp_path / "box.zip", "w") as box:
        box.writestr("inner.pdf", report())
    outer = library.upload("box.zip", (tmp_path / "box.zip").read_bytes())
    (inner,) = library.deps.registry.children(outer)
    assert get(library.client, f"{inner.document_id}/result").json()["metadata"]["page_count"] == 3
    assert "inside another" in get(library.client, f"{inner.document_id}/pages/1", 422).json()["error"]["message"]


def test_a_source_that_changed_or_went_is_not_shown(library: Library) -> None:
    document = library.backfill("moving.pdf", report())
    get(library.client, f"{document}/pages/1")
    path = library.folder / "moving.pdf"
    path.write_bytes(report(secret=True))
    error = get(library.client, f"{document}/pages/1", 409).json()["error"]
    assert (error["code"], error["details"]) == ("CONFLICT", {"reason": "source_changed"})
    path.unlink()
    assert get(library.client, f"{document}/pages/1", 503).json()["error"]["code"] == "SOURCE_UNAVAILABLE"
    assert list((library.settings.scratch or Path()).glob("*/original")) == []


def test_a_page_of_a_document_that_is_replaced_meanwhile(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    from serve import originals
    from serve.routes import content

    document = library.upload("swapped.pdf", report())
    before = get(library.client, f"{document}/pages/1", params={"dpi": 36}).content
    swapped: list[str] = []

    def slowly(deps: Any, row: Any) -> Any:
        if not swapped:
            library.upload("swapped.pdf", report(secret=True))
            swapped.append(str(row.metadata["source_object"]))
            deps.objects.delete(swapped[0])
        return originals.original(deps, row)

    monkeypatch.setattr(content, "original", slowly)
    after = get(library.client, f"{document}/pages/1", params={"dpi": 36})
    assert swapped
    assert after.content != before
    assert picture(after).getpixel((1, 1)) == (0, 0, 0)
    library.deps.objects.delete(str(library.deps.registry.document(document).metadata["source_object"]))  # type: ignore[union-attr]
    assert get(library.client, f"{document}/pages/1", 503).json()["error"]["code"] == "SOURCE_UNAVAILABLE"


# ---------------------------------------------------------------- redaction
def test_no_picture_of_a_redacted_page(library: Library) -> None:
    mail = b"# Contact\n\nWrite to ann.miller@example.com soon.\n"
    for way, name, data in (("upload", "pii.pdf", report()), ("backfill", "pii.md", mail)):
        document = getattr(library, way)(name, data, security__pii_redaction=True, security__pii_entities=["EMAIL"])
        error = get(library.client, f"{document}/pages/1", 403).json()["error"]
        assert error["details"] == {"reason": "pii_redaction"}
    result = get(library.client, f"{document}/result").json()
    assert "[EMAIL_REDACTED]" in result["chunks"][0]["content"]
    manifest = get(library.client, f"{document}/manifest").json()
    assert manifest["metadata"]["redactions"] == {"EMAIL": 1}
    assert "ann.miller" not in str(result) + str(manifest)


# ---------------------------------------------------------------- assets
def test_pictures_and_tables_as_assets(library: Library) -> None:
    document = library.upload("assets.docx", letter())
    first = get(library.client, f"{document}/assets/image-1")
    assert first.headers["content-type"] == "image/jpeg"
    assert first.headers["content-disposition"] == 'inline; filename="image-1.jpg"'
    assert first.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in first.headers["content-security-policy"]
    assert b"taken at home" not in first.content
    assert Image.open(io.BytesIO(first.content)).size == (64, 48)
    assert get(library.client, f"{document}/assets/image-2").content == first.content
    kept = [o.key for o in library.deps.objects.list("artifacts/") if document in o.key and "/images/" in o.key]
    assert len(kept) == 1
    table = get(library.client, f"{document}/assets/table-1")
    assert table.headers["content-type"] == "text/html; charset=utf-8"
    assert 'colspan="2"' in table.text
    assert "<b>" not in table.text
    assert "Small &lt;b&gt;pump&lt;/b&gt;" in table.text
    sheet = get(library.client, f"{document}/assets/table-1", params={"format": "csv"})
    assert sheet.headers["content-disposition"] == 'attachment; filename="table-1.csv"'
    assert [row for row in csv.reader(io.StringIO(sheet.text)) if row][-1] == ["all the same", ""]
    again = get(library.client, f"{document}/assets/table-1", 304, headers={"If-None-Match": table.headers["etag"]})
    assert again.content == b""
    assert table.headers["etag"] != sheet.headers["etag"]


# ---------------------------------------------------------------- hidden chunks
def only_insiders(chunk: Any) -> list[str]:
    return ["insiders"] if "SECRET" in chunk.content or "Secret" in chunk.content else []


@pytest.mark.parametrize("way", ["upload", "backfill"])
def test_a_hidden_section_shows_nowhere(library: Library, way: str) -> None:
    document = getattr(library, way)(f"{way}-acl.pdf", report(), only_insiders)
    outsider, insider = library.reader("others"), library.reader("insiders")
    whole = get(insider, f"{document}/result").json()
    hidden = [c for c in whole["chunks"] if "SECRET" in c["content"]]
    assert hidden
    for what in ("result", "nav", "manifest", "result?include_embeddings=true"):
        assert "SECRET" in get(insider, f"{document}/{what}").text or what != "result"
        text = get(outsider, f"{document}/{what}").text
        assert "secret" not in text.lower().replace('"code":"chunks_withheld"', "")
        assert not any(chunk["id"] in text for chunk in hidden)
    shown = get(outsider, f"{document}/result").json()
    assert [loss["code"] for loss in shown["warnings"]][-1] == "chunks_withheld"
    assert len(shown["chunks"]) == len(whole["chunks"]) - len(hidden)
    assert not get(outsider, f"{document}/manifest").json()["complete"]
    # page 2 is hidden, page 3 may hold the end of its last paragraph; an absent page answers alike
    answers = [get(outsider, f"{document}/pages/{page}", 404).json()["error"] for page in (2, 3, 4)]
    assert {(e["code"], e["message"].replace(str(p), "N")) for e, p in zip(answers, (2, 3, 4), strict=True)} == {
        ("DOCUMENT_NOT_FOUND", "the document has no page N")
    }
    assert picture(get(outsider, f"{document}/pages/1"))
    for page in (1, 2, 3):
        assert picture(get(insider, f"{document}/pages/{page}"))
    assert get(outsider, f"{document}/pages/1", 404, params={"chunk_id": hidden[0]["id"]}).json()


def test_tables_and_pictures_of_hidden_chunks(library: Library) -> None:
    hidden_table = library.upload(
        "acl-table.docx", letter(), lambda c: ["x"] if c.metadata.chunk_type == "table" else []
    )
    outsider = library.reader("y")
    for asset in ("table-1", "image-1"):  # the pictures stand in no chunk, so nobody can vouch for them
        get(outsider, f"{hidden_table}/assets/{asset}", 404)
        get(library.reader("x"), f"{hidden_table}/assets/{asset}")
    result = get(outsider, f"{hidden_table}/result").json()
    assert (result["tables"], result["images"]) == ([], [])


def test_documents_of_other_projects_are_not_there(library: Library) -> None:
    document = library.upload("other.pdf", report())
    stranger = library.reader("x", project="00000000-0000-4000-8000-000000000009")
    for what in ("result", "nav", "manifest", "pages/1", "assets/table-1"):
        theirs = get(stranger, f"{document}/{what}", 404).json()["error"]
        absent = get(stranger, f"00000000-0000-4000-8000-00000000dead/{what}", 404).json()["error"]
        assert (theirs["code"], theirs["message"]) == (absent["code"], absent["message"])
