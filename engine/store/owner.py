"""Who holds the embedded store's folder: one process at a time, by an advisory lock, with a note saying who."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import TextIOWrapper
from pathlib import Path

from engine.errors import StorageError

LOCK_FILE = "lock"
OWNER_FILE = "owner.json"


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that holds the folder; `actor`, `namespace` and `ray_address` when it is a Ray actor."""

    pid: int
    host: str
    since: str  # ISO 8601 UTC
    ray_address: str = ""
    namespace: str = ""
    actor: str = ""
    ray_auth: str = ""  # how the cluster authenticates (RAY_AUTH_MODE of its workers)


class StoreLockedError(StorageError):
    """Another process holds the folder; `owner` says which, when it could be read."""

    owner: Owner | None = None


def this_process(actor: Mapping[str, str] | None = None) -> Owner:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return Owner(os.getpid(), socket.gethostname(), now, **(actor or {}))


def take(folder: Path, owner: Owner) -> TextIOWrapper:
    """Lock `folder` for `owner` and return the open lock file; closing it (or dying) gives the folder free.

    Raises StoreLockedError when another process holds it, StorageError when it cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / LOCK_FILE).open("w")
    except OSError as error:
        raise StorageError(f"cannot use {folder} for the store: {error}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise _locked(folder) from error
    note = folder / f"{OWNER_FILE}.{owner.pid}"
    note.write_text(json.dumps(asdict(owner)), "utf-8")
    note.replace(folder / OWNER_FILE)
    return lock


def read(folder: Path) -> Owner | None:
    """The last owner noted in `folder`, whether it still lives or not."""
    try:
        return Owner(**json.loads((folder / OWNER_FILE).read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None  # absent, half-written by an older version, or not ours: there is nothing to tell


def holder(folder: Path) -> Owner | None:
    """Who holds `folder` at this moment; None when it is free, or its holder left no note."""
    try:
        with (folder / LOCK_FILE).open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return None
    except OSError:
        return read(folder)
    return None


def _locked(folder: Path) -> StoreLockedError:
    owner = read(folder)
    who = "another process"
    details: dict[str, object] = {"folder": str(folder)}
    if owner is not None:
        who = f"process {owner.pid} on {owner.host} since {owner.since}"
        if owner.actor:
            who = f"Ray actor {owner.actor} of the cluster at {owner.ray_address} ({who})"
        details.update(asdict(owner))
    error = StoreLockedError(
        f"the store at {folder} is in use by {who}; stop it, or use a Qdrant server (store.url) to share one",
        details=details,
    )
    error.owner = owner
    return error
