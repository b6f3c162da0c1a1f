"""An extractor plug-in that misbehaves as its document says; loaded by import path, like any user's plug-in.

The document's first line names the deed, the rest is its text when the deed lets it live.
"""

from __future__ import annotations

import ctypes
import os
import re
import time
from pathlib import Path

from engine.extract import Context
from engine.records import ExtractedDocument

LEAK: list[bytes] = []


def extract(path: Path, context: Context) -> ExtractedDocument:
    deed, _, text = path.read_text("utf-8").partition("\n")
    match deed:
        case "segv":
            ctypes.string_at(0)
        case "loop":
            re.match(r"(a+)+$", "a" * 40 + "b")  # native code that holds the interpreter lock for ever
        case "memory":
            hog = bytearray(10 << 30)
            for i in range(0, len(hog), 4096):
                hog[i] = 1
        case "leak":
            LEAK.append(os.urandom(2 << 20))
        case "kill parent":  # what the system's out-of-memory killer does to a whole worker
            os.kill(os.getppid(), 9)
            time.sleep(60)
        case _:
            pass
    builder = context.builder()
    builder.paragraph(text)
    return builder.finish()
