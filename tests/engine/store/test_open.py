"""Which store the settings open."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.settings import load
from engine.store.edge import EdgeStore
from engine.store.open import folder_of, open_store
from engine.store.owner import Owner, StoreLockedError, take
from engine.store.server import ServerStore

ROOT = Path(__file__).resolve().parents[3]


def settings(tmp_path, **values):
    return load({"home": str(tmp_path), **values}, environ={})


def test_a_url_means_a_server(tmp_path):
    store = open_store(settings(tmp_path, **{"store.url": "http://127.0.0.1:1", "store.collection": "c"}), ray=False)
    assert isinstance(store, ServerStore)
    store.close()


def test_no_url_means_the_folder_under_home(tmp_path):
    chosen = settings(tmp_path)
    store = open_store(chosen, ray=False)
    assert isinstance(store, EdgeStore)
    assert folder_of(chosen) == tmp_path / "store"
    with pytest.raises(StoreLockedError, match="in use by process"):
        open_store(chosen, ray=False)
    store.close()


def test_a_holder_in_a_cluster_that_cannot_be_reached_is_named(tmp_path):
    chosen = settings(tmp_path)
    who = Owner(1, "elsewhere", "2026-01-01T00:00:00Z", "127.0.0.1:9", "corpus", "corpus-store-x")
    lock = take(folder_of(chosen), who)
    with pytest.raises(StoreLockedError, match=r"Ray actor corpus-store-x of the cluster at 127\.0\.0\.1:9") as caught:
        open_store(chosen, ray=False)
    assert "the actor could not be used either" in caught.value.__notes__[0]
    lock.close()


def test_opening_without_ray_imports_no_ray(tmp_path):
    code = f"""
import sys
from engine.settings import load
from engine.store.open import open_store
store = open_store(load({{"home": {str(tmp_path)!r}}}, environ={{}}), ray=False)
store.close()
assert "ray" not in sys.modules
assert "qdrant_client" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
