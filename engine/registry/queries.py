"""The `Registry`: every statement on the ledger, one concept per module beside this one, and how it is opened."""

from __future__ import annotations

from engine.registry.agent_runs import AgentRuns
from engine.registry.audit import Audit
from engine.registry.batches import Batches
from engine.registry.claims import Claims
from engine.registry.documents import Documents
from engine.registry.events import Events
from engine.registry.idempotency import Idempotency
from engine.registry.migrate import upgrade
from engine.registry.named_values import NamedValues
from engine.registry.originals import Originals
from engine.registry.outcomes import Outcomes
from engine.registry.parts import Parts
from engine.registry.projects import Projects
from engine.registry.removal import Removal
from engine.registry.runs import Runs
from engine.registry.tokens import Tokens
from engine.registry.uploads import Uploads
from engine.registry.webhooks import Webhooks
from engine.scratch import make_folder
from engine.settings import Settings

__all__ = ["Registry", "open_registry", "registry_url"]


class Backfill(Claims, Outcomes, Removal, Documents, Parts, Runs, NamedValues, Projects):
    """What a collection's documents need, wherever they come from."""


class Online(Uploads, Originals, Batches, Events, Webhooks, Tokens, Audit, Idempotency, AgentRuns):
    """What the API needs besides."""


class Registry(Backfill, Online):
    """The ledger behind one URL.

    Connects on first use, once per process; pickles as its URL; may be carried over a fork and used by
    several threads. Every method is one short transaction and raises StorageError when the database refuses.
    """


def registry_url(settings: Settings) -> str:
    """The configured URL, else the SQLite file under `home`."""
    return settings.registry.url or f"sqlite:///{settings.home.expanduser().absolute() / 'registry.db'}"


def open_registry(settings: Settings) -> Registry:
    """The configured registry, its schema brought up to date (one query when it already is)."""
    if not settings.registry.url:
        make_folder(settings.home, "home")
    registry = Registry(registry_url(settings))
    upgrade(registry)
    return registry
