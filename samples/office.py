"""Writes the sample office documents: Word, PowerPoint, Excel, OpenDocument, RTF."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

from docx import Document
from odf.opendocument import OpenDocumentPresentation, OpenDocumentSpreadsheet, OpenDocumentText
from odf.style import MasterPage, PageLayout
from odf.table import Table, TableCell, TableRow
from odf.text import H, P
from openpyxl import Workbook
from pptx import Presentation

from samples import papers, story

_WHEN = datetime(2024, 10, 1, 12)
_ZIP_DATE = (2024, 10, 1, 12, 0, 0)
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_FOOTNOTES = f"""<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<w:footnotes xmlns:w="{_WORD}"><w:footnote w:id="2"><w:p><w:r><w:t>{story.STATUTES_NOTE}</w:t></w:r></w:p></w:footnote>
</w:footnotes>"""


def statutes(path: Path) -> None:
    """A Word document with headings, a table and a footnote."""
    document: Any = Document()
    document.core_properties.title = story.STATUTES_TITLE
    document.core_properties.author = "Skerry Bay Harbour Authority"
    document.core_properties.created = document.core_properties.modified = _WHEN
    document.add_heading(story.STATUTES_TITLE, 0)
    for heading, paragraphs in story.STATUTES:
        document.add_heading(heading, 1)
        for text in paragraphs:
            paragraph = document.add_paragraph(text)
            if "lifeboat" in text:
                _footnote_reference(paragraph)
        if heading == "Harbour dues":
            _word_table(document, story.DUES)
    document.save(path)
    _with_footnotes(path)


def _word_table(document: Any, rows: list[list[str]]) -> None:
    table = document.add_table(rows=0, cols=len(rows[0]))
    table.style = "Table Grid"
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text


def _footnote_reference(paragraph: Any) -> None:
    from docx.oxml import OxmlElement
    from docx.oxml.ns import qn

    reference = OxmlElement("w:footnoteReference")
    reference.set(qn("w:id"), "2")
    paragraph.add_run()._r.append(reference)


def _with_footnotes(path: Path) -> None:
    """python-docx writes no footnotes: the part, its content type and its relationship are added here."""

    def change(name: str, data: bytes) -> bytes:
        if name == "[Content_Types].xml":
            kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
            part = f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/></Types>'
            return data.replace(b"</Types>", part.encode())
        if name == "word/_rels/document.xml.rels":
            kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
            link = f'<Relationship Id="rIdNotes" Type="{kind}" Target="footnotes.xml"/></Relationships>'
            return data.replace(b"</Relationships>", link.encode())
        return data

    settle(path, change, {"word/footnotes.xml": _FOOTNOTES.encode()})


def season(path: Path) -> None:
    """Slides with speaker notes."""
    deck: Any = Presentation()
    deck.core_properties.title = "Season 2024"
    deck.core_properties.created = deck.core_properties.modified = _WHEN
    for title, points, notes in story.SEASON_SLIDES:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(points)
        slide.notes_slide.notes_text_frame.text = notes
    deck.save(path)
    settle(path)


def accounts(path: Path) -> None:
    """A workbook with dates, currency, percentages, formulas and a hidden sheet."""
    book = Workbook()
    sheet: Any = book.active
    sheet.title = "Accounts 2024"
    sheet.append(["Date", "Item", "Amount", "Share of budget"])
    rows = [
        (date(2024, 1, 15), "Causeway gate repair", 4310.5, 0.1724),
        (date(2024, 4, 2), "Lens clockwork, new bearing", 1875.0, 0.075),
        (date(2024, 7, 30), "Night tours, income", -6240.0, -0.2496),
        (date(2024, 11, 8), "Paint, heritage red", 642.25, 0.0257),
    ]
    for row in rows:
        sheet.append(row)
    for line in range(2, len(rows) + 2):
        sheet.cell(line, 1).number_format = "yyyy-mm-dd"
        sheet.cell(line, 3).number_format = '"£"#,##0.00'
        sheet.cell(line, 4).number_format = "0.0%"
    hidden: Any = book.create_sheet("Salaries")
    hidden.append(["Post", "Yearly"])
    hidden.append(["Harbour master", 38500])
    hidden.sheet_state = "hidden"
    book.properties.created = _WHEN
    book.save(path)
    settle(path)


def writing(path: Path, title: str, sections: list[tuple[str, list[str]]]) -> None:
    """An OpenDocument text with a heading for each section."""
    document = OpenDocumentText()
    document.text.addElement(H(outlinelevel=1, text=title))
    for heading, paragraphs in sections:
        document.text.addElement(H(outlinelevel=2, text=heading))
        for text in paragraphs:
            document.text.addElement(P(text=text))
    document.save(str(path))
    settle(path)


def stock(path: Path) -> None:
    document = OpenDocumentSpreadsheet()
    table = Table(name="Shop stock")
    for row in papers.STOCK:
        line = TableRow()
        for value in row:
            cell = (
                TableCell(valuetype="string") if isinstance(value, str) else TableCell(valuetype="float", value=value)
            )
            cell.addElement(P(text=str(value)))
            line.addElement(cell)
        table.addElement(line)
    document.spreadsheet.addElement(table)
    document.save(str(path))
    settle(path)


def fair(path: Path) -> None:
    from odf.draw import Frame, Page, TextBox

    document = OpenDocumentPresentation()
    layout = PageLayout(name="layout")
    document.automaticstyles.addElement(layout)
    master = MasterPage(name="master", pagelayoutname=layout)
    document.masterstyles.addElement(master)
    for title, text in papers.FAIR_SLIDES:
        page = Page(masterpagename=master, name=title)
        for y, line in (("2cm", title), ("6cm", text)):
            frame = Frame(width="22cm", height="3cm", x="2cm", y=y)
            box = TextBox()
            box.addElement(P(text=line))
            frame.addElement(box)
            page.addElement(frame)
        document.presentation.addElement(page)
    document.save(str(path))
    settle(path)


def deed(path: Path) -> None:
    """RTF, written by hand."""
    heading, *paragraphs = papers.DEED
    body = "\n".join(rf"{{\pard\sa180 {text}\par}}" for text in paragraphs)
    path.write_text(
        rf"{{\rtf1\ansi\ansicpg1252{{\fonttbl\f0\froman Times;}}"
        "\n"
        rf"{{\pard\b\fs32 {heading}\par}}"
        f"\n{body}\n}}\n",
        "ascii",
    )


def letter(target: Path) -> None:
    """A Word 97 document by LibreOffice, whose time stamps differ each time; a file that is there stays."""
    office = shutil.which("soffice")
    if office is None or target.exists():
        return
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, target.stem).with_suffix(".odt")
        writing(source, "Winter Berths", papers.LETTER)
        profile = f"-env:UserInstallation=file://{folder}/profile"
        command = [office, profile, "--headless", "--convert-to", "doc", "--outdir", str(target.parent), str(source)]
        subprocess.run(command, check=True, capture_output=True, timeout=180)


def settle(
    path: Path, change: Callable[[str, bytes], bytes] | None = None, added: dict[str, bytes] | None = None
) -> None:
    """Rewrite a package with fixed times, so that the same content gives the same bytes."""
    with zipfile.ZipFile(path) as source:
        parts = {info.filename: source.read(info) for info in source.infolist()}
    parts.update(added or {})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in parts.items():
            if name in ("docProps/core.xml", "meta.xml"):
                data = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?", _WHEN.isoformat().encode() + b"Z", data)
            data = change(name, data) if change else data
            method = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            target.writestr(zipfile.ZipInfo(name, _ZIP_DATE), data, compress_type=method)
