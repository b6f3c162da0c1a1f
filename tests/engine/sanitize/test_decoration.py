"""Decoration goes and says so, what an author names stays; pictures that nobody can tell apart are one."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageFont

from engine.document import Builder
from engine.records import ExtractedDocument, ExtractedImage
from engine.sanitize.decoration import drop_decoration
from engine.sanitize.likeness import alike, look_of
from engine.settings import Settings


def drawn(size: tuple[int, int] = (160, 120), kind: str = "PNG", line: int = 0, **options: object) -> bytes:
    """A picture with something on it."""
    out = io.BytesIO()
    chart(size, line).save(out, kind, **options)
    return out.getvalue()


def chart(size: tuple[int, int], line: int = 0) -> Image.Image:
    made = Image.radial_gradient("L").resize(size).convert("RGB")
    pen = ImageDraw.Draw(made)
    pen.line((5, 5, size[0] - 5, size[1] - 10 - line), fill=(200, 30, 30), width=2)
    return made


def plain_png(size: tuple[int, int], color: object, mode: str = "RGB") -> bytes:
    out = io.BytesIO()
    Image.new(mode, size, color).save(out, "PNG")  # type: ignore[arg-type]
    return out.getvalue()


def slides(*pages: list[tuple[bytes, str | None]], text: str = "Tides") -> ExtractedDocument:
    builder = Builder("pptx", Settings().limits)
    for number, images in enumerate(pages, 1):
        builder.start_page(number)
        builder.heading(1, text)
        for data, alt in images:
            builder.image(ExtractedImage(data, "image/png", alt_text=alt))
    made = builder.finish()
    drop_decoration(made, Settings())
    return made


def losses(made: ExtractedDocument) -> dict[str, int]:
    return {loss.code: loss.count for loss in made.warnings}


def test_small_pictures_and_those_of_one_colour_go_unless_they_are_named() -> None:
    dot, bar = drawn((40, 40)), plain_png((900, 30), "navy")
    clear = plain_png((300, 300), (0, 0, 0, 0), "RGBA")
    made = slides([(dot, None), (dot, "A buoy"), (bar, " "), (clear, None), (drawn(), None), (b"<svg/>", None)])
    assert [(i.image_id, i.alt_text) for i in made.images] == [
        ("image-1", "A buoy"),
        ("image-2", None),
        ("image-3", None),
    ]
    assert made.images[1].data == drawn()
    assert losses(made) == {"image_small": 1, "image_blank": 2}
    assert made.content == "# Tides\n\nA buoy" and len(made.pages[0].images) == 3


def test_a_logo_on_most_pages_is_kept_once() -> None:
    logo, photo = drawn(line=3), drawn((300, 200), "JPEG")
    made = slides(*[[(logo, "Logo")]] * 3, [(photo, None), (photo, None)], [(logo, "Seal of the harbour")])
    assert [(i.page_number, i.alt_text) for i in made.images] == [
        (1, "Logo"), (4, None), (4, None), (5, "Seal of the harbour")
    ]  # fmt: skip
    assert losses(made) == {"image_repeated": 2}
    assert made.content.count("Logo") == 1


def test_a_document_of_pictures_alone_keeps_them() -> None:
    made = slides([(plain_png((20, 20), "red"), None)], text="")
    assert len(made.images) == 1 and losses(made) == {}


def screenshot(total: str, kind: str = "PNG", **options: object) -> Image.Image:
    made = Image.new("RGB", (1280, 960), "white")
    ImageDraw.Draw(made).text((101, 403), f"Total {total}", font=ImageFont.load_default(11), fill="black")
    out = io.BytesIO()
    made.save(out, kind, **options)
    return Image.open(out)


def test_copies_look_alike_and_one_other_digit_is_another_picture() -> None:
    first = look_of(screenshot("1,832.50"))
    for quality in (60, 80, 95):
        assert (
            alike(look_of(screenshot("1,832.50", "JPEG", quality=quality)), [look_of(chart((1280, 960))), first]) == 1
        )
    assert alike(look_of(screenshot("1,882.50")), [first]) is None
    assert alike(look_of(screenshot("1,882.50", "JPEG", quality=60)), [first]) is None
    big = chart((640, 480))
    assert alike(look_of(Image.open(io.BytesIO(drawn((640, 480), "JPEG", quality=75)))), [look_of(big)]) == 0
    assert alike(look_of(chart((640, 480), line=1)), [look_of(big)]) is None
