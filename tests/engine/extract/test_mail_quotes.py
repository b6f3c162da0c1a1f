"""Mail as people read it: what is quoted, what came along, invitations and reports."""

from __future__ import annotations

import base64
from email.message import EmailMessage
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from pathlib import Path

import pytest

from engine.document import walk
from tests.engine.extract.text_files import losses, read

PNG = b"\x89PNG\r\n\x1a\n" + bytes(90)
HEADER = "From: a@x.org\nSubject: S\nContent-Type: text/{}; charset=utf-8{}\n\n"


def blocks(folder: Path, text: str, kind: str = "plain", options: str = "") -> list[tuple[str, str]]:
    """(what is marked, text) of every paragraph below the header fields."""
    document = read(folder, "a.eml", HEADER.format(kind, options) + text)
    found = [e for e in walk(document.structure) if e.type == "paragraph"][1:]
    return [(e.attributes.get("quoted") or e.attributes.get("signature") or "", e.content) for e in found]


def test_quoted_runs_announcements_and_the_signature_are_marked(tmp_path: Path) -> None:
    text = (
        "Yes.\n\nOn Sun, 31 Dec 2023 Bob wrote:\n> Do you come?\n>\n> > Earlier\n> More\n\nThanks\n\n-- \nAnn\n\n"
        "-----Original Message-----\nFrom: Bob\nSent: Sunday\nSubject: Q\n\nOld text\n"
    )
    assert blocks(tmp_path, text) == [
        ("", "Yes."), ("1", "On Sun, 31 Dec 2023 Bob wrote:"), ("1", "> Do you come?"), ("2", ">> Earlier"),
        ("1", "> More"), ("", "Thanks"), ("true", "-- \nAnn"),
        ("1", "-----Original Message-----\nFrom: Bob\nSent: Sunday\nSubject: Q"), ("1", "Old text"),
    ]  # fmt: skip


def test_what_only_looks_quoted_is_not(tmp_path: Path) -> None:
    text = "From: the start\n\n----------\n\nx > y\n\nBob wrote:\n\na letter.\n"
    assert {marked for marked, _ in blocks(tmp_path, text)} == {""}


def test_quotations_in_html_mail_show_their_marks(tmp_path: Path) -> None:
    text = (
        "<p>New</p><div class=gmail_quote><div>On Monday Bob wrote:</div><blockquote class=gmail_quote>"
        "<p>Old<br>text</p><blockquote>Older</blockquote></blockquote></div><blockquote type=cite>Cited</blockquote>"
    )
    assert blocks(tmp_path, text, "html") == [
        ("", "New"), ("1", "> On Monday Bob wrote:"), ("1", "> Old\n> text"), ("2", ">> Older"), ("1", "> Cited"),
    ]  # fmt: skip


def test_flowed_quotations_are_joined_at_their_depth(tmp_path: Path) -> None:
    text = "A long \nline.\n\n> quoted \n> on\n>> deeper \n>> still\n"
    found = blocks(tmp_path, text, options="; format=flowed")
    assert found == [("", "A long line."), ("1", "> quoted on"), ("2", ">> deeper still")]


def test_pictures_stand_where_the_body_shows_them(tmp_path: Path) -> None:
    message = (
        "Subject: S\nContent-Type: multipart/related; boundary=B\n\n--B\nContent-Type: text/html\n\n"
        "<p>before</p><img src='cid:a%40x' alt='Logo'><p>after</p>\n--B\nContent-Type: image/png\nContent-ID: <a@x>\n"
        f"Content-Transfer-Encoding: base64\n\n{base64.b64encode(PNG).decode()}\n--B\nContent-Type: image/png\n"
        f"Content-ID: <b@x>\nContent-Transfer-Encoding: base64\n\n{base64.b64encode(PNG).decode()}\n--B--\n"
    )
    document = read(tmp_path, "a.eml", message)
    assert document.content == "# S\n\nbefore\n\nLogo\n\nafter\n\nattachment-2.png"
    assert [image.data for image in document.images] == [PNG, PNG]


def test_delivery_reports_are_read(tmp_path: Path) -> None:
    message = (
        "Subject: Bounce\nContent-Type: multipart/report; boundary=B\n\n--B\n\nIt failed.\n--B\n"
        "Content-Type: message/delivery-status\n\nReporting-MTA: dns; x\n\nAction: failed\nStatus: 5.1.1\n--B--\n"
    )
    content = read(tmp_path, "a.eml", message).content
    assert content == "# Bounce\n\nIt failed.\n\nReporting-MTA: dns; x\nAction: failed\nStatus: 5.1.1"


def test_forwarded_mail_with_every_kind_of_attachment(tmp_path: Path) -> None:
    """`pain.md` P34: forwarded messages open, unknown types are listed, a signature stops nothing."""
    inner = EmailMessage()
    inner["Subject"] = "Inner"
    inner.set_content("Inner body")
    inner.add_attachment("deep text", filename="deep.txt")
    outer = MIMEMultipart()
    outer["Subject"] = "Outer"
    outer.attach(MIMEText("Hello"))
    outer.attach(MIMEMessage(inner))
    for name, kind in (("smime.p7s", "pkcs7-signature"), ("odd.zzz", "x-unknown"), ("winmail.dat", "ms-tnef")):
        part = EmailMessage()
        part.set_content(b"\x00\x01", maintype="application", subtype=kind, filename=name)
        outer.attach(part)
    document = read(tmp_path, "a.eml", outer.as_bytes())
    assert [child.filename for child in document.attached] == ["Inner.eml", "odd.zzz", "winmail.dat"]
    assert losses(document) == {"signature_skipped": 1}
    nested = read(tmp_path, "b.eml", Path(document.attached[0].path).read_bytes())
    assert nested.content == "# Inner\n\nInner body\n\n- Attachment: deep.txt"
    assert Path(nested.attached[0].path).read_text().strip() == "deep text"


EVENT = (
    "BEGIN:VCALENDAR\r\nBEGIN:VTIMEZONE\r\nDTSTART:19700101T000000\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r\n"
    "SUMMARY:Budget\\, round 2\r\nDTSTART;TZID=Europe/Berlin:20240105T100000\r\nDTEND:20240105T110000Z\r\n"
    'ATTENDEE;CN="Lee; Ann";PARTSTAT=ACCEPTED:mailto:a@x.org\r\nDESCRIPTION:Bring\r\n  numbers.\\nThanks\r\n'
    "BEGIN:VALARM\r\nDESCRIPTION:Reminder\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
)
CARD = "BEGIN:VCARD\nVERSION:3.0\nFN:Ann Lee\nORG:Lamps;Repair\nitem1.EMAIL:a@x.org\nADR:;;Quay 1;Kiel;;;\nEND:VCARD\n"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.ics", EVENT,
            "# Budget, round 2\n\n- Start: 2024-01-05 10:00 (Europe/Berlin)\n- End: 2024-01-05 11:00 UTC\n"
            "- Attendee: Lee; Ann <a@x.org> (accepted)\n\nBring numbers.\nThanks",
        ),
        (
            "a.vcf", CARD,
            "# Ann Lee\n\n- Name: Ann Lee\n- Organisation: Lamps, Repair\n- E-mail: a@x.org\n- Address: Quay 1, Kiel",
        ),
        ("b.ics", "BEGIN:VCALENDAR\nbroken\n", "BEGIN:VCALENDAR\nbroken"),
    ],
)  # fmt: skip
def test_invitations_and_cards(name: str, text: str, expected: str, tmp_path: Path) -> None:
    assert read(tmp_path, name, text).content == expected
