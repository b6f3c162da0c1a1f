"""Active content of PDFs and metadata of pictures: found, reported, and gone from the copy."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from engine.extract.pdf.mupdf import pymupdf
from engine.sanitize.image import sanitize_image
from engine.sanitize.pdf import sanitize_pdf


def test_active_content_is_taken_out(tmp_path: Path) -> None:
    made = pymupdf.open()
    made.new_page().insert_text((72, 72), "Harmless words")
    catalog = made.pdf_catalog()
    made.xref_set_key(catalog, "OpenAction", "<</S/JavaScript/JS(app.alert\\(1\\))>>")
    made.xref_set_key(made[0].xref, "AA", "<</O<</S/Launch/F(cmd.exe)>>>>")
    launch = made.get_new_xref()
    made.update_object(launch, "<</S/Launch/F(calc.exe)>>")
    made.xref_set_key(catalog, "Extra", f"{launch} 0 R")
    made.embfile_add("tool", b"MZ", filename="tool.exe")
    made.embfile_add("notes", b"words", filename="notes.txt")
    made.save(tmp_path / "a.pdf")
    losses = sanitize_pdf(tmp_path / "a.pdf", tmp_path / "out.pdf")
    assert {loss.code for loss in losses} == {
        "script_removed",
        "automatic_action_removed",
        "launch_action_removed",
        "embedded_program_removed",
    }
    clean = pymupdf.open(tmp_path / "out.pdf")
    objects = "".join(clean.xref_object(n) for n in range(1, clean.xref_length()))
    assert "JavaScript" not in objects and "Launch" not in objects
    assert clean.embfile_names() == ["notes"] and "Harmless" in clean[0].get_text()
    assert sanitize_pdf(tmp_path / "out.pdf", tmp_path / "again.pdf") == []


def test_a_plain_pdf_is_left_alone(tmp_path: Path) -> None:
    made = pymupdf.open()
    page = made.new_page()
    page.insert_text((72, 72), "words")
    page.insert_link({"kind": pymupdf.LINK_URI, "uri": "https://example.org", "from": pymupdf.Rect(0, 0, 9, 9)})
    made.save(tmp_path / "a.pdf")
    assert sanitize_pdf(tmp_path / "a.pdf", tmp_path / "out.pdf") == []
    assert not (tmp_path / "out.pdf").exists()


def test_what_cannot_be_opened_is_left_to_the_extractor(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4 /JavaScript broken")
    assert sanitize_pdf(tmp_path / "a.pdf", tmp_path / "out.pdf") == []


def test_pictures_lose_their_metadata(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010F] = "Camera maker"
    exif[0x0112] = 3
    image = Image.new("RGB", (40, 20), "red")
    image.putpixel((0, 0), (0, 0, 255))
    image.save(tmp_path / "a.png", exif=exif, dpi=(150, 150))
    losses = sanitize_image(tmp_path / "a.png", tmp_path / "out.png")
    assert [loss.code for loss in losses] == ["metadata_removed"]
    with Image.open(tmp_path / "out.png") as clean:
        assert not clean.getexif() and clean.getpixel((39, 19)) == (0, 0, 255)
        assert round(clean.info["dpi"][0]) == 150
    assert b"Camera" not in (tmp_path / "out.png").read_bytes()


def test_pictures_without_metadata_are_left_alone(tmp_path: Path) -> None:
    Image.new("RGB", (40, 20)).save(tmp_path / "a.png")
    assert sanitize_image(tmp_path / "a.png", tmp_path / "out.png") == []
    assert not (tmp_path / "out.png").exists()
