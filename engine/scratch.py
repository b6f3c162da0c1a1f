"""Private temporary files: one folder per worker, named after its process, removed when it ends."""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import tempfile
from pathlib import Path

from engine.errors import ConfigError
from engine.settings import Settings


def scratch_root(settings: Settings) -> Path:
    """The folder for private temporary files, made when missing."""
    root = settings.scratch or Path(tempfile.gettempdir()) / f"corpus-{os.getuid()}"
    make_folder(root, "scratch")
    return root


def make_folder(folder: Path, setting: str) -> None:
    """Make a private folder that a setting names. Raises ConfigError when it cannot be made or written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK | os.X_OK)
    except OSError as error:
        raise ConfigError(f"cannot make folder {folder} (setting {setting}): {error.strerror}") from error
    if not writable:
        raise ConfigError(f"folder {folder} (setting {setting}) is not writable")


def sweep_scratch(settings: Settings) -> int:
    """Remove scratch folders of this host whose worker is dead; how many."""
    swept = 0
    for folder in scratch_root(settings).glob(f"corpus-{_host()}-*-*"):
        pid = folder.name.removeprefix(f"corpus-{_host()}-").split("-")[0]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(folder, ignore_errors=True)
            swept += 1
    return swept


def _host() -> str:
    """This host, in a form for file names: several may share one scratch volume, and process ids mean nothing
    on another."""
    return hashlib.blake2b(socket.gethostname().encode(), digest_size=4).hexdigest()


def make_scratch(settings: Settings) -> Path:
    """A new private folder for this process; those of dead ones go."""
    sweep_scratch(settings)
    return Path(tempfile.mkdtemp(prefix=f"corpus-{_host()}-{os.getpid()}-", dir=scratch_root(settings)))


def empty(folder: Path) -> None:
    """Remove everything inside a folder."""
    for entry in folder.iterdir():
        shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink(missing_ok=True)
