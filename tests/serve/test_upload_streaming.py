"""Uploads over real connections: a client that sends without end, one that breaks off, and what memory they take."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from s3_server import KEY, SECRET, s3_server
from upload_app import MANY, ONE, empty_soon, file_part, files_below, form, serving, upload_app, upload_settings

from engine.objects.local import LocalObjects
from engine.objects.open import open_objects
from engine.settings import load

MIB = 1 << 20
MULTIPART = {"Content-Type": "multipart/form-data; boundary=B"}


class Endless(httpx.SyncByteStream):
    """A form of one file of `size` bytes, sent chunked; `sent` says how much went out, `most` the process's memory."""

    def __init__(self, size: int, name: bytes = b"file") -> None:
        self.size, self.sent, self.most, self._name = size, 0, 0, name
        self.before = psutil.Process().memory_info().rss

    def __iter__(self) -> Iterator[bytes]:
        process, piece = psutil.Process(), bytes(MIB)
        yield b"--B\r\n" + file_part(b"", name=self._name)
        while self.sent < self.size:
            self.most = max(self.most, process.memory_info().rss)
            yield piece
            self.sent += len(piece)
        yield b"\r\n--B--\r\n"

    @property
    def grown(self) -> int:
        return self.most - self.before


def upload(url: str, body: Endless) -> httpx.Response:
    return httpx.post(url, content=iter(body), headers=MULTIPART, timeout=60)


def warmed_up(url: str) -> None:
    """First uses of libraries take memory that no later request does."""
    assert httpx.post(url, content=form(file_part(b"x" * MIB)), headers=MULTIPART).status_code == 200


@pytest.mark.parametrize(("limit", "size"), [(20, 200), (100, 1024)])
def test_a_file_without_end_is_refused_in_constant_memory(tmp_path: Path, limit: int, size: int) -> None:
    settings = upload_settings(tmp_path, **{"limits.file_mb": limit})
    objects = LocalObjects(tmp_path / "objects")
    with serving(upload_app(objects, settings)) as (host, port):
        url = f"http://{host}:{port}{ONE}"
        warmed_up(url)
        objects.delete_prefix("uploads/")
        body = Endless(size * MIB)
        answer = upload(url, body)
        assert answer.status_code == 413
        assert answer.json()["error"]["code"] == "FILE_TOO_LARGE"
        assert answer.headers["connection"] == "close"
        assert body.grown < 50 * MIB
        assert files_below(tmp_path / "objects") == []
        assert body.sent < size * MIB, "the client was stopped"


def test_a_large_batch_takes_constant_memory_and_goes_on_after_a_file_too_large(tmp_path: Path) -> None:
    settings = upload_settings(tmp_path, **{"limits.file_mb": 20, "serve.batch_mb": 400})
    objects = LocalObjects(tmp_path / "objects")
    with serving(upload_app(objects, settings)) as (host, port):
        warmed_up(f"http://{host}:{port}{ONE}")
        objects.delete_prefix("uploads/")
        body = Endless(300 * MIB, b"files")

        def with_another() -> Iterator[bytes]:
            for piece in body:
                yield piece if not piece.endswith(b"--B--\r\n") else b"\r\n"
            yield form(file_part(b"small", name=b"files"))

        answer = httpx.post(f"http://{host}:{port}{MANY}", content=with_another(), headers=MULTIPART, timeout=60)
        assert [file["failure"] for file in answer.json()["files"]] == ["FILE_TOO_LARGE", None]
        assert body.grown < 50 * MIB
        assert files_below(tmp_path / "objects") == [answer.json()["files"][1]["key"]]


def test_the_announced_length_alone_refuses(tmp_path: Path) -> None:
    """The client hears so before it sends anything."""
    with serving(upload_app(LocalObjects(tmp_path / "objects"), upload_settings(tmp_path))) as (host, port):
        head = f"POST {ONE} HTTP/1.1\r\nHost: x\r\nContent-Length: {1 << 40}\r\nExpect: 100-continue\r\n"
        with socket.create_connection((host, port), timeout=10) as client:
            client.sendall(f"{head}Content-Type: multipart/form-data; boundary=B\r\n\r\n".encode())
            answer = client.recv(65536)
            assert answer.startswith(b"HTTP/1.1 413 ")
            assert b"\r\nconnection: close\r\n" in answer.lower()


@pytest.mark.parametrize("path", [ONE, MANY])
def test_a_client_that_breaks_off_leaves_nothing(tmp_path: Path, path: str) -> None:
    settings = upload_settings(tmp_path, **{"limits.file_mb": 100})
    folder = tmp_path / "objects"
    name = b"file" if path == ONE else b"files"
    with serving(upload_app(LocalObjects(folder), settings)) as (host, port):
        with socket.create_connection((host, port)) as client:
            client.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n".encode())
            client.sendall(b"Content-Type: multipart/form-data; boundary=B\r\n\r\n--B\r\n" + file_part(b"", name=name))
            client.sendall(bytes(MIB))
            deadline = time.monotonic() + 5
            while not files_below(folder) and time.monotonic() < deadline:
                time.sleep(0.01)
            assert files_below(folder) != [], "it was being written"
        assert empty_soon(folder)


def test_an_answer_is_heard_by_a_client_that_is_still_sending(tmp_path: Path) -> None:
    """The connection ends only after a moment: closed at once, it would be reset under the client."""
    with serving(upload_app(LocalObjects(tmp_path / "objects"), upload_settings(tmp_path))) as (host, port):
        for _ in range(10):
            answer = upload(f"http://{host}:{port}{ONE}", Endless(20 * MIB))
            assert answer.status_code == 413


def test_many_uploads_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "objects"
    with serving(upload_app(LocalObjects(folder), upload_settings(tmp_path))) as (host, port):
        codes: list[int] = []

        def send(number: int) -> None:
            body = form(file_part(bytes([number]) * 900_000))
            codes.append(
                httpx.post(f"http://{host}:{port}{ONE}", content=body, headers=MULTIPART, timeout=60).status_code
            )

        threads = [threading.Thread(target=send, args=(number,)) for number in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert codes == [200] * 40
        stored = [path for path in folder.rglob("*") if path.is_file()]
        assert sorted(path.read_bytes()[0] for path in stored) == list(range(40))
        assert {path.stat().st_size for path in stored} == {900_000}


def test_into_a_bucket_in_constant_memory_and_nothing_is_left_of_what_is_too_large(tmp_path: Path) -> None:
    (tmp_path / "buckets/bucket").mkdir(parents=True)
    with s3_server(tmp_path / "buckets") as endpoint:
        values = {"objects.endpoint": endpoint, "objects.access_key": KEY, "objects.secret_key": SECRET}
        objects = open_objects(load({"home": tmp_path, "objects.bucket": "bucket", **values}, environ={}))
        settings = upload_settings(tmp_path, **{"limits.file_mb": 50})
        with serving(upload_app(objects, settings)) as (host, port):
            url = f"http://{host}:{port}{ONE}"
            assert upload(url, Endless(20 * MIB)).status_code == 200
            assert objects.delete_prefix("uploads/") == 1
            body = Endless(100 * MIB)
            assert upload(url, body).status_code == 413
            assert body.grown < 50 * MIB
            assert list(objects.list("")) == []
            assert objects.sweep(-5) == 0
