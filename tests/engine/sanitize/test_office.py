"""What must go from office files before they are read, and what must stay."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from engine.errors import Code, InputError
from engine.sanitize.office import sanitize_office
from engine.sanitize.ole import is_executable, unwrap_native
from engine.settings import Limits
from tests.engine.extract.office_files import docx, paragraph, read, relationships


def found(path: Path, out: Path) -> set[str]:
    return {loss.code for loss in sanitize_office(path, out)}


def test_a_clean_file_is_left_alone(tmp_path: Path) -> None:
    path = docx(tmp_path / "a.docx", paragraph("clean"))
    assert sanitize_office(path, tmp_path / "out") == []
    assert not (tmp_path / "out").exists()


def test_macros_and_external_references_go_and_the_text_stays(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(
            ("v", "vbaProject", "vbaProject.bin"),
            ("i", "image", "http://example.invalid/p.png"),
            ("t", "attachedTemplate", "http://example.invalid/t.dotm"),
            ("h", "hyperlink", "http://example.invalid/page"),
        ),
        "word/vbaProject.bin": b"macro code",
    }
    path = docx(tmp_path / "a.docm", paragraph("text"), parts)
    before = path.read_bytes()
    out = tmp_path / "out.docx"
    assert found(path, out) == {"macro_removed", "external_reference_removed", "attached_template_removed"}
    assert path.read_bytes() == before
    with zipfile.ZipFile(out) as cleaned:
        assert "word/vbaProject.bin" not in cleaned.namelist()
        rels = cleaned.read("word/_rels/document.xml.rels").decode()
    assert "vbaProject" not in rels
    assert rels.count("example.invalid") == 1  # the hyperlink, which is only text to be read
    assert read(out, "docx", tmp_path).content == "text"


def test_a_dde_field_spread_over_runs_is_disabled(tmp_path: Path) -> None:
    field = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> DD</w:instrText></w:r>'
        "<w:r><w:instrText>EAUTO c:\\\\windows\\\\cmd.exe</w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r><w:r><w:t>shown</w:t></w:r>'
        '<w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    )
    out = tmp_path / "out.docx"
    assert found(docx(tmp_path / "a.docx", field), out) == {"dde_link_removed"}
    with zipfile.ZipFile(out) as cleaned:
        assert b"cmd.exe" not in cleaned.read("word/document.xml")
    assert read(out, "docx", tmp_path).content == "shown"


def test_embedded_documents_stay_and_programs_go(tmp_path: Path) -> None:
    parts: dict[str, str | bytes] = {
        "word/_rels/document.xml.rels": relationships(
            ("d", "package", "embeddings/good.docx"), ("x", "oleObject", "embeddings/bad.bin")
        ),
        "word/embeddings/good.docx": docx(tmp_path / "good.docx", paragraph("in")).read_bytes(),
        "word/embeddings/bad.bin": b"MZ this is a program",
    }
    out = tmp_path / "out.docx"
    assert found(docx(tmp_path / "a.docx", paragraph("x"), parts), out) == {"ole_object_removed"}
    with zipfile.ZipFile(out) as cleaned:
        assert [n for n in cleaned.namelist() if "embeddings" in n] == ["word/embeddings/good.docx"]


def test_opendocument_macros_and_remote_pictures(tmp_path: Path) -> None:
    names = (
        'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
        'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
        'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"'
    )
    content = (
        f"<office:document-content {names}><office:body><office:text><text:p>words"
        '<text:a xlink:href="http://example.invalid/ok">link</text:a><draw:frame>'
        '<draw:image xlink:href="http://example.invalid/p.png"/></draw:frame></text:p></office:text></office:body>'
        "</office:document-content>"
    )
    path, out = tmp_path / "a.odt", tmp_path / "out.odt"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        file.writestr("content.xml", content)
        file.writestr("Basic/Standard/Module1.xml", "<script/>")
    assert found(path, out) == {"macro_removed", "external_reference_removed"}
    with zipfile.ZipFile(out) as cleaned:
        assert cleaned.namelist() == ["mimetype", "content.xml"]
        assert b"p.png" not in cleaned.read("content.xml")
    assert read(out, "odt", tmp_path).content == "wordslink"


def test_broken_files_are_left_to_their_extractor(tmp_path: Path) -> None:
    for data in (b"", b"plain", b"PK\x03\x04broken", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1broken"):
        (tmp_path / "a").write_bytes(data)
        assert sanitize_office(tmp_path / "a", tmp_path / "out") == []


def test_zip_bombs_are_refused(tmp_path: Path) -> None:
    path = docx(tmp_path / "a.docx", paragraph("x"), {"word/media/big.bmp": b"\0" * (40 << 20)})
    with pytest.raises(InputError) as caught:
        sanitize_office(path, tmp_path / "out")
    assert caught.value.code is Code.LIMIT_EXCEEDED
    with pytest.raises(InputError) as caught:
        sanitize_office(path, tmp_path / "out", Limits.model_validate({"container_mb": 10, "container_ratio": 5000}))
    assert caught.value.code is Code.LIMIT_EXCEEDED


def test_packaged_objects_are_unwrapped() -> None:
    payload = b"the file"
    temporary = b"C:\\Temp\\report.txt\0"
    stream = (
        b"\0\0\0\0\x02\0" + b"report.txt\0" + b"C:\\docs\\report.txt\0" + b"\0\0\x03\0"
        + len(temporary).to_bytes(4, "little") + temporary + len(payload).to_bytes(4, "little") + payload
    )  # fmt: skip
    assert unwrap_native(stream) == ("report.txt", payload)
    assert unwrap_native(stream[:20]) is None
    assert is_executable("invoice.pdf.exe", b"")
    assert is_executable("x.txt", b"MZ\x90")
    assert not is_executable("report.txt", payload)
