"""Handlers that an isolated child can be told to serve: well-behaved and very badly behaved ones."""

from __future__ import annotations

import ctypes
import os
import re
import socket
import subprocess
import sys
import time

LEAK: list[bytes] = []


def misbehave(request: bytes) -> bytes:  # noqa: C901 - a flat list of misdeeds
    """Do what the request says; the answer names this process."""
    word = request.decode()
    if word == "segv":
        ctypes.string_at(0)
    elif word == "native loop":
        re.match(r"(a+)+$", "a" * 40 + "b")  # holds the interpreter lock for ever
    elif word == "sleep":
        time.sleep(3600)
    elif word == "memory":
        hog = bytearray(4 << 30)
        for i in range(0, len(hog), 4096):
            hog[i] = 1
    elif word == "grandchild":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
        print("noise on standard output")
        return str(child.pid).encode()
    elif word == "network":
        try:
            socket.create_connection(("127.0.0.1", int(os.environ["PORT"])), timeout=2).close()
        except OSError:
            return b"cut off"
        return b"connected"
    elif word == "leak":
        LEAK.append(os.urandom(40 << 20))
    elif word == "echo big":
        return b"x" * (5 << 20)
    return str(os.getpid()).encode()
