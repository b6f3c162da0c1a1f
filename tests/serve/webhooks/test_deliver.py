"""Deliveries to a real receiver: signatures, retries, what is never followed, where a connection really goes."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from engine.registry.online import DeliveryLease, Event
from engine.settings import Webhooks
from serve.webhooks.deliver import Deliverer, attempt, backoff
from tests.serve.webhooks.receiver import MemoryLedger, Receiver, receiving

SECRET = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
EVENT = Event(
    7,
    "11111111-1111-1111-1111-111111111111",
    "22222222-2222-2222-2222-222222222222",
    "document.completed",
    {"status": "completed", "chunk_count": 3},
    datetime(2026, 11, 30, 12, 0, 0, 250_000, tzinfo=UTC),
)


def settings(**other: object) -> Webhooks:
    values: dict[str, object] = {"allow_private": True, "allow_http": True, "timeout_seconds": 2, "backoff_seconds": 1}
    return Webhooks.model_validate(values | other)


def lease(url: str, delivery_id: str = "msg_1", attempt: int = 1) -> DeliveryLease:
    return DeliveryLease(delivery_id, attempt, url, SECRET, EVENT)


def deliver(ledger: MemoryLedger, times: int = 1, **other: object) -> MemoryLedger:
    deliverer = Deliverer(ledger, settings(**other), "me")
    for _ in range(times):
        deliverer.run_once()
    return ledger


def test_a_delivery_is_signed_as_standard_webhooks_asks() -> None:
    with receiving() as receiver:
        ledger = deliver(MemoryLedger.of([lease(f"http://127.0.0.1:{receiver.port}/hook?tenant=1")]))
        ((path, headers, body),) = receiver.requests
    assert (path, ledger.done) == ("/hook?tenant=1", {"msg_1": 204})
    assert Webhook(SECRET).verify(body, headers) == {
        "type": "document.completed",
        "timestamp": "2026-11-30T12:00:00.250Z",
        "data": {
            "project_id": EVENT.project_id,
            "document_id": EVENT.document_id,
            "status": "completed",
            "chunk_count": 3,
        },
    }
    assert headers["webhook-id"] == "msg_1"
    assert abs(int(headers["webhook-timestamp"]) - time.time()) < 30
    with pytest.raises(WebhookVerificationError):
        Webhook(SECRET).verify(body.replace(b"3", b"4"), headers)


def test_a_receiver_that_fails_twice_gets_the_same_message_a_third_time() -> None:
    with receiving() as receiver:
        receiver.answers = [500, 503, 200]
        ledger = deliver(MemoryLedger.of([lease(f"http://127.0.0.1:{receiver.port}/")]), times=4)
        requests = receiver.requests
    assert ledger.done == {"msg_1": 200}
    assert ledger.errors == [(500, "answered 500"), (503, "answered 503")]
    assert [headers["webhook-id"] for _, headers, _ in requests] == ["msg_1"] * 3
    assert len({body for _, _, body in requests}) == 1
    for _, headers, body in requests:
        Webhook(SECRET).verify(body, headers)
    soon = datetime.now(UTC) + timedelta(seconds=2.5)  # 1 s doubled once
    assert all(at < soon for at in ledger.waits)


def test_it_is_given_up_after_the_last_attempt_and_at_once_when_gone() -> None:
    with receiving() as receiver:
        receiver.answers = [500]
        ledger = deliver(MemoryLedger.of([lease(f"http://127.0.0.1:{receiver.port}/")]), times=5, attempts=3)
        assert (len(receiver.requests), ledger.given_up) == (3, {"msg_1": (500, "answered 500")})
        receiver.answers = [410]
        gone = deliver(MemoryLedger.of([lease(f"http://127.0.0.1:{receiver.port}/")]), times=2)
        assert (len(receiver.requests), gone.given_up) == (4, {"msg_1": (410, "answered 410")})


def test_redirects_are_not_followed() -> None:
    with receiving() as inner, receiving() as receiver:
        receiver.answers, receiver.headers = [307], {"location": f"http://127.0.0.1:{inner.port}/secret"}
        ledger = deliver(MemoryLedger.of([lease(f"http://127.0.0.1:{receiver.port}/")]))
        assert inner.requests == []
    assert ledger.errors == [(307, "answered 307: redirects are not followed")]


def test_a_retry_after_is_heeded() -> None:
    with receiving() as receiver:
        receiver.answers, receiver.headers = [429], {"retry-after": "120"}
        ledger = deliver(MemoryLedger.of([lease(f"http://127.0.0.1:{receiver.port}/")]))
    assert 110 < (ledger.waits[0] - datetime.now(UTC)).total_seconds() <= 120


def test_a_receiver_that_hangs_holds_up_neither_the_others_nor_the_loop() -> None:
    with receiving() as slow, receiving() as quick:
        slow.stall = threading.Event()
        urls = [f"http://127.0.0.1:{r.port}/" for r in (slow, quick)]
        start = time.monotonic()
        ledger = deliver(
            MemoryLedger.of([lease(urls[0], "msg_slow"), lease(urls[1], "msg_quick")]), timeout_seconds=0.5
        )
        took = time.monotonic() - start
    assert (ledger.done, ledger.errors) == ({"msg_quick": 204}, [(None, "no answer within 0.5 s")])
    assert took < 3


def test_a_receiver_that_drips_is_cut_off_by_the_whole_time() -> None:
    server = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = server.accept()
        with connection:
            for byte in b"HTTP/1.1 200 OK\r\nx: " + b"y" * 1000:
                try:
                    connection.sendall(bytes([byte]))
                except OSError:
                    return
                time.sleep(0.1)

    threading.Thread(target=drip, daemon=True).start()
    start = time.monotonic()
    ledger = deliver(MemoryLedger.of([lease(f"http://127.0.0.1:{server.getsockname()[1]}/")]), timeout_seconds=0.6)
    assert time.monotonic() - start < 3
    assert ledger.errors == [(None, "no answer within 0.6 s")]
    server.close()


def test_nothing_is_sent_to_an_address_inside() -> None:
    with receiving() as receiver:
        urls = [f"http://127.0.0.1:{receiver.port}/", f"http://localhost:{receiver.port}/", "https://10.255.255.1/"]
        leases = [lease(url, f"msg_{n}") for n, url in enumerate(urls)]
        ledger = deliver(MemoryLedger.of(leases), allow_private=False)
        assert receiver.requests == []
    refusal = "this address cannot receive webhooks: its host has an address that is not public"
    assert ledger.errors == [(None, refusal)] * 3


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving() as proxy, receiving() as receiver:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        deliver(MemoryLedger.of([lease(f"http://127.0.0.1:{receiver.port}/")]))
        assert (len(proxy.requests), len(receiver.requests)) == (0, 1)


def test_the_connection_goes_to_the_address_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name whose second answer would be another address: it is asked once, and the connection goes there."""
    asked: list[str] = []

    async def rebinding(self: asyncio.AbstractEventLoop, host: str, port: int, **other: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    with receiving() as receiver:
        monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", rebinding)
        url = f"http://rebind.example:{receiver.port}/"
        ledger = MemoryLedger.of([lease(url)])
        deliver(ledger)
        ((_, headers, _),) = receiver.requests
    assert (ledger.done, headers["host"]) == ({"msg_1": 204}, f"rebind.example:{receiver.port}")
    assert [host for host in asked if host != "127.0.0.1"] == ["rebind.example"]


def test_a_second_checked_address_is_tried_when_the_first_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    async def two(self: asyncio.AbstractEventLoop, host: str, port: int, **other: object) -> list[object]:
        found = ["127.0.0.2", "127.0.0.1"] if host == "two.example" else [host]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    with receiving() as receiver:  # bound to 127.0.0.1 only
        monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", two)
        assert deliver(MemoryLedger.of([lease(f"http://two.example:{receiver.port}/")])).done == {"msg_1": 204}


# ---------------------------------------------------------------- TLS
def certificate(folder: Path, name: str) -> Path:
    """A self-signed certificate with its key for one DNS name."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / f"{name}.pem"
    file.write_bytes(private + made.public_bytes(pem))
    return file


def over_tls(receiver: Receiver, trusted: Path) -> MemoryLedger:
    ledger = MemoryLedger.of([lease(f"https://localhost:{receiver.port}/")])
    Deliverer(ledger, settings(), "me", verify=ssl.create_default_context(cafile=str(trusted))).run_once()
    return ledger


def test_the_certificate_is_checked_against_the_name_not_the_address(tmp_path: Path) -> None:
    for name, done in (("localhost", {"msg_1": 204}), ("other.example", {})):
        file = certificate(tmp_path, name)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        with receiving(context) as receiver:
            ledger = over_tls(receiver, file)
        assert ledger.done == done
        assert ledger.errors == ([] if done else [(None, "its TLS certificate is not valid")])


def test_backoff_doubles_with_full_jitter_and_ends_somewhere() -> None:
    drawn = [[backoff(n, 5) for _ in range(200)] for n in range(1, 9)]
    for n, waits in enumerate(drawn):
        assert min(waits) >= 0 and max(waits) <= 5 * 2**n
        assert max(waits) > 5 * 2**n * 0.8
    assert backoff(1000, 5) <= 6 * 3600
    assert 60 <= backoff(1, 5, at_least=60) <= 60


def test_what_is_no_http_at_all_is_a_failure() -> None:
    server = socket.create_server(("127.0.0.1", 0))

    def nonsense() -> None:
        connection, _ = server.accept()
        with connection:
            connection.sendall(b"SSH-2.0-OpenSSH\r\n")

    threading.Thread(target=nonsense, daemon=True).start()
    url = f"http://127.0.0.1:{server.getsockname()[1]}/"

    async def one() -> object:
        async with httpx.AsyncClient() as client:
            return await attempt(client, lease(url), settings())

    answer = asyncio.run(one())
    server.close()
    assert "no valid HTTP answer" in str(answer)
