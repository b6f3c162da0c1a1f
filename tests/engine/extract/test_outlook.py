"""Outlook messages: written in the test, real ones from the folder beside the checkout, damaged ones."""

from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest
from extract_msg import OleWriter

from engine.errors import Code, InputError
from engine.extract import Context
from engine.extract.outlook import extract
from tests.engine.extract.text_files import read, settings

FORMATS = Path(__file__).resolve().parents[3] / "../shared/corpora/formats"


def real(name: str) -> bytes:
    return (FORMATS / name).read_bytes()


@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")
def test_headers_body_and_attachments(tmp_path: Path) -> None:
    document = read(tmp_path, "a.msg", real("dl__msg_with_attachment.msg"))
    assert document.metadata.title == "Email with Attachment"
    assert document.metadata.author == "Alice Example <alice@example.com>"
    assert "To: Bob Example <bob@example.com>" in document.content
    assert "This email contains an attachment." in document.content
    assert [c.filename for c in document.attached] == ["test.txt", "report.pdf"]
    assert Path(document.attached[0].path).read_bytes().startswith(b"This is a test attachment file.")


@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")
def test_8_bit_strings_of_another_charset(tmp_path: Path) -> None:
    document = read(tmp_path, "a.msg", real("tk__testMSG_chinese.msg"))
    assert document.metadata.title == "Alfresco MSG format testing ( MSG 格式測試 )"
    assert "中文測試" in document.content and "張毓倫" in document.content


@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")
@pytest.mark.parametrize("kept", [600, 3000, 9000])
def test_a_cut_file_is_read_or_refused(kept: int, tmp_path: Path) -> None:
    data = real("un__fake-email-attachment.msg")[:kept]
    path = tmp_path / "cut.msg"
    path.write_bytes(data)
    try:
        content = extract(path, Context("msg", "cut.msg", settings(), tmp_path)).content
    except InputError as error:
        assert error.code is Code.EXTRACTION_FAILED
    else:
        assert "Fake email" in content


def test_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.msg"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    with pytest.raises(InputError) as caught:
        extract(path, Context("msg", "a.msg", settings(), tmp_path))
    assert caught.value.code is Code.EXTRACTION_FAILED


def properties(header: int, **numbers: int) -> bytes:
    """A property stream: a header of this size, then a record for each number given as `tag_type`."""
    records = b""
    for name, value in numbers.items():
        tag, kind = (int(part, 16) for part in name.lstrip("p").split("_"))
        records += struct.pack("<IIq", tag << 16 | kind, 6, value)
    return bytes(header) + records


def message_file(path: Path) -> None:
    """A message with 8-bit strings in code page 1251, an HTML body, and a message inside it."""
    writer = OleWriter()
    sent = 133500000000000000  # 2024-01-17 21:20 UTC
    inside = "__attach_version1.0_#00000000/__substg1.0_3701000D"
    streams = {
        "__properties_version1.0": properties(32, p0039_0040=sent, p3FFD_0003=1251),
        "__substg1.0_0037001E": "Маяк горит".encode("cp1251"),
        "__substg1.0_1000001E": "Дорогой смотритель, маяк горит всю ночь.".encode("cp1251"),
        "__substg1.0_0C1A001E": "Анна".encode("cp1251"),
        "__recip_version1.0_#00000000/__properties_version1.0": properties(8, p0C15_0003=2),
        "__recip_version1.0_#00000000/__substg1.0_3001001F": "Bo".encode("utf-16-le"),
        "__recip_version1.0_#00000000/__substg1.0_39FE001F": "bo@example.org".encode("utf-16-le"),
        "__attach_version1.0_#00000000/__properties_version1.0": properties(8),
        f"{inside}/__properties_version1.0": properties(24),
        f"{inside}/__substg1.0_0037001F": "Inner words".encode("utf-16-le"),
        f"{inside}/__substg1.0_10130102": "<p>Größe</p>".encode(),
        f"{inside}/__attach_version1.0_#00000000/__properties_version1.0": properties(8),
        f"{inside}/__attach_version1.0_#00000000/__substg1.0_3707001F": "deep.txt".encode("utf-16-le"),
        f"{inside}/__attach_version1.0_#00000000/__substg1.0_37010102": b"deep words",
    }
    for name, data in streams.items():
        parts = name.split("/")
        for depth in range(1, len(parts)):
            with contextlib.suppress(OSError):
                writer.addEntry(parts[:depth], storage=True)
        writer.addEntry(parts, data)
    writer.write(str(path))


def test_old_strings_recipients_and_a_message_inside(tmp_path: Path) -> None:
    made = tmp_path / "made.msg"
    message_file(made)
    document = read(tmp_path, "a.msg", made.read_bytes())
    assert document.content.startswith(
        "# Маяк горит\n\nFrom: Анна\nCc: Bo <bo@example.org>\nDate: Wed, 17 Jan 2024 21:20:00 +0000\n\n"
        "Дорогой смотритель"
    )
    assert [c.filename for c in document.attached] == ["Inner words.eml"]
    inner = read(tmp_path, "x.eml", Path(document.attached[0].path).read_bytes())
    assert inner.content == "# Inner words\n\nGröße\n\n- Attachment: deep.txt"
    assert Path(inner.attached[0].path).read_bytes() == b"deep words"
