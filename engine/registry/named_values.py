"""Small facts about the whole installation, set with a comparison so that two processes never disagree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.errors import ConfigError
from engine.registry.database import Database, insert, now
from engine.registry.models import NAMED_VALUES
from engine.registry.text import clean

MODEL: Final = "model:"
ANYTHING: Final = object()  # set_setting without comparison
V = NAMED_VALUES.c


class NamedValues(Database):
    """Statements about settings kept in the registry."""

    def setting(self, key: str) -> object | None:
        """The JSON value kept under this key, None when there is none."""
        return self.read(lambda c: c.execute(sa.select(V.value).where(V.key == clean(key))).scalar())

    def set_setting(self, key: str, value: object, expected: object = ANYTHING) -> bool:
        """Keep a JSON value under this key. With `expected` (None: no value yet) only if that is what stands
        there; False when something else does."""
        return self.write(lambda c: _set(c, clean(key), value, expected))

    def models(self) -> dict[str, dict[str, object]]:
        """The models that fill the store's vectors: vector name → what was registered."""
        wanted = sa.select(V.key, V.value).where(V.key >= MODEL, V.key < MODEL[:-1] + ";")
        rows = self.read(lambda c: c.execute(wanted.order_by(V.key)).all())
        return {key.removeprefix(MODEL): cast("dict[str, object]", value) for key, value in rows}

    def register_model(self, vector_name: str, model: Mapping[str, object]) -> None:
        """Note which model fills this vector (`fingerprint` and `dimensions` identify it).

        Raises ConfigError when another one does: their vectors must never meet in one search.
        """
        given = dict(model)
        if self.set_setting(MODEL + vector_name, given, expected=None):
            return
        stands = self.models().get(vector_name, {})
        differing = [name for name in ("fingerprint", "dimensions") if stands.get(name) != given.get(name)]
        if differing:
            raise ConfigError(
                f"vector {vector_name!r} is filled by model {stands.get('model')!r} and cannot take vectors of "
                f"{given.get('model')!r}: {' and '.join(differing)} differ; use a new vector and re-embed",
                details={"vector_name": vector_name, "differs": differing},
            )


def _set(connection: Connection, key: str, value: object, expected: object) -> bool:
    row = {"key": key, "value": value, "updated_at": now()}
    stands = connection.execute(sa.select(V.value).where(V.key == key).with_for_update()).first()
    if stands is None:
        if expected is not ANYTHING and expected is not None:
            return False
        new = insert(connection, NAMED_VALUES).values(row).on_conflict_do_nothing().returning(V.key)
        # nothing returned: another process was faster, so compare with what it set
        return connection.execute(new).first() is not None or _set(connection, key, value, expected)
    if expected is not ANYTHING and stands[0] != expected:
        return False
    connection.execute(sa.update(NAMED_VALUES).where(V.key == key).values(row))
    return True
