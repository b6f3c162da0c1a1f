"""The registry under test, over SQLite and over a real PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.registry import Project
from engine.registry.migrate import upgrade
from engine.registry.queries import Registry


@pytest.fixture(params=["sqlite", "postgresql"])
def registry_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """URL of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'registry.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def registry(registry_url: str) -> Iterator[Registry]:
    registry = Registry(registry_url)
    upgrade(registry)
    yield registry
    registry.close()


@pytest.fixture
def project(registry: Registry) -> Project:
    return registry.project("demo", create=True)
