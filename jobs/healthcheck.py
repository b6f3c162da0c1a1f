"""Does the API on this machine live? For a container's HEALTHCHECK: exit status 0 when it does, 1 when not.

    python -m jobs.healthcheck

Where to ask follows from settings file and environment; flags given to `corpus serve` are not known here.
"""

from __future__ import annotations

import http.client
import ssl
import sys

from engine.settings import Settings, load

SECONDS = 5.0
ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}


def lives(settings: Settings) -> bool:
    """Whether `GET /livez` is answered with 200."""
    host, port = ANY.get(settings.serve.host, settings.serve.host), settings.serve.port
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    if settings.serve.tls_certificate:
        # it is this machine's own certificate, which names the machine as others call it
        connection = http.client.HTTPSConnection(host, port, timeout=SECONDS, context=_unverified())
    try:
        connection.request("GET", "/livez")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


if __name__ == "__main__":
    sys.exit(0 if lives(load()) else 1)
