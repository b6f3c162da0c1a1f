"""Logging of the server: JSON or text lines with request and trace id, and nothing in them that belongs to callers.

What may not be logged: text of documents, queries, names of files, tokens. Three rules see to it, whatever a module
hands to `logging`:
* values travel as fields (`extra={"document_id": ...}`), and only fields of `FIELDS` in their expected form are
  written; anything else is shown as `…`;
* of %-arguments in messages only numbers, codes, ids and classes are shown; messages themselves are constants (a test
  reads the source for that);
* exceptions are written as type, code and place in the code, without their messages, which quote their input.
Other libraries are heard from WARNING on; those not in `TRUSTED` only with the constant part of what they say.

`configure` is called when a server starts, never at import.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import sys
import threading
import traceback
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from enum import Enum
from pathlib import PurePath
from typing import Any, TextIO
from uuid import UUID

from engine.errors import CorpusError
from engine.settings import Telemetry
from serve import tracing

OURS = ("serve", "engine", "jobs")
TRUSTED = ("uvicorn", "alembic", "ray", "opentelemetry")  # they speak of addresses and processes, not of documents
HIDDEN = "…"
MOST_FRAMES = 20
MOST_CAUSES = 4

_NUMBER = re.compile(r"-?[0-9.e+-]{1,30}").fullmatch
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_.]{0,60}").fullmatch
_ID = re.compile(r"[A-Za-z0-9_.:#-]{1,128}").fullmatch
_BARE = re.compile(r"[^\s\"=]+").fullmatch
_PLAIN = re.compile(r"[\x20-\x7e]{1,300}").fullmatch
FIELDS: Mapping[str, Any] = {
    **dict.fromkeys(("request_id", "batch_id", "webhook_id", "delivery_id", "run_id", "token_id", "replica"), _ID),
    **dict.fromkeys(("project_id", "document_id"), _UUID),
    "trace_id": re.compile(r"[0-9a-f]{32}").fullmatch,
    "caller": re.compile(r"[0-9a-f]{12}").fullmatch,  # `caller_id`
    "method": re.compile(r"[A-Z]{1,10}").fullmatch,
    "route": re.compile(r"/[A-Za-z0-9_/{}.:-]{0,200}|unmatched").fullmatch,  # the template, never the path
    **dict.fromkeys(("status", "seconds", "count", "attempt", "generation", "size", "port"), _NUMBER),
    **dict.fromkeys(("stage", "code", "mode", "operation", "outcome", "error", "event"), _WORD),
    **dict.fromkeys(("settings_file", "problem"), _PLAIN),  # of configuration only
}
_SECRETS = re.compile(
    r"corpus_[A-Za-z0-9_-]{20,}|whsec_[A-Za-z0-9+/=_-]+|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*\.?[A-Za-z0-9_-]*"
    r"|(?i:bearer)\s+\S+|(?<=://)[^/\s@]+@"
)
_bound: ContextVar[dict[str, object] | None] = ContextVar("corpus_log_fields", default=None)


# ---------------------------------------------------------------- what all lines of a request or task carry
@contextmanager
def scope(**fields: object) -> Generator[dict[str, object]]:
    """Lines logged inside carry these fields, on top of those around; `bind` adds to them."""
    inner = {**(_bound.get() or {}), **fields}
    token = _bound.set(inner)
    try:
        yield inner
    finally:
        _bound.reset(token)


def bind(**fields: object) -> None:
    """Add fields to the request or task under way; also from a thread that works for it. Without one: nothing."""
    inner = _bound.get()
    if inner is not None:
        inner.update(fields)


def caller_id(subject: str) -> str:
    """How a caller appears in logs: the first 12 hexadecimal digits of the SHA-256 of its subject, since subjects
    may be mail addresses. `corpus token list` shows the same beside the names."""
    return hashlib.sha256(subject.encode()).hexdigest()[:12]


def struck(text: str) -> str:
    """The text with everything that looks like a token, secret or password struck out."""
    return _SECRETS.sub(HIDDEN, text)


# ---------------------------------------------------------------- set-up
def configure(telemetry: Telemetry, replica: str = "", stream: TextIO | None = None) -> None:
    """Send this process's log to `stream` (standard error) in the configured form. May be called again."""
    handler = _Handler(stream or sys.stderr)
    handler.setFormatter(JsonLines(replica) if telemetry.log_format == "json" else TextLines(replica))
    root = logging.getLogger()
    for old in [h for h in root.handlers if type(h) in (logging.StreamHandler, _Handler)]:  # they write unfiltered
        root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for name in OURS:
        logging.getLogger(name).setLevel(telemetry.log_level.upper())
    _tame_uvicorn()
    threading.excepthook = _thread_failed


class _Handler(logging.StreamHandler[TextIO]):
    """What the standard one says of a line it could not write repeats the line's arguments."""

    def handleError(self, record: logging.LogRecord) -> None:
        sys.stderr.write(f"a log line of {record.name} could not be written\n")


def _tame_uvicorn() -> None:
    """Its own access log writes paths and queries; its handlers write exceptions with their messages."""
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    logging.getLogger("uvicorn").setLevel(logging.INFO)
    logging.getLogger("uvicorn.access").disabled = True


def _thread_failed(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        error = (args.exc_type, args.exc_value, args.exc_traceback)
        logging.getLogger("serve").error("a thread ended by an exception", exc_info=error)


# ---------------------------------------------------------------- lines
class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, then fields."""

    def __init__(self, replica: str = "") -> None:
        super().__init__()
        self._replica = replica

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps(described(record, self._replica), ensure_ascii=True)


class TextLines(JsonLines):
    """The same for people: time level logger: message key=value …"""

    def format(self, record: logging.LogRecord) -> str:
        line = described(record, self._replica)
        head = f"{line.pop('time')} {line.pop('level')} {line.pop('logger')}: {line.pop('message')}"
        rest = [f"{name}={value if _BARE(str(value)) else json.dumps(value)}" for name, value in line.items()]
        return " ".join([head.replace("\n", "\\n").replace("\r", "\\r"), *rest])


def described(record: logging.LogRecord, replica: str = "") -> dict[str, object]:
    """What is written of a record."""
    line: dict[str, object] = {
        "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "level": record.levelname.lower(),
        "logger": record.name,
        "message": _message(record),
    }
    own = {name: value for name, value in record.__dict__.items() if name in FIELDS}
    around = {"replica": replica, "trace_id": tracing.trace_id_of(tracing.current_traceparent())}
    bound = {name: value for name, value in (_bound.get() or {}).items() if value}
    for name, value in {**around, **bound, **own}.items():
        if value is not None and value != "":
            line[name] = _field(name, value)
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        line["exception"] = _exception(error)
    return line


def _field(name: str, value: object) -> object:
    fits = FIELDS.get(name)
    text = str(value.value) if isinstance(value, Enum) else str(value)
    if fits is None or not fits(text):
        return HIDDEN
    return value if isinstance(value, int | float) else struck(text)


def _message(record: logging.LogRecord) -> str:
    """Our own messages with harmless arguments; those of trusted libraries whole; of others the constant part."""
    package = record.name.partition(".")[0]
    if package in TRUSTED:
        return struck(record.getMessage())[:1000]
    constant = isinstance(record.msg, str) and (bool(record.args) or package in OURS)
    template = str(record.msg) if constant else HIDDEN
    if not record.args:
        return struck(template)
    arguments: tuple[object, ...] = record.args if isinstance(record.args, tuple) else (record.args,)
    try:
        return struck(template % tuple(_argument(a) for a in arguments))
    except (TypeError, ValueError):
        return template


def _argument(value: object) -> object:
    if value is None or isinstance(value, int | float | Enum | UUID) or (isinstance(value, str) and _UUID(value)):
        return value
    return value.__name__ if isinstance(value, type) else HIDDEN


def _exception(error: BaseException) -> list[dict[str, object]]:
    """Type, code and frames of an exception and what caused it, the outermost first. No messages, no source lines."""
    chain: list[dict[str, object]] = []
    current: BaseException | None = error
    while current is not None and len(chain) < MOST_CAUSES:
        frames = traceback.extract_tb(current.__traceback__)[-MOST_FRAMES:]
        shown: dict[str, object] = {"type": f"{type(current).__module__}.{type(current).__qualname__}"}
        if isinstance(current, CorpusError):
            shown["code"] = current.code.value
        shown["frames"] = [f"{'/'.join(PurePath(f.filename).parts[-3:])}:{f.lineno} {f.name}" for f in frames]
        chain.append(shown)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return chain
