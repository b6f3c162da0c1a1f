"""Schema versions: up, down and up again; openers that race; how a registry is found and opened."""

from __future__ import annotations

import multiprocessing
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import event

from engine.errors import ConfigError, StorageError
from engine.registry.migrate import HEAD, SCRIPTS, current, downgrade, upgrade
from engine.registry.models import METADATA
from engine.registry.queries import Registry, open_registry
from engine.settings import load

from .ledger import ingest


def _tables(registry: Registry) -> set[str]:
    return set(registry.read(lambda c: sa.inspect(c).get_table_names()))


def test_up_down_up(registry_url: str) -> None:
    registry = Registry(registry_url)
    assert current(registry) is None
    upgrade(registry)
    assert current(registry) == HEAD
    assert _tables(registry) == {*METADATA.tables, "alembic_version"}
    ingest(registry, registry.project("demo", create=True), "a")
    downgrade(registry)
    assert current(registry) is None
    assert _tables(registry) == {"alembic_version"}
    registry.close()
    registry = Registry(registry_url)
    upgrade(registry)
    assert _tables(registry) == {*METADATA.tables, "alembic_version"}
    ingest(registry, registry.project("demo", create=True), "a")
    registry.close()


def test_the_migrations_make_what_the_models_say(registry: Registry) -> None:
    with registry.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
    where = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
    if registry.engine.dialect.name == "sqlite":
        where = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
    made = {row[0]: str(row[1]) for row in registry.read(lambda c: c.exec_driver_sql(where).all())}
    for index in (index for table in METADATA.tables.values() for index in table.indexes):
        predicate = index.dialect_options[registry.engine.dialect.name]["where"]
        words = [] if predicate is None else [w for w in predicate.text.split() if w.isidentifier()]
        assert all(word in made[str(index.name)] for word in words), made[str(index.name)]


def test_head_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_opening_at_head_asks_once(registry: Registry) -> None:
    sent: list[str] = []
    event.listen(registry.engine, "before_cursor_execute", lambda _c, _k, statement, *_: sent.append(statement))
    upgrade(registry)
    assert sent == ["SELECT version_num FROM alembic_version"]


def test_a_schema_of_a_newer_program_is_refused(registry: Registry) -> None:
    registry.write(lambda c: c.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigError, match="9999"):
        upgrade(registry)


def _open(home: str, url: str) -> str | None:
    registry = open_registry(load({"home": home, "registry.url": url or None}, environ={}))
    registry.project("demo", create=True)
    found = current(registry)
    registry.close()
    return found


@pytest.mark.parametrize("kind", ["home", "postgresql"])
def test_racing_openers_migrate_once(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = "" if kind == "home" else str(request.getfixturevalue("postgres_url"))
    home = str(tmp_path / "deep" / "home")
    with multiprocessing.get_context("fork").Pool(8) as pool:
        assert pool.starmap(_open, [(home, url)] * 8, chunksize=1) == [HEAD] * 8
    if kind == "home":
        assert stat.S_IMODE(Path(home).stat().st_mode) == 0o700
        registry = Registry(f"sqlite:///{home}/registry.db")
        assert registry.read(lambda c: c.exec_driver_sql("PRAGMA journal_mode").scalar()) == "wal"
        assert registry.read(lambda c: c.exec_driver_sql("PRAGMA synchronous").scalar()) == 2, "FULL"
        assert registry.read(lambda c: c.exec_driver_sql("PRAGMA foreign_keys").scalar()) == 1


def test_a_home_with_odd_characters_opens(tmp_path: Path) -> None:
    assert _open(str(tmp_path / "50% of ä home?#"), "") == HEAD


@pytest.mark.parametrize("url", ["mysql://localhost/x", "sqlite://", "sqlite:///:memory:", "nonsense"])
def test_unfit_urls_are_refused(url: str) -> None:
    with pytest.raises(ConfigError):
        Registry(url)


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg2"])
def test_postgres_urls_get_the_driver_and_hide_the_password(scheme: str) -> None:
    registry = Registry(f"{scheme}://me:secret@db.example/corpus")
    assert registry.url == "postgresql+psycopg://me:secret@db.example/corpus"
    assert "secret" not in repr(registry)


def test_a_database_out_of_reach_is_a_storage_error(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="unable to open"):
        upgrade(Registry(f"sqlite:///{tmp_path}/absent/registry.db"))
    with pytest.raises(StorageError, match="refused") as caught:
        upgrade(Registry("postgresql://me:secret@127.0.0.1:1/x"))
    assert "secret" not in str(caught.value)


def test_importing_the_registry_loads_no_driver_and_no_migrations() -> None:
    code = (
        "import sys; from engine.registry.queries import Registry; Registry('postgresql://h/d'); "
        "print({'alembic', 'psycopg', 'ray', 'torch'} & set(sys.modules))"
    )
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_lost_client_does_not_hold_locks_for_ever(postgres_url: str) -> None:
    registry = Registry(postgres_url)
    setting = "SHOW idle_in_transaction_session_timeout"
    assert registry.read(lambda c: c.exec_driver_sql(setting).scalar()) == "1min"
    assert registry.write(lambda c: c.exec_driver_sql(setting).scalar()) == "1min"
    registry.close()
