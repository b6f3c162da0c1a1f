"""Reads the property store of an Outlook message file ([MS-OXMSG]): strings, bytes, numbers, times, sub-storages."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from engine.decode import codec_name, decode

_STRING8, _UNICODE, _BINARY, _INTEGER, _TIME = 0x001E, 0x001F, 0x0102, 0x0003, 0x0040
_MESSAGE_CODEPAGE, _INTERNET_CODEPAGE = 0x3FFD, 0x3FDE
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)  # of FILETIME, counted in 100 ns


@dataclass
class Store:
    """One storage of a message file: the message itself, a recipient, an attachment, an embedded message.

    Strings of 8 bits carry no charset that can be trusted; all of one message are judged together.
    """

    ole: Any  # olefile.OleFileIO, whose type is generic over its file
    path: tuple[str, ...] = ()
    charset: str = ""
    _entries: set[tuple[str, ...]] = field(default_factory=lambda: set[tuple[str, ...]]())
    _fixed: dict[int, bytes] = field(default_factory=lambda: dict[int, bytes]())

    def __post_init__(self) -> None:
        if not self._entries:
            self._entries = {tuple(e) for e in self.ole.listdir(streams=True, storages=True)}
        self._fixed = self._fixed_properties()
        if not self.charset:
            self.charset = self._judge_charset()

    def sub(self, name: str) -> Store:
        return Store(self.ole, (*self.path, name), self.charset, self._entries)

    def has(self, name: str) -> bool:
        return (*self.path, name) in self._entries

    def storages(self, prefix: str) -> list[str]:
        """Names of sub-storages such as `__attach_version1.0_#00000000`, in order."""
        depth = len(self.path)
        names = {e[depth] for e in self._entries if len(e) > depth and e[:depth] == self.path}
        return sorted(n for n in names if n.startswith(prefix))

    def text(self, *tags: int) -> str:
        """The first of these properties that holds text."""
        for tag in tags:
            value = self._stream(tag, _UNICODE)
            if value is not None:
                return value.decode("utf-16-le", "replace").rstrip("\0")
            value = self._stream(tag, _STRING8)
            if value is not None:
                return value.decode(self.charset, "replace").rstrip("\0")
        return ""

    def data(self, tag: int) -> bytes:
        return self._stream(tag, _BINARY) or b""

    def number(self, tag: int) -> int | None:
        raw = self._fixed.get(tag << 16 | _INTEGER)
        return struct.unpack("<i", raw[:4])[0] if raw else None

    def time(self, tag: int) -> datetime | None:
        raw = self._fixed.get(tag << 16 | _TIME)
        if not raw:
            return None
        try:
            return _EPOCH + timedelta(microseconds=struct.unpack("<q", raw)[0] // 10)
        except OverflowError:
            return None

    def _stream(self, tag: int, kind: int) -> bytes | None:
        name = f"__substg1.0_{tag:04X}{kind:04X}"
        if (*self.path, name) not in self._entries:
            return None
        try:
            return self.ole.openstream([*self.path, name]).read()
        except OSError:  # a damaged stream reads as absent
            return None

    def _fixed_properties(self) -> dict[int, bytes]:
        """Values of fixed size: 16-byte records behind a header whose size depends on the storage (2.4)."""
        entry = [*self.path, "__properties_version1.0"]
        if tuple(entry) not in self._entries:
            return {}
        try:
            raw = self.ole.openstream(entry).read()
        except OSError:
            return {}
        last = self.path[-1] if self.path else ""
        start = 32 if not self.path else 24 if last.startswith("__substg1.0_3701") else 8
        return {struct.unpack_from("<I", raw, at)[0]: raw[at + 8 : at + 16] for at in range(start, len(raw) - 15, 16)}

    def _judge_charset(self) -> str:
        """One charset for all 8-bit strings: the codepage the message names, unless the bytes deny it."""
        names = [e for e in self._entries if e[-1].endswith("001E") and e[-1].startswith("__substg1.0_")]
        texts: list[bytes] = []
        for entry in sorted(names)[:500]:
            try:
                texts.append(self.ole.openstream(list(entry)).read(8192))
            except OSError:
                continue
        joined = b"\n".join(texts)
        if joined.isascii():
            return "cp1252"
        page = self.number(_MESSAGE_CODEPAGE) or self.number(_INTERNET_CODEPAGE)
        declared = codec_name(f"cp{page}" if page and page != 65001 else "utf-8" if page else None)
        return decode(joined, declared).encoding

    def html_charset(self) -> str | None:
        page = self.number(_INTERNET_CODEPAGE)
        return codec_name({65001: "utf-8", 28591: "cp1252", 20127: "cp1252"}.get(page, f"cp{page}") if page else None)
