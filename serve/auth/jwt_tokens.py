"""JWTs of an identity provider: signature, issuer, audience and time are checked, then roles and principals taken.

What is never done (RFC 8725): an algorithm outside the configured ones, `none`, shared secrets, a key of a type that
does not fit the algorithm, keys or key addresses named by the token itself.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, cast

import jwt
from jwt.exceptions import ExpiredSignatureError, InvalidSignatureError, InvalidTokenError, PyJWTError

from engine.errors import ConfigError
from engine.settings import Auth
from serve.auth.callers import make_caller
from serve.auth.keys import KNOWN_ALGORITHMS, KeyFile, KeySource
from serve.auth.tokens import refused
from serve.deps import Caller

log = logging.getLogger(__name__)

LEEWAY_SECONDS = 10  # that clocks may differ
MOST_TRIED = 8  # keys tried on a token that names none


def make_verifier(auth: Auth) -> JwtVerifier:
    """The verifier the settings ask for. Raises ConfigError."""
    if auth.jwks_url and auth.jwt_key_file:
        raise ConfigError("set auth.jwks_url or auth.jwt_key_file, not both")
    if not (auth.jwt_issuer and auth.jwt_audience):
        raise ConfigError(
            "JWTs need auth.jwt_issuer and auth.jwt_audience: without them every token the provider ever gave to "
            "anybody for any service would do"
        )
    unknown = sorted(set(auth.jwt_algorithms) - KNOWN_ALGORITHMS)
    if unknown or not auth.jwt_algorithms:
        known = ", ".join(sorted(KNOWN_ALGORITHMS))
        raise ConfigError(f"auth.jwt_algorithms takes only {known}; not {', '.join(unknown) or 'an empty list'}")
    if auth.jwt_key_file:
        return JwtVerifier(auth, KeyFile(auth.jwt_key_file))
    from serve.auth.jwks import JwksUrl

    return JwtVerifier(auth, JwksUrl(auth.jwks_url))


class JwtVerifier:
    """Checks JWTs against one source of keys."""

    def __init__(self, auth: Auth, keys: KeySource) -> None:
        self._auth = auth
        self._keys = keys
        self._algorithms = frozenset(auth.jwt_algorithms)

    def authenticate(self, token: str) -> Caller:
        """The caller. Raises InputError (UNAUTHENTICATED), and CorpusError (OVERLOADED) without any keys."""
        try:
            claims = self._verified(token)
            return self._caller(claims)
        except ExpiredSignatureError:
            raise refused("it has expired") from None
        except PyJWTError as error:
            log.info("a JWT was refused", extra={"error": type(error).__name__})
            raise refused("its signature, issuer, audience or form is not the expected one") from None
        except ValueError as error:
            log.info("a JWT with unusable claims was refused", extra={"error": type(error).__name__})
            raise refused(str(error)) from None

    def _verified(self, token: str) -> dict[str, Any]:
        """The claims. Raises PyJWTError."""
        header = cast("Mapping[str, object]", jwt.get_unverified_header(token))
        algorithm, kid = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or algorithm not in self._algorithms:
            raise InvalidTokenError("the algorithm is not accepted")
        for key in self._keys.candidates(kid if isinstance(kid, str) else None, algorithm)[:MOST_TRIED]:
            try:
                return jwt.decode(
                    token,
                    key.public,
                    algorithms=[algorithm],  # one of the configured ones, and one this key's type allows
                    audience=self._auth.jwt_audience,
                    issuer=self._auth.jwt_issuer,
                    leeway=LEEWAY_SECONDS,
                    options={"require": ["exp", "iss", "aud", "sub"]},
                )
            except InvalidSignatureError:
                continue
        raise InvalidSignatureError("no key fits")

    def _caller(self, claims: Mapping[str, Any]) -> Caller:
        """Raises ValueError for claims that do not say what they should."""
        roles: object = claims.get(self._auth.jwt_roles_claim, {})
        if not isinstance(roles, dict) or not all(isinstance(role, str) for role in roles.values()):
            raise ValueError("its roles claim must map projects to read, write or admin")
        groups: object = claims.get(self._auth.jwt_principals_claim, [])
        principals = [groups] if isinstance(groups, str) else groups
        if not isinstance(principals, list) or not all(isinstance(name, str) for name in principals):
            raise ValueError("its principals claim must be a list of strings")
        return make_caller(str(claims["sub"]), cast("dict[str, str]", roles), cast("list[str]", principals))
