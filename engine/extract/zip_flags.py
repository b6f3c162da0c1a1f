"""Repairs ZIP archives that declare a member's name to be UTF-8 when it is not, which readers refuse as a whole.

Works on a copy: the flag is cleared where the name's bytes deny it (APPNOTE.TXT 4.3.7, 4.3.12, 4.3.16, 4.4.4).
"""

from __future__ import annotations

import mmap
import shutil
import struct
from pathlib import Path

_UTF8 = 0x800
_END, _ENTRY, _LOCAL = b"PK\x05\x06", b"PK\x01\x02", b"PK\x03\x04"
_END_SIZE, _ENTRY_SIZE = 22, 46
_MAX_COMMENT = 0xFFFF


def without_false_flags(path: Path, folder: Path) -> Path:
    """A copy of the archive in `folder` without false UTF-8 flags; the archive itself when its directory is odd."""
    copy = folder / f"{path.name}-names.zip"
    shutil.copyfile(path, copy)
    with copy.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        end = data.rfind(_END, max(0, len(data) - _END_SIZE - _MAX_COMMENT))
        if end < 0 or end + _END_SIZE > len(data):
            return path
        size, offset = struct.unpack_from("<II", data, end + 12)
        start = end - size
        _clear(data, start, end, start - offset)
    return copy


def _clear(data: mmap.mmap, at: int, end: int, shift: int) -> None:
    """Walk the directory; `shift`: what stands before the archive proper (a program that unpacks itself)."""
    while 0 <= at <= end - _ENTRY_SIZE and data[at : at + 4] == _ENTRY:
        flags = struct.unpack_from("<H", data, at + 8)[0]
        name, extra, comment = struct.unpack_from("<HHH", data, at + 28)
        if flags & _UTF8 and not _is_utf8(data[at + _ENTRY_SIZE : at + _ENTRY_SIZE + name]):
            struct.pack_into("<H", data, at + 8, flags & ~_UTF8)
            local = struct.unpack_from("<I", data, at + 42)[0] + shift
            if data[local : local + 4] == _LOCAL:
                mark = struct.unpack_from("<H", data, local + 6)[0]
                struct.pack_into("<H", data, local + 6, mark & ~_UTF8)
        at += _ENTRY_SIZE + name + extra + comment


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
