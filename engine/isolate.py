"""A long-lived child process per slot, in which one document at a time is parsed.

Parsers run native code over hostile bytes: they hang while holding the interpreter lock, crash, or eat all
memory. Thread timeouts and in-process flags cannot stop that, so the parent watches from outside: a
wall-clock deadline, a bound on resident memory of the child and every program it started, and death of the
whole group when either passes. The child has no network (a network namespace of its own where the system
allows it), dies with its parent, and is replaced after a number of documents or when idle memory has grown.

Resident memory is watched rather than limited with RLIMIT_AS, which breaks runtimes that reserve address
space without using it (onnxruntime). Pool libraries were looked at: none bounds memory of the process tree
or kills grandchildren, and those two are the point here.

Messages are length-prefixed bytes over pipes; the caller chooses the encoding (JSON here: a child that was
taken over must not be able to send its parent a pickle).
"""

from __future__ import annotations

import logging
import os
import re
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Code, ConfigError, InputError, Stage
from engine.settings import Limits

_LENGTH = struct.Struct("<Q")
_POLL_SECONDS = 0.02
# environment variables that a child, which may fall to a hostile document, has no business to know
_SECRET = re.compile(
    r"CORPUS_|AWS_|RAY_AUTH|.*(KEY|SECRET|TOKEN|PASSW|CREDENTIAL|DATABASE_URL|_DSN)", re.IGNORECASE
).match
START_SECONDS = 120.0  # for a child to import its handler, on a busy machine
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Slot:
    """One isolated child. `handler` is the import path (`module:function`, bytes → bytes) it serves.

    Not thread-safe. Make and use it in one thread that lives as long as the slot: the child dies with
    the thread that started it (PR_SET_PDEATHSIG).
    """

    handler: str
    limits: Limits
    environment: dict[str, str] | None = None
    served: int = 0
    started: int = 0
    peak_rss: int = 0  # bytes, highest seen during the latest request
    _process: subprocess.Popen[bytes] | None = None

    def call(self, request: bytes, seconds: float | None = None) -> bytes:
        """Serve one request. `seconds`: deadline, default limits.document_seconds.

        Raises InputError: EXTRACTION_TIMEOUT past the deadline, LIMIT_EXCEEDED past the memory bound,
        EXTRACTION_FAILED when the child died (with the signal's name). The child is gone after each of
        them and the next call starts a fresh one.
        """
        process = self._ready()
        deadline = time.monotonic() + (seconds or self.limits.document_seconds)
        self.peak_rss = 0
        try:
            self._send(process, request)
            answer = self._receive(process, deadline, seconds or self.limits.document_seconds)
        except BaseException:
            self.close(kill=True)
            raise
        self.served += 1
        self._recycle_when_due()
        return answer

    def close(self, kill: bool = False) -> None:
        """End the child: politely by closing its input, or at once with all it started."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            try:
                process.stdin.close()
            except BrokenPipeError:
                kill = True
        try:
            process.wait(timeout=0 if kill else 5)
        except subprocess.TimeoutExpired:
            _kill_tree(process.pid)
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self.served = 0

    def interrupt(self) -> None:
        """Kill the child now; from any thread. The call under way raises as if the parser had died."""
        process = self._process
        if process is not None and process.poll() is None:
            _kill_tree(process.pid)

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process else None

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self.close(kill=True)
        return self._process or self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        self.started += 1
        environment = {**{k: v for k, v in os.environ.items() if not _SECRET(k)}, **(self.environment or {})}
        paths = [environment.get("PYTHONPATH", ""), str(_ROOT), *sys.path]  # plug-ins must import in the child too
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        process = subprocess.Popen(
            [sys.executable, "-m", "engine.isolated", self.handler, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        )
        self._process = process  # already now, so that `interrupt` finds it
        try:  # the first answer says that it is ready, so that no document's deadline pays for the start
            greeting = self._receive(process, time.monotonic() + START_SECONDS, START_SECONDS)
        except InputError as error:
            self.close(kill=True)
            raise ConfigError(f"the isolated child cannot start: {error.message}") from error
        except BaseException:
            self.close(kill=True)
            raise
        if greeting != b"no network" and self.started == 1:
            logging.getLogger("corpus").warning(
                "this system gives isolated children no network namespace; parsers could reach the network"
            )
        return process

    def _send(self, process: subprocess.Popen[bytes], request: bytes) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(_LENGTH.pack(len(request)) + request)
            process.stdin.flush()
        except BrokenPipeError:
            raise self._death(process) from None

    def _receive(self, process: subprocess.Popen[bytes], deadline: float, allowed: float) -> bytes:
        assert process.stdout is not None
        pipe, buffer, wanted = process.stdout.fileno(), bytearray(), -1
        watched = time.monotonic() + _POLL_SECONDS
        while wanted < 0 or len(buffer) < wanted:
            if select.select([pipe], [], [], _POLL_SECONDS)[0]:
                piece = os.read(pipe, 1 << 20)
                if not piece:
                    raise self._death(process)
                buffer += piece
                if wanted < 0 and len(buffer) >= _LENGTH.size:
                    wanted = int(_LENGTH.unpack_from(buffer)[0]) + _LENGTH.size
            now = time.monotonic()
            if now >= watched:
                self._watch_memory(process.pid)
                watched = now + _POLL_SECONDS
            if now > deadline:
                raise InputError(
                    f"not done after {allowed:g} s (setting limits.document_seconds)",
                    Code.EXTRACTION_TIMEOUT,
                    Stage.EXTRACT,
                    {"seconds": allowed},
                )
        return bytes(buffer[_LENGTH.size :])

    def _watch_memory(self, pid: int) -> None:
        used = tree_rss(pid)
        self.peak_rss = max(self.peak_rss, used)
        if used > self.limits.rss_mb << 20:
            raise InputError(
                f"took more than {self.limits.rss_mb} MiB of memory (setting limits.rss_mb)",
                Code.LIMIT_EXCEEDED,
                Stage.EXTRACT,
                {"limit": "rss_mb", "value": self.limits.rss_mb},
            )

    def _death(self, process: subprocess.Popen[bytes]) -> InputError:
        status = process.wait(timeout=10)
        name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
        return InputError(
            f"the parser died on this document ({name})", Code.EXTRACTION_FAILED, Stage.EXTRACT, {"death": name}
        )

    def _recycle_when_due(self) -> None:
        process = self._process
        if process is None:
            return
        # Never so near the bound that the next document pays for what earlier ones left behind.
        bound = min(self.limits.recycle_rss_mb, self.limits.rss_mb // 2) << 20
        grown = tree_rss(process.pid) > bound
        if grown or self.served >= self.limits.recycle_documents:
            self.close()


def tree_rss(pid: int) -> int:
    """Resident bytes of a process and all its descendants, 0 when it is gone."""
    total = 0
    for member in _tree(pid):
        try:
            total += int(Path(f"/proc/{member}/statm").read_text().split()[1]) * _PAGE_BYTES
        except (OSError, IndexError):  # ended between the two looks
            continue
    return total


def _tree(pid: int) -> Iterator[int]:
    stack = [pid]
    while stack:
        member = stack.pop()
        yield member
        try:
            for task in os.listdir(f"/proc/{member}/task"):  # noqa: PTH208 - hot path
                stack.extend(map(int, Path(f"/proc/{member}/task/{task}/children").read_text().split()))
        except OSError:  # ended between the two looks
            continue


def _kill_tree(pid: int) -> None:
    members = list(_tree(pid))
    for kill, target in [(os.killpg, pid), *((os.kill, member) for member in members)]:
        try:
            kill(target, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # already gone
            continue
