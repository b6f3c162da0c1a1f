"""What a log line shows, and above all what it cannot show."""

from __future__ import annotations

import ast
import io
import json
import logging
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pydantic import BaseModel, ValidationError

from engine.errors import Code, InputError
from engine.settings import Telemetry
from serve import logs
from serve.auth import new_token

ROOT = Path(__file__).resolve().parents[2]
SECRET = "the walrus report.pdf"
log = logging.getLogger("serve.test")


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """The server's log, and logging as it was afterwards."""
    names = (None, "uvicorn", "uvicorn.error", "uvicorn.access", *logs.OURS)
    loggers = [logging.getLogger(name) for name in names]
    before = [(each.level, list(each.handlers), each.propagate, each.disabled) for each in loggers]
    hook, stream = threading.excepthook, io.StringIO()
    logging.getLogger().handlers.clear()  # pytest's own raise where the server's must not
    logs.configure(Telemetry(), "r1", stream)  # pyright: ignore[reportCallIssue]
    yield stream
    threading.excepthook = hook
    for each, (level, handlers, propagate, disabled) in zip(loggers, before, strict=True):
        each.setLevel(level)
        each.handlers[:], each.propagate, each.disabled = handlers, propagate, disabled


def parsed(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


# ---------------------------------------------------------------- lines
def test_a_line_has_time_level_place_and_what_the_request_binds(lines: io.StringIO) -> None:
    document_id = str(uuid4())
    with logs.scope(request_id="req-1", trace_id="ab" * 16):
        logs.bind(project_id=document_id)
        log.info("lease taken", extra={"document_id": document_id, "attempt": 2, "stage": "ocr"})
    log.warning("outside")
    inside, outside = parsed(lines)
    assert inside["time"].endswith("Z")
    del inside["time"]
    assert inside == {
        "level": "info", "logger": "serve.test", "message": "lease taken", "replica": "r1", "request_id": "req-1",
        "trace_id": "ab" * 16, "project_id": document_id, "document_id": document_id, "attempt": 2, "stage": "ocr",
    }  # fmt: skip
    assert "request_id" not in outside


def test_a_thread_working_for_the_request_can_bind_too(lines: io.StringIO) -> None:
    project_id = str(uuid4())
    with logs.scope(request_id="req-1"), ThreadPoolExecutor(1) as pool:
        pool.submit(copy_context().run, logs.bind, project_id=project_id).result()
        log.info("after")
    logs.bind(project_id="ignored")  # nothing is under way
    assert parsed(lines)[0]["project_id"] == project_id


def test_text_lines_are_one_line_each() -> None:
    record = logging.makeLogRecord({"name": "serve.x", "levelname": "INFO", "msg": "two\nlines", "problem": "a b"})
    line = logs.TextLines().format(record)
    assert "\n" not in line
    assert line.endswith('info serve.x: two\\nlines problem="a b"')


def test_levels(lines: io.StringIO) -> None:
    log.debug("no")
    logging.getLogger("httpx").info("HTTP Request: GET http://x/?q=%s", SECRET)
    logging.getLogger("uvicorn.access").info('%s - "%s %s" %d', "1.2.3.4", "GET", "/search?q=walrus", 200)
    logging.getLogger("uvicorn.error").info("Started server process [%d]", 5)
    assert [line["message"] for line in parsed(lines)] == ["Started server process [5]"]


def test_callers_are_shown_by_a_hash() -> None:
    assert logs.caller_id("ada@example.org") == logs.caller_id("ada@example.org")
    assert len(logs.caller_id("ada@example.org")) == 12
    assert logs.FIELDS["caller"](logs.caller_id("x"))


# ---------------------------------------------------------------- what cannot be shown
def test_free_text_does_not_get_into_a_line(lines: io.StringIO) -> None:
    log.info("read %s as %r in %d ms, %s, %s", SECRET, SECRET, 5, Code.OCR_FAILED, ValueError)
    log.info("read %(name)s", {"name": SECRET})
    log.info("fields", extra={"query": SECRET, "file_name": SECRET, "text": SECRET, "request_id": SECRET})
    log.info(
        "fields", extra={"route": "/documents/x?q=walrus", "document_id": SECRET, "stage": SECRET, "status": SECRET}
    )
    with logs.scope(request_id=SECRET, query=SECRET):
        log.info("bound")
    assert "walrus" not in lines.getvalue()
    assert parsed(lines)[0]["message"] == "read … as '…' in 5 ms, OCR_FAILED, ValueError"


def test_a_line_that_does_not_fit_its_arguments_is_still_discreet(capfd: pytest.CaptureFixture[str]) -> None:
    record = logging.makeLogRecord({"name": "serve.x", "msg": "wrong count %d %d", "args": (SECRET, 1)})
    assert json.loads(logs.JsonLines().format(record))["message"] == "wrong count %d %d"
    closed = io.StringIO()
    closed.close()
    logs._Handler(closed).handle(record)
    assert capfd.readouterr().err == "a log line of serve.x could not be written\n"


def test_exceptions_leave_type_code_and_place_but_no_message(lines: io.StringIO) -> None:
    class Question(BaseModel):
        top_k: int

    try:
        try:
            Question.model_validate({"top_k": SECRET})
        except ValidationError as error:
            raise InputError(f"cannot read {SECRET}", Code.INVALID_REQUEST) from error
    except InputError:
        log.exception("failed")
    assert "walrus" not in lines.getvalue()
    outer, inner = parsed(lines)[0]["exception"]
    assert (outer["type"], outer["code"]) == ("engine.errors.InputError", "INVALID_REQUEST")
    assert inner["type"].endswith("ValidationError")
    assert any("test_logs.py" in frame for frame in outer["frames"])


def test_exceptions_in_threads_are_logged_the_same_way(lines: io.StringIO, capfd: pytest.CaptureFixture[str]) -> None:
    def work() -> None:
        raise ValueError(SECRET)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert parsed(lines)[0]["exception"][0]["type"] == "builtins.ValueError"
    assert "walrus" not in lines.getvalue() + capfd.readouterr().err


def test_other_libraries_say_only_the_constant_part(lines: io.StringIO) -> None:
    other = logging.getLogger("pdf.reader")
    other.warning("broken object in %s", SECRET)
    other.warning(f"broken object in {SECRET}")
    logging.getLogger("asyncio").error(f"Task exception was never retrieved: {SECRET}")
    assert "walrus" not in lines.getvalue()
    assert [line["message"] for line in parsed(lines)] == ["broken object in …", "…", "…"]


def test_tokens_are_struck_out_of_everything(lines: io.StringIO) -> None:
    token = new_token()
    jwt = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl"
    said = [token, f"Authorization: Bearer {jwt}", jwt, "whsec_c2VjcmV0", "postgresql://corpus:hunter2@db/corpus"]
    for text in said:
        logging.getLogger("uvicorn.error").warning("got %s", text)
        log.warning("config", extra={"problem": text})
        log.warning("config", extra={"request_id": text})
    shown = lines.getvalue()
    for hidden in (token, "eyJ", "c2lnbmF0dXJl", "c2VjcmV0", "hunter2"):
        assert hidden not in shown


def test_plain_handlers_that_would_write_unfiltered_are_gone(lines: io.StringIO) -> None:
    leak = io.StringIO()
    logging.getLogger().addHandler(logging.StreamHandler(leak))
    again = io.StringIO()
    logs.configure(Telemetry(log_format="text"), stream=again)  # pyright: ignore[reportCallIssue]
    log.error("read %s", SECRET)
    assert (leak.getvalue(), lines.getvalue()) == ("", "")
    assert "walrus" not in again.getvalue()


def calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if (
            isinstance(called, ast.Attribute)
            and isinstance(called.value, ast.Name)
            and called.value.id in {"log", "logger"}
        ):
            yield node  # pyright: ignore[reportReturnType]


def test_messages_in_our_source_are_constants_and_fields_are_known() -> None:
    seen = 0
    for file in sorted(
        [*(ROOT / "serve").rglob("*.py"), *(ROOT / "engine").rglob("*.py"), *(ROOT / "jobs").rglob("*.py")]
    ):
        for call in calls(ast.parse(file.read_text("utf-8"))):
            place = f"{file.relative_to(ROOT)}:{call.lineno}"
            name = call.func.attr  # pyright: ignore[reportAttributeAccessIssue]
            if name not in {"debug", "info", "warning", "error", "exception", "critical", "log"}:
                continue
            message = call.args[1 if name == "log" else 0]
            assert isinstance(message, ast.Constant), f"{place}: the message must be a constant"
            for keyword in call.keywords:
                if keyword.arg == "extra" and isinstance(keyword.value, ast.Dict):
                    keys = {key.value for key in keyword.value.keys if isinstance(key, ast.Constant)}
                    assert keys <= set(logs.FIELDS), f"{place}: {keys - set(logs.FIELDS)} would not be shown"
            seen += 1
    assert seen > 5


def test_importing_the_modules_configures_nothing_and_knows_no_ray() -> None:
    code = "import logging, sys, serve.logs, serve.observe, serve.auth, serve.limiter\n"
    code += "print(logging.getLogger().handlers, 'ray' in sys.modules, 'opentelemetry.sdk' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False False"
