"""A real identity provider in small: it signs tokens and serves its public keys over HTTP on loopback."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

ISSUER, AUDIENCE = "https://id.example", "corpus"


@dataclass
class Provider:
    """Signs tokens; `document` is what its JWKS address answers."""

    private: dict[str, Any]
    document: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    requests: int = 0
    url: str = ""

    def sign(self, kid: str, algorithm: str, headers: dict[str, Any] | None = None, **claims: Any) -> str:
        now = int(time.time())
        whole = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "iat": now, "exp": now + 300, **claims}
        whole = {name: value for name, value in whole.items() if value is not ...}
        return jwt.encode(whole, self.private[kid], algorithm, headers={"kid": kid, **(headers or {})})

    def publish(self, *kids: str) -> None:
        self.document = {"keys": [public_jwk(kid, self.private[kid]) for kid in kids]}


def public_jwk(kid: str, private: Any) -> dict[str, Any]:
    kind = {"rsa": RSAAlgorithm, "ec": ECAlgorithm, "ed": OKPAlgorithm}[kid.partition("-")[0]]
    return {**kind.to_jwk(private.public_key(), as_dict=True), "kid": kid, "use": "sig"}


def make_keys() -> dict[str, Any]:
    return {
        "rsa-1": rsa.generate_private_key(65537, 2048),
        "rsa-2": rsa.generate_private_key(65537, 2048),
        "rsa-weak": rsa.generate_private_key(65537, 1024),
        "ec-1": ec.generate_private_key(ec.SECP256R1()),
        "ec-384": ec.generate_private_key(ec.SECP384R1()),
        "ed-1": ed25519.Ed25519PrivateKey.generate(),
    }


@contextmanager
def serving(provider: Provider) -> Iterator[Provider]:
    """The provider with its keys behind `provider.url`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            provider.requests += 1
            time.sleep(provider.delay)
            body = provider.document if isinstance(provider.document, bytes) else json.dumps(provider.document).encode()
            self.send_response(provider.status)
            for name, value in {"Content-Length": str(len(body)), **provider.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *args: object) -> None:
            pass  # a client that gave up is no error here

    server = Server(("127.0.0.1", 0), Handler)
    provider.url = f"http://127.0.0.1:{server.server_address[1]}/jwks"
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield provider
    server.shutdown()
    server.server_close()
