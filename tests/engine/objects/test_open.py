"""Which store the settings give, what is on the disk, and what a wrong setting says."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from s3_server import KEY, SECRET, s3_server

from engine.errors import ConfigError, StorageError
from engine.objects.local import LocalObjects
from engine.objects.open import open_objects
from engine.settings import Settings, load
from engine.sources.s3 import s3_client


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("buckets")
    (folder / "bucket").mkdir()
    with s3_server(folder) as url:
        yield url, folder / "bucket"


def settings_for(endpoint: str, home: Path, **more: object) -> Settings:
    values = {"objects.endpoint": endpoint, "objects.access_key": KEY, "objects.secret_key": SECRET}
    return load({"home": home, "objects.bucket": "bucket", **values, **more}, environ={})


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_without_a_bucket_objects_are_private_files_under_home(tmp_path: Path) -> None:
    home = tmp_path / "new" / "home"
    mask = os.umask(0)
    try:
        objects = open_objects(load({"home": home}, environ={}))
        objects.put("a/b/c", b"hello")
    finally:
        os.umask(mask)
    folder = home / "objects"
    assert (folder / "a/b/c").read_bytes() == b"hello"
    assert [mode(folder / part) for part in ("", ".partial", "a", "a/b", "a/b/c")] == [
        0o700,
        0o700,
        0o700,
        0o700,
        0o600,
    ]
    objects.delete("a/b/c")
    assert [path.name for path in folder.iterdir()] == [".partial"], "emptied folders go"


def test_a_key_cannot_be_the_folder_of_another(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path / "objects")
    objects.put("a", b"x")
    with pytest.raises(StorageError, match="cannot write object a/b"):
        objects.put("a/b", b"x")
    assert objects.read("a") == b"x"
    assert list((tmp_path / "objects/.partial").iterdir()) == []


def test_a_link_in_the_folder_is_not_followed_when_listing(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path / "objects")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("x")
    (tmp_path / "objects/link").symlink_to(tmp_path / "outside")
    assert [stored.key for stored in objects.list("")] == []


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot make folder"):
        open_objects(load({"home": tmp_path / "file"}, environ={}))


def test_many_threads_write_and_delete_in_one_folder(tmp_path: Path) -> None:
    """Deletions remove emptied folders while others write into them."""
    objects = LocalObjects(tmp_path / "objects")

    def work(name: str) -> None:
        for n in range(60):
            objects.put(f"f/g/{name}{n}", b"x")
            objects.delete(f"f/g/{name}{n}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, "abcd"))
    assert [path.name for path in (tmp_path / "objects").rglob("*")] == [".partial"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full device")
def test_a_full_disk_is_a_storage_error_and_leaves_nothing(tmp_path: Path) -> None:
    objects = LocalObjects(tmp_path / "objects")
    with pytest.raises(StorageError, match="No space left"), objects.writer("a") as writer:
        with open("/dev/full", "wb", buffering=0) as full:  # noqa: PTH123 - the device, not a path of ours
            os.dup2(full.fileno(), writer._file.fileno())  # pyright: ignore[reportPrivateUsage]
        writer.write(b"x")
    assert list((tmp_path / "objects/.partial").iterdir()) == []


def test_a_bucket_gets_its_keys_under_the_prefix(server: tuple[str, Path], tmp_path: Path) -> None:
    endpoint, bucket = server
    objects = open_objects(settings_for(endpoint, tmp_path, **{"objects.prefix": "deep/corpus"}))
    objects.put("a/b", b"hello")
    (bucket / "deep" / "corpus2").mkdir()
    (bucket / "deep/corpus2/c").write_text("not ours")
    assert (bucket / "deep/corpus/a/b").read_bytes() == b"hello"
    assert [stored.key for stored in objects.list("")] == ["a/b"]
    assert not (tmp_path / "objects").exists()


@pytest.mark.parametrize("encryption", ["", "AES256", "aws:kms"])
def test_encryption_is_asked_for_when_it_is_set(server: tuple[str, Path], tmp_path: Path, encryption: str) -> None:
    settings = settings_for(server[0], tmp_path, **{"objects.encryption": encryption, "objects.prefix": "sse/"})
    sent: list[tuple[str, str | None]] = []

    def note(request: object, **_: object) -> None:
        value = request.headers.get("x-amz-server-side-encryption")  # type: ignore[attr-defined]
        sent.append((request.method, value.decode() if isinstance(value, bytes) else value))  # type: ignore[attr-defined]

    objects = open_objects(settings)
    events = s3_client(settings.objects).meta.events
    events.register("before-send.s3", note)
    try:
        objects.put("small", b"x")
        objects.put("large", bytes(17 << 20))
    finally:
        events.unregister("before-send.s3", note)
    wanted = encryption or None
    assert sent == [
        ("PUT", wanted),
        ("POST", wanted),
        *[("PUT", None)] * 3,  # parts take it from their upload
        ("POST", None),
    ]


def test_wrong_settings_are_named(server: tuple[str, Path], tmp_path: Path) -> None:
    endpoint, _ = server
    for wrong in ({"objects.secret_key": "wrong"}, {"objects.access_key": "nobody"}):
        with pytest.raises(ConfigError, match="S3_SECRET_KEY"):
            open_objects(settings_for(endpoint, tmp_path, **wrong))
    with pytest.raises(ConfigError, match="no such bucket"):
        open_objects(settings_for(endpoint, tmp_path, **{"objects.bucket": "nosuch"}))


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be reached"):
        open_objects(settings_for("http://127.0.0.1:1", tmp_path))
