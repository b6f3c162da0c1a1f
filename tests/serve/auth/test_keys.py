"""Key files and key sets: what is used, and for which algorithm only."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID
from identity_provider import Provider

from engine.errors import ConfigError, CorpusError
from engine.settings import Settings
from serve.auth import make_authenticator
from serve.auth.keys import fitting, jwks_keys, parse_key_file


class NoTokens:
    def token(self, sha256: str) -> None:
        return None


def pem(private: Any) -> bytes:
    return private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def certificate(private: Any) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "id.example")])
    begin = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(private.public_key())
    made = made.serial_number(1).not_valid_before(begin).not_valid_after(begin + dt.timedelta(days=3650))
    return made.sign(private, hashes.SHA256()).public_bytes(Encoding.PEM)


@pytest.mark.parametrize(("kid", "algorithm"), [("rsa-1", "RS256"), ("ec-1", "ES256"), ("ed-1", "EdDSA")])
def test_pem_and_jwks_files_verify_and_are_read_again(
    tmp_path: Path, provider: Provider, settings_with: Callable[..., Settings], kid: str, algorithm: str
) -> None:
    file = tmp_path / "key"
    file.write_bytes(pem(provider.private[kid]))
    authenticator = make_authenticator(settings_with(jwt_key_file=file), NoTokens())
    assert authenticator.authenticate(provider.sign(kid, algorithm)).subject == "ada"
    provider.publish("rsa-2")
    file.write_text(json.dumps(provider.document))
    assert authenticator.authenticate(provider.sign("rsa-2", "RS256")).subject == "ada"
    with pytest.raises(CorpusError):
        authenticator.authenticate(provider.sign(kid, algorithm))


def test_a_certificate_will_do(tmp_path: Path, provider: Provider, settings_with: Callable[..., Settings]) -> None:
    file = tmp_path / "key.pem"
    file.write_bytes(certificate(provider.private["rsa-1"]))
    authenticator = make_authenticator(settings_with(jwt_key_file=file), NoTokens())
    assert authenticator.authenticate(provider.sign("rsa-1", "RS256")).subject == "ada"


def test_key_files_that_stop_the_server(tmp_path: Path, private_keys: dict[str, Any], provider: Provider) -> None:
    private = private_keys["rsa-1"].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = pem(private_keys["rsa-1"])
    for data in (private, public + pem(private_keys["ec-1"]), b"", b"text", public[:100] + public[200:]):
        with pytest.raises(ConfigError, match="JWT key file"):
            parse_key_file(data)
    with pytest.raises(ConfigError, match="2048 bits"):
        parse_key_file(pem(private_keys["rsa-weak"]))
    provider.publish("rsa-1", "rsa-weak")
    with pytest.raises(ConfigError, match="key 2: an RSA key"):
        parse_key_file(json.dumps(provider.document).encode())
    for data in (b"{", b"{}", b'{"keys": []}', b'{"keys": {}}'):
        with pytest.raises(ConfigError, match="broken JWT key file"):
            parse_key_file(data)


def test_others_must_not_be_able_to_change_a_key_file(
    tmp_path: Path, private_keys: dict[str, Any], settings_with: Callable[..., Settings]
) -> None:
    file = tmp_path / "key.pem"
    file.write_bytes(pem(private_keys["rsa-1"]))
    file.chmod(0o644)
    make_authenticator(settings_with(jwt_key_file=file), NoTokens())
    file.chmod(0o664)
    with pytest.raises(ConfigError, match="chmod 644"):
        make_authenticator(settings_with(jwt_key_file=file), NoTokens())


def test_each_key_verifies_only_what_fits_its_type(provider: Provider) -> None:
    provider.publish("rsa-1", "ec-1", "ec-384", "ed-1")
    provider.document["keys"][0]["alg"] = "RS512"
    keys = {key.kid: key.algorithms for key in jwks_keys(provider.document)[0]}
    assert keys == {"rsa-1": {"RS512"}, "ec-1": {"ES256"}, "ec-384": {"ES384"}, "ed-1": {"EdDSA"}}


def test_members_of_a_set_that_are_no_public_signing_keys(provider: Provider, private_keys: dict[str, Any]) -> None:
    provider.publish("rsa-1")
    good = provider.document["keys"][0]
    secret = {"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", "kid": "secret", "alg": "HS256"}
    passed_over = [{**good, "use": "enc"}, {**good, "key_ops": ["encrypt"]}, "text", None]
    broken = [secret, {**good, "d": "AQAB"}, {**good, "n": "!"}, {"kty": "new"}, {**good, "alg": "ES256"}]
    keys, refused = jwks_keys({"keys": [*passed_over, *broken, good]})
    assert [key.kid for key in keys] == ["rsa-1"]
    assert [line.partition(":")[0] for line in refused] == ["key 5", "key 6", "key 7", "key 8", "key 9"]
    assert "c2VjcmV0" not in "".join(refused)
    with pytest.raises(ValueError, match="no usable key"):
        jwks_keys({"keys": [secret]})


def test_keys_fit_by_id_and_algorithm(provider: Provider) -> None:
    provider.publish("rsa-1", "rsa-2", "ec-1")
    keys, _ = jwks_keys(provider.document)
    assert [k.kid for k in fitting(keys, "rsa-2", "RS256")] == ["rsa-2"]
    assert [k.kid for k in fitting(keys, None, "RS256")] == ["rsa-1", "rsa-2"]
    assert fitting(keys, "rsa-2", "ES256") == fitting(keys, "absent", "RS256") == []
