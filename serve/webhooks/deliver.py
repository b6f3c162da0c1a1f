"""Delivers events to webhooks: leases what is due, sends, records how it went, says when to try again.

Any number of processes may do this at once; the registry leases each delivery to one of them. A delivery whose
process died is leased again, so a receiver may see an event twice, with the same webhook-id. Documents' text never
is in what is sent, and what a receiver answers is neither kept nor shown: a project's admin must not be able to read
through this server what only this server can reach.
"""

from __future__ import annotations

import asyncio
import logging
import random
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

import httpx

from engine.errors import InputError
from engine.registry.online import DeliveryLease
from engine.settings import Webhooks
from serve.webhooks.guard import Target, choose, parse_url, port_of
from serve.webhooks.sign import body_of, headers_of

GONE = 410  # the receiver says that this address will never answer again
READ_BYTES = 4096  # of an answer, so that the receiver can finish sending a short one
LONGEST_SECONDS = 6 * 3600.0
log = logging.getLogger(__name__)


def _uncounted(outcome: str) -> None:
    """Nobody counts."""


class DeliveryLedger(Protocol):
    """What delivering needs of the registry."""

    def lease_deliveries(self, owner: str, seconds: float, limit: int) -> list[DeliveryLease]: ...
    def delivered(self, delivery_id: str, attempt: int, response_status: int) -> None: ...
    def retry_delivery(
        self,
        delivery_id: str,
        attempt: int,
        response_status: int | None,
        error: str,
        next_attempt_at: datetime | None,
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """How one try went. `status` None: there was no HTTP answer."""

    status: int | None
    error: str = ""
    retry_after: float = 0.0

    @property
    def good(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


@dataclass
class Deliverer:
    """Sends what is due. `verify`: the TLS context, by default the usual authorities (or SSL_CERT_FILE's).
    `count` hears of each try: delivered, retried or failed."""

    registry: DeliveryLedger
    settings: Webhooks
    owner: str
    parallel: int = 16
    verify: ssl.SSLContext | None = None
    count: Callable[[str], None] = _uncounted

    def run_once(self) -> int:
        """Try every delivery that is due, up to `parallel` at once; how many were tried. Raises StorageError when the
        registry is away; deliveries leased by then come up again."""
        lease_seconds = 2 * self.settings.timeout_seconds + 30
        leases = self.registry.lease_deliveries(self.owner, lease_seconds, self.parallel)
        if leases:
            for lease, answer in zip(leases, asyncio.run(self._send(leases)), strict=True):
                self._record(lease, answer)
        return len(leases)

    async def _send(self, leases: Sequence[DeliveryLease]) -> list[Answer]:
        if self.verify is None:
            self.verify = httpx.create_ssl_context()
        async with _client(self.verify, self.settings.timeout_seconds) as client:
            return list(await asyncio.gather(*(attempt(client, lease, self.settings) for lease in leases)))

    def _record(self, lease: DeliveryLease, answer: Answer) -> None:
        if answer.good and answer.status is not None:
            self.registry.delivered(lease.delivery_id, lease.attempt, answer.status)
            self.count("delivered")
            return
        over = lease.attempt >= self.settings.attempts or answer.status == GONE
        seconds = backoff(lease.attempt, self.settings.backoff_seconds, answer.retry_after)
        again = None if over else datetime.now(UTC) + timedelta(seconds=seconds)
        self.registry.retry_delivery(lease.delivery_id, lease.attempt, answer.status, answer.error, again)
        outcome = "failed" if over else "retried"
        self.count(outcome)
        fields = {"delivery_id": lease.delivery_id, "attempt": lease.attempt, "outcome": outcome}
        log.warning("a webhook was not delivered", extra=fields | {"status": answer.status or 0})


def _client(verify: ssl.SSLContext, seconds: float) -> httpx.AsyncClient:
    """No proxy out of the environment: it would connect to addresses of its own choice. No connection is used twice:
    another name at the same address would be spoken to without a look at its certificate."""
    once = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(verify=verify, trust_env=False, follow_redirects=False, timeout=seconds, limits=once)


def backoff(attempt: int, first: float, at_least: float = 0.0) -> float:
    """Seconds to wait after try number `attempt`: drawn from [0, first * 2^(attempt - 1)] ("full jitter"), no less
    than what the receiver asked for, at most six hours."""
    ceiling = min(LONGEST_SECONDS, first * 2.0 ** min(attempt - 1, 30))
    return min(LONGEST_SECONDS, max(random.uniform(0, ceiling), at_least))


async def attempt(client: httpx.AsyncClient, lease: DeliveryLease, settings: Webhooks) -> Answer:
    """One try, resolving and all within settings.timeout_seconds. Never raises for what the receiver does."""
    try:
        async with asyncio.timeout(settings.timeout_seconds):
            target = await _target(lease.url, settings)
            return await _post(client, target, lease)
    except InputError as error:
        return Answer(None, error.message)
    except (TimeoutError, httpx.TimeoutException):
        return Answer(None, f"no answer within {settings.timeout_seconds:g} s")
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        return Answer(None, _reason(error))


async def _target(url: str, settings: Webhooks) -> Target:
    parsed = parse_url(url, settings)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(
            parsed.raw_host.decode("ascii"), port_of(parsed), type=socket.SOCK_STREAM
        )
    except (OSError, UnicodeError):
        return choose(parsed, [], settings)
    return choose(parsed, dict.fromkeys(str(entry[4][0]) for entry in found), settings)


async def _post(client: httpx.AsyncClient, target: Target, lease: DeliveryLease) -> Answer:
    """Post to the first of the checked addresses that can be connected to."""
    for address in target.addresses[:-1]:
        try:
            return await _post_to(client, target, address, lease)
        except httpx.ConnectError:
            continue
    return await _post_to(client, target, target.addresses[-1], lease)


async def _post_to(client: httpx.AsyncClient, target: Target, address: str, lease: DeliveryLease) -> Answer:
    host, body = target.url.raw_host.decode("ascii"), body_of(lease.event)
    headers = headers_of(lease.delivery_id, lease.secret, body, datetime.now(UTC))
    headers["host"] = target.url.netloc.decode("ascii")
    # the certificate is checked against the name although the connection goes to the address
    pinned, extensions = target.url.copy_with(host=address), {"sni_hostname": host}
    async with client.stream("POST", pinned, content=body, headers=headers, extensions=extensions) as response:
        async for piece in response.aiter_raw(READ_BYTES):
            if piece:
                break
        return _answer(response)


def _answer(response: httpx.Response) -> Answer:
    status = response.status_code
    if 200 <= status < 300:
        return Answer(status)
    if 300 <= status < 400:
        return Answer(status, f"answered {status}: redirects are not followed")
    asked = response.headers.get("retry-after", "")
    return Answer(status, f"answered {status}", float(asked) if asked.isdecimal() and len(asked) < 7 else 0.0)


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.ConnectError):
        certificate = "certificate" in str(error).lower()
        return "its TLS certificate is not valid" if certificate else "could not connect"
    return f"no valid HTTP answer ({type(error).__name__})"
