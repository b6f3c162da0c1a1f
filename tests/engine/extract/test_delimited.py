"""Delimited files: encodings, delimiters, quoting, ragged rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import Code, InputError
from tests.engine.extract.office_files import codes, outline, read


def csv(tmp_path: Path, data: str | bytes, encoding: str = "utf-8", source_format: str = "csv"):
    path = tmp_path / "a.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode(encoding))
    return read(path, source_format, tmp_path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", "~", "^"])
def test_delimiters_are_found(tmp_path: Path, delimiter: str) -> None:
    rows = [["name", "town", "remark"], ["Ann", "Rome", "a, b; c"], ["Bob", "Oslo", ""]]
    text = "\r\n".join(delimiter.join(f'"{c}"' if set(c) & set(",;") else c for c in row) for row in rows)
    table = csv(tmp_path, text).tables[0]
    assert [table.headers, *table.rows] == rows


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8-sig", "имя,город\nИван,Москва\n"),
        ("utf-16", "name,town\nMüller,Köln\n"),
        ("utf-16-le", "name,town\nMüller,Köln\n"),
        ("utf-32-be", "name,town\nMüller,Köln\n"),
        ("cp932", "名前,年齢,住所\n佐藤太郎,30,東京\n髙橋淳,35,名古屋\n"),
        ("gbk", "姓名,城市,备注\n张三,北京,这是一个测试\n李四,上海,数据处理\n"),
        ("euc_kr", "이름,도시\n홍길동,서울\n김철수,부산\n"),
        ("cp1251", "Имя,Город\nИван,Москва\nПётр,Казань\n"),
        ("cp1250", "jméno,město\nŽluťoučký,Plzeň\nŘehoř,Ústí\n"),
        ("big5", "姓名,城市\n王小明,臺北\n"),
        ("cp1252", "name,price\nCafé,3 €\nNaïve,5 £\n"),
        ("cp1252", "Name,Stadt\nMüller,Köln\nGröße,Straße\n"),
    ],
)
def test_encodings(tmp_path: Path, encoding: str, text: str) -> None:
    table = csv(tmp_path, text, encoding).tables[0]
    assert [table.headers, *table.rows] == [line.split(",") for line in text.splitlines()]


def test_quoted_line_breaks_and_ragged_rows_keep_every_cell(tmp_path: Path) -> None:
    table = csv(tmp_path, '1,2,3\na,"b\nb",c,d\n\ne\n').tables[0]
    assert table.headers == ["1", "2", "3", ""]
    assert table.rows == [["a", "b\nb", "c", "d"], ["e", "", "", ""]]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a,b\n'x, y',z\n'q, r',s\n", [["x, y", "z"], ["q, r", "s"]]),
        ('a,b\n"x \\"said\\", y",z\n', [['x "said", y', "z"]]),
        ("a,b\nit's,so\nwhat's,up\n", [["it's", "so"], ["what's", "up"]]),
        ('a,b\nC:\\dir\\"x",1\n', [['C:\\dir\\"x"', "1"]]),
        ("a;b\n1,5;2,5\n3,5;4,5\n", [["1,5", "2,5"], ["3,5", "4,5"]]),
    ],
)
def test_other_quoting(tmp_path: Path, text: str, rows: list[list[str]]) -> None:
    assert csv(tmp_path, text).tables[0].rows == rows


def test_a_row_is_never_parted_from_its_header(tmp_path: Path) -> None:
    """`pain.md` P32: chunks of a long table repeat the header, and no row is cut."""
    from engine.chunk.make import make_chunks
    from engine.embed.make import model_limits
    from engine.records import ChunkConfig
    from engine.settings import Settings

    rows = "".join(f"lamp {n};{n}.5;checked by keeper {n}\n" for n in range(300))
    document = csv(tmp_path, "name;height;remark\n" + rows)
    settings = Settings()
    chunks = make_chunks(document, "d", ChunkConfig(), model_limits(settings), settings)
    assert len(chunks) > 5
    assert all("| name | height | remark |" in chunk.content for chunk in chunks)
    lines = [line for chunk in chunks for line in chunk.content.split("\n") if "keeper" in line]
    assert lines == [f"| lamp {n} | {n}.5 | checked by keeper {n} |" for n in range(300)]


def test_one_column_stays_one(tmp_path: Path) -> None:
    table = csv(tmp_path, "word\nfirst\nsecond one\nthird, perhaps\n").tables[0]
    assert (table.headers, len(table.rows), table.rows[2]) == (["word"], 3, ["third, perhaps"])


def test_titles_above_the_table_and_sep_lines(tmp_path: Path) -> None:
    document = csv(tmp_path, "Stanley Cups,,\nTeam,Location,Cups\nBlues,STL,1\n")
    assert outline(document) == [("paragraph", "Stanley Cups")]
    assert document.tables[0].headers == ["Team", "Location", "Cups"]
    assert csv(tmp_path, "sep=;\na;b\n1,5;2\n").tables[0].rows == [["1,5", "2"]]


def test_an_unclosed_quote_swallows_nothing(tmp_path: Path) -> None:
    document = csv(tmp_path, 'a,b\n1,"open\n2,x\n3,y\n')
    assert [row[0] for row in document.tables[0].rows] == ["1", "2", "3"]
    assert "unbalanced_quote" in codes(document)


def test_limits(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" * 1000)
    with pytest.raises(InputError) as caught:
        read(path, "csv", tmp_path, table_cells=100)
    assert caught.value.code is Code.LIMIT_EXCEEDED
    path.write_text("a,b\n1," + "x" * 200_000 + "\n")
    assert len(read(path, "csv", tmp_path).tables[0].rows[0][1]) == 200_000


def test_undecodable_bytes_are_reported(tmp_path: Path) -> None:
    document = csv(tmp_path, b"\xef\xbb\xbfa,b\nok,\xff\xfe\n")
    assert document.tables[0].rows == [["ok", "\ufffd\ufffd"]]
    assert "encoding_uncertain" in codes(document)
