"""Pictures inside documents: written anew from their pixels, equal ones equal, within bounds, losses told."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from PIL import Image

from engine.document import Builder
from engine.records import ExtractedDocument, ExtractedImage
from engine.sanitize import pictures
from engine.sanitize.pictures import clean_pictures
from engine.settings import Limits


def encoded(kind: str, size: tuple[int, int] = (40, 30), color: str = "red", **options: object) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, color).save(out, kind, **options)
    return out.getvalue()


def document(*images: tuple[bytes, str]) -> ExtractedDocument:
    builder = Builder("docx", Limits())
    builder.heading(1, "Pictures")
    for data, mime in images:
        builder.image(ExtractedImage(data, mime, alt_text="a picture"))
    return builder.finish()


def cleaned(tmp_path: Path, *images: tuple[bytes, str], limits: Limits | None = None) -> ExtractedDocument:
    made = document(*images)
    clean_pictures(made, tmp_path, limits or Limits())
    assert list(tmp_path.iterdir()) == []
    return made


def losses(made: ExtractedDocument) -> dict[str, int]:
    return {loss.code: loss.count for loss in made.warnings}


def test_metadata_and_trailing_bytes_do_not_survive(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "secret place"
    photo = encoded("JPEG", exif=exif) + b"PAYLOAD"
    drawing = encoded("PNG", color="blue") + b"PAYLOAD"
    made = cleaned(tmp_path, (photo, "image/jpeg"), (drawing, "image/x-wrong"))
    first, second = made.images
    assert (first.mime_type, second.mime_type) == ("image/jpeg", "image/png")
    for image in made.images:
        assert b"secret" not in image.data
        assert b"PAYLOAD" not in image.data
        with Image.open(io.BytesIO(image.data)) as shown:
            assert shown.size == (40, 30)
            assert not shown.getexif()
    with Image.open(io.BytesIO(second.data)) as shown:
        assert shown.getpixel((5, 5)) == (0, 0, 255)
    assert losses(made) == {}


@pytest.mark.parametrize(
    "data",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        b"\xd7\xcd\xc6\x9a" * 20,
        b"\x89PNG\r\n\x1a\nrubbish",
    ],
)
def test_what_cannot_be_decoded_keeps_its_texts_only(tmp_path: Path, data: bytes) -> None:
    made = cleaned(tmp_path, (data, "image/svg+xml"), (data, "image/svg+xml"), (encoded("GIF"), "image/gif"))
    assert [bool(image.data) for image in made.images] == [False, False, True]
    assert made.images[0].alt_text == "a picture"
    assert made.images[2].mime_type == "image/png"
    assert losses(made) == {"image_not_kept": 2}


def test_equal_pictures_give_equal_bytes_and_are_decoded_once(tmp_path: Path) -> None:
    data = encoded("BMP")
    made = cleaned(tmp_path, (data, "image/bmp"), (data, "image/bmp"), (encoded("TIFF"), "image/tiff"))
    assert made.images[0].data is made.images[1].data
    assert made.images[0].data == made.images[2].data  # the same pixels in another wrapping


def test_large_pictures_are_kept_smaller_and_huge_ones_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "MOST_PIXELS", 10_000)
    made = cleaned(
        tmp_path,
        (encoded("PNG", (400, 100)), "image/png"),
        (encoded("PNG", (500, 500)), "image/png"),
        limits=Limits(image_pixels=100_000),
    )
    with Image.open(io.BytesIO(made.images[0].data)) as shown:
        assert shown.size == (200, 50)
    assert made.images[1].data == b""
    assert losses(made) == {"image_not_kept": 1, "image_reduced": 1}


def test_the_number_of_pictures_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MOST_PICTURES", 2)
    made = cleaned(tmp_path, *((encoded("PNG", (10 + n, 10)), "image/png") for n in range(5)))
    assert [bool(image.data) for image in made.images] == [True, True, False, False, False]
    assert losses(made) == {"image_over_limit": 3}


def photograph(size: tuple[int, int], seed: int = 7) -> Image.Image:
    noise = Image.frombytes("L", (96, 72), random.Random(seed).randbytes(96 * 72))
    return noise.resize(size, Image.Resampling.BICUBIC).convert("RGB")


def packed(image: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def test_pictures_that_look_the_same_are_stored_once(tmp_path: Path) -> None:
    picture = photograph((320, 240))
    copies = [packed(picture, "PNG"), packed(picture, "BMP"), packed(picture, "JPEG", quality=85)]
    other = packed(photograph((320, 240), 8), "PNG")
    made = cleaned(tmp_path, *((data, "image/png") for data in (*copies, other)))
    assert [image.data is made.images[0].data for image in made.images] == [True, True, True, False]
    assert losses(made) == {"image_alike": 2}


def test_a_photograph_in_a_large_png_is_kept_as_jpeg_and_always_the_same(tmp_path: Path) -> None:
    data = packed(photograph((1800, 1350)), "PNG", compress_level=1)
    first, again = (cleaned(tmp_path, (data, "image/png")).images[0] for _ in range(2))
    assert (first.mime_type, first.data) == ("image/jpeg", again.data)
    assert len(first.data) * 3 < len(data)
