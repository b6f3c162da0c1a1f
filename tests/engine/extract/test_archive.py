"""ZIP archives: members out, names right, nothing outside, limits kept."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from engine.errors import Code, InputError
from engine.extract.children import safe_path
from tests.engine.extract.text_files import losses, read


def zipped(members: dict[str, bytes | str], raw: str = "") -> bytes:
    """An archive; with `raw`, names stand in that charset without the UTF-8 flag, as old packers write them."""
    buffer = io.BytesIO()
    stand_ins: dict[bytes, bytes] = {}
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, data) in enumerate(members.items()):
            if raw:
                stand_in = f"{number}".ljust(len(name.encode(raw)), "N")
                stand_ins[stand_in.encode()] = name.encode(raw)
                name = stand_in
            archive.writestr(name, data)
    whole = buffer.getvalue()
    for stand_in, name in stand_ins.items():
        whole = whole.replace(stand_in, name)
    return whole


def test_members_become_children(tmp_path: Path) -> None:
    members: dict[str, bytes | str] = {
        "a.txt": "one",
        "dir/b.csv": "x,y",
        "dir/": "",
        "__MACOSX/._a.txt": "x",
        "empty.doc": "",
    }
    document = read(tmp_path, "a.zip", zipped(members))
    assert [(c.inner_path, c.filename) for c in document.attached] == [
        ("a.txt", "a.txt"), ("dir/b.csv", "b.csv"), ("empty.doc", "empty.doc"),
    ]  # fmt: skip
    assert Path(document.attached[1].path).read_text() == "x,y"
    assert "- dir/b.csv" in document.content
    assert losses(document) == {"system_file_skipped": 1}


@pytest.mark.parametrize(
    ("name", "charset"),
    [("审计系统文件检索测试.txt", "gbk"), ("日本語のファイル名.txt", "cp932"), ("Однажды в студеную пору.txt", "cp866"),
     ("größe.txt", "utf-8"), ("Größe und Würde.txt", "cp437")],
)  # fmt: skip
def test_names_without_the_utf8_flag(name: str, charset: str, tmp_path: Path) -> None:
    assert [c.filename for c in read(tmp_path, "a.zip", zipped({name: "x"}, charset)).attached] == [name]


def test_one_name_falsely_declared_utf8_costs_nothing(tmp_path: Path) -> None:
    data = zipped({"größe.txt": "one", "Łódź.txt": "two", "plain.txt": "three"})
    data = data.replace("größe.txt".encode(), "größexx.txt".encode("cp850"))
    document = read(tmp_path, "a.zip", data)
    assert [c.filename for c in document.attached] == ["größexx.txt", "Łódź.txt", "plain.txt"]
    assert [Path(c.path).read_text() for c in document.attached] == ["one", "two", "three"]


def test_names_cannot_lead_outside(tmp_path: Path) -> None:
    names = ["../../etc/passwd", "C:\\win\\x.txt", "/abs.txt", "a/b.txt", "a//b.txt", "..", "x" * 300 + ".txt"]
    document = read(tmp_path, "a.zip", zipped(dict.fromkeys(names, "x")))
    paths = [c.inner_path for c in document.attached]
    assert paths[:6] == ["etc/passwd", "win/x.txt", "abs.txt", "a/b.txt", "a/b (2).txt", "unnamed"]
    assert len(set(paths)) == 7 and len(paths[6]) <= 150 and paths[6].endswith(".txt")
    assert all(Path(c.path).resolve().is_relative_to((tmp_path / "scratch").resolve()) for c in document.attached)
    assert "../../etc/passwd" in document.content  # the name as it is written, for people
    assert safe_path("evil\u202etxt.exe\n") == "eviltxt.exe"


def test_a_bomb_ends_and_the_rest_goes_on(tmp_path: Path) -> None:
    members: dict[str, bytes | str] = {"zeros.bin": bytes(60_000_000), "small.txt": "fine", "big.txt": b"ab" * 600_000}
    document = read(tmp_path, "a.zip", zipped(members), container_mb=1)
    assert [(c.filename, c.error_code) for c in document.attached] == [
        ("zeros.bin", Code.LIMIT_EXCEEDED), ("small.txt", ""), ("big.txt", Code.LIMIT_EXCEEDED),
    ]  # fmt: skip
    ratio = read(tmp_path, "b.zip", zipped({"zeros.bin": bytes(60_000_000)}))
    assert "200 times" in ratio.attached[0].error_message
    assert sum(f.stat().st_size for f in (tmp_path / "scratch").rglob("*") if f.is_file()) < 100


def test_too_many_members(tmp_path: Path) -> None:
    document = read(tmp_path, "a.zip", zipped({f"{n}.txt": "x" for n in range(30)}), container_members=10)
    assert len(document.attached) == 11
    assert document.attached[-1].error_code is Code.LIMIT_EXCEEDED
    assert "20 more" in document.attached[-1].error_message


def test_encrypted_and_damaged_members(tmp_path: Path) -> None:
    data = bytearray(zipped({"locked.txt": "one", "broken.txt": "two " * 100, "good.txt": "three"}))
    central = data.index(b"PK\x01\x02")
    data[central + 8] |= 1
    data[6] |= 1
    at = data.index(b"broken.txt") + len("broken.txt")
    data[at : at + 4] = b"\xff\xff\xff\xff"
    document = read(tmp_path, "a.zip", bytes(data))
    by_name = {c.filename: c.error_code for c in document.attached}
    assert by_name == {"locked.txt": Code.ENCRYPTED_DOCUMENT, "broken.txt": Code.EXTRACTION_FAILED, "good.txt": ""}


@pytest.mark.parametrize("data", [b"PK\x03\x04" + bytes(50), b"PK\x05\x06" + bytes(10)])
def test_a_damaged_archive_is_an_error(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, "a.zip", data)
    assert caught.value.code is Code.EXTRACTION_FAILED


def test_two_containers_in_one_scratch_do_not_overwrite_each_other(tmp_path: Path) -> None:
    first = read(tmp_path, "a.zip", zipped({"a.txt": "first"}))
    second = read(tmp_path, "b.zip", zipped({"a.txt": "second"}))
    assert [Path(d.attached[0].path).read_text() for d in (first, second)] == ["first", "second"]
