"""What a deletion removes: everything of the document, unless the document was uploaded anew meanwhile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from serve.routes.documents import _remove


@pytest.mark.parametrize("uploaded_anew", [False, True])
def test_points_of_a_new_upload_outlive_the_old_ones_deletion(uploaded_anew: bool) -> None:
    removed: list[str] = []
    deps: Any = SimpleNamespace(
        registry=SimpleNamespace(document=lambda _: object() if uploaded_anew else None),
        store=SimpleNamespace(delete=lambda where: removed.extend(where.must[0].values)),
        objects=SimpleNamespace(delete=removed.append, delete_prefix=removed.append),
    )
    _remove(deps, "p", ["d", "child"], ["uploads/aa/old"])
    everything = ["d", "child", "uploads/aa/old", "artifacts/p/d/", "artifacts/p/child/"]
    assert removed == (["uploads/aa/old"] if uploaded_anew else everything)
