"""Outlook messages: real ones from the folder beside the checkout, and damaged ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import Code, InputError
from engine.extract import Context
from engine.extract.outlook import extract
from tests.engine.extract.text_files import read, settings

FORMATS = Path(__file__).resolve().parents[3] / "../shared/corpora/formats"
shared = [pytest.mark.shared, pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")]


def real(folder: Path, name: str) -> bytes:
    return (FORMATS / name).read_bytes()


@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")
def test_headers_body_and_attachments(tmp_path: Path) -> None:
    document = read(tmp_path, "a.msg", real(tmp_path, "dl__msg_with_attachment.msg"))
    assert document.metadata.title == "Email with Attachment"
    assert document.metadata.author == "Alice Example <alice@example.com>"
    assert "To: Bob Example <bob@example.com>" in document.content
    assert "This email contains an attachment." in document.content
    assert [c.filename for c in document.attached] == ["test.txt", "report.pdf"]
    assert Path(document.attached[0].path).read_bytes().startswith(b"This is a test attachment file.")


@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")
def test_8_bit_strings_of_another_charset(tmp_path: Path) -> None:
    document = read(tmp_path, "a.msg", real(tmp_path, "tk__testMSG_chinese.msg"))
    assert document.metadata.title == "Alfresco MSG format testing ( MSG 格式測試 )"
    assert "中文測試" in document.content and "張毓倫" in document.content


@pytest.mark.shared
@pytest.mark.skipif(not FORMATS.exists(), reason="the shared folder is not there")
@pytest.mark.parametrize("kept", [600, 3000, 9000])
def test_a_cut_file_is_read_or_refused(kept: int, tmp_path: Path) -> None:
    data = real(tmp_path, "un__fake-email-attachment.msg")[:kept]
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
