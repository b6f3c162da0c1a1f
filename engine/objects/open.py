"""Opens the object store the settings ask for: the bucket when one is named, else a folder under `home`."""

from __future__ import annotations

from engine.objects import ObjectStore
from engine.settings import Settings


def open_objects(settings: Settings) -> ObjectStore:
    """The configured store, tried once: ConfigError for a missing bucket, wrong credentials or a folder that cannot
    be written, StorageError when the server cannot be reached."""
    if settings.objects.bucket:
        from engine.objects.s3 import S3Objects

        store = S3Objects(settings.objects)
        store.check()
        return store
    from engine.objects.local import LocalObjects
    from engine.scratch import make_folder

    folder = settings.home / "objects"
    make_folder(folder, "home")
    return LocalObjects(folder)
