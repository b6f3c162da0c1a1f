"""Draws what was found on a page over its picture: a box an element, coloured by type, numbered in reading order.

For people who check an extraction with their own eyes. A strip under the page says which colour is which type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from engine.marks import Mark

Colour = tuple[int, int, int]
Font = ImageFont.FreeTypeFont | ImageFont.ImageFont
# Colours far apart in hue and dark enough to be read on white, and under a number in white.
COLOURS: dict[str, Colour] = {
    "heading": (200, 30, 30),
    "paragraph": (30, 90, 200),
    "list_item": (0, 130, 120),
    "table": (140, 60, 180),
    "image": (210, 120, 0),
    "caption": (170, 90, 40),
    "code": (70, 70, 70),
    "note": (110, 130, 0),
    "comment": (220, 60, 140),
    "page_header": (130, 130, 150),
    "page_footer": (130, 130, 150),
}
OTHER: Colour = (20, 150, 60)
_FILL = 28  # of 255: how much of the colour lies over the text
_LETTERS = (255, 255, 255)


def draw_marks(image: Image.Image, marks: Sequence[Mark], scale: float) -> Image.Image:
    """The picture with `marks` over it and a legend under it. `scale`: pixels per point."""
    drawn = image.convert("RGB")
    pen = ImageDraw.Draw(drawn, "RGBA")
    font = ImageFont.load_default(max(11.0, 7.5 * scale))
    for mark in marks:
        box = _pixels(mark, drawn.size, scale)
        colour = COLOURS.get(mark.type, OTHER)
        pen.rectangle(box, fill=(*colour, _FILL), outline=(*colour, 255), width=max(1, round(scale)))
        _tag(pen, mark.label or (str(mark.number) if mark.number else ""), box, colour, font)
    return _with_legend(drawn, Counter(mark.type for mark in marks), font)


def _pixels(mark: Mark, size: tuple[int, int], scale: float) -> tuple[int, int, int, int]:
    def held(value: float, most: int) -> int:
        return round(min(max(value * scale, 0.0), most - 1.0))

    left, right = sorted((held(mark.x0, size[0]), held(mark.x1, size[0])))
    top, bottom = sorted((held(mark.y0, size[1]), held(mark.y1, size[1])))
    return left, top, right, bottom


def _tag(pen: ImageDraw.ImageDraw, text: str, box: tuple[int, int, int, int], colour: Colour, font: Font) -> None:
    """A small flag with `text`, outside the box at its left where there is room, else inside its corner."""
    if not text:
        return
    left, top, right, bottom = pen.textbbox((0, 0), text, font=font)
    width, height = right - left + 4, bottom - top + 4
    x = box[0] - width if box[0] >= width else box[0]
    pen.rectangle((x, box[1], x + width, box[1] + height), fill=(*colour, 255))
    pen.text((x + 2 - left, box[1] + 2 - top), text, font=font, fill=_LETTERS)


def _with_legend(image: Image.Image, types: Counter[str], font: Font) -> Image.Image:
    """The picture with a strip under it: each type that occurs, its colour and how often."""
    entries = [(f"{name} {count}", COLOURS.get(name, OTHER)) for name, count in sorted(types.items())]
    entries = entries or [("nothing that has a place on this page", OTHER)]
    line = round(font.getbbox("Ag")[3] * 1.7)
    places = _placed(entries, font, image.width, line)
    made = Image.new("RGB", (image.width, image.height + places[-1][1] + line), "white")
    made.paste(image, (0, 0))
    pen = ImageDraw.Draw(made)
    pen.line((0, image.height, image.width, image.height), fill=(160, 160, 160))
    for (text, colour), (x, y) in zip(entries, places, strict=True):
        top = image.height + y + line // 4
        pen.rectangle((x, top, x + line // 2, top + line // 2), fill=colour)
        pen.text((x + line * 3 // 4, top), text, font=font, fill=(0, 0, 0), anchor="lt")
    return made


def _placed(entries: Sequence[tuple[str, Colour]], font: Font, width: int, line: int) -> list[tuple[int, int]]:
    """Where each entry of the legend begins: from left to right, on as many lines as they take."""
    places: list[tuple[int, int]] = []
    x = y = line // 4
    for text, _ in entries:
        across = round(font.getlength(text)) + line * 3 // 2
        if x + across > width and x > line // 4:
            x, y = line // 4, y + line
        places.append((x, y))
        x += across
    return places
