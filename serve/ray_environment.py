"""What must be in the environment of every node before Ray starts there, and whether a cluster fits the API.

Ray Serve chooses its proxy, and everything about it, by environment variables that its own processes inherit from
the node. Measured with Ray 2.60: behind HAProxy a request that does nothing takes 0.6 ms against 3.5 ms behind
Serve's other proxy (8 clients: 4 against 18 ms), and that other one keeps the body of an upload in memory whole.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray

from engine.errors import ConfigError
from engine.settings import Settings
from serve import ray_http
from serve.auth import check_binding
from serve.ray_haproxy import Front, bundled, write_wrapper

HARD_STOP_SECONDS = 3600  # of a proxy that was replaced: the longest upload or event stream that survives a scaling
CLIENT_SECONDS = 120  # silence of a client in the middle of its request
LEAVE_SECONDS = 5.0  # how long a replica that is to go stays reachable, until the proxy knows

ANYWHERE: Mapping[str, str] = {
    "RAY_SERVE_ENABLE_HA_PROXY": "1",
    "RAY_SERVE_HAPROXY_METRICS_ENABLED": "0",
    "RAY_SERVE_HAPROXY_HARD_STOP_AFTER_S": str(HARD_STOP_SECONDS),
    "RAY_SERVE_HAPROXY_TIMEOUT_CLIENT_S": str(CLIENT_SECONDS),
    "RAY_SERVE_HAPROXY_TIMEOUT_SERVER_S": str(HARD_STOP_SECONDS),
    "RAY_SERVE_DIRECT_INGRESS_MIN_DRAINING_PERIOD_S": str(LEAVE_SECONDS),
    "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH": ray_http.PROXY,
    "RAY_SERVE_REPLICA_AUTOSCALING_METRIC_PUSH_INTERVAL_S": "1",
    "RAY_SERVE_HANDLE_AUTOSCALING_METRIC_PUSH_INTERVAL_S": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",
}
"""For every node of any cluster; the image sets the same."""


def on_this_machine(settings: Settings, folder: Path) -> dict[str, str]:
    """ANYWHERE, and what a Ray of this machine alone needs: the wrapped proxy with its files in `folder` (private,
    its path short: it holds sockets), and ports that nobody else has."""
    front = Front(settings.serve.host, str(_certificate(settings, folder) or ""))
    spare = iter(_free_ports(2))
    return {
        **ANYWHERE,
        "RAY_SERVE_HAPROXY_BINARY_PATH": str(write_wrapper(folder, front, bundled())),
        "RAY_SERVE_HAPROXY_CONFIG_FILE_LOC": str(folder / "haproxy.cfg"),
        "RAY_SERVE_HAPROXY_SOCKET_PATH": str(folder / "admin.sock"),
        "RAY_SERVE_HAPROXY_METRICS_SOCKET_PATH": str(folder / "metrics.sock"),
        "RAY_SERVE_HAPROXY_SERVER_STATE_BASE": str(folder),
        "RAY_SERVE_HAPROXY_SERVER_STATE_FILE": str(folder / "state"),
        "RAY_SERVE_HAPROXY_NBTHREAD": str(min(4, os.cpu_count() or 1)),
        "RAY_SERVE_FALLBACK_PROXY_HTTP_PORT": str(next(spare)),
        "RAY_SERVE_FALLBACK_PROXY_GRPC_PORT": str(next(spare)),
    }


def _certificate(settings: Settings, folder: Path) -> Path | None:
    """Certificate and key in one file, as HAProxy takes them. Raises ConfigError when one is missing."""
    certificate, key = settings.serve.tls_certificate, settings.serve.tls_key
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise ConfigError("serve.tls_certificate and serve.tls_key go together")
    both = folder / "tls.pem"
    try:
        both.touch(mode=0o600)
        both.write_text(f"{certificate.read_text('ascii')}\n{key.read_text('ascii')}", "ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot read the TLS certificate or key: {error}") from error
    return both


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()


# ---------------------------------------------------------------- does this cluster fit
def check_proxy() -> None:
    """Raise ConfigError in a cluster without Serve's HAProxy."""
    from ray.serve._private.constants import RAY_SERVE_ENABLE_HA_PROXY

    if not RAY_SERVE_ENABLE_HA_PROXY:
        raise ConfigError(
            "the API needs RAY_SERVE_ENABLE_HA_PROXY=1 in the environment of every node, before Ray starts there: "
            "Ray Serve's other proxy keeps bodies of any size in memory. `corpus serve` and the image set it"
        )


def check_exposure(settings: Settings) -> None:
    """Raise ConfigError when Serve's proxies listen beyond their machine and nobody checks who calls."""
    from ray.serve.context import _get_global_client  # pyright: ignore[reportPrivateUsage]

    client: Any = _get_global_client()
    host = str(client.http_config.host)
    check_binding(settings.model_copy(update={"serve": settings.serve.model_copy(update={"host": host})}))


def check_cluster(settings: Settings) -> None:
    """Raise ConfigError when replicas on several nodes would each have files of their own."""
    if sum(bool(node["Alive"]) for node in ray.nodes()) < 2:
        return
    shared = {
        "DATABASE_URL (a PostgreSQL server)": settings.registry.url.startswith("postgresql"),
        "store.url (a Qdrant server)": bool(settings.store.url),
        "objects.bucket (an S3 bucket)": bool(settings.objects.bucket),
    }
    missing = [name for name, there in shared.items() if not there]
    if missing:
        raise ConfigError(f"this cluster has several nodes, which share no files: set {', '.join(missing)}")


if __name__ == "__main__":  # for images and systemd units
    import sys

    sys.stdout.writelines(f"{name}={value}\n" for name, value in ANYWHERE.items())
