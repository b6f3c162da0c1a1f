"""Real services for the tests: a private PostgreSQL on loopback, emptied for every test.

`CORPUS_TEST_DATABASE_URL` (a role that may create databases) is used instead when it is given.
"""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda p: int(p.parent.name), reverse=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a running server, without a database's name."""
    given = os.environ.get("CORPUS_TEST_DATABASE_URL")
    if given:
        yield given
        return
    initdb = shutil.which("initdb") or next((str(b / "initdb") for b in BINARIES if (b / "initdb").exists()), None)
    if initdb is None:
        pytest.skip("PostgreSQL's initdb is not installed and CORPUS_TEST_DATABASE_URL is not set")
    folder = Path(tempfile.mkdtemp(prefix="corpus-postgres-"))
    try:
        yield from _serve(Path(initdb).parent, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def _postgres_database(postgres_server: str) -> Iterator[sa.URL]:
    """A database of this session's own. One for all tests: making and dropping them is slow."""
    server = sa.make_url(postgres_server).set(drivername="postgresql+psycopg")
    name = f"corpus_{uuid4().hex}"
    _execute(server, f"CREATE DATABASE {name}")
    yield server.set(database=name)
    _execute(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def postgres_url(_postgres_database: sa.URL) -> str:
    """URL of an empty database, this test's alone until the next test asks for one."""
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    _execute(_postgres_database, f"{others} AND pid <> pg_backend_pid()", "DROP SCHEMA public CASCADE")
    _execute(_postgres_database, "CREATE SCHEMA public")
    return _postgres_database.set(drivername="postgresql").render_as_string(hide_password=False)


def _execute(url: sa.URL, *statements: str) -> None:
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))


def _serve(binaries: Path, folder: Path) -> Iterator[str]:
    account = _account(folder)
    data, log = folder / "data", folder / "log"
    # A linguistic default collation, so that whatever needs byte order must ask for it.
    locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=icu", "--icu-locale=en-US"]
    _run([binaries / "initdb", "-D", data, "-U", "corpus", "--auth=trust", *locale], account, folder)
    port = _free_port()
    # No fsync: these tests kill processes, not the power.
    options = f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={folder} -c fsync=off"
    _run([binaries / "pg_ctl", "-D", data, "-l", log, "-w", "-o", options, "start"], account, folder)
    try:
        yield f"postgresql://corpus@127.0.0.1:{port}/postgres"
    finally:
        _run([binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop"], account, folder)


def _account(folder: Path) -> str | None:
    """The account that must run the server: it refuses root."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        pytest.skip("PostgreSQL refuses to run as root and there is no account 'postgres'")
    shutil.chown(folder, "postgres")
    return "postgres"


def _run(command: list[str | Path], account: str | None, folder: Path) -> None:
    done = subprocess.run(
        [str(word) for word in command],
        user=account,
        extra_groups=None if account is None else [],
        group=None if account is None else pwd.getpwnam(account).pw_gid,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,  # a pipe would stay open in the server
        stderr=subprocess.DEVNULL,
        timeout=120,
        check=False,
    )
    if done.returncode:
        log = folder / "log"
        raise RuntimeError(f"{command[0]} failed: {log.read_text('utf-8') if log.exists() else done.returncode}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
