"""The container's health check against real sockets."""

from __future__ import annotations

import datetime as dt
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from engine.settings import load
from jobs.healthcheck import lives


@contextmanager
def answering(status: int, context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Port of a server that answers /livez with `status` and everything else with 404."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/livez" else 404)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(("status", "expected"), [(200, True), (503, False), (500, False)])
def test_it_asks_livez_at_the_configured_port(status: int, expected: bool) -> None:
    with answering(status) as port:
        assert lives(load(environ={"DOCUMENT_API_PORT": str(port), "CORPUS_SERVE__HOST": "0.0.0.0"})) is expected


def test_nobody_there_is_no_life() -> None:
    assert lives(load({"serve.port": 9}, environ={})) is False


def test_over_tls_any_certificate_of_this_machine_will_do(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with answering(200, context) as port:
        flags = {"serve.port": port, "serve.tls_certificate": certificate, "serve.tls_key": key}
        assert lives(load(flags, environ={})) is True
        assert lives(load({"serve.port": port}, environ={})) is False


def self_signed(folder: Path) -> tuple[Path, Path]:
    """Files of a certificate for another name than the one it is asked by, and of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "corpus.example.org")])
    now = dt.datetime.now(dt.UTC)
    day = dt.timedelta(days=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - day, now + day)
    ).sign(key, hashes.SHA256())
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "certificate.pem", folder / "key.pem"
