"""The program of an isolated child: serve requests from standard input until it closes.

Started by `engine.isolate.Slot` as `python -m engine.isolated module:function PARENT_PID`.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import struct
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

_LENGTH = struct.Struct("<Q")
_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000


def _die_with_parent(parent: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before the line above
        os._exit(1)


def cut_network() -> bool:
    """Move this process into an empty network namespace; False where the system does not allow it.

    Root may do it directly; others through a user namespace in which they keep their own ids. Must run
    while the process has one thread.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) == 0:
        return True
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return False
    try:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    except OSError:
        return False
    return True


def calm_collector() -> None:
    """Look for reference cycles less often: what is loaded now stays for good, and a document makes many objects but
    few cycles (a twentieth of the time spent on a PDF)."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _read(pipe: BinaryIO, size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        sys.exit(0)
    return data


def main() -> None:
    reference, parent = sys.argv[1], int(sys.argv[2])
    _die_with_parent(parent)
    greeting = b"no network" if cut_network() else b"network"
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever a library prints must not land among the answers
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    module, _, name = reference.partition(":")
    handle = cast("Callable[[bytes], bytes]", getattr(import_module(module), name))
    calm_collector()
    answers.write(_LENGTH.pack(len(greeting)) + greeting)
    answers.flush()
    while True:
        request = _read(requests, _LENGTH.unpack(_read(requests, _LENGTH.size))[0])
        answer = handle(request)
        answers.write(_LENGTH.pack(len(answer)) + answer)
        answers.flush()


if __name__ == "__main__":
    main()
