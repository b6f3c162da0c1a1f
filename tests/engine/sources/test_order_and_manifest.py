"""External sort of listings, manifests of URIs, and fsspec sources."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.errors import ConfigError
from engine.settings import load
from engine.sources import Listed, open_object, open_source, order
from engine.sources.order import in_key_order

SETTINGS = load(environ={})


@pytest.mark.parametrize("count", [0, 5, 100, 101, 1000])
def test_any_order_becomes_key_order(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "BUFFER", 100)
    keys = [f"k{i:04}-é\n" for i in range(count)]
    shuffled = random.Random(1).sample(keys, count)
    assert [i.key for i in in_key_order(Listed(k, k, 1) for k in shuffled)] == keys


def _write(path: Path) -> None:
    rows = [{"uri": "b.txt", "size": 3}, {"uri": "a.txt", "size": None}, {"uri": "a.txt", "size": None}]
    match path.suffix:
        case ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), path)
        case ".csv":
            path.write_text("uri,size\nb.txt,3\na.txt,\na.txt,\n")
        case _:
            path.write_text('{"uri": "b.txt", "size": 3}\n{"uri": "a.txt"}\n{"uri": "a.txt"}\n')


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".jsonl"])
def test_manifests_list_uris_relative_to_themselves(tmp_path: Path, suffix: str) -> None:
    (tmp_path / "a.txt").write_text("A")
    (tmp_path / "b.txt").write_text("BBB")
    _write(tmp_path / f"list{suffix}")
    items = list(open_source(str(tmp_path / f"list{suffix}"), SETTINGS, manifest=True).list())
    assert [i.key for i in items] == ["a.txt", "a.txt", "b.txt"]
    with open_object(items[2].uri, SETTINGS) as stream:
        assert stream.read() == b"BBB"


def test_a_manifest_row_without_uri_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"path": "x"}\n')
    with pytest.raises(ConfigError, match="no 'uri'"):
        list(open_source(str(tmp_path / "m.jsonl"), SETTINGS, manifest=True).list())


def test_other_schemes_go_through_fsspec() -> None:
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.pipe({"/docs/b.txt": b"two", "/docs/sub/a.txt": b"one"})
    items = list(open_source("memory://docs", SETTINGS).list())
    assert [i.key for i in items] == ["b.txt", "sub/a.txt"]
    with open_object(items[1].uri, SETTINGS) as stream:
        assert stream.read() == b"one"


def test_uris_of_remote_objects_keep_their_host_and_show_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    from engine.sources import public_uri
    from engine.sources.remote import RemoteSource

    fsspec.filesystem("memory").pipe({"/share/a b.txt": b"x"})
    source = RemoteSource("memory://share")
    monkeypatch.setattr(source, "_uri", "hdfs://ann:secret@host:8020/share")  # the same files under another address
    assert [i.uri for i in source.list()] == ["hdfs://ann:secret@host:8020/share/a b.txt"]
    assert public_uri("hdfs://ann:secret@host:8020/share?token=1") == "hdfs://host:8020/share"
    assert public_uri("s3://bucket/odd?key") == "s3://bucket/odd?key"


def test_an_unknown_scheme_is_a_clear_error() -> None:
    with pytest.raises(ConfigError, match="cannot open source"):
        open_source("nosuch://x", SETTINGS)
