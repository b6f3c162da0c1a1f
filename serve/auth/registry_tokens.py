"""Tokens made by `corpus token create`, looked up in the registry and remembered for a moment."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from engine.registry.online import Token
from serve.auth.callers import make_caller
from serve.deps import Caller

log = logging.getLogger(__name__)

KEPT_SECONDS = 3.0  # an answer is used this long: a revoked token is refused everywhere within it
MOST_KEPT = 4096  # answers; who sends ever new tokens only costs others a look at the registry


class TokenRegistry(Protocol):
    """The part of the registry that is needed here."""

    def token(self, sha256: str) -> Token | None:
        """The token with this hash; None when there is none, or it is expired or revoked."""
        ...


class RegistryTokens:
    """Answers of the registry, good and bad ones, for `KEPT_SECONDS`."""

    def __init__(self, registry: TokenRegistry, clock: Callable[[], float] = time.monotonic) -> None:
        self._registry = registry
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, Token | None]] = OrderedDict()  # the oldest first

    def find(self, sha256: str) -> Caller | None:
        """The caller with this token hash; None for an unknown, expired or revoked one. Raises StorageError."""
        token = self._token(sha256)
        if token is None or (token.expires_at is not None and token.expires_at <= datetime.now(UTC)):
            return None
        try:
            return make_caller(token.name, token.roles, token.principals)
        except ValueError as error:
            log.error("a token in the registry is broken", extra={"token_id": token.token_id, "problem": str(error)})
            return None

    def _token(self, sha256: str) -> Token | None:
        now = self._clock()
        with self._lock:
            asked_at, token = self._kept.get(sha256, (now - KEPT_SECONDS, None))
        if now - asked_at >= KEPT_SECONDS:
            token = self._registry.token(sha256)
            self._keep(sha256, now, token)
        return token

    def _keep(self, sha256: str, asked_at: float, token: Token | None) -> None:
        with self._lock:
            self._kept[sha256] = (asked_at, token)  # its age counts from before the question
            self._kept.move_to_end(sha256)
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
