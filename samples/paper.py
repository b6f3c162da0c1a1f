"""Draws the sample PDFs and pictures: a guide with an outline, a two-column bulletin, scans."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pymupdf
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from samples import story

_A4 = (595, 842)
_MARGIN = 60
_DATE = "D:20241001120000Z"


def guide(path: Path) -> None:
    """Two pages with an outline, headings and a ruled table."""
    document: Any = pymupdf.open()
    page = document.new_page(width=_A4[0], height=_A4[1])
    page.insert_text((_MARGIN, 80), story.GUIDE_TITLE, fontsize=20, fontname="hebo")
    outline = [[1, story.GUIDE_TITLE, 1]]
    y = 120.0
    for heading, paragraphs in story.GUIDE:
        if heading == "Tickets":
            page = document.new_page(width=_A4[0], height=_A4[1])
            y = 80.0
        outline.append([2, heading, page.number + 1])
        page.insert_text((_MARGIN, y), heading, fontsize=14, fontname="hebo")
        y += 14
        for text in paragraphs:
            y = _paragraph(page, text, _MARGIN, y, _A4[0] - 2 * _MARGIN) + 10
        y += 16
    _table(page, story.TICKETS, y)
    document.set_toc(outline)
    _save(document, path, story.GUIDE_TITLE)


def bulletin(path: Path) -> None:
    """One page in two columns below a headline."""
    document: Any = pymupdf.open()
    page = document.new_page(width=_A4[0], height=_A4[1])
    page.insert_text((_MARGIN, 80), story.BULLETIN_TITLE, fontsize=20, fontname="hebo")
    width = 225
    for x, paragraphs in ((_MARGIN, story.BULLETIN_LEFT), (_A4[0] - _MARGIN - width, story.BULLETIN_RIGHT)):
        y = 110.0
        for text in paragraphs:
            y = _paragraph(page, text, x, y, width) + 12
    _save(document, path, story.BULLETIN_TITLE)


def scan(path: Path) -> None:
    """A page that is only a picture: typed lines, a little turned and blurred, as from a scanner."""
    picture = lines_picture(story.KEEPERS_LOG, 34, (1240, 1100)).rotate(
        0.6, resample=Image.Resampling.BICUBIC, fillcolor=255
    )
    buffer = io.BytesIO()
    picture.filter(ImageFilter.GaussianBlur(0.6)).save(buffer, "PNG", optimize=True)
    document: Any = pymupdf.open()
    page = document.new_page(width=595, height=528)
    page.insert_image(page.rect, stream=buffer.getvalue())
    _save(document, path, "")


def encrypted(path: Path) -> None:
    """A PDF that opens only with a password."""
    document: Any = pymupdf.open()
    page = document.new_page()
    page.insert_text((_MARGIN, 80), "The combination of the gatehouse safe is written elsewhere.", fontsize=12)
    document.save(path, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="sow-rock", owner_pw="amaranth")


def lines_picture(lines: list[str], size: int, box: tuple[int, int], colour: int = 20) -> Image.Image:
    """Lines of type on white paper."""
    picture = Image.new("L", box, 255)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=size)
    for number, line in enumerate(lines):
        draw.text((70, 60 + number * int(size * 1.9)), line, fill=colour, font=font)
    return picture


def pictures(folder: Path) -> None:
    """A notice (PNG), two telegrams (TIFF), a plaque (JPEG and WebP)."""
    lines_picture(story.NOTICE, 36, (900, 560)).save(folder / "notice-to-mariners.png", optimize=True)
    first, second = (lines_picture(lines, 34, (900, 360)).convert("1") for lines in story.TELEGRAMS)
    first.save(folder / "telegrams.tiff", save_all=True, append_images=[second], compression="group4", dpi=(200, 200))
    plaque = lines_picture(story.PLAQUE, 40, (800, 420), colour=60)
    plaque.save(folder / "plaque.jpg", quality=80)
    plaque.save(folder / "plaque.webp", quality=70)


def _paragraph(page: Any, text: str, x: float, y: float, width: float) -> float:
    """Text wrapped by its measured width; the place below its last line."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if pymupdf.get_text_length(longer, fontname="helv", fontsize=11) > width:
            y += 15
            page.insert_text((x, y), line, fontsize=11, fontname="helv")
            line = word
        else:
            line = longer
    y += 15
    page.insert_text((x, y), line, fontsize=11, fontname="helv")
    return y


def _table(page: Any, rows: list[list[str]], y: float) -> None:
    width, height = (_A4[0] - 2 * _MARGIN) / len(rows[0]), 24
    for r, row in enumerate(rows):
        for c, text in enumerate(row):
            cell = pymupdf.Rect(_MARGIN + c * width, y + r * height, _MARGIN + (c + 1) * width, y + (r + 1) * height)
            page.draw_rect(cell, width=0.7)
            page.insert_text((cell.x0 + 5, cell.y1 - 8), text, fontsize=10, fontname="hebo" if r == 0 else "helv")


def _save(document: Any, path: Path, title: str) -> None:
    document.set_metadata({"title": title, "author": "Skerry Bay", "creationDate": _DATE, "modDate": _DATE})
    document.save(path, garbage=3, deflate=True, no_new_id=True)
    document.close()
