"""The corrected proxy: the configuration that the installed Ray writes, and a real HAProxy that runs on it."""

from __future__ import annotations

import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import psutil
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

sys.path.insert(0, str(Path(__file__).parent))
from served import free_port

from serve.ray_haproxy import MARK, Front, bundled, correct, write_wrapper

pytestmark = pytest.mark.ray  # it takes the configuration from Ray's own code, without starting Ray


def written_by_ray(folder: Path, port: int, backend: int | None) -> Path:
    """The configuration file that Ray Serve would start HAProxy with."""
    from ray.serve._private import haproxy  # noqa: TID251 - see pytestmark
    from ray.serve.config import HTTPOptions  # noqa: TID251

    config = haproxy.HAProxyConfig(
        http_options=HTTPOptions(host="127.0.0.1", port=port),
        socket_path=str(folder / "admin.sock"),
        server_state_base=str(folder),
        server_state_file=str(folder / "state"),
        metrics_enabled=False,
        has_received_routes=True,
        is_head=True,
    )
    backends = {}
    if backend is not None:
        server = haproxy.ServerConfig(name="replica", host="127.0.0.1", port=backend)
        backends["http-corpus"] = haproxy.BackendConfig(
            name="http-corpus", path_prefix="/", app_name="corpus", servers=[server]
        )
    file = folder / "haproxy.cfg"
    haproxy.HAProxyApi(config, backends, str(file))._generate_config_file_internal()
    return file


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, for the sockets in it."""
    import shutil
    import tempfile

    made = Path(tempfile.mkdtemp(prefix="corpus-", dir="/tmp"))
    yield made
    shutil.rmtree(made)


@contextmanager
def running(folder: Path, file: Path, front: Front) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen([str(write_wrapper(folder, front, bundled())), "-db", "-f", str(file)])
    deadline = time.monotonic() + 10
    while not (folder / "admin.sock").exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.05)
    yield process
    process.terminate()
    process.wait()


def certificate(folder: Path) -> Path:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
        .serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )  # fmt: skip
    both = folder / "tls.pem"
    form = serialization.Encoding.PEM
    secret = key.private_bytes(form, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    both.write_bytes(made.public_bytes(form) + secret)
    return both


def test_nothing_but_the_front_listens_and_the_admin_socket_is_private(folder: Path) -> None:
    port = free_port()
    file = written_by_ray(folder, port, None)
    before = file.read_text("utf-8")
    assert "bind *:8404" in before and "mode 666" in before  # what Ray would open: when this changes, so may the need
    with running(folder, file, Front()) as process:
        listening = [c.laddr for c in psutil.Process(process.pid).net_connections() if c.status == psutil.CONN_LISTEN]
        assert [tuple(address) for address in listening] == [("127.0.0.1", port)]
        assert (folder / "admin.sock").stat().st_mode & 0o777 == 0o600


def test_errors_of_the_proxy_have_the_common_form(folder: Path) -> None:
    port = free_port()
    file = written_by_ray(folder, port, free_port())  # a replica that is not there
    with running(folder, file, Front()):
        time.sleep(0.7)  # it is found to be down
        answer = httpx.get(f"http://127.0.0.1:{port}/api/v1/projects")
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "OVERLOADED"
    assert answer.json()["error"]["request_id"] == answer.headers["x-request-id"]
    assert answer.headers["retry-after"] == "2"


def test_it_speaks_tls_from_1_2_on_and_binds_where_it_is_told(folder: Path) -> None:
    port = free_port()
    file = written_by_ray(folder, port, None)
    trusted = certificate(folder)
    with running(folder, file, Front("0.0.0.0", str(trusted))) as process:
        context = ssl.create_default_context(cafile=str(trusted))
        assert httpx.get(f"https://localhost:{port}/-/healthz", verify=context).status_code == 200
        old = ssl.create_default_context(cafile=str(trusted))
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
        with pytest.raises(ssl.SSLError), socket.create_connection(("localhost", port)) as raw:
            old.wrap_socket(raw, server_hostname="localhost")
        (listening,) = [
            c.laddr for c in psutil.Process(process.pid).net_connections() if c.status == psutil.CONN_LISTEN
        ]
        assert tuple(listening) == ("0.0.0.0", port)


def test_it_ends_with_whoever_started_it(folder: Path) -> None:
    file = written_by_ray(folder, free_port(), None)
    program = write_wrapper(folder, Front(), bundled())
    code = (
        f"import subprocess, time; p = subprocess.Popen([{str(program)!r}, '-db', '-f', {str(file)!r}]); "
        "print(p.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    proxy = psutil.Process(int(parent.stdout.readline()))
    while not (folder / "admin.sock").exists():
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    psutil.wait_procs([proxy], timeout=5)
    assert not proxy.is_running() or proxy.status() == psutil.STATUS_ZOMBIE


def test_another_configuration_is_refused_and_a_corrected_one_left_alone(folder: Path) -> None:
    file = written_by_ray(folder, 8016, None)
    config = file.read_text("utf-8")
    once = correct(config, Front())
    assert once.startswith(MARK) and correct(once, Front()) == once
    with pytest.raises(ValueError, match="listen stats"):
        correct(config.replace("listen stats", "listen statistics"), Front())
