"""Deletion: what is uploaded anew while a deletion still tidies up keeps its chunks."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from engine.store import Condition, Filter
from engine.store.edge import EdgeStore
from serve.routes import documents

TEXT = b"# Lamp\n\nThe keeper wound the clockwork every four hours.\n"


def test_a_document_uploaded_anew_during_its_deletion_keeps_its_chunks(
    api: httpx.Client, ended: Callable[[str], dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def upload() -> str:
        form = {"project_id": "demo", "source_id": "kept"}
        return api.post("/documents/parse", data=form, files={"file": ("lamp.md", TEXT)}).json()["document_id"]

    def late(*arguments: object) -> None:
        assert ended(upload())["status"] == "completed"
        remove(*arguments)  # type: ignore[arg-type]

    document = upload()
    ended(document)
    remove = documents._remove  # type: ignore[attr-defined]
    monkeypatch.setattr(documents, "_remove", late)
    assert api.delete(f"/documents/{document}").status_code == 204
    assert api.get(f"/documents/{document}").json()["chunk_count"] == 1
    assert len(api.get(f"/documents/{document}/chunks").json()["chunks"]) == 1


def test_the_points_of_a_deleted_document_are_gone(
    api: httpx.Client, ended: Callable[[str], dict[str, object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stores: list[EdgeStore] = []
    real = EdgeStore.delete

    def noted(self: EdgeStore, where: Filter) -> None:
        stores.append(self)
        real(self, where)

    monkeypatch.setattr(EdgeStore, "delete", noted)
    files = {"file": ("lamp.md", TEXT)}
    document = str(api.post("/documents/parse", data={"project_id": "demo"}, files=files).json()["document_id"])
    ended(document)
    assert api.delete(f"/documents/{document}").status_code == 204
    assert stores[-1].count(Filter([Condition("document_id", "any", [document])])) == 0
