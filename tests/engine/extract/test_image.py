"""Picture files: orientation, frames, limits, damage, and the text on them."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from engine.errors import Code, InputError
from engine.ocr import check_read, installed_languages
from tests.engine.extract.pdf_files import codes, read, text_picture

needs_tesseract = pytest.mark.skipif("eng" not in installed_languages(), reason="Tesseract is not installed")
LINES = ("The annual meeting was opened at nine", "and closed at twelve with thanks to all")
OFF = {"ocr": {"enabled": False}}


@needs_tesseract
@pytest.mark.parametrize(("source_format", "kind"), [("png", "PNG"), ("jpg", "JPEG"), ("webp", "WEBP"), ("bmp", "BMP")])
def test_text_on_a_picture(tmp_path: Path, source_format: str, kind: str) -> None:
    path = tmp_path / f"a.{source_format}"
    text_picture(*LINES).save(path, kind)
    document = read(path, tmp_path, source_format)
    assert " ".join(LINES) in document.content
    assert document.metadata.source_format == source_format and document.metadata.page_count == 1


@needs_tesseract
def test_every_page_of_a_tiff(tmp_path: Path) -> None:
    first, second = text_picture("The first page of the letter"), text_picture("The second page of the letter")
    first.save(tmp_path / "a.tif", save_all=True, append_images=[second], dpi=(200, 200))
    document = read(tmp_path / "a.tif", tmp_path, "tiff")
    assert [p.content for p in document.pages] == ["The first page of the letter", "The second page of the letter"]
    assert document.pages[0].width == pytest.approx(1400 * 72 / 200, abs=0.1)


def test_the_exif_orientation_is_applied_and_the_exif_left_behind(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned a quarter clockwise
    exif[0x010F] = "Camera maker"
    text_picture(*LINES).rotate(90, expand=True).save(tmp_path / "a.jpg", exif=exif)
    document = read(tmp_path / "a.jpg", tmp_path, "jpg")
    page = document.pages[0]
    assert page.width is not None and page.height is not None and page.width > page.height
    copy = (tmp_path / "scratch" / "page-00001.png").read_bytes()
    assert b"Camera maker" not in copy and b"eXIf" not in copy


def test_only_the_first_frame_of_an_animation(tmp_path: Path) -> None:
    frames = [text_picture(f"frame number {n}") for n in range(3)]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    document = read(tmp_path / "a.gif", tmp_path, "gif", **OFF)
    assert len(document.pages) == 1
    assert [(w.code, w.count) for w in document.warnings if w.code == "frames_skipped"] == [("frames_skipped", 2)]


def test_the_pixel_limit_holds_before_decoding(tmp_path: Path) -> None:
    Image.new("1", (20_000, 20_000)).save(tmp_path / "a.png")
    with pytest.raises(InputError) as error:
        read(tmp_path / "a.png", tmp_path, "png")
    assert error.value.code == Code.LIMIT_EXCEEDED


def test_too_many_frames(tmp_path: Path) -> None:
    frames = [Image.new("L", (20, 20), n) for n in range(4)]
    frames[0].save(tmp_path / "a.tif", save_all=True, append_images=frames[1:])
    with pytest.raises(InputError) as error:
        read(tmp_path / "a.tif", tmp_path, "tiff", limits={"pages": 3})
    assert error.value.code == Code.LIMIT_EXCEEDED


def test_a_truncated_picture_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    text_picture(*LINES).save(tmp_path / "whole.jpg")
    data = (tmp_path / "whole.jpg").read_bytes()
    (tmp_path / "a.jpg").write_bytes(data[: int(len(data) * 0.9)])
    assert "image_truncated" in codes(read(tmp_path / "a.jpg", tmp_path, "jpg", **OFF))


@pytest.mark.parametrize("data", [b"", b"no picture", b"%!PS-Adobe-3.0 EPSF-3.0\n", b"\x89PNG\r\n\x1a\nbroken"])
def test_what_is_no_picture_fails(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(InputError) as error:
        read(tmp_path / "a.png", tmp_path, "png")
    assert error.value.code == Code.EXTRACTION_FAILED


def test_heic(tmp_path: Path) -> None:
    pillow_heif = pytest.importorskip("pillow_heif")
    pillow_heif.from_pillow(text_picture(*LINES)).save(tmp_path / "a.heic")
    document = read(tmp_path / "a.heic", tmp_path, "heic", **OFF)
    assert document.pages[0].width == 1400


@pytest.mark.parametrize("mode", ["RGBA", "P", "LA", "I;16", "CMYK", "1"])
def test_modes_become_plain(tmp_path: Path, mode: str) -> None:
    image = text_picture("words")
    image = image.convert("L").convert(mode) if mode in ("I;16", "LA") else image.convert(mode)
    image.save(tmp_path / "a.tif")
    read(tmp_path / "a.tif", tmp_path, "tiff")
    with Image.open(tmp_path / "scratch" / "page-00001.png") as copy:
        assert copy.mode in ("L", "RGB")


def test_an_empty_sheet_is_blank_and_a_photograph_without_text_fails(tmp_path: Path) -> None:
    Image.new("RGB", (400, 300), "white").save(tmp_path / "blank.png")
    blank = read(tmp_path / "blank.png", tmp_path, "png")
    assert codes(blank) == {"blank_page"}
    check_read(blank)
    Image.radial_gradient("L").resize((800, 800)).save(tmp_path / "photo.png")
    photo = read(tmp_path / "photo.png", tmp_path, "png", ocr={"vision": "off"})
    with pytest.raises(InputError) as error:
        check_read(photo)
    assert error.value.code == Code.OCR_FAILED
