"""One suite over both object stores: a local folder, and a bucket of a real S3 server."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from s3_server import KEY, SECRET, s3_server

from engine.errors import SourceError, StorageError
from engine.objects import ObjectStore
from engine.objects.open import open_objects
from engine.objects.s3 import S3Objects
from engine.settings import load

MIB = 1 << 20


@pytest.fixture(scope="module")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("buckets")
    (folder / "bucket").mkdir()
    with s3_server(folder) as url:
        yield url


@pytest.fixture(params=["local", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    values: dict[str, object] = {"home": tmp_path}
    if request.param == "s3":
        values |= {
            "objects.endpoint": request.getfixturevalue("endpoint"),
            "objects.access_key": KEY,
            "objects.secret_key": SECRET,
            "objects.bucket": "bucket",
            "objects.prefix": f"{tmp_path.name}/",  # every test its own
        }
    return open_objects(load(values, environ={}))


def keys(objects: ObjectStore, prefix: str = "") -> list[str]:
    return sorted(stored.key for stored in objects.list(prefix))


def test_what_was_put_is_read_back(objects: ObjectStore) -> None:
    objects.put("uploads/ab/cd", b"hello")
    objects.put("empty", b"")
    assert objects.read("uploads/ab/cd") == b"hello"
    assert objects.read("empty") == b""
    assert objects.exists("uploads/ab/cd")
    assert not objects.exists("uploads/ab")
    assert not objects.exists("uploads/ab/c")
    assert {(s.key, s.size) for s in objects.list("")} == {("uploads/ab/cd", 5), ("empty", 0)}


def test_a_second_put_replaces_the_first(objects: ObjectStore) -> None:
    objects.put("a", b"first and longer")
    objects.put("a", b"second")
    assert objects.read("a") == b"second"
    assert [s.size for s in objects.list("a")] == [6]


@pytest.mark.parametrize("size", [8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 19 * MIB + 7])
def test_large_objects_written_in_pieces(objects: ObjectStore, size: int) -> None:
    piece = bytes(range(256)) * 1200 + b"odd"
    digest, left = hashlib.sha256(), size
    with objects.writer("big/one") as writer:
        while left:
            part = piece[: min(left, len(piece))]
            writer.write(part)
            digest.update(part)
            left -= len(part)
        assert not objects.exists("big/one")
        assert keys(objects) == []
        writer.commit()
    with objects.open("big/one") as stream:
        assert hashlib.file_digest(stream, "sha256").hexdigest() == digest.hexdigest()
    assert [s.size for s in objects.list("big/")] == [size]


def test_streams_read_in_pieces_and_to_the_end(objects: ObjectStore) -> None:
    objects.put("a", bytes(range(256)) * 1000)
    with objects.open("a") as stream:
        assert stream.read(3) == b"\0\1\2"
        assert stream.read(2) == b"\3\4"
        assert len(stream.read()) == 255_995
        assert stream.read(1) == b""


@pytest.mark.parametrize("size", [0, 10, 17 * MIB])
def test_an_aborted_writer_leaves_nothing(objects: ObjectStore, size: int) -> None:
    with objects.writer("a") as writer:
        writer.write(bytes(size))
    assert (keys(objects), objects.exists("a")) == ([], False)
    assert objects.sweep(-5) == 0, "nothing half written is left either"


def test_an_aborted_writer_leaves_the_old_object(objects: ObjectStore) -> None:
    objects.put("a", b"old")
    with pytest.raises(ValueError, match="broke off"), objects.writer("a") as writer:
        writer.write(b"new")
        raise ValueError("broke off")
    assert objects.read("a") == b"old"


def test_a_writer_ends_once(objects: ObjectStore) -> None:
    writer = objects.writer("a")
    writer.write(b"x")
    writer.commit()
    writer.abort()
    assert objects.read("a") == b"x"
    with pytest.raises(StorageError, match="ended"):
        writer.commit()


def test_what_is_not_there(objects: ObjectStore) -> None:
    objects.put("folder/a", b"x")
    for key in ("nothing", "folder", "folder/b", "folder/a/b"):
        with pytest.raises(SourceError, match="not there"):
            objects.open(key)
        assert not objects.exists(key)
    objects.delete("nothing")
    objects.delete("folder/b")
    assert objects.read("folder/a") == b"x"


BAD = ["", "/a", "a/", "a//b", "../a", "a/../b", "a/./b", ".partial/x", "a/.b", "a\\b", "a\0b", "ä", "a b", "a" * 201,
       "a/" * 400 + "a", "a\n", "%2e%2e/a"]  # fmt: skip


@pytest.mark.parametrize("key", BAD)
def test_keys_that_are_none(objects: ObjectStore, key: str) -> None:
    objects.put("a", b"x")
    with pytest.raises(StorageError, match="cannot name"):
        objects.writer(key)
    with pytest.raises(StorageError, match="cannot name"):
        objects.put(key, b"x")
    with pytest.raises(SourceError, match="not there"):
        objects.open(key)
    assert not objects.exists(key)
    objects.delete(key)
    assert keys(objects) == ["a"]


def test_listing_by_prefix(objects: ObjectStore) -> None:
    for key in ("p/a", "p/ab", "p/a-b/c", "p/b/c/d", "q", "pq"):
        objects.put(key, b"x")
    assert keys(objects, "p/a") == ["p/a", "p/a-b/c", "p/ab"]
    assert keys(objects, "p/") == ["p/a", "p/a-b/c", "p/ab", "p/b/c/d"]
    assert keys(objects, "p") == ["p/a", "p/a-b/c", "p/ab", "p/b/c/d", "pq"]
    assert keys(objects, "p/b/c") == ["p/b/c/d"]
    assert keys(objects, "nothing/") == []
    assert keys(objects, "../") == []


def test_listing_more_than_a_page_while_deleting(objects: ObjectStore) -> None:
    count = 1040 if isinstance(objects, S3Objects) else 100  # a page of S3 holds 1000
    for n in range(count):
        objects.put(f"many/{n:04}", b"")
    for stored in itertools.islice(objects.list("many/"), 30):
        objects.delete(stored.key)
    assert len(keys(objects)) == count - 30
    assert objects.delete_prefix("many/") == count - 30
    assert keys(objects) == []


def test_deleting(objects: ObjectStore) -> None:
    for key in ("d/1/a", "d/1/b", "d/2", "dd"):
        objects.put(key, b"x")
    objects.delete("d/1/a")
    objects.delete("d/1/a")
    assert keys(objects) == ["d/1/b", "d/2", "dd"]
    assert objects.delete_prefix("d/") == 2
    assert objects.delete_prefix("d/") == 0
    assert keys(objects) == ["dd"]
    for prefix in ("", "/", "d", "../", "d//"):
        with pytest.raises(StorageError, match="no folder"):
            objects.delete_prefix(prefix)
    objects.put("d/1/a", b"again")
    assert objects.read("d/1/a") == b"again"


def test_a_crashed_writer_is_swept_by_age(objects: ObjectStore) -> None:
    crashed = objects.writer("gone/a")
    crashed.write(bytes(9 * MIB))
    objects.put("kept", b"x")
    assert objects.sweep(3600) == 0
    assert objects.sweep(-5) == 1
    assert keys(objects) == ["kept"]
    with pytest.raises(StorageError):
        crashed.commit()
    crashed.abort()
    assert keys(objects) == ["kept"]


def test_writing_takes_memory_independent_of_size(objects: ObjectStore) -> None:
    piece, process, most = bytes(MIB), psutil.Process(), 0
    with objects.writer("warm") as writer:
        for _ in range(20):
            writer.write(piece)
    before = process.memory_info().rss
    with objects.writer("big") as writer:
        for _ in range(200):
            writer.write(piece)
            most = max(most, process.memory_info().rss)
        writer.commit()
    assert most - before < 40 * MIB
