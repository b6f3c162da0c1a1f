"""The settings files that are shipped: every key exists, and each describes an installation that may start."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel, SecretStr

from engine.layout import plan_layout
from engine.settings import Settings, load
from serve.auth import check_binding

CONFIGS = Path(__file__).resolve().parents[1] / "configs"
CLUSTERS = ("cluster-cpu.yaml", "cluster-gpu.yaml")


def given(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, object]]:
    for name in model.model_fields_set:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from given(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def settings(name: str, **environment: str) -> Settings:
    return load(None, CONFIGS / name, environment)


@pytest.mark.parametrize("name", ["local.yaml", *CLUSTERS])
def test_it_loads_holds_no_secret_and_may_listen_where_it_wants(name: str) -> None:
    found = settings(name)
    check_binding(found)
    for key, value in given(found):
        assert not isinstance(value, SecretStr), key
        assert "@" not in str(value), key


def test_a_laptop_needs_no_service_and_serves_itself_only() -> None:
    found = settings("local.yaml")
    assert (found.registry.url, found.store.url, found.objects.bucket) == ("", "", "")
    assert (found.serve.host, found.serve.port, found.auth.configured) == ("127.0.0.1", 8016, False)


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_cluster_keeps_nothing_on_its_nodes_and_asks_who_calls(name: str) -> None:
    found = settings(name, DATABASE_URL="postgresql://db/corpus", QDRANT_URL="https://qdrant.example.org:6333")
    assert found.registry.url == "postgresql://db/corpus"
    assert (found.store.url, found.objects.bucket) == ("https://qdrant.example.org:6333", "corpus")
    assert found.objects.encryption == "AES256"
    assert found.auth.configured
    assert found.pipeline.ray_address == "auto"


def test_the_layouts_are_those_that_the_files_promise() -> None:
    assert plan_layout(settings("cluster-cpu.yaml"), 16, 0).kind == "fused"
    gpu = settings("cluster-gpu.yaml")
    split = plan_layout(gpu, 16, 2)
    assert (split.kind, split.embedders, split.embedder_gpus) == ("split", 2, 1)
    assert plan_layout(gpu, 16, 0).kind == "fused"
