"""Signing keys fetched from an identity provider's JWKS address: cached, and fetched again only so often."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import httpx

from engine.errors import Code, ConfigError, CorpusError
from serve.auth.keys import Key, fitting, jwks_keys
from serve.auth.open import is_loopback

log = logging.getLogger(__name__)

FRESH_SECONDS = 600.0  # keys are used this long before they are fetched again
RETRY_SECONDS = 10.0  # between two fetches, whatever key ids tokens name
STALE_SECONDS = 86_400.0  # keys are used this long while the provider does not answer
CONNECT_SECONDS = 3.0
FETCH_SECONDS = 5.0  # one fetch from beginning to end
MOST_BYTES = 512 * 1024


class JwksUrl:
    """The keys behind one address.

    A token with an unknown key id makes it look again, but at most every `RETRY_SECONDS`: forged ids cannot make
    this server flood the provider, and after a change of keys new tokens are known within that time. While one
    thread fetches, requests whose key is known go on. Redirects are not followed.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Raises ConfigError unless the address is https, or http on this machine: who can change the answer on
        its way can sign tokens."""
        check_url(url)
        self._url = url
        self._clock = clock
        self._fetching = threading.Lock()
        self._keys: list[Key] = []
        self._fetched_at = self._tried_at = float("-inf")

    def candidates(self, kid: str | None, algorithm: str) -> list[Key]:
        """The keys that may have signed such a token. Raises CorpusError (OVERLOADED) when there are no keys
        because the provider does not answer: the token may well be good."""
        found = fitting(self._keys, kid, algorithm)
        if found and self._age() < FRESH_SECONDS:
            return found
        # with nothing to go on with, wait for a fetch that is under way: it may bring the key
        if self._fetching.acquire(blocking=not found):
            try:
                self._refresh(kid, algorithm)
            finally:
                self._fetching.release()
        if self._age() >= STALE_SECONDS:
            raise CorpusError(
                "the keys that sign tokens cannot be had at the moment",
                Code.OVERLOADED,
                details={"retry_after": int(RETRY_SECONDS)},
            )
        return fitting(self._keys, kid, algorithm)

    def _refresh(self, kid: str | None, algorithm: str) -> None:
        found_meanwhile = bool(fitting(self._keys, kid, algorithm)) and self._age() < FRESH_SECONDS
        if found_meanwhile or self._clock() - self._tried_at < RETRY_SECONDS:
            return
        self._tried_at = self._clock()
        try:
            self._keys, refused = jwks_keys(fetch_jwks(self._url))
        except (httpx.HTTPError, ValueError) as error:
            log.warning("signing keys not fetched, those at hand stay in use", extra={"error": type(error).__name__})
            return
        self._fetched_at = self._clock()
        if refused:
            log.warning("some signing keys of the provider are not used", extra={"count": len(refused)})

    def _age(self) -> float:
        return self._clock() - self._fetched_at


def check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise ConfigError("auth.jwks_url must begin with https:// (http:// only on this machine)")
    if not parts.hostname:
        raise ConfigError("auth.jwks_url names no host")


def fetch_jwks(url: str) -> object:
    """The JSON behind the address. Raises httpx.HTTPError, or ValueError for an answer that is too long, too slow,
    not 200 or not JSON."""
    deadline = time.monotonic() + FETCH_SECONDS
    timeout = httpx.Timeout(CONNECT_SECONDS)
    headers = {"accept": "application/json", "accept-encoding": "identity"}
    with (
        httpx.Client(timeout=timeout, follow_redirects=False) as client,
        client.stream("GET", url, headers=headers) as response,
    ):
        if response.status_code != 200 or "content-encoding" in response.headers:
            raise ValueError(f"the answer has the status {response.status_code} or is compressed")
        body = bytearray()
        for piece in response.iter_raw():
            body += piece
            if len(body) > MOST_BYTES or time.monotonic() > deadline:
                raise ValueError("the answer is too long or too slow")
    return json.loads(bytes(body))
