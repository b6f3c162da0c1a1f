"""Names out of Content-Disposition headers, as clients of all kinds write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import Code, InputError
from serve.filenames import clean, disposition


def header(rest: str, encoding: str = "utf-8") -> bytes:
    return b'form-data; name="file"; ' + rest.encode(encoding)


@pytest.mark.parametrize(
    ("rest", "filename"),
    [
        ('filename="a.txt"', "a.txt"),
        ("filename=a.txt", "a.txt"),
        ('FileName = "a b;c.txt" ', "a b;c.txt"),
        ('filename=""', ""),
        ('filename="a \\"quoted\\" \\\\ name.txt"', 'a "quoted" \\ name.txt'),
        ('filename="a %22quoted%22.txt"', 'a "quoted".txt'),
        ('filename="100%25.txt"', "100%25.txt"),
        ('filename="Größe 日本.pdf"', "Größe 日本.pdf"),
        ("filename*=UTF-8''%e2%82%ac%20rates.txt", "€ rates.txt"),
        ("filename*=utf-8'en'%e2%82%ac.txt; filename=\"EURO.txt\"", "€.txt"),
        ("filename=\"EURO.txt\"; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
        ("filename*=iso-8859-1''gr%fc%dfe.txt", "grüße.txt"),
        ("filename=\"plain.txt\"; filename*=UTF-8''%ff%fe.txt", "plain.txt"),
        ("filename=\"plain.txt\"; filename*=koi8-r''%c1.txt", "plain.txt"),
        ('filename="a.txt";', "a.txt"),
        ('filename="a.txt"; size=3; foo="bar"', "a.txt"),
    ],
)
def test_what_clients_send(rest: str, filename: str) -> None:
    assert disposition(header(rest)).filename == filename
    assert disposition(header(rest)).name == "file"


def test_bytes_that_are_no_utf8_are_read_as_latin_1() -> None:
    assert disposition(header('filename="grüße.txt"', "latin-1")).filename == "grüße.txt"


def test_a_field_without_a_file_name_is_text() -> None:
    assert disposition(b'form-data; name="project_id"').filename is None
    assert disposition(b"FORM-DATA;name=a").name == "a"


@pytest.mark.parametrize(
    "value",
    [b"", b"attachment; name=a", b"form-data", b'form-data; name=""', b'form-data; filename="a.txt"',
     b'form-data; name="a"; name="b"', b'form-data; name="a"; filename="x"; filename="y"', b'form-data; name="a',
     b'form-data; name="a" nonsense', b"form-data; name=a b; c", b"form-dataname=a"],
)  # fmt: skip
def test_what_is_no_form_data(value: bytes) -> None:
    with pytest.raises(InputError) as caught:
        disposition(value)
    assert caught.value.code == Code.INVALID_REQUEST


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("a.txt", "a.txt"),
        ("C:\\Users\\me\\report.pdf", "report.pdf"),
        ("/etc/passwd", "passwd"),
        ("../../../a.txt", "a.txt"),
        ("..\\..\\a.txt", "a.txt"),
        (" a.txt ", "a.txt"),
        ("a\r\nX-Evil: 1\x00\x1b[31m.txt", "aX-Evil: 1[31m.txt"),
        ("cv\u202egpj.exe", "cvgpj.exe"),
        ("zero\u200bwidth\ufeff.txt", "zerowidth.txt"),
        ("tag\U000e0041.txt", "tag.txt"),
        ("line\u2028sep.txt", "linesep.txt"),
        ("e\u0301.txt", "é.txt"),
        ("می‌خواهم.txt", "می‌خواهم.txt"),
        (".htaccess", ".htaccess"),
        ("...a", "...a"),
        ("x" * 251 + ".pdf", "x" * 251 + ".pdf"),
    ],
)
def test_cleaning(sent: str, kept: str) -> None:
    assert clean(sent) == kept


@pytest.mark.parametrize("sent", ["", " ", ".", "..", "a/", "a\\", "/", "\x00", "\u202e", "...", "\u200d", "x" * 256])
def test_names_that_are_none(sent: str) -> None:
    with pytest.raises(InputError) as caught:
        clean(sent)
    assert caught.value.code == Code.INVALID_REQUEST


@given(st.text())
def test_a_clean_name_is_clean(sent: str) -> None:
    try:
        name = clean(sent)
    except InputError:
        return
    assert name
    assert clean(name) == name
    assert not set(name) & set("/\\\0\r\n\u202e")


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(value: bytes) -> None:
    try:
        disposition(b'form-data; name="a"; filename="' + value)
    except InputError as error:
        assert error.code == Code.INVALID_REQUEST
