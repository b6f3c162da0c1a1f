"""Messages: headers and the right body, attachments as children, encryption told, charsets survived."""

from __future__ import annotations

from datetime import UTC, datetime
from email.message import EmailMessage
from pathlib import Path

import pytest

from engine.errors import Code, InputError
from engine.extract.mail.parts import unflow
from engine.extract.mail.smime import signed_content
from tests.engine.extract.text_files import headings, losses, read


def letter(**headers: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "Ann <a@example.org>", "b@example.org", "The lamp"
    for name, value in headers.items():
        message[name] = value
    return message


def test_headers_and_plain_body(tmp_path: Path) -> None:
    message = letter(Cc="c@example.org", Date="Fri, 16 Dec 2022 17:04:16 -0500")
    message.set_content("Dear all,\n\nthe lamp is lit.\n")
    document = read(tmp_path, "a.eml", message.as_bytes())
    assert document.content == (
        "# The lamp\n\nFrom: Ann <a@example.org>\nTo: b@example.org\nCc: c@example.org\n"
        "Date: Fri, 16 Dec 2022 17:04:16 -0500\n\nDear all,\n\nthe lamp is lit."
    )
    meta = document.metadata
    assert (meta.title, meta.author) == ("The lamp", "Ann <a@example.org>")
    assert meta.created_date == datetime(2022, 12, 16, 22, 4, 16, tzinfo=UTC)


def test_plain_is_preferred_html_fills_in_and_different_forms_are_both_kept(tmp_path: Path) -> None:
    words = "The keeper climbed the stair and lit the lamp before the storm came over the bay."
    same = letter()
    same.set_content(words)
    same.add_alternative(f"<p>{words}</p>", subtype="html")
    assert read(tmp_path, "a.eml", same.as_bytes()).content.count("keeper climbed") == 1

    only = letter()
    only.set_content(f"<html><body><table><tr><td>{words}</td></tr></table></body></html>", subtype="html")
    assert read(tmp_path, "b.eml", only.as_bytes()).content.endswith(words)

    notice = letter()
    notice.set_content("View this in a browser")
    notice.add_alternative(f"<p>View this in a browser</p><p>{words}</p>", subtype="html")
    assert words in read(tmp_path, "c.eml", notice.as_bytes()).content

    different = letter()
    different.set_content("Minutes of the meeting on Tuesday about garden walls")
    different.add_alternative(f"<p>{words}</p>", subtype="html")
    document = read(tmp_path, "d.eml", different.as_bytes())
    assert headings(document)[1:] == [(2, "Plain text version"), (2, "HTML version")]
    assert words in document.content and "garden walls" in document.content


def test_attachments_become_children(tmp_path: Path) -> None:
    inner = letter()
    inner.set_content("inner body")
    message = letter()
    message.set_content("outer")
    message.add_attachment("first\n", filename="notes.txt")
    message.add_attachment("second\n", filename="../../notes.txt")
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="Übersicht.pdf")
    message.add_attachment(inner)
    message.add_attachment(
        b"\x89PNG", maintype="image", subtype="png", cid="<logo>", filename="logo.png", disposition="inline"
    )
    document = read(tmp_path, "a.eml", message.as_bytes())
    assert [c.inner_path for c in document.attached] == ["notes.txt", "notes (2).txt", "Übersicht.pdf", "The lamp.eml"]
    assert [Path(c.path).read_bytes().strip() for c in document.attached[:3]] == [b"first", b"second", b"%PDF-1.4"]
    assert b"inner body" in Path(document.attached[3].path).read_bytes()
    assert "Attachment: Übersicht.pdf" in document.content
    assert [(i.alt_text, i.data) for i in document.images] == [("logo.png", b"\x89PNG")]
    paths = {Path(c.path).parent for c in document.attached}
    assert len(paths) == 1 and paths.pop().is_relative_to(tmp_path)


def test_encoded_words_raw_bytes_and_lies(tmp_path: Path) -> None:
    raw = (
        b"Subject: =?UTF-8?B?U2ltcGxlIGVtYWls?= =?utf-8?q?_with_=E2=98=B8?=\r\n"
        b"From: J\xfcrgen Gr\xf6\xdfe <j@example.org>\r\n"
        b"Content-Type: text/plain; charset=utf-8\r\n\r\nSch\xf6ne Gr\xfc\xdfe aus K\xf6ln\r\n"
    )
    content = read(tmp_path, "a.eml", raw).content
    assert content.startswith("# Simple email with ☸\n")
    assert "Jürgen Größe" in content and "Schöne Grüße aus Köln" in content


def test_words_cut_inside_a_character(tmp_path: Path) -> None:
    raw = b"Subject: =?utf-8?B?5Lit5paH5Q==?= =?utf-8?B?rZc=?=\nFrom: a@example.org\n\nx"
    assert read(tmp_path, "a.eml", raw).metadata.title == "中文字"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_a_whole_file_in_another_encoding(encoding: str, tmp_path: Path) -> None:
    message = letter()
    message.set_content("plain words")
    document = read(tmp_path, "a.eml", message.as_string().encode(encoding))
    assert document.metadata.title == "The lamp" and document.content.endswith("plain words")
    assert "\0" not in document.content


ENVELOPED = (
    'Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name="smime.p7m"\n\nMIAGCSqGSIb3DQEHA6CA\n'
)
PGP = (
    'Content-Type: multipart/encrypted; boundary=x; protocol="application/pgp-encrypted"\n\n--x\n\nVersion: 1\n--x--\n'
)
INLINE = "\n-----BEGIN PGP MESSAGE-----\n\nhIwDY32hYGCE8MkBA\n=zzaA\n-----END PGP MESSAGE-----\n"


@pytest.mark.parametrize("rest", [ENVELOPED, PGP, INLINE])
def test_encryption_is_an_error_of_its_own(rest: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "a.eml", f"From: a@example.org\nSubject: x\nMIME-Version: 1.0\n{rest}")
    assert caught.value.code is Code.ENCRYPTED_DOCUMENT


def test_what_is_readable_beside_encryption_is_read(tmp_path: Path) -> None:
    document = read(tmp_path, "a.eml", f"From: a@example.org\nSubject: x\n\nHello there.\n{INLINE}")
    assert "Hello there." in document.content and "hIwDY" not in document.content
    assert losses(document) == {"encrypted_part": 1}


def test_signed_messages_are_read(tmp_path: Path) -> None:
    clear = (
        "From: a@example.org\nSubject: x\n\n-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nSigned words\n"
        "-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----\n"
    )
    document = read(tmp_path, "a.eml", clear)
    assert document.content.endswith("Signed words") and losses(document) == {"signature_skipped": 1}


def test_opaquely_signed_content_is_taken_out() -> None:
    body = b"Content-Type: text/plain\r\n\r\nhello"
    data, signed = bytes.fromhex("06092a864886f70d010701"), bytes.fromhex("06092a864886f70d010702")
    octets = bytes([0x04, len(body)]) + body
    content = bytes([0xA0, len(octets)]) + octets
    inner = bytes([0x02, 1, 1, 0x31, 0, 0x30, len(data) + len(content)]) + data + content
    sequence = bytes([0x30, len(inner)]) + inner
    outer = signed + bytes([0xA0, len(sequence)]) + sequence
    assert signed_content(bytes([0x30, len(outer)]) + outer) == body
    # BER: indefinite lengths, the octet string in two pieces.
    pieces = b"\x24\x80" + bytes([4, 10]) + body[:10] + bytes([4, len(body) - 10]) + body[10:] + b"\0\0"
    ber = (
        b"\x30\x80"
        + signed
        + b"\xa0\x80\x30\x80\x02\x01\x01\x31\x00\x30\x80"
        + data
        + b"\xa0\x80"
        + pieces
        + b"\0" * 12
    )
    assert signed_content(ber) == body
    assert signed_content(b"\x30\x03abc") is None


def test_flowed_text_is_joined() -> None:
    assert unflow("one \ntwo\n> quoted \n> more\n-- \nsig", False) == "one two\n> quoted more\n-- \nsig"
    assert unflow("foo \nbar", True) == "foobar"


@pytest.mark.parametrize(
    "rest",
    [
        "Content-Type: multipart/mixed\n\nhello there",
        "Content-Type: text/plain; charset=no-such\nContent-Transfer-Encoding: x-unknown\n\nhello there",
        "Content-Type: ;;;\n\nhello there",
        "\nhello there",
    ],
)
def test_malformed_messages_keep_their_text(rest: str, tmp_path: Path) -> None:
    assert "hello there" in read(tmp_path, "a.eml", f"From: a@example.org\nSubject: x\n{rest}").content


def test_messages_nested_without_end(tmp_path: Path) -> None:
    deep = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(1500))
    with pytest.raises(InputError) as caught:
        read(tmp_path, "a.eml", f"Subject: x\n{deep}\nhello")
    assert caught.value.code is Code.LIMIT_EXCEEDED


BOX = (
    "From a@example.org Fri Mar  1 18:00:00 2024\nSubject: One\nFrom: a@example.org\n\nFirst body\n>From the tower\n\n"
    "From here on the text goes on in 2024\n\n"
    "From b@example.org Sat Mar  2 18:00:00 2024\nSubject: a/b: Two\nFrom: b@example.org\n\nSecond body\n"
)


def test_a_mailbox_is_its_messages(tmp_path: Path) -> None:
    document = read(tmp_path, "a.mbox", BOX)
    assert document.content == "1. One — a@example.org\n2. a/b: Two — b@example.org"
    assert [c.filename for c in document.attached] == ["00001 One.eml", "00002 a b  Two.eml"]
    first = read(tmp_path, "x.eml", Path(document.attached[0].path).read_bytes())
    assert first.content.endswith("First body\nFrom the tower\n\nFrom here on the text goes on in 2024")


def test_a_mailbox_over_the_limit_says_how_much_is_left_out(tmp_path: Path) -> None:
    document = read(tmp_path, "a.mbox", BOX * 5, container_members=4)
    assert [c.error_code for c in document.attached] == ["", "", "", "", "LIMIT_EXCEEDED"]
    assert losses(document) == {"members_left_out": 6}
