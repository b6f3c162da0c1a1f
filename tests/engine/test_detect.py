"""Formats by their bytes; names decide only what bytes cannot."""

from __future__ import annotations

import csv
import io
import random
import zipfile
from pathlib import Path

import pytest
from docx import Document
from openpyxl import Workbook
from PIL import Image
from pptx import Presentation

from engine.detect import detect
from engine.detect.names import EXTENSIONS, MIMES, extension_of, language_by_name, language_by_shebang
from engine.errors import Code, InputError
from engine.extract import EXTRACTORS
from engine.settings import Settings, load

FORMATS = Path(__file__).resolve().parents[2] / "../shared/corpora/formats"
PLAIN = load({}, environ={})


def found(folder: Path, name: str, data: bytes | str, config: Settings = PLAIN) -> str:
    path = folder / "file"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return detect(path, name, config).format


def refusal(folder: Path, name: str, data: bytes | str) -> InputError:
    with pytest.raises(InputError) as caught:
        found(folder, name, data)
    return caught.value


def made(kind: str) -> bytes:
    buffer = io.BytesIO()
    {"docx": Document, "pptx": Presentation, "xlsx": Workbook}[kind]().save(buffer)
    return buffer.getvalue()


def zipped(parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def test_every_extractor_has_a_name_and_a_mime_type() -> None:
    assert set(EXTENSIONS) == set(MIMES) <= set(EXTRACTORS)  # what else is in the table is told by its name


@pytest.mark.parametrize("kind", ["docx", "pptx", "xlsx"])
def test_office_files_by_their_content_types(kind: str, tmp_path: Path) -> None:
    data = made(kind)
    for name in (f"a.{kind}", "a.zip", "a.docx", "no-extension"):
        assert found(tmp_path, name, data) == kind


def test_packages_by_what_is_inside(tmp_path: Path) -> None:
    kinds = {
        "application/epub+zip": "epub",
        "application/vnd.oasis.opendocument.text": "odt",
        "application/vnd.oasis.opendocument.spreadsheet-template": "ods",
        "application/vnd.oasis.opendocument.presentation": "odp",
    }
    for mimetype, kind in kinds.items():
        assert found(tmp_path, "x", zipped({"mimetype": mimetype, "content.xml": "<a/>"})) == kind
    assert found(tmp_path, "x", zipped({"META-INF/container.xml": "<a/>"})) == "epub"
    assert found(tmp_path, "x", zipped({"a.txt": "hello"})) == "zip"
    macro = "application/vnd.ms-word.document.macroEnabled.main+xml"
    assert found(tmp_path, "x.docm", zipped({"[Content_Types].xml": f'<Override ContentType="{macro}"/>'})) == "docx"
    drawing = "application/vnd.oasis.opendocument.graphics"
    assert refusal(tmp_path, "x.odg", zipped({"mimetype": drawing})).code is Code.UNSUPPORTED_FORMAT


def test_a_damaged_package_keeps_the_format_it_claims(tmp_path: Path) -> None:
    data = made("docx")
    assert found(tmp_path, "a.docx", data[: len(data) // 2]) == "docx"
    assert found(tmp_path, "a", data[: len(data) // 2]) == "zip"


@pytest.mark.parametrize(
    ("kind", "saved"),
    [("png", "PNG"), ("jpg", "JPEG"), ("tiff", "TIFF"), ("bmp", "BMP"), ("webp", "WEBP"), ("gif", "GIF")],
)
def test_pictures_by_signature(kind: str, saved: str, tmp_path: Path) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(buffer, saved)
    assert found(tmp_path, "picture.pdf", buffer.getvalue()) == kind


def test_pdf_behind_junk_and_without_its_header(tmp_path: Path) -> None:
    assert found(tmp_path, "a.pdf", b"\n" * 500 + b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj") == "pdf"
    assert found(tmp_path, "a", b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj") == "pdf"
    assert found(tmp_path, "a.pdf", bytes(60) + b"1 0 obj <</Type /Page>> endobj startxref" + bytes(60)) == "pdf"
    assert found(tmp_path, "about.txt", "A PDF file begins with %PDF-1.7, they say.") == "txt"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.txt", "hello there", "txt"),
        ("a.unknown", "hello there", "txt"),
        ("README", "hello there", "txt"),
        ("a.log", "12:00 started", "txt"),
        ("a.csv", "a,b\n1,2\n", "csv"),
        ("a.md", "# Title\n<div>markup</div>", "md"),
        ("a.rst", "Title\n=====\n", "rst"),
        ("a.org", "* Title\n", "org"),
        ("a.py", "print(1)\n", "code"),
        ("a.h", "int x;\n", "code"),
        ("Dockerfile", "FROM scratch\n", "code"),
        ("script", "#!/usr/bin/env python3\nprint(1)\n", "code"),
        ("a.txt", "<!DOCTYPE html><html><body>hi</body></html>", "html"),
        ("a.csv", "  <html><body>not found</body></html>", "html"),
        ("page", "<div><p>one</p><p>two</p><a href='x'>y</a></div>", "html"),
        ("a.html", "no tags at all", "txt"),
        ("a.xml", '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body/></html>', "html"),
        ("a.txt", '<?xml version="1.0"?><data/>', "xml"),
        ("a.svg", "<svg/>", "xml"),
        ("a.json", '{"a": 1}', "json"),
        ("a.json", '{"a": 1}\n{"a": 2}\n', "jsonl"),
        ("data", '{"a": 1}', "json"),
        ("data", '{"a": 1}\n{"b": 2}\n', "jsonl"),
        ("data", '{"cells": [], "nbformat": 4}', "ipynb"),
        ("a.txt", '{"a": 1}', "txt"),
        ("a.eml", "hello", "eml"),
        ("mail", "From: a@example.org\nSubject: hi\n\nbody", "eml"),
        ("a.txt", "From: a@example.org\nSubject: hi\n\nbody", "txt"),
        ("box", "From a@example.org Fri Mar  1 18:00:00 2024\nSubject: hi\n\nbody", "mbox"),
        ("letter.doc", "{\\rtf1\\ansi hello}", "rtf"),
    ],
)
def test_text_formats(name: str, text: str, kind: str, tmp_path: Path) -> None:
    assert found(tmp_path, name, text) == kind
    if kind != "rtf":
        assert found(tmp_path, name, text.encode("utf-16")) == kind


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pdf", "a.png", "a.zip", "a.msg", "a.doc"])
def test_plain_text_under_a_binary_name_is_an_error(name: str, tmp_path: Path) -> None:
    error = refusal(tmp_path, name, "just thirty bytes of plain text")
    assert error.code is Code.EXTRACTION_FAILED
    assert f"named {extension_of(name)}" in error.message


def test_noise_is_refused_with_what_is_supported(tmp_path: Path) -> None:
    noise = random.Random(7).randbytes(2000)
    error = refusal(tmp_path, "a.bin", noise)
    assert error.code is Code.UNSUPPORTED_FORMAT
    assert error.details["supported_formats"] == sorted(EXTRACTORS)
    assert refusal(tmp_path, "a.docx", noise).code is Code.EXTRACTION_FAILED
    program = refusal(tmp_path, "tool", b"\x7fELF\x02\x01\x01\0" + bytes(100))
    assert program.code is Code.UNSUPPORTED_FORMAT
    assert refusal(tmp_path, "a.txt", b"\x1f\x8b\x08\0" + noise).details["detected_format"] == "application/gzip"


def test_an_empty_file_is_what_its_name_says(tmp_path: Path) -> None:
    assert found(tmp_path, "a.docx", b"") == "docx"
    assert found(tmp_path, "a", b"") == "txt"


def test_formats_of_the_users_own(tmp_path: Path) -> None:
    config = load({"formats": {"chart": [".xyz", "plt"]}, "extractors": {"chart": "m:f"}}, environ={})
    noise = random.Random(7).randbytes(2000)
    assert found(tmp_path, "a.xyz", noise, config) == "chart"
    assert found(tmp_path, "a.PLT", "plain words", config) == "chart"
    assert found(tmp_path, "a.xyz", zipped({"a": "b"}), config) == "chart"
    assert found(tmp_path, "a.xyz", made("docx"), config) == "docx"
    assert found(tmp_path, "a.txt", "plain words", config) == "txt"


def test_languages_of_code() -> None:
    assert language_by_name("src/a.TSX") == "tsx"
    assert language_by_name("lib\\b.rb") == "ruby"
    assert language_by_name("notes.txt") is None
    assert language_by_shebang("#!/usr/bin/env -S python3.11 -u") == "python"
    assert language_by_shebang("#!/bin/bash") == "bash"


@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")
def test_real_files() -> None:
    wrong: list[str] = []
    with (FORMATS / "manifest.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        try:
            kind = detect(FORMATS / row["path"], row["path"], PLAIN).format
        except InputError as error:
            kind = str(error.code)
        # A macro document is a docx; one file named .docx holds HTML-less plain text; noise is refused.
        expected = {"docm": "docx", "bin": Code.UNSUPPORTED_FORMAT}.get(row["format"], row["format"])
        if kind != expected:
            wrong.append(f"{row['path']}: {kind}")
    assert len(rows) == 205
    assert wrong == ["kr__document.docx: EXTRACTION_FAILED"]
