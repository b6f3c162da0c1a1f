"""Without authentication: everything for everybody, but only on this machine."""

from __future__ import annotations

import pytest

from engine.errors import Code, ConfigError, CorpusError
from engine.settings import load
from serve.auth import check_binding, check_local, make_authenticator, role_in


class NoTokens:
    def token(self, sha256: str) -> None:
        return None


def test_the_open_caller_may_do_everything() -> None:
    authenticator = make_authenticator(load({}, environ={}), NoTokens())
    caller = authenticator.authenticate(None)
    assert not authenticator.required
    assert (role_in(caller, "0b7c9a52-8f5c-4b39-9f0c-1a6c1b7f9d10"), caller.principals) == ("admin", None)
    assert authenticator.authenticate("anything") == caller


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost", "LOCALHOST"])
def test_loopback_needs_no_authentication(host: str) -> None:
    check_binding(load({"serve.host": host}, environ={}))


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.5", "example.org", "", "127.0.0.1.example.org"])
def test_any_other_address_does(host: str) -> None:
    with pytest.raises(ConfigError, match="no authentication"):
        check_binding(load({"serve.host": host}, environ={}))
    check_binding(load({"serve.host": host, "auth.registry_tokens": True}, environ={}))


@pytest.mark.parametrize(
    ("host", "origin"),
    [("127.0.0.1:8016", None), ("localhost:8016", "http://localhost:8016"), ("[::1]:8016", "http://[::1]:8016")],
)
def test_requests_meant_for_this_machine_pass(host: str, origin: str | None) -> None:
    check_local(host, origin)


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("rebound.example:8016", None),  # a name that its owner let point to 127.0.0.1
        ("127.0.0.1:8016", "https://evil.example"),  # a form on a foreign page
        ("127.0.0.1:8016", "null"),
        ("127.0.0.1:8016", "http://127.0.0.1:3000"),  # another program's page on this machine
        ("127.0.0.1:8016", "http://127.0.0.1.evil.example"),
        ("127.0.0.1@evil.example", None),
        ("", None),
        ("[", None),  # not to be read at all
        ("127.0.0.1:8016", "http://["),
    ],
)
def test_requests_that_a_foreign_page_causes_do_not(host: str, origin: str | None) -> None:
    with pytest.raises(CorpusError) as caught:
        check_local(host, origin)
    assert caught.value.code is Code.FORBIDDEN
