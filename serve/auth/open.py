"""Without authentication: one caller who may do everything, and only from this machine."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from engine.errors import Code, ConfigError, InputError
from engine.settings import Settings
from serve.auth.callers import ALL
from serve.deps import Caller


class OpenAuthenticator:
    """`serve.deps.Authenticator` when nothing is configured: whoever asks is the same all-powerful caller."""

    required = False

    def authenticate(self, token: str | None) -> Caller:
        return Caller("anonymous", {ALL: "admin"}, None)


def check_binding(settings: Settings) -> None:
    """Raise ConfigError when the API would listen beyond this machine without knowing its callers."""
    if not settings.auth.configured and not is_loopback(settings.serve.host):
        raise ConfigError(
            f"serve.host {settings.serve.host!r} can be reached from other machines, and no authentication is "
            "configured: set one of auth.tokens_file, auth.registry_tokens, auth.jwks_url, auth.jwt_key_file, "
            "or listen on 127.0.0.1"
        )


def check_local(host: str, origin: str | None) -> None:
    """Raise FORBIDDEN unless a request of the open mode was meant for this machine.

    Any web page can make the browser of this machine's user send requests to loopback, and by re-binding its own
    name to loopback even read the answers. Such requests carry a foreign `Host` or `Origin` header; the API's own page
    has the same in both.
    """
    own = origin is None or origin.partition("://")[2].lower() == host.lower()
    if not (own and is_loopback(_host_of(f"//{host}"))):
        raise InputError("without authentication only requests from this machine are answered", Code.FORBIDDEN)


def _host_of(url: str) -> str:
    """The host a URL names; empty when it cannot be read."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_loopback(host: str) -> bool:
    """`localhost` or an address of the loopback network."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
