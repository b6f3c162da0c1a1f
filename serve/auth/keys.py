"""Public keys that sign JWTs: what each may verify, out of a JWK Set (RFC 7517) or PEM."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from cryptography.x509 import load_pem_x509_certificate
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from engine.errors import ConfigError
from serve.auth.watched import PUBLIC, WatchedFile

PublicKey = rsa.RSAPublicKey | ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | ed448.Ed448PublicKey
RSA_ALGORITHMS = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
CURVE_ALGORITHMS = {"secp256r1": "ES256", "secp384r1": "ES384", "secp521r1": "ES512"}
# Signatures by key pairs only: a shared secret would let whoever checks tokens also make them, and the classic
# confusion (RFC 8725, section 2.1) takes a public key for an HMAC secret.
KNOWN_ALGORITHMS = RSA_ALGORITHMS | frozenset(CURVE_ALGORITHMS.values()) | {"EdDSA"}
LEAST_RSA_BITS = 2048
MOST_KEYS = 100


@dataclass(frozen=True, slots=True)
class Key:
    """`algorithms`: those this key may verify, from its type and, where given, its `alg`."""

    kid: str | None
    algorithms: frozenset[str]
    public: PublicKey


class KeySource(Protocol):
    def candidates(self, kid: str | None, algorithm: str) -> list[Key]:
        """The keys that may have signed a token with this key id and algorithm."""
        ...


class KeyFile:
    """Keys from a file that is read again when it changes."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigError: unreadable, writable by others, or without a usable key."""
        self._file = WatchedFile(path, parse_key_file, PUBLIC)

    def candidates(self, kid: str | None, algorithm: str) -> list[Key]:
        return fitting(self._file.content(), kid, algorithm)


def fitting(keys: Iterable[Key], kid: str | None, algorithm: str) -> list[Key]:
    """The keys of this id (or without any), or all when the token names none, that may verify the algorithm."""
    return [key for key in keys if algorithm in key.algorithms and (kid is None or key.kid is None or key.kid == kid)]


def parse_key_file(data: bytes) -> list[Key]:
    """The keys of a JWK Set, or the one of a PEM public key or certificate. Raises ConfigError."""
    if data.lstrip()[:1] != b"{":
        return [pem_key(data)]
    try:
        keys, refused = jwks_keys(json.loads(data))
    except ValueError as error:
        raise ConfigError(f"broken JWT key file: {error}") from None
    if refused:
        raise ConfigError("broken JWT key file: " + "; ".join(refused))
    return keys


def pem_key(data: bytes) -> Key:
    """One PEM public key or X.509 certificate. Raises ConfigError; also for a private key, which no server that
    only checks tokens should hold."""
    if data.count(b"-----BEGIN ") != 1 or b"PRIVATE KEY" in data:
        raise ConfigError("the JWT key file must hold one PEM public key or certificate, or a JWK Set")
    try:
        if b"BEGIN CERTIFICATE" in data:
            public: object = load_pem_x509_certificate(data).public_key()
        else:
            public = load_pem_public_key(data)
        return Key(None, algorithms_of(public), cast("PublicKey", public))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise ConfigError(f"the JWT key file holds no usable public key: {error}") from None


def jwks_keys(document: object) -> tuple[list[Key], list[str]]:
    """The usable signing keys of a JWK Set, and why others are not used. Keys for encryption are passed over.

    Raises ValueError when it is no JWK Set or has no usable key.
    """
    members = cast("Mapping[str, Any]", document).get("keys") if isinstance(document, dict) else None
    if not isinstance(members, list):
        raise ValueError("this is no JWK Set: it has no list of keys")
    keys: list[Key] = []
    refused: list[str] = []
    for number, member in enumerate(members[:MOST_KEYS], 1):
        if isinstance(member, dict) and _signs(member):
            try:
                keys.append(_jwk(member))
            except ValueError as error:
                refused.append(f"key {number}: {error}")
    if not keys:
        raise ValueError("; ".join(["the JWK Set has no usable key", *refused]))
    return keys, refused


def algorithms_of(public: object) -> frozenset[str]:
    """What a public key of this type can verify. Raises ValueError for a type or size that is not accepted."""
    if isinstance(public, rsa.RSAPublicKey):
        if public.key_size < LEAST_RSA_BITS:
            raise ValueError(f"an RSA key needs at least {LEAST_RSA_BITS} bits")
        return RSA_ALGORITHMS
    if isinstance(public, ec.EllipticCurvePublicKey) and public.curve.name in CURVE_ALGORITHMS:
        return frozenset({CURVE_ALGORITHMS[public.curve.name]})
    if isinstance(public, ed25519.Ed25519PublicKey | ed448.Ed448PublicKey):
        return frozenset({"EdDSA"})
    raise ValueError("only public keys of the types RSA, EC (P-256, P-384, P-521), Ed25519 and Ed448 are used")


def _signs(member: Mapping[str, Any]) -> bool:
    operations = member.get("key_ops")
    return member.get("use") in (None, "sig") and (not isinstance(operations, list) or "verify" in operations)


def _jwk(member: dict[str, Any]) -> Key:
    """Raises ValueError: a secret, a private key, another kind of key, or a broken one."""
    if member.get("kty") == "oct" or "d" in member:
        raise ValueError("a secret or private key has no place in a set of public keys")
    try:
        public = cast("object", PyJWK(member).key)
    except PyJWTError:  # its messages repeat the key
        raise ValueError("it is broken or of an unknown type") from None
    algorithms, named, kid = algorithms_of(public), member.get("alg"), member.get("kid")
    if named is not None:
        algorithms &= {str(named)}
    if not algorithms:
        raise ValueError("its alg does not fit its type")
    return Key(kid if isinstance(kid, str) else None, algorithms, cast("PublicKey", public))
