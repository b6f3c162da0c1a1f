"""From a bearer token to its caller: the configured ways, one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.errors import Code, ConfigError, InputError
from engine.settings import Settings
from serve.auth.bearer import LONGEST, digest, is_ours
from serve.auth.open import OpenAuthenticator
from serve.auth.registry_tokens import RegistryTokens, TokenRegistry
from serve.auth.tokens_file import TokensFile
from serve.deps import Authenticator, Caller

if TYPE_CHECKING:
    from serve.auth.jwt_tokens import JwtVerifier


def make_authenticator(settings: Settings, registry: TokenRegistry) -> Authenticator:
    """The authenticator the settings ask for; the open one when they ask for none.

    Raises ConfigError: a tokens or key file is unreadable, unsafe or broken, or the JWT settings do not do.
    """
    auth = settings.auth
    if not auth.configured:
        return OpenAuthenticator()
    verifier = None
    if auth.jwks_url or auth.jwt_key_file:
        from serve.auth.jwt_tokens import make_verifier

        verifier = make_verifier(auth)
    file = TokensFile(auth.tokens_file) if auth.tokens_file else None
    return TokenAuthenticator(file, RegistryTokens(registry) if auth.registry_tokens else None, verifier)


class TokenAuthenticator:
    """`serve.deps.Authenticator` over any of: a tokens file, the registry's tokens, JWTs."""

    required = True

    def __init__(self, file: TokensFile | None, tokens: RegistryTokens | None, verifier: JwtVerifier | None) -> None:
        if file is None and tokens is None and verifier is None:
            raise ConfigError("an authenticator needs a source of tokens")
        self._file = file
        self._tokens = tokens
        self._verifier = verifier

    def authenticate(self, token: str | None) -> Caller:
        """The caller. Raises InputError (UNAUTHENTICATED), StorageError when the registry does not answer, and
        CorpusError (OVERLOADED) when the keys that sign JWTs cannot be had."""
        if not token:
            raise InputError("a bearer token is required", Code.UNAUTHENTICATED, details={"reason": "missing_token"})
        caller = self._find(token) if token.isascii() and len(token) <= LONGEST else None
        if caller is None:
            raise refused()
        return caller

    def _find(self, token: str) -> Caller | None:
        sha256 = digest(token)
        if self._file is not None and (listed := self._file.find(sha256)):
            return listed
        if self._verifier is not None and token.count(".") == 2:
            return self._verifier.authenticate(token)
        if self._tokens is not None and is_ours(token):
            return self._tokens.find(sha256)
        return None


def refused(why: str = "it is unknown, expired or revoked") -> InputError:
    """The answer to a token that does not do."""
    details = {"reason": "invalid_token"}
    return InputError(f"the bearer token is not valid: {why}", Code.UNAUTHENTICATED, details=details)
