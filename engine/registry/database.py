"""Connections: one lazily made engine a process, short transactions, retries of what is worth retrying.

SQLite runs in WAL mode with `synchronous=FULL`: a commit is on the disk when it returns. NORMAL would do
against SIGKILL, since the operating system holds the pages, but a power cut could then take back a flip
whose old points are already gone from the store, or a deletion.
Writing transactions open with BEGIN IMMEDIATE, so that a lock is waited for and never upgraded to.
"""

from __future__ import annotations

import os
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from engine.errors import ConfigError, StorageError
from engine.registry.text import encode_json

T = TypeVar("T")

BUSY_MS = 60_000  # how long SQLite waits for another process's transaction
SQLITE_SIZES = ("journal_size_limit=67108864", "cache_size=-32000")  # bytes of log kept, KiB of pages in memory
IDLE_MS = 60_000  # how long PostgreSQL waits for a client inside a transaction; ours never pause there
ATTEMPTS = 6
IN_LIST = 500  # ids in one IN list
# serialization_failure, deadlock_detected, admin_shutdown, crash_shutdown, cannot_connect_now
TRANSIENT_SQLSTATES = {"40001", "40P01", "57P01", "57P02", "57P03"}


def now() -> datetime:
    return datetime.now(UTC)


def database_url(url: str) -> URL:
    """The URL with the driver this project uses. Raises ConfigError for other databases and for SQLite in
    memory, which no second process could see."""
    try:
        parsed = sa.make_url(url)
    except ArgumentError as error:
        raise ConfigError("the registry URL is not of the form postgresql://… or sqlite:///…") from error
    kind = parsed.drivername.split("+")[0]
    if kind in {"postgresql", "postgres"}:
        return parsed.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise ConfigError(f"the registry needs SQLite or PostgreSQL, not {kind}")
    if parsed.database in {None, "", ":memory:"}:
        raise ConfigError("the registry needs a SQLite file, not a database in memory")
    return parsed.set(drivername="sqlite")


def chunked(values: Sequence[T], size: int = IN_LIST) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]


def insert(connection: Connection, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    """The dialect's INSERT, which knows ON CONFLICT (both spell it alike)."""
    return postgresql.insert(table) if connection.dialect.name == "postgresql" else sqlite.insert(table)


class Database:
    """A registry URL and this process's engine for it. Pickles as its URL; safe to carry over a fork."""

    def __init__(self, url: str) -> None:
        self._url = database_url(url)
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._engine: Engine | None = None
        self._pid = 0
        self._source_ids: dict[tuple[str, str], int] = {}

    def __getstate__(self) -> str:
        return self.url

    def __setstate__(self, state: str) -> None:
        self._url = database_url(state)
        self._begin()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._url.render_as_string(hide_password=True)!r})"

    @property
    def url(self) -> str:
        return self._url.render_as_string(hide_password=False)

    @property
    def engine(self) -> Engine:
        """This process's engine; a child after a fork makes its own and leaves the parent's sockets alone."""
        if self._engine is None or self._pid != os.getpid():
            if self._pid not in (0, os.getpid()):
                self._lock = threading.Lock()  # the parent may have held it at the fork
            with self._lock:
                if self._engine is not None and self._pid != os.getpid():
                    self._engine.dispose(close=False)
                    self._engine = None
                self._engine = self._engine or _make_engine(self._url)
                self._pid = os.getpid()
        return self._engine

    def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` with a connection on which every statement stands alone (no transaction is held open)."""
        return self._attempt(work, writing=False)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in one transaction, committed when it returns.

        After a deadlock or a lost connection the whole of `work` runs again: it must be safe to repeat.
        Raises StorageError when the database refuses.
        """
        return self._attempt(work, writing=True)

    def close(self) -> None:
        if self._engine is not None and self._pid == os.getpid():
            self._engine.dispose()
        self._engine = None

    def _attempt(self, work: Callable[[Connection], T], writing: bool) -> T:
        for attempt in range(ATTEMPTS):
            try:
                return self._once(work, writing)
            except DBAPIError as error:
                if attempt == ATTEMPTS - 1 or not _transient(error):
                    raise _refused(error) from error
            except SQLAlchemyError as error:
                raise _refused(error) from error
            time.sleep(random.uniform(0.02, 0.1) * 2**attempt)
        raise AssertionError("unreachable")

    def _once(self, work: Callable[[Connection], T], writing: bool) -> T:
        if writing:
            with self.engine.begin() as connection:
                return work(connection)
        options = {"registry_begin": ""}
        if self._url.get_backend_name() == "postgresql":
            options["isolation_level"] = "AUTOCOMMIT"
        with self.engine.execution_options(**options).connect() as connection:
            return work(connection)


def _refused(error: SQLAlchemyError) -> StorageError:
    """Without statement and parameters: those hold names and titles of documents."""
    cause = getattr(error, "orig", None) or error
    return StorageError(f"the registry database refused: {type(cause).__name__}: {str(cause).strip()[:500]}")


def _transient(error: DBAPIError) -> bool:
    if error.connection_invalidated:
        return True
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return str(getattr(cause, "sqlite_errorname", "")).startswith(("SQLITE_BUSY", "SQLITE_LOCKED"))
    return getattr(cause, "sqlstate", None) in TRANSIENT_SQLSTATES


def _make_engine(url: URL) -> Engine:
    is_sqlite = url.get_backend_name() == "sqlite"
    engine = sa.create_engine(
        url,
        json_serializer=encode_json,
        hide_parameters=True,
        pool_size=5,
        max_overflow=45,
        pool_pre_ping=not is_sqlite,
    )
    event.listen(engine, "connect", _sqlite_connected if is_sqlite else _postgres_connected)
    if is_sqlite:
        event.listen(engine, "begin", _sqlite_begin)
    return engine


def _postgres_connected(connection: DBAPIConnection, _record: object) -> None:
    """A machine that vanishes inside a transaction must not hold its row locks until TCP gives up (hours)."""
    cursor = connection.cursor()
    cursor.execute(f"SET idle_in_transaction_session_timeout = {IDLE_MS}")
    cursor.close()
    connection.commit()


def _sqlite_connected(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # the driver begins nothing by itself, see _sqlite_begin
    for pragma in (f"busy_timeout={BUSY_MS}", "foreign_keys=ON", "synchronous=FULL", *SQLITE_SIZES):
        connection.execute(f"PRAGMA {pragma}")


def _sqlite_begin(connection: Connection) -> None:
    begin = connection.get_execution_options().get("registry_begin", "BEGIN IMMEDIATE")
    if begin:
        connection.exec_driver_sql(begin)
