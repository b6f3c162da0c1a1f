"""EPUB books built in the test."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from engine.errors import Code, InputError
from tests.engine.extract.text_files import elements, headings, losses, read

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
PACKAGE = """<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata
 xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Tales</dc:title><dc:creator>Rhea</dc:creator>
 <dc:creator>Joss</dc:creator><dc:language>en</dc:language><dc:date>2020-02-02</dc:date></metadata><manifest>
 <item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
 <item id="b" href="two%20b.xhtml" media-type="application/xhtml+xml"/>
 <item id="a" href="one.xhtml" media-type="application/xhtml+xml"/>
 <item id="lost" href="lost.xhtml" media-type="application/xhtml+xml"/>
 <item id="css" href="x.css" media-type="text/css"/></manifest>
 <spine><itemref idref="nav"/><itemref idref="a"/><itemref idref="b"/><itemref idref="lost"/></spine></package>"""
PARTS = {
    "META-INF/container.xml": CONTAINER,
    "OPS/book.opf": PACKAGE,
    "OPS/nav.xhtml": '<html><body><nav><a href="one.xhtml">The first</a><a href="two%20b.xhtml#x">The second</a>'
    "</nav></body></html>",
    "OPS/one.xhtml": "<html><head><title/></head><body><p>First text.</p></body></html>",
    "OPS/two b.xhtml": "<html><body><h1>Own heading</h1><p>Second text.</p></body></html>",
}


def book(**changed: str | bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        target.writestr("mimetype", "application/epub+zip")
        for name, text in {
            **PARTS,
            **{k.replace("__png", ".png").replace("__", "/"): v for k, v in changed.items()},
        }.items():
            target.writestr(name, text)
    return buffer.getvalue()


def test_chapters_in_spine_order_with_titles(tmp_path: Path) -> None:
    document = read(tmp_path, "a.epub", book())
    assert headings(document) == [(1, "The first"), (1, "Own heading")]
    assert document.content == "# The first\n\nFirst text.\n\n# Own heading\n\nSecond text."
    meta = document.metadata
    assert (meta.title, meta.author, meta.extra["declared_language"]) == ("Tales", "Rhea, Joss", "en")
    assert losses(document) == {"chapter_missing": 1}


ENCRYPTION = (
    '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
    '<e:EncryptionMethod Algorithm="{}"/><e:CipherData><e:CipherReference URI="{}"/></e:CipherData>'
    "</e:EncryptedData></encryption>"
)


def test_drm_is_an_error_fonts_are_not(tmp_path: Path) -> None:
    locked = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OPS/one.xhtml")
    with pytest.raises(InputError) as caught:
        read(tmp_path, "a.epub", book(**{"META-INF__encryption.xml": locked}))
    assert caught.value.code is Code.ENCRYPTED_DOCUMENT
    font = ENCRYPTION.format("http://www.idpf.org/2008/embedding", "OPS/x.otf")
    assert "First text." in read(tmp_path, "b.epub", book(**{"META-INF__encryption.xml": font})).content


def test_a_book_cut_short_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "a.epub", book()[:-200])
    assert caught.value.code is Code.EXTRACTION_FAILED


def test_notes_pictures_and_chapters_below_parts(tmp_path: Path) -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(60)
    nav = (
        '<html><body><nav epub:type="landmarks"><a href="one.xhtml">Start</a></nav><nav epub:type="toc"><ol><li>'
        '<a href="one.xhtml">Part</a><ol><li><a href="two%20b.xhtml">Chapter</a></li></ol></li></ol></nav>'
        "</body></html>"
    )
    chapter = (
        '<html xmlns:epub="e"><body><h1>Chapter</h1><p>A claim<a epub:type="noteref" href="#n"><sup>1</sup></a>.</p>'
        '<aside epub:type="footnote" id="n"><p>The note.</p></aside><p><img src="pics/a.png" alt="A lamp"/></p>'
        "</body></html>"
    )
    package = PACKAGE.replace("</manifest>", '<item id="p" href="pics/a.png" media-type="image/png"/></manifest>')
    changed = {"OPS__nav.xhtml": nav, "OPS__two b.xhtml": chapter, "OPS__book.opf": package}
    document = read(tmp_path, "a.epub", book(**changed, OPS__pics__a__png=png))
    assert headings(document) == [(1, "Part"), (2, "Chapter")]
    assert "A claim[1]." in document.content
    assert [note.content for note in elements(document, "note")] == ["The note."]
    assert [(image.data, image.alt_text) for image in document.images] == [(png, "A lamp")]
    assert losses(document) == {"chapter_missing": 1}
