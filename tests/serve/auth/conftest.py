"""Keys, an identity provider, and settings for the tests of authentication."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from identity_provider import AUDIENCE, ISSUER, Provider, make_keys, serving

from engine.settings import Settings, load


@pytest.fixture(scope="session")
def private_keys() -> dict[str, Any]:
    return make_keys()


@pytest.fixture
def provider(private_keys: dict[str, Any]) -> Iterator[Provider]:
    provider = Provider(private_keys)
    provider.publish("rsa-1", "ec-1", "ed-1")
    with serving(provider):
        yield provider


@pytest.fixture
def settings_with() -> Callable[..., Settings]:
    """Settings from dotted names; JWT tests get issuer and audience."""

    def make(**auth: object) -> Settings:
        given: dict[str, object] = {f"auth.{name}": value for name, value in auth.items()}
        if "jwks_url" in auth or "jwt_key_file" in auth:
            given = {"auth.jwt_issuer": ISSUER, "auth.jwt_audience": AUDIENCE, **given}
        return load(given, environ={})

    return make
