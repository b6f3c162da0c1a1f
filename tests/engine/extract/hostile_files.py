"""Writes documents that are out to exhaust or to stall whoever reads them."""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path

import docx as python_docx
from lxml import etree

from tests.engine.extract.office_files import W_NAMES, package, paragraph, relationships

_SHEET = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'


def path_pdf(path: Path, operators: int) -> Path:
    """One page whose single path has `operators` line segments (a plotted map)."""
    piece = b"".join(b"%d %d l\n" % (50 + (i * 37) % 500, 60 + (i * 91) % 700) for i in range(1000))
    text = b"BT /F1 12 Tf 72 760 Td (Harbour plan of 1911) Tj ET\n0 0 m\n"
    content = zlib.compress(text + piece * (operators // 1000) + b"S\n")
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    file = b"%PDF-1.7\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % pair for pair in enumerate(objects, 1))
    path.write_bytes(file + b"trailer<</Size 6/Root 1 0 R>>\n%%EOF")
    return path


def swollen_docx(path: Path, megabytes: int, packing: int) -> Path:
    """A Word file of a megabyte or two with this much text in it. `packing`: how hard it is packed, 1 to 9."""
    piece = paragraph("the tide comes in twice a day " * 300).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=packing) as file:
        file.writestr("[Content_Types].xml", "<Types/>")
        file.writestr("_rels/.rels", relationships(("m", "officeDocument", "word/document.xml")))
        with file.open("word/document.xml", "w", force_zip64=True) as part:
            part.write(f"<w:document {W_NAMES}><w:body>".encode())
            for _ in range((megabytes << 20) // len(piece)):
                part.write(piece)
            part.write(b"</w:body></w:document>")
        file.writestr("word/media/noise.bin", os.urandom(200_000))
    return path


def repeating_xlsx(path: Path, rows: int) -> Path:
    """A workbook of one long shared string that 20 cells a row refer to."""
    rels = relationships(("a", "worksheet", "worksheets/s.xml"), ("b", "sharedStrings", "sharedStrings.xml"))
    names = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    sheets = '<sheets><sheet name="S" sheetId="1" r:id="a"/></sheets>'
    cells = "<row>" + '<c t="s"><v>0</v></c>' * 20 + "</row>"
    parts: dict[str, str | bytes] = {
        "xl/workbook.xml": f"<workbook {_SHEET} {names}>{sheets}</workbook>",
        "xl/_rels/workbook.xml.rels": rels,
        "xl/worksheets/s.xml": f"<worksheet {_SHEET}><sheetData>{cells * rows}</sheetData></worksheet>",
        "xl/sharedStrings.xml": f"<sst {_SHEET}><si><t>{'tide ' * 6400}</t></si></sst>",
    }
    return package(path, "xl/workbook.xml", parts)


def long_table_docx(path: Path, rows: int) -> Path:
    """A Word file with one table of three columns, as Word itself would accept it."""
    made = python_docx.Document()
    row = "<w:tr>{}</w:tr>"
    cell = "<w:tc>{}</w:tc>"
    body = "".join(
        row.format("".join(cell.format(paragraph(text)) for text in (f"row {n}", f"value {n * 7}", "keeper")))
        for n in range(rows)
    )
    grid = '<w:tblGrid><w:gridCol w:w="2000"/><w:gridCol w:w="2000"/><w:gridCol w:w="2000"/></w:tblGrid>'
    made.element.body.insert(0, etree.fromstring(f"<w:tbl {W_NAMES}><w:tblPr/>{grid}{body}</w:tbl>"))
    made.add_paragraph("The end.")
    made.save(str(path))
    return path
