"""Takes documents found inside a container out into scratch, under the limits of one container.

Names come from strangers: a path inside a container never decides where something is written. Each child gets
a file of our own naming; its `inner_path` is the cleaned, unique path by which people know it.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from engine.document import Builder
from engine.errors import Code
from engine.extract import Context
from engine.records import ChildDocument

_BLOCK = 1024 * 1024
_RATIO_FLOOR = 16 * 1024 * 1024  # bytes below which a high packing ratio is harmless
_UNSAFE = re.compile("[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_MAX_NAME = 150


class TooLarge(Exception):
    """A member that passes a limit; `message` says which."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


@dataclass
class Children:
    """The children of one container: counts members and bytes, keeps paths unique."""

    builder: Builder
    context: Context
    spent: int = 0
    wasted: int = 0  # bytes unpacked of members that then passed a limit
    left_out: int = 0
    _paths: set[str] = field(default_factory=lambda: set[str]())
    _repeats: dict[str, int] = field(default_factory=lambda: dict[str, int]())
    _folder: Path | None = None

    def add(self, inner_path: str, data: bytes, filename: str = "") -> ChildDocument | None:
        """A child of these bytes; listed with LIMIT_EXCEEDED when it is too much.

        `filename`: its own name where the last part of `inner_path` is not it.
        """
        if self.spent + len(data) > self.context.settings.limits.container_mb << 20:
            return self.refuse(inner_path, Code.LIMIT_EXCEEDED, self._over_bytes())
        child = self._child(inner_path, filename)
        if child is not None:
            Path(child.path).write_bytes(data)
            self.spent += len(data)
        return child

    def add_stream(self, inner_path: str, source: BinaryIO, packed: int) -> ChildDocument | None:
        """A child of a packed stream of `packed` bytes; what unpacks beyond the limits is listed so.

        Errors of the stream pass through; nothing of that member stays.
        """
        child = self._child(inner_path)
        if child is None:
            return None
        try:
            self._copy(source, Path(child.path), packed)
        except TooLarge as error:
            Path(child.path).unlink(missing_ok=True)
            child.path, child.error_code, child.error_message = "", Code.LIMIT_EXCEEDED, error.message
        except BaseException:
            Path(child.path).unlink(missing_ok=True)
            self.builder.attached.remove(child)
            self._paths.discard(child.inner_path)
            raise
        return child

    def refuse(self, inner_path: str, code: Code, message: str) -> ChildDocument | None:
        """List a child that could not be taken out, with the reason."""
        child = self._child(inner_path)
        if child is not None:
            child.path, child.error_code, child.error_message = "", code, message
        return child

    def close(self) -> None:
        """Say how many members were beyond the limit of members: one child stands for all of them."""
        if self.left_out:
            limit = self.context.settings.limits.container_members
            message = f"{self.left_out} more members than the {limit} taken (setting limits.container_members)"
            self.builder.warn("members_left_out", message, count=self.left_out)
            path = self._unique(f"({self.left_out} more)")
            self.builder.attached.append(ChildDocument(path, path, "", Code.LIMIT_EXCEEDED, message))

    def _child(self, inner_path: str, filename: str = "") -> ChildDocument | None:
        if len(self.builder.attached) >= self.context.settings.limits.container_members:
            self.left_out += 1
            return None
        inner_path = self._unique(safe_path(inner_path))
        name = safe_path(filename).rsplit("/", 1)[-1] if filename else inner_path.rsplit("/", 1)[-1]
        target = self._scratch() / f"{len(self.builder.attached):05d}{_suffix(name)}"
        child = ChildDocument(inner_path, name, str(target))
        self.builder.attached.append(child)
        return child

    def _unique(self, path: str) -> str:
        stem, dot, suffix = path.rpartition(".")
        if not stem or "/" in suffix:
            stem, dot, suffix = path, "", ""
        candidate, number = path, self._repeats.get(path, 2)
        while candidate in self._paths:
            candidate, number = f"{stem} ({number}){dot}{suffix}", number + 1
        self._paths.add(candidate)
        self._repeats[path] = number  # so that a thousand of one name are not counted through a thousand times
        return candidate

    def _scratch(self) -> Path:
        if self._folder is None:  # a folder per container: nested ones share the same scratch
            self._folder = Path(tempfile.mkdtemp(prefix="children-", dir=self.context.scratch))
        return self._folder

    def _copy(self, source: BinaryIO, target: Path, packed: int) -> None:
        limits = self.context.settings.limits
        ceiling = max(_RATIO_FLOOR, packed * limits.container_ratio)
        written = 0
        with target.open("wb") as out:
            while block := source.read(_BLOCK):
                written += len(block)
                self.wasted += len(block)
                if written > ceiling:
                    ratio = limits.container_ratio
                    raise TooLarge(f"unpacks to more than {ratio} times its size (setting limits.container_ratio)")
                if max(self.spent + written, self.wasted // 4) > limits.container_mb << 20:
                    raise TooLarge(self._over_bytes())
                out.write(block)
        self.spent += written
        self.wasted -= written

    def _over_bytes(self) -> str:
        limit = self.context.settings.limits.container_mb
        return f"the container unpacks to more than {limit} MiB (setting limits.container_mb)"


def safe_path(name: str) -> str:
    """A member's path without anything that leads elsewhere: no root, drive, `..`, control or bidi characters."""
    parts = [_UNSAFE.sub("", part).strip() for part in re.split(r"[/\\]", name)]
    kept = [_short(p) for p in parts if p not in ("", ".", "..") and not re.fullmatch(r"[A-Za-z]:", p)]
    return "/".join(kept[-12:]) or "unnamed"


def _short(part: str) -> str:
    if len(part) <= _MAX_NAME:
        return part
    stem, dot, suffix = part.rpartition(".")
    return f"{stem[: _MAX_NAME - 20]}{dot}{suffix[:15]}" if stem else part[:_MAX_NAME]


def _suffix(name: str) -> str:
    match = re.search(r"\.[A-Za-z0-9]{1,10}$", name)
    return match[0].lower() if match else ""
