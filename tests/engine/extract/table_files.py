"""Draws tables of many kinds into PDFs, with the cells that must be read from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, PageTemplate, Paragraph, Spacer, Table, TableStyle

from tests.engine.extract.pdf_files import LOREM

Cell = tuple[int, int]  # column, row
STYLES = ("grid", "booktabs", "head rule", "rows", "stripes", "frame", "none")


@dataclass
class Look:
    """How a table is drawn. `spans`: (first cell, last cell) pairs; `heads`: rows that name the columns."""

    style: str = "grid"
    valign: str = "TOP"
    padding: float = 3
    size: float = 9
    align: str = "RIGHT"
    widths: tuple[float, ...] = ()
    spans: tuple[tuple[Cell, Cell], ...] = ()
    heads: int = 1


def figures(look: Look) -> list[list[str]]:
    """Rows of figures with labels that wrap and two empty cells."""
    del look
    return [
        ["Region", "Area", "Price per unit", "Share"],
        ["North and the islands beyond the strait", "1,204", "$17", "12.5%"],
        ["South", "88", "", "1.4%"],
        ["East coast with its harbours and towns", "30,410", "$9", "56.9%"],
        ["West", "702", "$1,250", ""],
        ["Centre", "15", "$3", "0.2%"],
    ]


def prose(look: Look) -> list[list[str]]:
    """Cells of several lines each."""
    del look
    return [
        ["Measure", "What is done", "Who is asked"],
        ["Survey", "Letters go out in spring and again in autumn to all who moved", "Every household in the register"],
        ["Visit", "Two officers call", "Farms above forty hectares and the mills that buy from them"],
        ["Count", "Boats are counted at the quay each Sunday before noon", "Nobody"],
    ]


def draw(path: Path, rows: list[list[str]], look: Look, columns: int = 1, before: int = 2, after: int = 2) -> Path:
    """A page with running text, the table, and running text, in one or more columns of text."""
    width = (451 - 13 * (columns - 1)) / columns
    frames = [Frame(72 + n * (width + 13), 72, width, 690, 0, 0, 0, 0) for n in range(columns)]
    document = BaseDocTemplate(str(path), pagesize=A4)
    document.addPageTemplates(PageTemplate(frames=frames))
    body = ParagraphStyle("body", fontName="Times-Roman", fontSize=10, leading=12.5)
    text: list[Flowable] = [Paragraph(LOREM, body) for _ in range(before)]
    rest: list[Flowable] = [Paragraph(LOREM, body) for _ in range(after)]
    document.build([*text, Spacer(1, 14), table(rows, look, width), Spacer(1, 14), *rest])
    return path


def table(rows: list[list[str]], look: Look, width: float) -> Table:
    widths = look.widths or tuple(0.3 if n == 0 else 0.7 / (len(rows[0]) - 1) for n in range(len(rows[0])))
    data = [[_cell(text, look, r, c) for c, text in enumerate(row)] for r, row in enumerate(rows)]
    made = Table(data, colWidths=[0.95 * width * w for w in widths])
    made.setStyle(TableStyle([*_places(look), *_lines(look, len(rows))]))  # pyright: ignore[reportArgumentType]
    return made


def _cell(text: str, look: Look, row: int, column: int) -> Paragraph:
    head = row < look.heads
    spanned = any(a[0] <= column <= b[0] and a[1] <= row <= b[1] and b[0] > a[0] for a, b in look.spans)
    align = 1 if spanned else 0 if column == 0 or look.align == "LEFT" else 2
    font = "Helvetica-Bold" if head else "Helvetica"
    style = ParagraphStyle("cell", fontName=font, fontSize=look.size, leading=1.2 * look.size, alignment=align)
    return Paragraph(text, style)


def _places(look: Look) -> list[tuple[object, ...]]:
    everywhere = ((0, 0), (-1, -1))
    return [
        ("VALIGN", *everywhere, look.valign),
        ("TOPPADDING", *everywhere, look.padding),
        ("BOTTOMPADDING", *everywhere, look.padding),
        ("LEFTPADDING", *everywhere, 3),
        ("RIGHTPADDING", *everywhere, 3),
        *(("SPAN", a, b) for a, b in look.spans),
    ]


def _lines(look: Look, rows: int) -> list[tuple[object, ...]]:
    head = look.heads - 1
    under_head = ("LINEBELOW", (0, head), (-1, head), 0.5, colors.black)
    top, bottom = ("LINEABOVE", (0, 0), (-1, 0), 1, colors.black), ("LINEBELOW", (0, -1), (-1, -1), 1, colors.black)
    match look.style:
        case "grid":
            return [("GRID", (0, 0), (-1, -1), 0.5, colors.black)]
        case "booktabs":
            under_spans = [("LINEBELOW", a, (b[0], a[1]), 0.5, colors.black) for a, b in look.spans if b[0] > a[0]]
            return [top, under_head, bottom, *under_spans]
        case "head rule":
            return [under_head]
        case "rows":
            return [top, ("LINEBELOW", (0, head), (-1, -1), 0.5, colors.black)]
        case "stripes":
            stripes = [("BACKGROUND", (0, n), (-1, n), colors.whitesmoke) for n in range(look.heads + 1, rows, 2)]
            return [("BACKGROUND", (0, 0), (-1, head), colors.lightblue), *stripes]
        case "frame":
            return [("BOX", (0, 0), (-1, -1), 0.5, colors.black), under_head]
        case _:
            return []
