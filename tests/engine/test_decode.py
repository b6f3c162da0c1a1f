"""Bytes become the text that was written, whatever they are encoded in and whatever they claim."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.charsets import guess
from engine.decode import codec_name, decode, file_encoding, looks_binary, wide_encoding

FRENCH = "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison."
GERMAN = "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie begegnen einander brüderlich: größer."
POLISH = "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są obdarzeni rozumem."
CZECH = "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím."
TURKISH = "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler."
RUSSIAN = "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом."
GREEK = "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα."
HEBREW = "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון."
ARABIC = "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا"
JAPANESE = "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
CHINESE = "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心，并应以兄弟关系的精神相对待。"
TRADITIONAL = "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心，並應以兄弟關係的精神相對待。"
KOREAN = "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (FRENCH, "cp1252"), (FRENCH, "cp850"), (FRENCH, "mac_roman"), (GERMAN, "cp1252"), (GERMAN, "cp437"),
        (POLISH, "cp1250"), (POLISH, "iso8859-2"), (POLISH, "cp852"), (CZECH, "cp1250"), (TURKISH, "cp1254"),
        (RUSSIAN, "cp1251"), (RUSSIAN, "koi8-r"), (RUSSIAN, "cp866"), (RUSSIAN, "iso8859-5"), (GREEK, "cp1253"),
        (HEBREW, "cp1255"), (ARABIC, "cp1256"), (JAPANESE, "cp932"), (JAPANESE, "euc_jp"), (JAPANESE, "iso2022_jp"),
        (CHINESE, "gb18030"), (TRADITIONAL, "big5"), (KOREAN, "cp949"),
    ],
)  # fmt: skip
def test_legacy_charsets_are_told_from_the_bytes(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("text", [FRENCH, "Plain ASCII, line one\nline two\n", f"{JAPANESE}\nPage 1\n"])
def test_unicode_with_and_without_a_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


def test_a_false_declaration_does_not_win() -> None:
    assert decode(ARABIC.encode("cp1256"), "utf-8").text == ARABIC
    assert decode(FRENCH.encode("utf-8"), "iso-8859-1").text == FRENCH
    assert decode(JAPANESE.encode("cp932"), "iso-8859-1").text == JAPANESE


def test_a_true_declaration_settles_short_text() -> None:
    assert decode("Kč".encode("cp1250"), "windows-1250").text == "Kč"
    assert decode("Ěřž".encode("iso8859-2"), "iso-8859-2").text == "Ěřž"


def test_western_before_central_european() -> None:
    text = "C'était très chaud: 15,50 €. Die schöne Frau lächelte. El niño comió. Não há pão."
    decoded = decode(text.encode("cp1252"))
    assert (decoded.text, decoded.encoding) == (text, "cp1252")


def test_a_broken_place_in_utf8_is_counted_not_guessed() -> None:
    data = GERMAN.encode() * 5
    decoded = decode(data[:100] + b"\xff" + data[100:])
    assert decoded.encoding == "utf-8"
    assert decoded.replaced == 1
    assert decoded.text.replace("\ufffd", "") == GERMAN * 5


def test_labels_mean_what_the_web_means_by_them() -> None:
    assert codec_name("ISO-8859-1") == "cp1252"
    assert codec_name(" 'Shift_JIS' ") == "cp932"
    assert codec_name("gb2312") == "gb18030"
    assert codec_name("base64") is None
    assert codec_name("no-such-charset") is None


def test_binary_is_not_text() -> None:
    noise = random.Random(1).randbytes(4096)
    assert looks_binary(noise)
    assert looks_binary(b"\x7fELF\x02\x01\x01" + bytes(200))
    for text in (FRENCH.encode("cp1252"), RUSSIAN.encode("cp866"), JAPANESE.encode("euc_jp"), CHINESE.encode("utf-16")):
        assert not looks_binary(text)
    assert wide_encoding("x = 1\n".encode("utf-16-le")) == "utf-16-le"
    assert wide_encoding(b"plain") is None


def test_one_endless_line_is_read_in_linear_time() -> None:
    text = JAPANESE * 40_000
    assert guess(text.encode("cp932"))[0] == "cp932"
    assert decode(text.encode("cp932")).text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(FRENCH, "cp1252"), (CZECH, "cp1250"), (RUSSIAN, "koi8-r"), (GREEK, "utf-8"), (GERMAN, "utf-8-sig"),
     (POLISH, "utf-16"), (GERMAN, "utf-16-be"), (HEBREW, "utf-32")],
)  # fmt: skip
def test_a_stream_is_read_like_the_whole(text: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    plain = "only plain letters in these lines\n" * 40_000  # so that what tells is not at the beginning
    path.write_bytes((plain + text).encode(encoding))
    codec, errors = file_encoding(path)
    assert errors == "strict"
    assert path.read_bytes().decode(codec) == plain + text == decode(path.read_bytes()).text
