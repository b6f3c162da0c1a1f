"""A real HTTP receiver on loopback that answers what it is told to, and a ledger of deliveries in memory."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from engine.registry.online import DeliveryLease


@dataclass
class Receiver:
    """`answers`: one status per request, the last for all further ones; headers by status."""

    port: int
    answers: list[int] = field(default_factory=lambda: [204])
    headers: dict[str, str] = field(default_factory=dict)
    stall: threading.Event | None = None  # answer only when set
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    def answer(self) -> int:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if receiver.stall is not None:
                receiver.stall.wait(10)
            receiver.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            self.send_response(receiver.answer())
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        do_GET = do_POST

        def log_message(self, format: str, *args: object) -> None:
            """Tests read the requests instead."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    receiver = Receiver(server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        if receiver.stall is not None:
            receiver.stall.set()
        server.shutdown()
        server.server_close()


@dataclass
class MemoryLedger:
    """Implements `serve.webhooks.deliver.DeliveryLedger`: every pending delivery is due."""

    pending: dict[str, DeliveryLease]
    done: dict[str, int] = field(default_factory=dict)
    given_up: dict[str, tuple[int | None, str]] = field(default_factory=dict)
    waits: list[datetime] = field(default_factory=list)
    errors: list[tuple[int | None, str]] = field(default_factory=list)

    @classmethod
    def of(cls, leases: Sequence[DeliveryLease]) -> MemoryLedger:
        return cls({lease.delivery_id: lease for lease in leases})

    def lease_deliveries(self, owner: str, seconds: float, limit: int) -> list[DeliveryLease]:
        return list(self.pending.values())[:limit]

    def delivered(self, delivery_id: str, attempt: int, response_status: int) -> None:
        assert self.pending.pop(delivery_id).attempt == attempt
        self.done[delivery_id] = response_status

    def retry_delivery(
        self, delivery_id: str, attempt: int, response_status: int | None, error: str, next_attempt_at: datetime | None
    ) -> None:
        lease = self.pending[delivery_id]
        assert lease.attempt == attempt
        self.errors.append((response_status, error))
        if next_attempt_at is None:
            del self.pending[delivery_id]
            self.given_up[delivery_id] = (response_status, error)
        else:
            self.waits.append(next_attempt_at)
            lease.attempt += 1
