"""Receives an upload straight from the connection into the object store, in constant memory.

A route that uses it declares no form or body parameters (FastAPI would read the body first):

    received = await receive_upload(request, deps.objects, deps.settings, batch=False)
    try:
        ...                                  # which project, which format; anything may be refused here

        def accept() -> None:                # in a thread
            with received.hand_over():
                deps.registry.accept(uploads)
    except BaseException:
        await received.discard()
        raise
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import contextmanager

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.types import Receive

from engine.errors import CorpusError
from engine.objects import ObjectStore
from engine.settings import Settings
from serve.filenames import invalid
from serve.form_parts import Bounds, ReceivedFile, batch_upload, check_body, single_upload
from serve.multipart import Form, boundary_of, remove

__all__ = ["Received", "ReceivedFile", "receive_upload"]

log = logging.getLogger(__name__)

LEAST_PACE = 4096  # bytes a second on the whole, after a first serve.request_seconds: a place is not held for ever
PIECE = 1 << 18  # bytes collected before a thread is asked to parse, hash and write them
# Threads that do so, over all uploads of this process: a slow store must not take those that other routes need.
_WRITERS = anyio.CapacityLimiter(16)
_REMOVERS = anyio.CapacityLimiter(16)


class Received:
    """A form that arrived whole. `fields`: text fields by name, values in order, of any name. `files`: in order, at
    least one; exactly one without a failure when it is no batch.

    Its objects belong to the request until `hand_over`; whoever ends the request otherwise calls `discard`.
    """

    def __init__(self, fields: dict[str, list[str]], files: list[ReceivedFile], objects: ObjectStore) -> None:
        self.fields = fields
        self.files = files
        self._objects = objects
        self._keys = [file.object_key for file in files if file.object_key]
        self._lock = threading.Lock()
        self._settled = False  # handed over, or discarded

    @contextmanager
    def hand_over(self) -> Generator[None]:
        """Around the call that records the uploads (blocking, in a thread): when it returns, `discard` does nothing
        any more; when it raises, the objects still belong to the request.

        A request may be cancelled while that thread is at work. `discard` then waits for it, so that no upload is
        recorded without its bytes. Raises InputError when it was discarded already.
        """
        with self._lock:
            if self._settled:
                raise invalid("the request has ended")
            yield
            self._settled = True

    async def discard(self) -> None:
        """Remove the objects, unless they were handed over. May be called again. Never raises: what a store in
        trouble keeps is left to the sweeper, and logged."""
        if not self._settled:
            await _to_the_end(self._remove)

    def _remove(self) -> None:
        with self._lock:
            if not self._settled:
                self._settled = True
                remove(self._objects, self._keys)


async def receive_upload(request: Request, objects: ObjectStore, settings: Settings, batch: bool) -> Received:
    """Read the request's multipart/form-data body; when this returns, every file is stored and acknowledged under
    `uploads/…`, its SHA-256 known. Fields and files may come in any order.

    One upload (`batch=False`): exactly one file, in the field `file`. A batch: 1 to serve.max_batch_size files, in
    fields `files`, `files[]` or `file`. File names are cleaned (`serve.filenames`); a nameless file is refused.

    Raises InputError, at once and with nothing left behind:
    * FILE_TOO_LARGE: the file is over limits.file_mb (in a batch that file alone is refused, see
      `ReceivedFile.failure`), a batch's body over serve.batch_mb, or the text fields together over serve.json_kb;
    * BATCH_TOO_LARGE: more files than serve.max_batch_size;
    * INVALID_REQUEST: no multipart/form-data, malformed, cut off, no file, a file in another field, a text that is
      not UTF-8, nothing arrived for serve.request_seconds, or on the whole too slowly (LEAST_PACE).
    Raises StorageError when the object store fails. Nothing stays behind either when the task is cancelled.
    """
    bounds = batch_upload(settings) if batch else single_upload(settings)
    boundary = boundary_of(request.headers.get("content-type", ""))
    announced = request.headers.get("content-length", "")
    if announced.isdecimal():
        check_body(int(announced), bounds)
    return await _receive(request.receive, objects, boundary, bounds, settings.serve.request_seconds)


async def _receive(
    receive: Receive, objects: ObjectStore, boundary: bytes, bounds: Bounds, patience: float
) -> Received:
    form = Form(boundary, objects, bounds)
    try:
        async for piece in _pieces(receive, patience):
            await anyio.to_thread.run_sync(form.feed, piece, limiter=_WRITERS)
        form.finish()
    except BaseException:
        await _to_the_end(form.abort)
        raise
    return Received(form.fields, form.files, objects)


async def _pieces(receive: Receive, patience: float) -> AsyncIterator[bytes]:
    """The body in pieces of at least PIECE bytes, but for the last. The connection is read no faster than they are
    taken."""
    collected, more = bytearray(), True
    received, waited = 0, 0.0  # seconds for the client, not for the object store
    while more:
        asked_at = time.monotonic()
        try:
            async with asyncio.timeout(patience):
                message = await receive()
        except TimeoutError as error:
            raise invalid(f"nothing of the upload arrived for {patience:g} seconds") from error
        if message["type"] == "http.disconnect":
            raise invalid("the upload broke off")
        collected += message.get("body", b"")
        received += len(message.get("body", b""))
        waited += time.monotonic() - asked_at
        if waited > patience + received / LEAST_PACE:
            raise invalid(f"the upload arrives at less than {LEAST_PACE} bytes a second")
        more = message.get("more_body", False)
        if collected and (len(collected) >= PIECE or not more):
            yield bytes(collected)
            collected.clear()


async def _to_the_end(work: Callable[[], None]) -> None:
    """Clean up in a thread, even when this task is cancelled (again) meanwhile. A failing store is logged: the error
    that led here matters more, and what it keeps is swept later."""

    async def run() -> None:
        try:
            await anyio.to_thread.run_sync(work, limiter=_REMOVERS)
        except CorpusError as error:
            log.warning("an upload could not be removed", exc_info=error, extra={"code": error.code})

    with anyio.CancelScope(shield=True):
        await asyncio.shield(asyncio.ensure_future(run()))
