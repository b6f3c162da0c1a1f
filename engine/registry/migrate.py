"""Bring a registry's schema to this program's version, from code: the migrations beside this module.

Whoever comes first migrates in one transaction; others wait for its lock and find nothing left to do.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.errors import ConfigError, StorageError
from engine.registry.database import Database

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0002"  # the newest file in alembic/versions, known without loading Alembic; a test compares
SCRIPTS = Path(__file__).parent / "alembic"
LOCK = 0x636F72707573  # key of PostgreSQL's advisory lock, the same in every version
_alembic = threading.Lock()  # Alembic's environment is global to the process


def current(database: Database) -> str | None:
    """The schema version of the database, None when there is no schema. One query."""
    try:
        return database.read(lambda c: c.exec_driver_sql("SELECT version_num FROM alembic_version").scalar())
    except StorageError as error:
        if _no_table(error.__cause__):
            return None
        raise


def upgrade(database: Database) -> None:
    """Migrate to the newest version. Raises ConfigError when a newer program wrote the schema."""
    if current(database) == HEAD:
        return
    if database.engine.dialect.name == "sqlite":
        database.read(lambda c: c.exec_driver_sql("PRAGMA journal_mode=WAL").scalar())  # stays with the file
    _migrate(database, "upgrade", "head")


def downgrade(database: Database, revision: str = "base") -> None:
    """Migrate back to a version; `base` drops every table with all it holds."""
    _migrate(database, "downgrade", revision)


def _migrate(database: Database, direction: str, revision: str) -> None:
    from alembic import command
    from alembic.util import CommandError

    def work(connection: Connection) -> None:
        if connection.dialect.name == "postgresql":  # SQLite's own lock is held already
            connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        step = command.upgrade if direction == "upgrade" else command.downgrade
        step(_config(connection), revision)

    try:
        with _alembic:
            database.write(work)
    except CommandError as error:
        raise ConfigError(f"the registry's schema is not one this version knows: {error}") from error


def _config(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _no_table(cause: BaseException | None) -> bool:
    driver_error = getattr(cause, "orig", None)
    return getattr(driver_error, "sqlstate", None) == "42P01" or "no such table" in str(driver_error)
