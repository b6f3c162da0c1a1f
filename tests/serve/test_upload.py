"""Forms into the object store: what arrives, every bound, and that nothing is left behind by what fails."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import threading
import time
from collections.abc import AsyncIterator, Iterable
from pathlib import Path

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from upload_app import (
    MANY,
    ONE,
    client_of,
    empty_soon,
    file_part,
    files_below,
    form,
    text_part,
    upload_app,
    upload_settings,
)

from engine.errors import Code, CorpusError, InputError, StorageError
from engine.objects import ObjectStore, Writer
from engine.objects.local import LocalObjects
from engine.settings import Settings
from serve.form_parts import batch_upload
from serve.multipart import Form
from serve.upload import Received, receive_upload

MIB = 1 << 20
MULTIPART = {"Content-Type": "multipart/form-data; boundary=B"}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Place:
    """An object store's folder and an application over it."""

    def __init__(self, home: Path, **more: object) -> None:
        self.settings = upload_settings(home, **more)
        self.folder = home / "objects"
        self.objects = LocalObjects(self.folder)
        self.app = upload_app(self.objects, self.settings)

    def post(self, path: str, **request: object) -> httpx.Response:
        async def send() -> httpx.Response:
            async with client_of(self.app) as client:
                return await client.post(path, **request)  # type: ignore[arg-type]

        return asyncio.run(send())

    def refused(self, path: str, **request: object) -> tuple[int, str]:
        """Status and code of an upload that fails and leaves nothing."""
        answer = self.post(path, **request)
        assert files_below(self.folder) == []
        return answer.status_code, answer.json()["error"]["code"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


# ---------------------------------------------------------------- what arrives
@pytest.mark.parametrize("fields_first", [True, False])
def test_one_file_and_its_fields_in_any_order(place: Place, fields_first: bool) -> None:
    content = bytes(range(256)) * 4000
    parts = [text_part(b"project_id", b"demo"), file_part(content, b'filename="r\xc3\xa9sum\xc3\xa9.pdf"')]
    body = form(*(parts if fields_first else reversed(parts)), text_part(b"acl", b"a"), text_part(b"acl", b"b"))
    answer = place.post(ONE, content=body, headers=MULTIPART)
    assert answer.status_code == 200, answer.text
    assert answer.json()["fields"] == {"project_id": ["demo"], "acl": ["a", "b"]}
    (file,) = answer.json()["files"]
    assert (file["filename"], file["size"], file["sha256"]) == ("résumé.pdf", len(content), sha256(content))
    assert file["failure"] is None
    assert place.objects.read(file["key"]) == content
    assert file["key"].startswith("uploads/")
    assert files_below(place.folder) == [file["key"]]


def test_what_httpx_sends(place: Place) -> None:
    answer = place.post(ONE, data={"project_id": "demo"}, files={"file": ('a "b".txt', b"hello", "text/plain")})
    assert answer.json()["files"][0]["filename"] == 'a "b".txt'
    assert answer.json()["files"][0]["content_type"] == "text/plain"
    assert place.objects.read(answer.json()["files"][0]["key"]) == b"hello"


def test_an_empty_file_and_one_of_exactly_the_limit(place: Place) -> None:
    empty = place.post(ONE, files={"file": ("a", b"")}).json()["files"][0]
    assert (empty["size"], empty["sha256"]) == (0, sha256(b""))
    full = place.post(ONE, files={"file": ("a", bytes(MIB))}).json()["files"][0]
    assert (full["size"], full["failure"]) == (MIB, None)
    assert place.objects.read(full["key"]) == bytes(MIB)


@pytest.mark.parametrize("name", ["files", "files[]", "file"])
def test_a_batch_in_the_order_of_the_form(place: Place, name: str) -> None:
    files = [(name, (f"{n}.txt", str(n).encode() * 1000)) for n in range(3)]
    answer = place.post(MANY, data={"project_id": "demo"}, files=files).json()
    assert [f["filename"] for f in answer["files"]] == ["0.txt", "1.txt", "2.txt"]
    assert [place.objects.read(f["key"]) for f in answer["files"]] == [str(n).encode() * 1000 for n in range(3)]
    assert len({f["key"] for f in answer["files"]}) == 3


def test_the_boundary_inside_of_a_file_is_data(place: Place) -> None:
    content = b"--B\r\n\r\n--\r\n--BB\r\n-\r\n--B-x--B--\r"
    answer = place.post(ONE, content=form(file_part(content)), headers=MULTIPART)
    assert place.objects.read(answer.json()["files"][0]["key"]) == content


_PARTS = [
    b"\r\n--BOUND",
    b"\r\n--BOUNDARY",
    b"\r",
    b"\n",
    b"--",
    b"-",
    b"\r\n",
    b"x",
    b"\0",
    b"\r\n--BOUNDARX",
    b"BOUNDARY",
]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.lists(st.sampled_from(_PARTS) | st.binary(max_size=8), max_size=12).map(b"".join),
    cuts=st.lists(st.integers(0, 400), max_size=20),
)
def test_however_the_body_is_cut_the_form_is_the_same(place: Place, content: bytes, cuts: list[int]) -> None:
    if b"\r\n--BOUNDARY" in b"\r\n" + content:  # it cannot be sent with this boundary
        return
    body = form(
        text_part(b"a", "ä".encode()), file_part(content, name=b"files"), file_part(b"2", name=b"files"),
        boundary=b"BOUNDARY", end=b"--BOUNDARY--\r\nepilogue",
    )  # fmt: skip
    parser = Form(b"BOUNDARY", place.objects, batch_upload(place.settings))
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    for start, end in itertools.pairwise(edges):
        parser.feed(body[start:end])
    parser.finish()
    assert parser.fields == {"a": ["ä"]}
    assert [place.objects.read(file.object_key) for file in parser.files] == [content, b"2"]
    assert [file.sha256 for file in parser.files] == [sha256(content), sha256(b"2")]
    parser.abort()
    assert files_below(place.folder) == []


# ---------------------------------------------------------------- bounds
def test_a_file_over_the_limit(place: Place) -> None:
    answer = place.post(ONE, files={"file": ("a", bytes(MIB + 1))})
    assert answer.status_code == 413
    assert answer.json()["error"]["code"] == "FILE_TOO_LARGE"
    assert answer.json()["error"]["details"] == {"limit": MIB}
    assert answer.headers["connection"] == "close"
    assert files_below(place.folder) == []


def test_in_a_batch_the_file_over_the_limit_is_refused_alone(place: Place) -> None:
    files = [("files", ("a", b"first")), ("files", ("b", bytes(MIB + 1))), ("files", ("c", b"third"))]
    first, second, third = place.post(MANY, files=files).json()["files"]
    assert (second["failure"], second["key"], second["sha256"], second["size"]) == ("FILE_TOO_LARGE", "", "", MIB + 1)
    assert [place.objects.read(f["key"]) for f in (first, third)] == [b"first", b"third"]
    assert files_below(place.folder) == sorted([first["key"], third["key"]])


def test_a_batch_of_too_many_files(place: Place) -> None:
    files = [("files", (f"{n}", b"x")) for n in range(4)]
    assert place.refused(MANY, files=files) == (400, "BATCH_TOO_LARGE")


def test_a_batch_whose_body_is_too_large(place: Place) -> None:
    assert place.refused(MANY, files=[("files", ("a", bytes(5 * MIB)))]) == (413, "FILE_TOO_LARGE")

    async def chunked() -> AsyncIterator[bytes]:
        yield b"--B\r\n" + file_part(b"", name=b"files")
        for _ in range(50):
            yield bytes(MIB // 10)
        yield b"\r\n--B--\r\n"

    assert place.refused(MANY, content=chunked(), headers=MULTIPART) == (413, "FILE_TOO_LARGE")


@pytest.mark.parametrize("path", [ONE, MANY])
def test_what_follows_the_form_counts_too(place: Place, path: str) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield form(file_part(b"x"))
        while True:
            yield bytes(MIB)

    assert place.refused(path, content=endless(), headers=MULTIPART) == (413, "FILE_TOO_LARGE")


def test_too_much_text(tmp_path: Path) -> None:
    place = Place(tmp_path, **{"serve.json_kb": 1})
    assert place.refused(ONE, content=form(text_part(b"a", bytes(1025))), headers=MULTIPART) == (413, "FILE_TOO_LARGE")
    halves = form(file_part(b"x"), *[text_part(b"a", b"x" * 513)] * 2)
    assert place.refused(ONE, content=halves, headers=MULTIPART) == (413, "FILE_TOO_LARGE")
    many = form(file_part(b"x"), *[text_part(b"a", b"")] * 101)
    assert place.refused(ONE, content=many, headers=MULTIPART) == (422, "INVALID_REQUEST")


def test_an_upload_that_stalls(tmp_path: Path) -> None:
    place = Place(tmp_path, **{"serve.request_seconds": 0.2})

    async def stalling() -> AsyncIterator[bytes]:
        yield b"--B\r\n" + file_part(b"x" * MIB)
        await asyncio.sleep(3)

    assert place.refused(ONE, content=stalling(), headers=MULTIPART) == (422, "INVALID_REQUEST")


def test_an_upload_that_drips(tmp_path: Path) -> None:
    place = Place(tmp_path, **{"serve.request_seconds": 0.3})
    began = time.monotonic()

    async def dripping() -> AsyncIterator[bytes]:
        yield b"--B\r\n" + file_part(b"")[:-4]
        for _ in range(100):
            await asyncio.sleep(0.1)
            yield b"x"

    assert place.refused(ONE, content=dripping(), headers=MULTIPART) == (422, "INVALID_REQUEST")
    assert time.monotonic() - began < 5


# ---------------------------------------------------------------- what is no upload
BASE = file_part(b"x" * 300_000)
BAD = {
    "nothing": b"",
    "no form": b"hello",
    "an empty form": b"--B--\r\n",
    "no file": form(text_part(b"a", b"b")),
    "cut off in the file": form(BASE)[:-20_000],
    "cut off in the end": form(BASE)[:-4],
    "cut off in the headers": form(BASE)[:20],
    "another boundary": form(BASE, boundary=b"C", end=b"--C--\r\n"),
    "two files": form(BASE, BASE),
    "a file in another field": form(BASE, file_part(b"x", name=b"other")),
    "the file as text": form(text_part(b"file", b"x")),
    "no file name": form(file_part(b"x", b'filename=""')),
    "a file name that is a path": form(BASE, file_part(b"x", b'filename="../"')),
    "no disposition": form(BASE, b"Content-Type: text/plain\r\n\r\nx"),
    "no headers": form(BASE, b"\r\nx"),
    "two dispositions": form(b'Content-Disposition: form-data; name="a"\r\n' + BASE),
    "base64": form(b"Content-Transfer-Encoding: base64\r\n" + BASE),
    "a header without end": form(BASE, b"X: " + b"x" * 10_000),
    "many headers": form(BASE, b"X: y\r\n" * 20 + BASE),
    "text in latin-1": form(BASE, text_part(b"a", b"\xe4")),
    "text with NUL": form(BASE, text_part(b"a", b"x\0y")),
    "a long field name": form(BASE, text_part(b"a" * 101, b"")),
}


@pytest.mark.parametrize("body", BAD.values(), ids=BAD.keys())
@pytest.mark.parametrize("piece", [7000, 1 << 20])
def test_a_body_that_is_no_upload(place: Place, body: bytes, piece: int) -> None:
    async def chunked() -> AsyncIterator[bytes]:
        for start in range(0, len(body), piece):
            yield body[start : start + piece]

    assert place.refused(ONE, content=chunked(), headers=MULTIPART) == (422, "INVALID_REQUEST")


@pytest.mark.parametrize(
    "content_type",
    ["", "application/json", "text/plain", "multipart/mixed; boundary=B", "multipart/form-data",
     "multipart/form-data; boundary=",
     'multipart/form-data; boundary=""', "multipart/form-data; boundary=" + "x" * 300],
)  # fmt: skip
def test_a_content_type_that_is_no_form(place: Place, content_type: str) -> None:
    answer = place.post(ONE, content=form(BASE), headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "INVALID_REQUEST")
    assert files_below(place.folder) == []


def test_errors_do_not_repeat_what_was_sent(place: Place) -> None:
    secret = b"zanzibarquartz"
    for body in (
        form(text_part(b"a", b"\xff" + secret)),
        form(BASE, text_part(secret * 20, b"")),
        form(secret + b": x"),
    ):
        assert secret.decode() not in place.post(ONE, content=body, headers=MULTIPART).text


# ---------------------------------------------------------------- what fails underway
class Failing:
    """An object store that fails as it is told; everything else is a real one's."""

    def __init__(self, objects: LocalObjects, at: str, delay: float = 0) -> None:
        self._objects, self._at, self._delay = objects, at, delay
        self.began = threading.Event()

    def __getattr__(self, name: str) -> object:
        return getattr(self._objects, name)

    def writer(self, key: str) -> Writer:
        self._fail("writer")
        return _FailingWriter(self, self._objects.writer(key))  # type: ignore[return-value]

    def _fail(self, where: str) -> None:
        self.began.set()
        time.sleep(self._delay)
        if where == self._at:
            raise StorageError(f"{where} failed at /secret/place")


class _FailingWriter:
    def __init__(self, store: Failing, writer: Writer) -> None:
        self._store, self._writer = store, writer

    def write(self, data: bytes) -> None:
        self._store._fail("write")
        self._writer.write(data)

    def commit(self) -> None:
        self._store._fail("commit")
        self._writer.commit()

    def abort(self) -> None:
        self._writer.abort()


@pytest.mark.parametrize("at", ["writer", "write", "commit"])
def test_a_store_in_trouble(place: Place, at: str) -> None:
    place.app = upload_app(Failing(place.objects, at), place.settings)  # type: ignore[arg-type]
    answer = place.post(MANY, files=[("files", ("a", b"x")), ("files", ("b", b"y"))])
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "STORAGE_FAILED")
    assert "secret" not in answer.text
    assert int(answer.headers["retry-after"]) > 0
    assert files_below(place.folder) == []


def request_of(pieces: Iterable[bytes | None], forever: bool = False) -> Request:
    """A request whose body arrives in pieces; None: the client goes away."""
    waiting = list(pieces)

    async def receive() -> dict[str, object]:
        await asyncio.sleep(0)
        if not waiting:
            await asyncio.sleep(3600)
        piece = waiting.pop(0)
        if piece is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": piece, "more_body": forever or bool(waiting)}

    headers = [(b"content-type", b"multipart/form-data; boundary=B")]
    return Request({"type": "http", "method": "POST", "path": ONE, "headers": headers}, receive)  # type: ignore[arg-type]


async def receive(pieces: Iterable[bytes | None], objects: object, options: Settings, batch: bool = True) -> Received:
    return await receive_upload(request_of(pieces), objects, options, batch)  # type: ignore[arg-type]


def test_a_client_that_goes_away(place: Place) -> None:
    pieces = [
        form(file_part(b"x", name=b"files"))[:-7],
        b"\r\n--B\r\n" + file_part(bytes(MIB // 2), name=b"files"),
        None,
    ]
    with pytest.raises(InputError) as caught:
        asyncio.run(receive(pieces, place.objects, place.settings))
    assert caught.value.code == Code.INVALID_REQUEST
    assert files_below(place.folder) == []


@pytest.mark.parametrize("times", [1, 2])
def test_a_task_that_is_cancelled_while_a_thread_writes(place: Place, times: int) -> None:
    slow = Failing(place.objects, "nothing", delay=0.3)

    async def run() -> None:
        request = request_of([b"--B\r\n" + file_part(bytes(MIB // 2), name=b"files")], forever=True)
        task = asyncio.create_task(receive_upload(request, slow, place.settings, True))  # type: ignore[arg-type]
        await asyncio.to_thread(slow.began.wait)
        for _ in range(times):
            task.cancel()
            await asyncio.sleep(0.05)
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert empty_soon(place.folder)


def test_while_a_thread_writes_the_connection_is_not_read(tmp_path: Path) -> None:
    place = Place(tmp_path, **{"limits.file_mb": 100, "serve.batch_mb": 200})
    slow = Failing(place.objects, "nothing", delay=0.05)
    asked = 0

    async def fast() -> dict[str, object]:
        nonlocal asked
        asked += 1
        head = b"--B\r\n" + file_part(b"", name=b"files") if asked == 1 else b""
        return {"type": "http.request", "body": head + bytes(1 << 16), "more_body": True}

    async def run() -> None:
        request = request_of([])
        request._receive = fast  # type: ignore[assignment]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await receive_upload(request, slow, place.settings, True)  # type: ignore[arg-type]

    asyncio.run(run())
    assert asked * (1 << 16) <= 0.5 / 0.05 * (1 << 18) * 1.5
    assert empty_soon(place.folder)


# ---------------------------------------------------------------- handing over
def test_what_is_handed_over_stays_and_what_is_not_goes(place: Place) -> None:
    async def run(hand_over: bool) -> None:
        received = await receive([form(*[file_part(b"x", name=b"files")] * 2)], place.objects, place.settings)
        if hand_over:
            with received.hand_over():
                pass
        await received.discard()
        await received.discard()

    asyncio.run(run(False))
    assert files_below(place.folder) == []
    asyncio.run(run(True))
    assert len(files_below(place.folder)) == 2


def test_what_could_not_be_recorded_still_goes(place: Place) -> None:
    async def run() -> None:
        received = await receive([form(file_part(b"x"))], place.objects, place.settings)
        with pytest.raises(StorageError), received.hand_over():
            raise StorageError("the ledger is away")
        await received.discard()
        with pytest.raises(InputError, match="ended"), received.hand_over():
            raise AssertionError("recorded after the bytes are gone")

    asyncio.run(run())
    assert files_below(place.folder) == []


def test_a_request_cancelled_while_it_is_recorded_keeps_its_bytes(place: Place) -> None:
    recorded = threading.Event()

    async def run() -> None:
        received = await receive([form(file_part(b"x"))], place.objects, place.settings)
        recording = threading.Event()

        def record() -> None:
            with received.hand_over():
                recording.set()
                time.sleep(0.3)
                recorded.set()

        async def route() -> None:
            try:
                await asyncio.to_thread(record)
            except BaseException:
                await received.discard()
                raise

        task = asyncio.create_task(route())
        await asyncio.to_thread(recording.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert recorded.is_set()
    assert len(files_below(place.folder)) == 1


def test_a_store_that_keeps_what_is_discarded_does_not_hide_the_error(place: Place) -> None:
    class Keeping(Failing):
        def delete(self, key: str) -> None:
            raise StorageError("delete failed")

    async def run() -> None:
        received = await receive([form(file_part(b"x"))], Keeping(place.objects, ""), place.settings)
        await received.discard()
        with pytest.raises(CorpusError) as caught:
            await receive([form(file_part(b"x"), b"nonsense")], Keeping(place.objects, ""), place.settings)
        assert caught.value.code == Code.INVALID_REQUEST

    asyncio.run(run())


def test_both_stores_take_uploads(place: Place) -> None:
    store: ObjectStore = place.objects  # the protocol is what `receive_upload` is given
    asyncio.run(receive([form(file_part(b"x"))], store, place.settings))
    assert len(files_below(place.folder)) == 1
