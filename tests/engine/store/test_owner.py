"""Who holds the store's folder."""

from __future__ import annotations

from pathlib import Path

from engine.store.owner import holder, take, this_process


def test_the_holder_is_who_has_the_lock_and_not_whose_note_is_there(tmp_path: Path) -> None:
    assert holder(tmp_path / "never made") is None
    me = this_process({"actor": "a", "ray_address": "127.0.0.1:1", "namespace": "n", "ray_auth": "token"})
    lock = take(tmp_path, me)
    assert holder(tmp_path) == me
    lock.close()
    assert holder(tmp_path) is None
    take(tmp_path, me).close()  # asking took nothing away
