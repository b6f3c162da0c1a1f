"""Fetching keys: cached, bounded, and calm when the provider is slow, gone or hostile."""

from __future__ import annotations

import threading
import time

import pytest
from identity_provider import Provider

from engine.errors import Code, CorpusError
from serve.auth import jwks
from serve.auth.jwks import FRESH_SECONDS, RETRY_SECONDS, STALE_SECONDS, JwksUrl


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_keys_are_fetched_once_while_fresh(provider: Provider) -> None:
    clock = Clock()
    keys = JwksUrl(provider.url, clock)
    for _ in range(10):
        assert [k.kid for k in keys.candidates("rsa-1", "RS256")] == ["rsa-1"]
    assert provider.requests == 1
    clock.now += FRESH_SECONDS
    keys.candidates("rsa-1", "RS256")
    assert provider.requests == 2


def test_a_new_key_is_found_but_forged_ids_fetch_only_so_often(provider: Provider) -> None:
    clock = Clock()
    keys = JwksUrl(provider.url, clock)
    keys.candidates("rsa-1", "RS256")
    provider.publish("rsa-1", "rsa-2")
    for number in range(50):
        assert keys.candidates(f"forged-{number}", "RS256") == []
    assert provider.requests == 1  # the last fetch is too recent
    clock.now += RETRY_SECONDS
    assert [k.kid for k in keys.candidates("rsa-2", "RS256")] == ["rsa-2"]
    for number in range(50):
        keys.candidates(f"forged-{number}", "RS256")
    assert provider.requests == 2


def test_a_revoked_key_goes_with_the_next_fetch(provider: Provider) -> None:
    clock = Clock()
    keys = JwksUrl(provider.url, clock)
    keys.candidates("rsa-1", "RS256")
    provider.publish("rsa-2")
    clock.now += FRESH_SECONDS
    assert keys.candidates("rsa-1", "RS256") == []


@pytest.mark.parametrize("trouble", ["status", "redirect", "no json", "no keys", "too long", "compressed"])
def test_answers_that_are_not_taken_leave_the_old_keys_in_use(provider: Provider, trouble: str) -> None:
    clock = Clock()
    keys = JwksUrl(provider.url, clock)
    keys.candidates("rsa-1", "RS256")
    good = provider.document
    if trouble == "status":
        provider.status = 500
    elif trouble == "redirect":
        provider.status, provider.headers = 302, {"Location": provider.url}
    elif trouble == "compressed":
        provider.headers = {"Content-Encoding": "gzip"}
    else:
        provider.document = {"no json": b"<html>", "no keys": {"keys": []}, "too long": b" " * 600_000}[trouble]
    clock.now += FRESH_SECONDS
    assert [k.kid for k in keys.candidates("rsa-1", "RS256")] == ["rsa-1"]
    assert provider.requests == 2  # a redirect is not followed
    clock.now += STALE_SECONDS
    with pytest.raises(CorpusError) as caught:
        keys.candidates("rsa-1", "RS256")
    assert caught.value.code is Code.OVERLOADED
    provider.status, provider.headers, provider.document = 200, {}, good
    clock.now += RETRY_SECONDS
    assert keys.candidates("rsa-1", "RS256")


def test_without_any_keys_a_token_is_not_called_bad(provider: Provider) -> None:
    provider.status = 503
    keys = JwksUrl(provider.url)
    for _ in range(5):
        with pytest.raises(CorpusError) as caught:
            keys.candidates("rsa-1", "RS256")
        assert (caught.value.code, caught.value.details) == (Code.OVERLOADED, {"retry_after": 10})
    assert provider.requests == 1
    gone = JwksUrl("http://127.0.0.1:9/jwks")  # nobody listens there
    with pytest.raises(CorpusError):
        gone.candidates("rsa-1", "RS256")


def test_a_slow_provider_is_given_up(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jwks, "CONNECT_SECONDS", 0.2)
    provider.delay = 2.0
    began = time.monotonic()
    with pytest.raises(CorpusError):
        JwksUrl(provider.url).candidates("rsa-1", "RS256")
    assert time.monotonic() - began < 1.5


def test_requests_go_on_while_one_fetches_and_newcomers_share_the_fetch(provider: Provider) -> None:
    clock = Clock()
    keys = JwksUrl(provider.url, clock)
    keys.candidates("rsa-1", "RS256")
    provider.publish("rsa-1", "rsa-2")
    provider.delay = 1.0
    clock.now += FRESH_SECONDS
    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(len(keys.candidates("rsa-2", "RS256")))) for _ in range(8)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    assert keys.candidates("rsa-1", "RS256")
    assert time.monotonic() - began < 0.3
    for thread in threads:
        thread.join()
    assert found == [1] * 8
    assert provider.requests == 2
