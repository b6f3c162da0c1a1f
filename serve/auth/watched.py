"""A configuration file that is read again when it changes, and kept as it was when the new content is broken."""

from __future__ import annotations

import logging
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from engine.errors import ConfigError

log = logging.getLogger(__name__)
T = TypeVar("T")
Stamp = tuple[int, int, int, int]

MOST_BYTES = 4 * 1024 * 1024
SECRET = stat.S_IWGRP | stat.S_IRWXO  # nobody else writes, strangers do not even read
PUBLIC = stat.S_IWGRP | stat.S_IWOTH  # nobody else writes


class WatchedFile(Generic[T]):
    """What `parse` makes of a file's bytes; looked at anew whenever its time, size, mode or inode differ.

    `forbidden`: permission bits that must not be set. `parse` raises ConfigError; its message must not repeat
    content, for it is logged. Deleting the file later changes nothing: to revoke, remove entries from it.
    """

    def __init__(self, path: Path, parse: Callable[[bytes], T], forbidden: int) -> None:
        """Raises ConfigError when the file cannot be read, may be changed by others, or is broken."""
        self._path = path.expanduser()
        self._parse = parse
        self._forbidden = forbidden
        self._lock = threading.Lock()
        self._seen: Stamp | None = None  # of the last content looked at, good or broken; None: it was not there
        self._content = self._load()

    def content(self) -> T:
        """The newest good content. Never raises; costs one stat when nothing changed."""
        if self._stamp() != self._seen:
            with self._lock:
                if self._stamp() != self._seen:
                    self._reload()
        return self._content

    def _reload(self) -> None:
        try:
            self._content = self._load()
            log.info("configuration file read again", extra={"settings_file": str(self._path)})
        except ConfigError as error:
            problem = {"settings_file": str(self._path), "problem": error.message}
            log.error("configuration file not taken, the content before stays in force", extra=problem)

    def _load(self) -> T:
        try:
            with self._path.open("rb") as file:
                found = os.fstat(file.fileno())
                self._seen = _stamp_of(found)
                self._check(found)
                return self._parse(file.read(MOST_BYTES + 1))
        except OSError as error:
            self._seen = None
            raise ConfigError(f"cannot read {self._path}: {error.strerror}") from error

    def _check(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            raise ConfigError(f"{self._path} must be a file of at most {MOST_BYTES} bytes")
        if found.st_mode & self._forbidden:
            wanted = "640" if self._forbidden == SECRET else "644"
            raise ConfigError(
                f"{self._path} has the permissions {stat.S_IMODE(found.st_mode):o}, which let others at it; "
                f"run: chmod {wanted} {self._path}"
            )

    def _stamp(self) -> Stamp | None:
        try:
            return _stamp_of(self._path.stat())
        except OSError:
            return None


def _stamp_of(found: os.stat_result) -> Stamp:
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode)
