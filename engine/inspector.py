"""Looks at files for a process that must not parse them itself: which format they have, what a page looks like.

Isolated children, started when first needed, do the looking; their parent only ever sees a format's name or the
bytes of a PNG.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotDone
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock

from pydantic import TypeAdapter, ValidationError

from engine.errors import Code, CorpusError, InputError, Stage
from engine.isolate import Slot
from engine.marks import Mark
from engine.prepare import child_settings
from engine.process import exhausted
from engine.settings import Limits, Settings

HANDLER = "engine.inspector:handle"
DETECT_SECONDS = 10.0
RENDER_SECONDS = 20.0
QUEUE_SECONDS = 60.0  # longest wait for the calls before; then the caller is told to come again
DPI = (36, 300)  # least and most
MOST_BOXES = 200
PNG = b"\x89PNG\r\n\x1a\n"
Rectangle = tuple[float, float, float, float]


# ---------------------------------------------------------------- between parent and child
@dataclass(slots=True)
class Request:
    """`op`: detect or render. `path`: the file to look at, `filename`: what it is called where it came from."""

    op: str
    path: str
    filename: str
    settings_json: str
    page: int = 1
    dpi: int = 150
    boxes: list[Rectangle] = field(default_factory=lambda: list[Rectangle]())
    marks: list[Mark] | None = None


@dataclass(slots=True)
class Reply:
    """The head of an answer: a JSON line, with a PNG behind it or not. `code` is set when it failed."""

    format: str = ""
    code: str = ""
    stage: str = ""
    message: str = ""
    details: dict[str, object] = field(default_factory=lambda: dict[str, object]())


@lru_cache(maxsize=1)
def _requests() -> TypeAdapter[Request]:
    return TypeAdapter(Request)


@lru_cache(maxsize=1)
def _replies() -> TypeAdapter[Reply]:
    return TypeAdapter(Reply)


# ---------------------------------------------------------------- in the child
def handle(request: bytes) -> bytes:
    """The isolated child's handler: a JSON `Request` in; a JSON `Reply` in one line and the picture behind it out."""
    body = b""
    try:
        reply, body = _perform(_requests().validate_json(request))
    except CorpusError as error:
        reply = Reply("", error.code, error.stage or "", error.message, error.details)
    except (MemoryError, RecursionError) as error:
        reply = Reply("", Code.LIMIT_EXCEEDED, Stage.EXTRACT, f"the file exhausts {exhausted(error)}")
    except Exception as error:  # noqa: BLE001 - parsers raise anything; it becomes this file's failure
        said = " ".join(str(error).split())[:200]
        reply = Reply("", Code.EXTRACTION_FAILED, Stage.EXTRACT, f"{type(error).__name__}: {said}")
    return _replies().dump_json(reply) + b"\n" + body


def _perform(request: Request) -> tuple[Reply, bytes]:
    from engine.detect import detect
    from engine.render import render_page

    settings = _settings(request.settings_json)
    path = Path(request.path)
    found = Reply(detect(path, request.filename, settings).format)
    if request.op == "detect":
        return found, b""
    picture = render_page(path, found.format, request.page, request.dpi, request.boxes, settings, request.marks)
    return found, picture


@lru_cache(maxsize=2)
def _settings(encoded: str) -> Settings:
    return Settings.model_validate_json(encoded)


# ---------------------------------------------------------------- in the parent
class Inspector:
    """Owns the children: one finds formats, the other draws pages, so that who looks at slow pages holds up no upload.
    Safe to use from many threads: calls of a kind wait for one another, in a thread of the inspector's own, since a
    child dies with the thread that started it."""

    def __init__(self, settings: Settings) -> None:
        self._encoded = child_settings(settings)
        self._detecting, self._drawing = _Lane(settings.limits), _Lane(settings.limits)

    def detect(self, path: Path, filename: str) -> str:
        """The format id of the file at `path`.

        Raises InputError: UNSUPPORTED_FORMAT with detected_format and supported_formats in its details,
        EXTRACTION_FAILED for a file that is not what its name says, EXTRACTION_TIMEOUT, LIMIT_EXCEEDED.
        """
        request = Request("detect", str(path), filename, self._encoded)
        reply, _ = _ask(self._detecting, request, DETECT_SECONDS, "looking at the file")
        if not reply.format.isidentifier():
            raise _nonsense()
        return reply.format

    def render(self, path: Path, filename: str, page: int, dpi: int, boxes: Sequence[Rectangle]) -> bytes:
        """Page `page` (1-based) as PNG, the boxes drawn over it; points from the top left of the page as seen.

        Raises InputError: INVALID_REQUEST for a bad `dpi` or box or a format without pages, DOCUMENT_NOT_FOUND
        for a page that is not there, and as `detect`.
        """
        check_view(dpi, boxes)
        return self._drawn(Request("render", str(path), filename, self._encoded, page, dpi, list(boxes)))

    def mark(self, path: Path, filename: str, page: int, dpi: int, marks: Sequence[Mark]) -> bytes:
        """Page `page` (1-based) as PNG with the elements found on it, numbered, and a legend. Raises as `render`."""
        check_view(dpi, [])
        return self._drawn(Request("render", str(path), filename, self._encoded, page, dpi, marks=list(marks)))

    def _drawn(self, request: Request) -> bytes:
        _, picture = _ask(self._drawing, request, RENDER_SECONDS, "rendering the page")
        if not picture.startswith(PNG):  # a child that was taken over may say anything
            raise _nonsense()
        return picture

    def close(self) -> None:
        """End the children and their threads, after the calls at hand; a later call starts them again."""
        self._detecting.close()
        self._drawing.close()


class _Lane:
    """One child, and the thread it lives in."""

    def __init__(self, limits: Limits) -> None:
        self._slot = Slot(HANDLER, limits, {"OMP_THREAD_LIMIT": "1", "OMP_NUM_THREADS": "1"})
        self._lock = Lock()
        self._thread: ThreadPoolExecutor | None = None

    def close(self) -> None:
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.submit(self._slot.close)
            thread.shutdown(wait=True)

    def call(self, request: bytes, seconds: float, what: str) -> bytes:
        """The child's answer, when the calls before it are through."""
        with self._lock:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, "corpus-inspector")
            waiting: Future[bytes] = self._thread.submit(self._call, request, seconds, what)
        try:
            return waiting.result(QUEUE_SECONDS)
        except NotDone as error:
            if waiting.cancel():
                message = "too many files wait to be looked at"
                raise CorpusError(message, Code.OVERLOADED, details={"retry_after": 5}) from error
            return waiting.result()  # its turn came: its own deadline ends it

    def _call(self, request: bytes, seconds: float, what: str) -> bytes:
        try:
            return self._slot.call(request, seconds)
        except InputError as error:
            if error.code is not Code.EXTRACTION_TIMEOUT:
                raise
            said = f"{what} took longer than {seconds:g} s"
            raise InputError(said, error.code, error.stage, error.details) from error


def _ask(lane: _Lane, request: Request, seconds: float, what: str) -> tuple[Reply, bytes]:
    answer = lane.call(_requests().dump_json(request), seconds, what)
    head, _, body = answer.partition(b"\n")
    try:
        reply = _replies().validate_json(head)
        code = Code(reply.code) if reply.code else None
        stage = Stage(reply.stage) if reply.stage else None
    except (ValidationError, ValueError) as error:
        raise _nonsense() from error
    if code is not None:
        raise InputError(reply.message, code, stage, reply.details)
    return reply, body


def check_view(dpi: int, boxes: Sequence[Rectangle]) -> None:
    """Raise InputError (INVALID_REQUEST) for a resolution or boxes that are not drawn."""
    low, high = DPI
    if not low <= dpi <= high:
        raise InputError(f"dpi must be between {low} and {high}", Code.INVALID_REQUEST)
    if len(boxes) > MOST_BOXES:
        raise InputError(f"no more than {MOST_BOXES} boxes are drawn at once", Code.INVALID_REQUEST)
    if not all(math.isfinite(value) for box in boxes for value in box):
        raise InputError("a box is four finite numbers: x0, y0, x1, y1 in points", Code.INVALID_REQUEST)


def _nonsense() -> InputError:
    return InputError("the file's inspection gave no valid answer", Code.EXTRACTION_FAILED, Stage.DETECT)
