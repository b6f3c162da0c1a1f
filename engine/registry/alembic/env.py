"""Alembic's entry: runs migrations on the connection that `engine.registry.migrate` opened and commits."""

from __future__ import annotations

from alembic import context

from engine.registry.models import METADATA


def run() -> None:
    connection = context.config.attributes["connection"]
    context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()


run()
