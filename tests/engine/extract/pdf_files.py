"""Builds PDFs with real libraries and reads them through the table of extractors."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import reportlab
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from engine.document import walk
from engine.extract import Context, extract
from engine.records import ExtractedDocument
from engine.settings import Settings

WIDTH, HEIGHT = 595.0, 842.0
LOREM = (
    "The committee met on Thursday and heard the report of the treasurer on the state of the funds. "
    "It was agreed that the accounts be printed and sent to every member before the end of the month. "
)


def context(
    tmp_path: Path, source_format: str = "pdf", passwords: list[str] | None = None, **groups: object
) -> Context:
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    return Context(source_format, "file", Settings.model_validate(groups), scratch, passwords=passwords or [])


def pdf(
    path: Path, *pages: Callable[[Canvas], None], size: tuple[float, float] = (WIDTH, HEIGHT), **options: object
) -> Path:
    canvas = Canvas(str(path), pagesize=size, **options)  # pyright: ignore[reportArgumentType]
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return path


def text_at(canvas: Canvas, x: float, top: float, text: str, size: float = 11, font: str = "Helvetica") -> None:
    """One line whose baseline lies `top` points under the page's top edge."""
    canvas.setFont(font, size)
    canvas.drawString(x, canvas._pagesize[1] - top, text)


def wrapped(canvas: Canvas, x: float, top: float, width: float, text: str, size: float = 11) -> float:
    """Text broken into lines of `width`; the height after the last."""
    line = ""
    for word in [*text.split(), ""]:
        longer = f"{line} {word}".strip()
        if word and canvas.stringWidth(longer, "Helvetica", size) <= width:
            line = longer
            continue
        text_at(canvas, x, top, line, size)
        line, top = word, top + 1.25 * size
    return top


def text_picture(*lines: str, size: int = 36, width: int = 1400) -> Image.Image:
    """Black lines on white, as a scanner at 200 dpi would see them."""
    image = Image.new("RGB", (width, 120 + 52 * len(lines)), "white")
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(str(Path(reportlab.__path__[0]) / "fonts" / "Vera.ttf"), size)
    for number, line in enumerate(lines):
        draw.text((80, 60 + 52 * number), line, fill="black", font=font)
    return image


def reader(image: Image.Image) -> ImageReader:
    data = io.BytesIO()
    image.save(data, "PNG")
    return ImageReader(data)


def read(path: Path, tmp_path: Path, source_format: str = "pdf", **options: object) -> ExtractedDocument:
    return extract(path, context(tmp_path, source_format, **options))  # pyright: ignore[reportArgumentType]


def outline(document: ExtractedDocument) -> list[tuple[str, str]]:
    """(type, text) of every block with text of its own."""
    return [(e.type, e.content) for e in walk(document.structure) if e.content]


def headings(document: ExtractedDocument) -> list[tuple[int | None, str]]:
    return [(e.level, e.content) for e in walk(document.structure) if e.type == "heading"]


def codes(document: ExtractedDocument) -> set[str]:
    return {loss.code for loss in document.warnings}
