"""Runs an outside program (LibreOffice, Tesseract, ...) so that it cannot hang, linger or flood.

The program gets a session of its own and is killed with everything it started when its time is up, when it
has ended and left something behind, and when this process dies. Its output is kept up to a bound. It sees no
environment of ours beyond the search path and a home folder of its own.
"""

from __future__ import annotations

import ctypes
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Code, CorpusError, InputError, Stage

MAX_OUTPUT_BYTES = 1 << 20
_SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True)  # loaded before any fork: the child may not import


@dataclass(slots=True)
class Finished:
    """How a program ended. A negative `returncode` is the signal that killed it."""

    returncode: int
    stdout: bytes
    stderr: bytes


def find_program(names: Sequence[str], package: str) -> str:
    """Path of the first program that is installed.

    Raises CorpusError(MISSING_DEPENDENCY) naming the Debian package to install.
    """
    for name in names:
        found = shutil.which(name) or shutil.which(name, path=_SEARCH_PATH)
        if found:
            return found
    raise CorpusError(
        f"{names[0]} is not installed; install it with: apt-get install {package}",
        Code.MISSING_DEPENDENCY,
        Stage.EXTRACT,
        {"program": names[0], "package": package},
    )


def run(
    command: Sequence[str],
    seconds: float,
    home: Path,
    environment: Mapping[str, str] | None = None,
    max_output: int = MAX_OUTPUT_BYTES,
) -> Finished:
    """Run a program to its end; `home` is its working, home and temporary folder.

    Output beyond `max_output` bytes per stream is dropped. Raises InputError(EXTRACTION_TIMEOUT) after
    `seconds`, CorpusError(MISSING_DEPENDENCY) when the program is not there.
    """
    deadline = time.monotonic() + seconds
    process = _start(command, home, environment or {})
    try:
        output = _collect(process, deadline, max_output)
        process.wait(max(deadline - time.monotonic(), 0.0))
    except subprocess.TimeoutExpired as error:
        name = Path(command[0]).name
        message = f"{name} did not finish within {seconds:g} s (setting limits.tool_seconds)"
        raise InputError(message, Code.EXTRACTION_TIMEOUT, Stage.EXTRACT, {"program": name}) from error
    finally:
        _kill_group(process)
    return Finished(process.returncode, *output)


def _start(command: Sequence[str], home: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    base = {"PATH": _SEARCH_PATH, "HOME": str(home), "TMPDIR": str(home), "LANG": "C.UTF-8"}
    try:
        return subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=home,
            env={**base, **environment},
            start_new_session=True,
            preexec_fn=_die_with_parent(os.getpid()),
        )
    except FileNotFoundError as error:
        raise CorpusError(f"{command[0]} is not installed", Code.MISSING_DEPENDENCY, Stage.EXTRACT) from error


def _die_with_parent(parent: int) -> Callable[[], None]:
    """For the child, between fork and exec: be killed when the starting thread dies, even by SIGKILL."""

    def prepare() -> None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)

    return prepare


def _collect(process: subprocess.Popen[bytes], deadline: float, most: int) -> tuple[bytes, bytes]:
    """Both streams until they close, each up to `most` bytes. Raises TimeoutExpired at the deadline."""
    kept = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            assert stream is not None
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            left = deadline - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(process.args, 0)
            for key, _ in selector.select(min(left, 0.5)):
                block = os.read(key.fd, 65_536)
                if not block:
                    selector.unregister(key.fileobj)
                buffer = kept[key.fileobj]  # pyright: ignore[reportArgumentType]
                buffer += block[: max(most - len(buffer), 0)]
            if process.poll() is not None and not selector.select(0):
                break  # the program has ended; a descendant may still hold the pipes
    return bytes(kept[process.stdout]), bytes(kept[process.stderr])


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # all gone already
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
