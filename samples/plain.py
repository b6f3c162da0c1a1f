"""Writes the sample documents that are text or containers of text: web, mail, code, data, books, archives."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

from samples import papers, story

_ZIP_DATE = (2024, 10, 1, 12, 0, 0)
_HTML = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Skerry Point Museum</title>
<meta name="author" content="Skerry Point Museum"><script>track("visit")</script></head>
<body>
<nav class="main-menu"><ul><li><a href="/">Home</a></li><li><a href="/tickets">Tickets</a></li>
<li><a href="/shop">Shop</a></li><li><a href="/contact">Contact</a></li></ul></nav>
<div id="cookie-banner">We use cookies to count visitors. <button>Accept all</button></div>
<main>
<h1>The Boat Hall</h1>
<p>The Boat Hall holds eleven boats, the oldest a skin boat of 1790 from Corran. It was built in 1931 as a
rope walk and is 212 metres long, the longest room in the county.</p>
<h2>Opening hours</h2>
<table><caption>Opening hours of the Boat Hall</caption>
<tr><th>Day</th><th>Opens</th><th>Closes</th></tr>
<tr><td>Monday to Friday</td><td>10:00</td><td>17:00</td></tr>
<tr><td>Saturday</td><td>09:00</td><td rowspan="2">18:00</td></tr>
<tr><td>Sunday</td><td>11:00</td></tr></table>
<h2>Guided tours</h2>
<ul><li>Tours for schools: Tuesdays, forty minutes</li><li>Tours for people who cannot see: on request, everything
may be touched<ul><li>except the heron figurehead</li></ul></li></ul>
<figure><img src="/heron.jpg" alt="Carved heron with one glass eye"><figcaption>The heron figurehead, found in
1889</figcaption></figure>
</main>
<footer><p>© Skerry Point Museum · <a href="/privacy">Privacy</a> · <a href="/terms">Terms</a></p></footer>
</body></html>
"""
_CONTAINER = """<?xml version="1.0"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
<rootfile full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""


def texts(folder: Path) -> None:
    """Everything that is one string."""
    for name, text in (
        ("boat-hall.html", _HTML),
        ("boat-hire-policy.md", story.POLICY),
        ("fog-signal-handbook.rst", story.SIGNALS),
        ("friends-minutes.org", story.MINUTES),
        ("radio-log.txt", story.RADIO_LOG),
        ("tide.py", papers.TIDE_PY),
        ("lamp.js", papers.LAMP_JS),
        ("catalogue.xml", papers.CATALOGUE),
        ("vessels.json", json.dumps(papers.SHIPS, indent=2) + "\n"),
        ("sightings.jsonl", "".join(json.dumps(s) + "\n" for s in papers.SIGHTINGS)),
        ("visitors-and-weather.ipynb", json.dumps(_notebook(), indent=1) + "\n"),
    ):
        (folder / name).write_text(text, "utf-8", newline="\n")
    rows = io.StringIO(newline="")
    csv.writer(rows, lineterminator="\n").writerows(story.BUOYS)
    (folder / "buoys.csv").write_text(rows.getvalue(), "utf-8", newline="\n")


def _notebook() -> dict[str, object]:
    cells: list[dict[str, object]] = []
    for number, (kind, source, output) in enumerate(papers.NOTEBOOK):
        cell: dict[str, object] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": source}
        if kind == "code":
            cell["execution_count"] = 1
            cell["outputs"] = [
                {"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": {"text/plain": output}}
            ]
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def mail(folder: Path) -> None:
    """A letter with an attachment, and a mailbox of two messages."""
    letter = EmailMessage()
    letter["From"], letter["To"] = "Barnaby Quill <barnaby.quill@example.org>", "office@harbour.example.org"
    letter["Subject"], letter["Date"] = (
        papers.COMPLAINT_SUBJECT,
        format_datetime(datetime(2024, 8, 12, 9, 30, tzinfo=UTC)),
    )
    letter.set_content(papers.COMPLAINT)
    letter.add_attachment(papers.COMPLAINT_ATTACHMENT, filename="suspect.txt")
    letter.set_boundary("=_sample_boundary")
    (folder / "complaint.eml").write_bytes(letter.as_bytes())
    box = b""
    for number, (subject, sender, text) in enumerate(papers.VOLUNTEERS, 1):
        message = EmailMessage()
        message["From"], message["To"] = f"{sender} <friends{number}@example.org>", "volunteers@example.org"
        message["Subject"] = subject
        message["Date"] = format_datetime(datetime(2024, 3, number, 18, 0, tzinfo=UTC))
        message.set_content(text)
        box += b"From friends@example.org Fri Mar  1 18:00:00 2024\n" + message.as_bytes() + b"\n"
    (folder / "volunteers.mbox").write_bytes(box)


def book(path: Path) -> None:
    """An EPUB of two chapters."""
    items, spine, parts = "", "", {}
    for number, (title, paragraphs) in enumerate(papers.BOOK, 1):
        body = "".join(f"<p>{p}</p>" for p in paragraphs)
        parts[f"chapter{number}.xhtml"] = (
            '<?xml version="1.0" encoding="utf-8"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head>'
            f"<title>{title}</title></head><body><h1>{title}</h1>{body}</body></html>"
        )
        items += f'<item id="c{number}" href="chapter{number}.xhtml" media-type="application/xhtml+xml"/>'
        spine += f'<itemref idref="c{number}"/>'
    parts["book.opf"] = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">sow-rock</dc:identifier>'
        f"<dc:title>{papers.BOOK_TITLE}</dc:title><dc:creator>{papers.BOOK_AUTHOR}</dc:creator>"
        f"<dc:language>en</dc:language></metadata><manifest>{items}</manifest><spine>{spine}</spine></package>"
    )
    parts["META-INF/container.xml"] = _CONTAINER
    with zipfile.ZipFile(path, "w") as target:
        target.writestr(zipfile.ZipInfo("mimetype", _ZIP_DATE), "application/epub+zip")
        for name, text in sorted(parts.items()):
            target.writestr(zipfile.ZipInfo(name, _ZIP_DATE), text, compress_type=zipfile.ZIP_DEFLATED)


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as target:
        for name, text in papers.ARCHIVE.items():
            target.writestr(zipfile.ZipInfo(name, _ZIP_DATE), text, compress_type=zipfile.ZIP_DEFLATED)
