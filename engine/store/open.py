"""Opens the store the settings ask for: a server, the embedded engine here, or the embedded engine's actor."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from engine.errors import StorageError
from engine.settings import Settings
from engine.store import Store
from engine.store.owner import StoreLockedError


def folder_of(settings: Settings) -> Path:
    """Where the embedded engine keeps its files."""
    return settings.home / "store"


def open_store(settings: Settings, ray: bool) -> Store:
    """The configured store. `ray`: this process is connected to a cluster whose workers write as well.

    Without Ray the folder is opened in this process; when a Ray actor of a cluster that can be reached
    holds it, the store is used through that actor. Raises StoreLockedError naming the holder otherwise.
    """
    if settings.store.url:
        from engine.store.server import ServerStore, connect

        store = settings.store
        return ServerStore(connect(store), store.collection, store.batch_points)
    if ray:
        from engine.store import actor

        return actor.connect(folder_of(settings), settings.store)
    return _open_here(settings)


def _open_here(settings: Settings) -> Store:
    from engine.store.edge import EdgeStore

    try:
        return EdgeStore(folder_of(settings), settings.store.batch_points, settings.store.optimize_above)
    except StoreLockedError as locked:
        if locked.owner is None or not locked.owner.actor:
            raise
        return _through_actor(settings, locked)


def _through_actor(settings: Settings, locked: StoreLockedError) -> Store:
    assert locked.owner is not None
    if locked.owner.ray_auth and "ray" not in sys.modules:  # Ray reads it when it is imported, and never again
        os.environ.setdefault("RAY_AUTH_MODE", locked.owner.ray_auth)
    from engine.store import actor

    try:
        return actor.connect_to(locked.owner, settings.store.batch_points)
    except StorageError as error:
        locked.add_note(f"the actor could not be used either: {error.message}")
        raise locked from error
