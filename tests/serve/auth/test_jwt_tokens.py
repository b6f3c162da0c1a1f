"""JWTs against a real provider on loopback: what is taken, and every known way to cheat refused."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from identity_provider import Provider

from engine.errors import Code, ConfigError, CorpusError
from engine.settings import Settings
from serve.auth import make_authenticator, new_token, project_of
from serve.deps import Authenticator

SettingsWith = Callable[..., Settings]


class NoTokens:
    def token(self, sha256: str) -> None:
        return None


@pytest.fixture
def authenticator(provider: Provider, settings_with: SettingsWith) -> Authenticator:
    return make_authenticator(settings_with(jwks_url=provider.url), NoTokens())


def refused(authenticator: Authenticator, token: str) -> str:
    with pytest.raises(CorpusError) as caught:
        authenticator.authenticate(token)
    assert caught.value.code is Code.UNAUTHENTICATED
    assert token not in caught.value.message
    return caught.value.message


def segment(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


# ---------------------------------------------------------------- taken
@pytest.mark.parametrize(("kid", "algorithm"), [("rsa-1", "RS256"), ("ec-1", "ES256"), ("ed-1", "EdDSA")])
def test_a_good_token_is_its_caller(authenticator: Authenticator, provider: Provider, kid: str, algorithm: str) -> None:
    token = provider.sign(kid, algorithm, corpus_roles={"handbook": "write"}, groups=["staff", "hr"])
    caller = authenticator.authenticate(token)
    assert (caller.subject, caller.roles) == ("ada", {project_of("handbook"): "write"})
    assert caller.principals == ["ada", "staff", "hr"]


def test_claims_may_have_other_names_or_be_absent(provider: Provider, settings_with: SettingsWith) -> None:
    names = {"jwt_roles_claim": "https://corpus/roles", "jwt_principals_claim": "teams"}
    authenticator = make_authenticator(settings_with(jwks_url=provider.url, **names), NoTokens())
    bare = authenticator.authenticate(provider.sign("rsa-1", "RS256"))
    assert (bare.roles, bare.principals) == ({}, ["ada"])
    token = provider.sign(
        "rsa-1", "RS256", **{"https://corpus/roles": {"*": "admin"}}, teams="staff", aud=["x", "corpus"]
    )
    assert authenticator.authenticate(token).principals is None


def test_a_token_without_key_id_is_tried_on_the_fitting_keys(authenticator: Authenticator, provider: Provider) -> None:
    now = int(time.time())
    claims = {"iss": "https://id.example", "aud": "corpus", "sub": "ada", "exp": now + 60}
    token = jwt.encode(claims, provider.private["ec-1"], "ES256")
    assert authenticator.authenticate(token).subject == "ada"


# ---------------------------------------------------------------- refused
@pytest.mark.parametrize(
    ("claims", "says"),
    [
        ({"exp": 1_600_000_000}, "expired"),
        ({"exp": ...}, "not valid"),
        ({"exp": "never"}, "not valid"),
        ({"nbf": 4_000_000_000}, "not valid"),
        ({"aud": "another-service"}, "not valid"),
        ({"aud": ...}, "not valid"),
        ({"iss": "https://id.example.evil"}, "not valid"),
        ({"iss": ...}, "not valid"),
        ({"sub": ...}, "not valid"),
        ({"sub": ""}, "printable"),
        ({"sub": "a\nb"}, "printable"),
        ({"corpus_roles": "admin"}, "roles claim"),
        ({"corpus_roles": {"*": True}}, "roles claim"),
        ({"corpus_roles": {"*": "root"}}, "read, write or admin"),
        ({"corpus_roles": {"Not A Slug": "read"}}, "slug"),
        ({"groups": {"a": 1}}, "principals claim"),
        ({"groups": ["a", 5]}, "principals claim"),
        ({"groups": ["g" * 300]}, "printable"),
    ],
)
def test_claims_that_do_not_do(
    authenticator: Authenticator, provider: Provider, claims: dict[str, Any], says: str
) -> None:
    assert says in refused(authenticator, provider.sign("rsa-1", "RS256", **claims))


def test_no_signature_none_and_shared_secrets(authenticator: Authenticator, provider: Provider) -> None:
    header, claims, signature = provider.sign("rsa-1", "RS256", corpus_roles={"*": "admin"}).split(".")
    for algorithm in ("none", "None", "NONE", ""):
        for end in ("", signature):
            refused(authenticator, f"{segment({'alg': algorithm, 'kid': 'rsa-1'})}.{claims}.{end}")
    refused(authenticator, f"{header}.{claims}.")
    refused(authenticator, f"{segment({'kid': 'rsa-1'})}.{claims}.{signature}")
    refused(authenticator, f"{segment({'alg': ['RS256'], 'kid': 'rsa-1'})}.{claims}.{signature}")


def test_the_public_key_is_no_hmac_secret(authenticator: Authenticator, provider: Provider) -> None:
    public = provider.private["rsa-1"].public_key()
    claims = provider.sign("rsa-1", "RS256", corpus_roles={"*": "admin"}).split(".")[1]
    body = f"{segment({'alg': 'HS256', 'kid': 'rsa-1', 'typ': 'JWT'})}.{claims}"
    for form in (
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.PEM, PublicFormat.PKCS1),
        json.dumps(provider.document["keys"][0]).encode(),
    ):
        mac = base64.urlsafe_b64encode(hmac.new(form, body.encode(), hashlib.sha256).digest()).rstrip(b"=").decode()
        refused(authenticator, f"{body}.{mac}")


def test_changed_bodies_and_signatures_of_other_keys(authenticator: Authenticator, provider: Provider) -> None:
    header, claims, signature = provider.sign("rsa-1", "RS256").split(".")
    richer = json.loads(base64.urlsafe_b64decode(claims + "==")) | {"corpus_roles": {"*": "admin"}}
    refused(authenticator, f"{header}.{segment(richer)}.{signature}")
    refused(authenticator, provider.sign("rsa-2", "RS256", headers={"kid": "rsa-1"}))
    refused(authenticator, provider.sign("ec-1", "ES256", headers={"kid": "rsa-1"}))


def test_keys_that_the_token_itself_names_are_not_asked(authenticator: Authenticator, provider: Provider) -> None:
    own = json.loads(
        json.dumps(jwt.algorithms.RSAAlgorithm.to_jwk(provider.private["rsa-2"].public_key(), as_dict=True))
    )
    for headers in ({"jwk": own}, {"jku": provider.url}, {"x5u": provider.url}, {"kid": "../../etc/passwd"}):
        refused(authenticator, provider.sign("rsa-2", "RS256", headers={"kid": "rsa-1", **headers}))


def test_critical_headers_that_nobody_here_knows(authenticator: Authenticator, provider: Provider) -> None:
    refused(authenticator, provider.sign("rsa-1", "RS256", headers={"crit": ["bork"], "bork": True}))


def test_algorithms_that_are_not_configured(provider: Provider, settings_with: SettingsWith) -> None:
    authenticator = make_authenticator(settings_with(jwks_url=provider.url, jwt_algorithms=["ES256"]), NoTokens())
    assert authenticator.authenticate(provider.sign("ec-1", "ES256")).subject == "ada"
    refused(authenticator, provider.sign("rsa-1", "RS256"))
    refused(authenticator, provider.sign("ec-384", "ES384"))


@pytest.mark.parametrize("token", ["a.b.c", "..", "eyJhbGciOiJSUzI1NiJ9..", ".eyJ9.", "[].[].[]", "e30.e30.e30"])
def test_what_is_no_jwt(authenticator: Authenticator, token: str) -> None:
    refused(authenticator, token)


def test_deep_nesting_is_refused(authenticator: Authenticator) -> None:
    deep = base64.urlsafe_b64encode(b"[" * 10_000).rstrip(b"=").decode()
    refused(authenticator, f"{deep}.e30.e30")


# ---------------------------------------------------------------- settings
@pytest.mark.parametrize(
    ("auth", "says"),
    [
        ({"jwt_issuer": ""}, "jwt_issuer and auth.jwt_audience"),
        ({"jwt_audience": ""}, "jwt_issuer and auth.jwt_audience"),
        ({"jwt_algorithms": ["RS256", "none"]}, "not none"),
        ({"jwt_algorithms": ["HS256"]}, "not HS256"),
        ({"jwt_algorithms": []}, "empty list"),
        ({"jwt_key_file": "/x.pem"}, "not both"),
        ({"jwks_url": "http://id.example/jwks"}, "https"),
        ({"jwks_url": "file:///etc/passwd"}, "https"),
        ({"jwks_url": "https:///jwks"}, "no host"),
    ],
)
def test_settings_that_would_let_strangers_in(settings_with: SettingsWith, auth: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_authenticator(settings_with(**{"jwks_url": "https://id.example/jwks", **auth}), NoTokens())
    assert says in caught.value.message


def test_all_ways_side_by_side(provider: Provider, settings_with: SettingsWith, tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text("[]")
    file.chmod(0o600)
    settings = settings_with(jwks_url=provider.url, tokens_file=file, registry_tokens=True)
    authenticator = make_authenticator(settings, NoTokens())
    assert authenticator.authenticate(provider.sign("ed-1", "EdDSA")).subject == "ada"
    refused(authenticator, new_token())
