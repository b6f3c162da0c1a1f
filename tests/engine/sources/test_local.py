"""Local listings: order, odd names, links, and what cannot be read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import SourceError
from engine.settings import load
from engine.sources import Listed, open_object, open_source

SETTINGS = load(environ={})


def _list(uri: str) -> list[Listed]:
    return list(open_source(uri, SETTINGS).list())


def test_keys_come_in_utf8_byte_order_across_folders(tmp_path: Path) -> None:
    for name in ["b.txt", "a/x.txt", "a.txt", "a-b.txt", "a/é/z.txt", "ä.txt", "Z.txt", "日本.txt"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    keys = [item.key for item in _list(str(tmp_path))]
    assert keys == sorted(keys, key=str.encode)
    assert len(keys) == 8


def test_a_single_file_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("hello")
    (only,) = _list(str(tmp_path / "one.txt"))
    assert (only.key, only.size) == ("one.txt", 5)
    with open_object(only.uri, SETTINGS) as stream:
        assert stream.read() == b"hello"


def test_globs_take_what_matches_and_keep_keys_below_their_fixed_part(tmp_path: Path) -> None:
    for name in ["a/1.pdf", "a/b/2.pdf", "a/3.txt"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [i.key for i in _list(str(tmp_path / "a" / "**" / "*.pdf"))] == ["1.pdf", "b/2.pdf"]


@pytest.mark.parametrize("name", [b"caf\xe9.txt", b"two\nlines.txt", b"per%20cent#hash?.txt", b"[x].txt"])
def test_odd_names_are_listed_and_open(tmp_path: Path, name: bytes) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_bytes(b"body")
    (item,) = _list(str(tmp_path))
    item.key.encode("utf-8")
    with open_object(item.uri, SETTINGS) as stream:
        assert stream.read() == b"body"


def test_link_loops_end_and_dangling_links_are_named(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "doc.txt").write_text("x")
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    (tmp_path / "gone.txt").symlink_to(tmp_path / "nowhere")
    found = {item.key: item.problem for item in _list(str(tmp_path))}
    assert found == {"a/doc.txt": "", "gone.txt": "cannot read the file: No such file or directory"}


def test_pipes_are_named_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (item,) = _list(str(tmp_path))
    assert item.problem == "not a regular file"
    with pytest.raises(SourceError, match="not a regular file"):
        open_object(item.uri, SETTINGS)


def test_a_missing_source_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no file or folder"):
        _list(str(tmp_path / "absent"))


def test_a_changed_file_has_another_etag(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("one")
    (before,) = _list(str(tmp_path))
    file.write_text("two")
    os.utime(file, ns=(1, 1))
    (after,) = _list(str(tmp_path))
    assert before.etag != after.etag
