"""A small application around `receive_upload`, with the real errors and middleware, over a real object store."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import httpx
import uvicorn
from fastapi import FastAPI, Request

from engine.objects import ObjectStore
from engine.objects.local import PARTIAL
from engine.settings import Settings, load
from serve import errors, middleware
from serve.metrics import Metrics
from serve.upload import receive_upload

ONE, MANY = "/api/v1/documents/parse", "/api/v1/documents/batch"


def upload_settings(home: Path, **more: object) -> Settings:
    return load({"home": home, "limits.file_mb": 1, "serve.batch_mb": 4, "serve.max_batch_size": 3, **more}, environ={})


def upload_app(objects: ObjectStore, settings: Settings) -> FastAPI:
    """Answers what arrived. What it received stays stored."""
    app = FastAPI()

    async def answer(request: Request, batch: bool) -> dict[str, object]:
        received = await receive_upload(request, objects, settings, batch=batch)
        files = [
            {
                "field": file.field,
                "filename": file.filename,
                "content_type": file.content_type,
                "key": file.object_key,
                "size": file.size,
                "sha256": file.sha256,
                "failure": file.failure and file.failure.code,
            }
            for file in received.files
        ]
        return {"fields": received.fields, "files": files}

    async def one(request: Request) -> dict[str, object]:
        return await answer(request, False)

    async def many(request: Request) -> dict[str, object]:
        return await answer(request, True)

    app.post(ONE)(one)
    app.post(MANY)(many)
    errors.install(app)
    middleware.install(app, SimpleNamespace(settings=settings, metrics=Metrics()))  # type: ignore[arg-type]
    return app


def client_of(app: FastAPI) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://test")


@contextmanager
def serving(app: FastAPI) -> Generator[tuple[str, int]]:
    """The app under uvicorn on loopback; host and port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield "127.0.0.1", listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(10)


def files_below(folder: Path) -> list[str]:
    """Everything that an object store's folder holds, half written things included."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def empty_soon(folder: Path, seconds: float = 5) -> bool:
    """Whether the folder holds nothing, after a moment for what ends in the background."""
    deadline = time.monotonic() + seconds
    while files_below(folder) and time.monotonic() < deadline:
        time.sleep(0.02)
    return files_below(folder) == [] and [p.name for p in folder.iterdir()] == [PARTIAL]


def form(*parts: bytes, boundary: bytes = b"B", end: bytes = b"--B--\r\n") -> bytes:
    """A body of raw parts (headers, blank line, content)."""
    return b"".join(b"--" + boundary + b"\r\n" + part + b"\r\n" for part in parts) + end


def file_part(content: bytes, filename: bytes = b'filename="a.txt"', name: bytes = b"file") -> bytes:
    return b'Content-Disposition: form-data; name="' + name + b'"; ' + filename + b"\r\n\r\n" + content


def text_part(name: bytes, content: bytes) -> bytes:
    return b'Content-Disposition: form-data; name="' + name + b'"\r\n\r\n' + content
